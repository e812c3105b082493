"""The status of a resource: from what a pass found to conditions, written by server-side apply when they changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from freehold.kinds.common import Condition, Status
from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.conditions import condition, conditions_of
from freehold.kube.objects import Object
from freehold_controllers.reconciler.decision import Stop
from freehold_controllers.reconciler.reasons import Reason

READY = "Ready"
SYNCED = "Synced"
DRIFT_DETECTED = "DriftDetected"
CONVERGING = "Converging"
REFERENCES_RESOLVED = "ReferencesResolved"


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


def verdicts_of(stop: Stop, previous: Iterable[Condition]) -> Verdicts:
    """What a stop means for the conditions."""
    no = Verdict("False", stop.reason, stop.message)
    was_ready = any(each.type == READY and each.status == "True" for each in previous)
    # Paused, or an outage: the object is as ready as it was.
    keeps_ready = was_ready and (stop.passing or stop.reason is Reason.RECONCILE_PAUSED)
    synced = Verdict("True", stop.reason, stop.message) if stop.reason is Reason.OBSERVE_ONLY else no
    verdicts: dict[str, Verdict | None] = {READY: None if keeps_ready else no, SYNCED: synced}
    if stop.condition:
        verdicts[stop.condition] = no
    return verdicts


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
    return sorted((*kept, *new), key=lambda each: list(verdicts).index(each.type))


async def write(kube: Kube, path: GroupResource, found: Object, status: Status, manager: str) -> Object:
    """Apply a status, unless the resource has it already.

    Args:
        kube: client.
        path: resource type.
        found: the resource as it was read.
        status: all of its new status.
        manager: field manager.

    Returns:
        The resource afterwards.
    """
    body = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    if type(status).model_validate(body) == _present(found, type(status)):
        return found
    manifest = {
        "apiVersion": path.api_version,
        "kind": path.kind,
        "metadata": {"name": found.name, "namespace": found.namespace},
        "status": body,
    }
    return await kube.apply(path, found.name, found.namespace, manifest, field_manager=manager, subresource="status")


def _present(found: Object, model: type[Status]) -> Status | None:
    try:
        return model.model_validate(found.status)
    except ValueError:
        return None
