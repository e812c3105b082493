"""The status of a resource: from what a pass found to conditions, written by server-side apply when they changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from freehold.kinds.common import Condition, Status
from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.conditions import STALLED, condition, conditions_of
from freehold.kube.objects import Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import AWAITED, PASSING, Reason

READY = "Ready"
SYNCED = "Synced"
DRIFT_DETECTED = "DriftDetected"
CONVERGING = "Converging"
REFERENCES_RESOLVED = "ReferencesResolved"
DELETE_BLOCKED = "DeleteBlocked"
"""The word of kstatus, by which kubectl, Flux and others tell a failure from what takes its time."""
IN_USE = "InUse"
CREDENTIALS_HELD = "CredentialsHeld"
"""Of a ProviderConfig: False where its Secret may go before what needs it."""
CIRCUIT_OPEN = "CircuitOpen"
"""Of a ProviderConfig: True where nothing is sent for it, by its controller at least."""

_ABNORMAL = frozenset({DRIFT_DETECTED, DELETE_BLOCKED, STALLED, IN_USE, CIRCUIT_OPEN})
"""Types that are True where something is out of order; the others are False then."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A condition without its times.

    Attributes:
        status: whether it holds.
        reason: word for programs.
        message: for people.
    """

    status: Literal["True", "False"]
    reason: Reason
    message: str


Verdicts = Mapping[str, Verdict | None]
"""Verdicts by type of condition; None leaves the condition as it was. Types that aren't named go."""


def verdicts_of(stop: Stop, found: Object) -> Verdicts:
    """What a stop means for the conditions of a resource."""
    no, yes = (Verdict(status, stop.reason, stop.message) for status in ("False", "True"))
    verdicts: dict[str, Verdict | None] = {
        READY: None if stays_ready(stop, found) else no,
        SYNCED: yes if stop.reason is Reason.OBSERVE_ONLY else no,
    }
    if stop.passing:
        verdicts |= {DRIFT_DETECTED: None, CONVERGING: None}
    if stop.condition:
        verdicts[stop.condition] = yes if stop.condition in _ABNORMAL else no
    if stalls(stop):
        verdicts[STALLED] = yes
    return verdicts


def stays_ready(stop: Stop, found: Object) -> bool:
    """Whether a resource is as ready as it was, since nothing new is known of it."""
    ready = next((each for each in conditions_of(found) if each.type == READY), None)
    if ready is None or ready.status != "True":
        return False
    # An outage tells nothing of a new spec; a pause is a new spec itself, which asks for nothing.
    current = ready.observed_generation == found.generation
    return (stop.passing and current) or stop.reason is Reason.RECONCILE_PAUSED


def stalls(stop: Stop) -> bool:
    """Whether a stop is a failure in the eyes of those who wait for the resource: it doesn't end by itself."""
    return not (stop.passing or stop.soon or stop.reason in PASSING or stop.reason in AWAITED)


def well(found: Object) -> bool:
    """Whether all that a resource's conditions say is in order."""
    told = conditions_of(found)
    fine = all(each.status == ("False" if each.type in _ABNORMAL else "True") for each in told)
    return fine and {READY, SYNCED} <= {each.type for each in told}


def conditions(found: Object, verdicts: Verdicts, now: datetime) -> list[Condition]:
    """The conditions that verdicts make of a resource's present ones.

    Args:
        found: the resource.
        verdicts: what a pass found.
        now: API server's time.
    """
    previous = conditions_of(found)
    kept = [each for each in previous if each.type in verdicts and verdicts[each.type] is None]
    new = [
        condition(
            type_,
            verdict.status,
            verdict.reason,
            verdict.message,
            generation=found.generation,
            previous=previous,
            now=now,
        )
        for type_, verdict in verdicts.items()
        if verdict is not None
    ]
    return sorted((*kept, *new), key=lambda each: (each.type not in (READY, SYNCED), each.type))


async def write(kube: Kube, path: GroupResource, found: Object, status: Status, manager: str) -> Object:
    """Apply a status, unless the resource has it already. It is that of the resource which was read: of one that was
    deleted and applied anew meanwhile it would tell fields that were never sent. (The API server takes no notice of a
    uid in the status of a custom resource.)

    Args:
        kube: client.
        path: resource type.
        found: the resource as it was read.
        status: all of its new status.
        manager: field manager.

    Returns:
        The resource afterwards.

    Raises:
        Conflict: it changed since it was read.
        NotFound: it is gone.
    """
    body, present = _body(status), _present(found, type(status))
    if present is not None and _body(present) == body:
        return found
    manifest = {
        "apiVersion": path.api_version,
        "kind": path.kind,
        "metadata": {"name": found.name, "namespace": found.namespace, "resourceVersion": found.resource_version},
        "status": body,
    }
    return await kube.apply(path, found.name, found.namespace, manifest, field_manager=manager, subresource="status")


def _body(status: Status) -> dict[str, object]:
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)


def _present(found: Object, model: type[Status]) -> Status | None:
    try:
        return model.model_validate(found.status)
    except ValueError:
        return None
