"""What a controller watches, and which keys a change wakes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from freehold.kinds.resource import FREEHOLD_GROUP, GroupResource
from freehold.kube.errors import ApiError
from freehold.kube.objects import Key, Object
from freehold_controllers.runtime.lines import Priority

Wake = tuple[Key, Priority]
"""A key to be reconciled, and how urgent that is."""


def _none(*_: object) -> Iterable[Wake]:
    return ()


def works_with_nothing(_: Object) -> str:
    """The group of what works with nothing that may hang."""
    return ""


@dataclass(frozen=True, slots=True)
class Watch:
    """A resource type to be watched.

    Attributes:
        path: resource type.
        reconciled: whether its objects are reconciled themselves: they wake themselves by `urgency`.
        wakes: (before, after) a change to the further keys that it wakes.
        fails: (failure, or None when failing ends) to the keys that it wakes.
        group: object to the name of what it works with, which may hang; empty where that is nothing.
        namespace: only this one; None for all.
        label_selector: only objects with these labels.
        field_selector: only objects with these fields.
    """

    path: GroupResource
    reconciled: bool = False
    wakes: Callable[[Object | None, Object | None], Iterable[Wake]] = _none
    fails: Callable[[ApiError | None], Iterable[Wake]] = _none
    group: Callable[[Object], str] = works_with_nothing
    namespace: str | None = None
    label_selector: str | None = None
    field_selector: str | None = None


def urgency(before: Object | None, after: Object) -> Priority | None:
    """How urgent a change makes an object's own reconcile; None when it means nothing to us.

    What we write ourselves, status and finalizers, must not wake us, or each reconcile would cause the next one.

    Args:
        before: the object before the change; None when it is new to us.
        after: the object now.
    """
    if before is None or before.uid != after.uid:
        seen = after.status.get("observedGeneration")
        fresh = Priority.RESYNC if seen == after.generation else Priority.CHANGE
        return Priority.DELETION if after.deleting else fresh
    if _wishes(before) == _wishes(after):
        return None
    return Priority.DELETION if after.deleting else Priority.CHANGE


def _wishes(resource: Object) -> object:
    """What people ask for by means of a resource."""
    ours = {key: value for key, value in resource.annotations.items() if key.startswith(f"{FREEHOLD_GROUP}/")}
    return resource.generation, resource.deleting, ours
