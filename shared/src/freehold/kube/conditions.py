"""Conditions of a status, after the conventions of the Kubernetes API. Pure: the time is passed in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import ValidationError

from freehold.kinds.common import Condition
from freehold.kube.objects import Object
from freehold.kube.text import shortened

MESSAGE_LIMIT = 32768
"""Bytes of a condition's message."""

STALLED = "Stalled"
"""Type of the condition by which kstatus knows that somebody has to change something."""


def conditions_of(resource: Object) -> tuple[Condition, ...]:
    """The conditions that a resource has now; what a stranger wrote in another form is left out."""
    found = []
    for each in resource.status.get("conditions") or ():
        try:
            found.append(Condition.model_validate(each))
        except ValidationError:
            continue
    return tuple(found)


def says(resource: Object, message: str, **facts: str) -> bool:
    """Whether a condition of a resource has this message, however long, and these values of other fields."""
    stored = shortened(message, MESSAGE_LIMIT)
    return any(
        each.message == stored and all(getattr(each, name) == value for name, value in facts.items())
        for each in conditions_of(resource)
    )


def condition(
    type: str,  # noqa: A002  # the API's own name
    status: Literal["True", "False", "Unknown"],
    reason: str,
    message: str,
    *,
    generation: int,
    previous: Sequence[Condition],
    now: datetime,
) -> Condition:
    """A condition whose lastTransitionTime moves only with its status.

    Args:
        type: for example Ready.
        status: whether it holds.
        reason: CamelCase word for programs.
        message: for people; shortened when it is too long.
        generation: generation of the spec that it speaks of.
        previous: the resource's conditions so far.
        now: time of a transition; kept to the second, as the API keeps it.
    """
    before = next((each for each in previous if each.type == type), None)
    since = before.last_transition_time if before and before.status == status else now.replace(microsecond=0)
    return Condition(
        type=type,
        status=status,
        reason=reason,
        message=shortened(message, MESSAGE_LIMIT),
        last_transition_time=since,
        observed_generation=generation,
    )
