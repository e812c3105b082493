"""The lines of a plan: one for each object of a resource."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from freehold.kinds.steps import Difference
from freehold.kube.objects import Key


class Action(StrEnum):
    """What becomes of an object."""

    CREATE = "create"
    ALTER = "alter"
    ADOPT = "adopt"
    RECREATE = "recreate"
    DROP = "drop"
    NONE = "none"
    REFUSE = "refuse"

    @property
    def changes(self) -> bool:
        """Whether something would be sent or taken over."""
        return self not in (Action.NONE, Action.REFUSE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a plan says of one object.

    Attributes:
        resource: whose object it is.
        object: its type and name; empty where that isn't known.
        action: what becomes of it.
        differences: the fields that are altered or reset, or, where nothing is done about them, left as they are.
        statements: what would be sent, as people may see it.
        why: why it is refused, or left alone.
        notes: what to know beside.
    """

    resource: Key
    object: str
    action: Action
    differences: tuple[Difference, ...] = ()
    statements: tuple[str, ...] = ()
    why: str = ""
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "kind": self.resource.kind,
            "namespace": self.resource.namespace,
            "name": self.resource.name,
            "object": self.object,
            "action": self.action.value,
            "fields": [
                {"name": each.name, "action": "reset" if each.reset else "set", "why": str(each)}
                for each in self.differences
            ],
            "statements": list(self.statements),
            "why": self.why,
            "notes": list(self.notes),
        }
