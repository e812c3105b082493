"""How objects of others' operators are compared with what we want of them: on an explicit list of fields, each in its
normal form, so that what others add or spell in another way is never a difference. What differs becomes the least
merge patch (RFC 7386): no struct is written whole.

The fields of a kind are a tree of the nodes below; what the tree doesn't name is neither compared nor written. In it,
absent, null and empty are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Protocol

from freehold.kube.objects import Object
from freehold.postgres import images, quantities


class _Same:
    """Stands for no difference."""


SAME: Final = _Same()
_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})


class Node(Protocol):
    """A place in an object."""

    def patch(self, wanted: Any, live: Any) -> Any:
        """What has to be merged into the live value; `SAME` when nothing has."""


def same(value: Any) -> Any:
    """The normal form of what has but one spelling."""
    return value


def filled(value: Any) -> Any:
    """The normal form of a tree: what is empty in it goes, as it does whenever an operator reads and writes it."""
    match value:
        case Mapping():
            return {name: tree for name, each in value.items() if (tree := filled(each)) not in _EMPTY}
        case list():
            return [filled(each) for each in value]
        case _:
            return value


def by_value(value: Any) -> Any:
    """The normal form of a quantity."""
    try:
        return None if value is None else quantities.parse(str(value))
    except ValueError:
        return value


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is written as a whole.

    Attributes:
        normal: its normal form.
        default: what it is where it isn't set.
    """

    normal: Callable[[Any], Any] = same
    default: Any = None

    def patch(self, wanted: Any, live: Any) -> Any:
        return SAME if self._form(wanted) == self._form(live) else wanted

    def _form(self, value: Any) -> Any:
        return self.normal(self.default if value in _EMPTY else value)


@dataclass(frozen=True, slots=True)
class Image:
    """A container image. A digest that somebody has put behind its tag counts only where one is wanted."""

    def patch(self, wanted: Any, live: Any) -> Any:
        pinned = wanted is not None and wanted != images.without_digest(wanted)
        found = live if pinned or live is None else images.without_digest(live)
        return SAME if wanted == found else wanted


@dataclass(frozen=True, slots=True)
class Grown:
    """A quantity that can only grow: one that is larger than wanted stays."""

    def patch(self, wanted: Any, live: Any) -> Any:
        if wanted is None or (live is not None and quantities.parse(str(wanted)) <= quantities.parse(str(live))):
            return SAME
        return wanted


@dataclass(frozen=True, slots=True)
class Map:
    """A map that is ours with all its keys.

    Attributes:
        normal: the normal form of its values.
    """

    normal: Callable[[Any], Any] = same

    def patch(self, wanted: Any, live: Any) -> Any:
        wanted, live = wanted or {}, live or {}
        changed = {
            key: wanted.get(key)
            for key in sorted({*wanted, *live})
            if self.normal(wanted.get(key)) != self.normal(live.get(key))
        }
        return changed or SAME


@dataclass(frozen=True, slots=True)
class Keys:
    """A map in which some keys are ours; all others are somebody else's.

    Attributes:
        ours: keys that are compared, be they wanted or not. What is wanted beside is, too.
    """

    ours: frozenset[str] = frozenset()

    def patch(self, wanted: Any, live: Any) -> Any:
        wanted, live = wanted or {}, live or {}
        keys = sorted(self.ours | wanted.keys())
        return {key: wanted.get(key) for key in keys if wanted.get(key) != live.get(key)} or SAME


class Absent(Enum):
    """What becomes of a struct that isn't wanted."""

    EMPTIED = "its fields go, one by one"
    GONE = "it goes as a whole: it has no meaning without these fields"
    KEPT = "it stays: it can't be taken away"


@dataclass(frozen=True, slots=True)
class Struct:
    """Named fields.

    Attributes:
        fields: what is compared.
        absent: what becomes of it where it isn't wanted.
    """

    fields: Mapping[str, Node]
    absent: Absent = Absent.EMPTIED

    def patch(self, wanted: Any, live: Any) -> Any:
        if wanted is None and self.absent is not Absent.EMPTIED:
            return SAME if live is None or self.absent is Absent.KEPT else None
        wanted, live = wanted or {}, live or {}
        found = {name: node.patch(wanted.get(name), live.get(name)) for name, node in self.fields.items()}
        changed = {name: value for name, value in found.items() if value is not SAME}
        return changed or SAME


@dataclass(frozen=True, slots=True)
class Item:
    """A list that others write to as well, in which the item of one name is ours.

    Attributes:
        name: its name.
        fields: what is compared of it.
    """

    name: str
    fields: Struct

    def patch(self, wanted: Any, live: Any) -> Any:
        others = [each for each in live or () if each.get("name") != self.name]
        ours, found = self._of(wanted), self._of(live)
        if ours is None:
            return SAME if found is None else others
        if found is not None and self.fields.patch(ours, found) is SAME:
            return SAME
        return [*others, ours]

    def _of(self, items: Sequence[Mapping[str, Any]] | None) -> Mapping[str, Any] | None:
        return next((each for each in items or () if each.get("name") == self.name), None)


@dataclass(frozen=True, slots=True)
class Items:
    """A list whose items are ours, told apart by a key, in any order.

    Attributes:
        fields: what is compared of each.
        key: the field that tells them apart.
    """

    fields: Struct
    key: str = "name"

    def patch(self, wanted: Any, live: Any) -> Any:
        ours = {each[self.key]: each for each in wanted or ()}
        found = {each.get(self.key): each for each in live or ()}
        if ours.keys() == found.keys() and all(
            self.fields.patch(each, found[name]) is SAME for name, each in ours.items()
        ):
            return SAME
        return list(wanted or ())


@dataclass(frozen=True, slots=True)
class Among:
    """A list that holds at least what is wanted. What is there already stays."""

    def patch(self, wanted: Any, live: Any) -> Any:
        there = set(live or ())
        return SAME if set(wanted or ()) <= there else sorted({*(wanted or ()), *there})


@dataclass(frozen=True, slots=True)
class Beside:
    """A list of ours that others put items of their own before.

    Attributes:
        theirs: names of these items.
    """

    theirs: frozenset[str]

    def patch(self, wanted: Any, live: Any) -> Any:
        kept = [each for each in live or () if each.get("name") in self.theirs]
        ours = [each for each in live or () if each.get("name") not in self.theirs]
        return SAME if ours == list(wanted or ()) else [*kept, *(wanted or ())]


METADATA = Struct({"labels": Keys(), "annotations": Keys()})
"""Of most objects. Who owns an object is told apart."""


def changes(fields: Struct, wanted: Mapping[str, Any], live: Object) -> dict[str, Any] | None:
    """The merge patch by which an object becomes as wanted; None when there is nothing to do.

    It names the resourceVersion, so that it fails where the object has changed since it was read: lists are written
    whole, and what others have put into them meanwhile would be lost.

    Args:
        fields: what is compared.
        wanted: the object as it is to be.
        live: the object as it is.
    """
    patch = fields.patch(wanted, live.raw)
    if patch is SAME:
        return None
    metadata = {**patch.get("metadata", {}), "resourceVersion": live.resource_version}
    return {**patch, "metadata": metadata}
