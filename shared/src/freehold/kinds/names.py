"""How the name of what a resource stands for is computed, from its own spec and those that it refers to."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from freehold.identifiers import InvalidName, check, split_in_database, split_in_schema
from freehold.identity import Name, Slot
from freehold.kinds.common import Reference, SnowflakeSpec
from freehold.kinds.model import Model
from freehold.kinds.spec_fields import properties

if TYPE_CHECKING:
    from freehold.kinds.kind import Kind


class Level(Enum):
    """What contains an object; the value counts its name parts."""

    ACCOUNT = 1
    DATABASE = 2
    SCHEMA = 3


@dataclass(frozen=True, slots=True)
class Requested:
    """A resource that a name depends on, asked of whoever computes the name.

    Attributes:
        kind: its kind.
        namespace: its namespace.
        name: its name.
        field: the spec field that refers to it, for messages.
        by_name: whether its name is all that counts, whatever becomes of its object.
        beside: whether its object must lie in the same schema.
    """

    kind: str
    namespace: str
    name: str
    field: str
    by_name: bool = False
    beside: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name} in spec.{self.field}"


Parts = Generator[Requested, SnowflakeSpec, tuple[str, ...]]
"""A computation of name parts that asks for the specs of parents; drive it with whatever reads resources."""
Slots = Generator[Requested, SnowflakeSpec, tuple[Slot, ...]]
"""Likewise of slots."""
Names = Generator[Requested, SnowflakeSpec, tuple[Name | Slot, ...]]
"""Likewise of all that a resource stands for."""


def container_of(spec: SnowflakeSpec, namespace: str, kinds: Mapping[str, Kind], *, depth: int) -> Parts:
    """Name parts of the database (depth 1) or schema (depth 2), given by reference or by name; () for depth 0."""
    if depth == 0:
        return ()
    word = ("database", "schema")[depth - 1]
    reference = getattr(spec, f"{word}_ref", None)
    if isinstance(reference, Reference):
        asked = Requested(word.capitalize(), reference.namespace or namespace, reference.name, f"{word}Ref")
        found = yield from parts_of(asked, kinds)
        if depth == Level.SCHEMA.value - 1 and (spec.database_name or spec.database_ref):  # type: ignore[attr-defined]
            named = yield from container_of(spec, namespace, kinds, depth=depth - 1)
            if found[:-1] != named:
                raise InvalidName(f"{asked} lies in database {found[0]!r}, and not in {named[0]!r} as the spec says")
        return found
    outer = yield from container_of(spec, namespace, kinds, depth=depth - 1)
    name = getattr(spec, f"{word}_name")
    if name is None:
        # What the CRD's rules keep out of the API may be there all the same, from before they were made.
        raise InvalidName(f"spec says neither {word}Name nor {word}Ref")
    return (*outer, check(str(name)))


def parts_of(asked: Requested, kinds: Mapping[str, Kind]) -> Parts:
    """Compute the name parts of the object of another resource.

    Args:
        asked: the resource.
        kinds: every kind by name.

    Raises:
        InvalidName: a part can't be a Snowflake name.
    """
    spec = yield asked
    return (yield from kinds[asked.kind].parts(spec, asked.namespace, kinds))


def named_in(spec: Model, attribute: str, namespace: str, kinds: Mapping[str, Kind], place: str = "") -> Parts:
    """Compute the name parts of what a spec names in a field, or by the reference in its place.

    Args:
        spec: the spec, or a model in it.
        attribute: of the raw name.
        namespace: the resource's namespace.
        kinds: every kind by name.
        place: of the model in the spec, with the dot that joins it to a field.

    Raises:
        InvalidName: it can't be a Snowflake name.
    """
    (field,) = (each for each in properties(type(spec)) if each.facts.instead_of == attribute)
    reference = getattr(spec, field.attribute)
    if isinstance(reference, Reference) and field.facts.reference:
        asked = Requested(
            field.facts.reference, reference.namespace or namespace, reference.name, f"{place}{field.name}"
        )
        return (yield from parts_of(asked, kinds))
    raw = getattr(spec, attribute)
    if raw is None:
        # As above: what the CRD's rules keep out may be there all the same.
        raise InvalidName(f"spec says neither {place}{field.name.removesuffix('Ref')} nor {place}{field.name}")
    if not field.facts.qualified:
        return (check(raw),)
    (named,) = (each for each in properties(type(spec)) if each.attribute == attribute)
    lies_in_schema = named.facts.check == split_in_schema
    return split_in_schema(raw) if lies_in_schema else split_in_database(raw)
