"""What kstatus and Argo CD make of the statuses that resources go through."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness.health import argo, kstatus


def told(**conditions: str) -> list[dict[str, Any]]:
    return [{"type": type_, "status": status, "message": f"{type_} says"} for type_, status in conditions.items()]


def resource(conditions: list[dict[str, Any]], observed: int = 2, **parts: Any) -> dict[str, Any]:
    status = {"observedGeneration": observed, **({"conditions": conditions} if conditions else {})}
    metadata = {"generation": 2, **parts.pop("metadata", {})}
    return {"metadata": metadata, "spec": {"name": "X", **parts}, "status": status}


READY = told(Ready="True", Synced="True")
FAILED = told(Ready="False", Synced="False", Stalled="True")
GOING = {"deletionTimestamp": "2026-11-30T12:00:00Z"}

STATES = [
    # state, resource, kstatus, Argo CD's health, what that says
    ("fresh", resource([], observed=-1), "InProgress", "Progressing", "not looked at yet"),
    ("ready", resource(READY), "Current", "Healthy", "Ready says"),
    ("changed", resource(READY, observed=1), "InProgress", "Progressing", "not looked at yet"),
    ("changed after a failure", resource(FAILED, observed=1), "InProgress", "Progressing", "not looked at yet"),
    ("waiting", resource(told(Ready="False", Synced="False")), "InProgress", "Progressing", "Ready says"),
    ("outage", resource(told(Ready="True", Synced="False")), "Current", "Healthy", "Ready says"),
    ("drifted", resource([*READY, *told(DriftDetected="True")]), "Current", "Healthy", "DriftDetected says"),
    ("failed", resource(FAILED), "Failed", "Degraded", "Stalled says"),
    (
        "paused",
        resource(told(Ready="True", Synced="False"), paused=True),
        "Current",
        "Suspended",
        "spec.paused is true",
    ),
    ("going", resource(READY, metadata=GOING), "Terminating", "Progressing", "being deleted"),
    (
        "not going",
        resource([*FAILED, *told(DeleteBlocked="True")], metadata=GOING),
        "Terminating",
        "Progressing",
        "DeleteBlocked says",
    ),
]


@pytest.mark.parametrize(("state", "expected"), [pytest.param(*row[1:3], id=row[0]) for row in STATES])
def test_kstatus_tells_what_takes_its_time_from_what_has_failed(state: dict[str, Any], expected: str) -> None:
    assert kstatus(state) == expected


@pytest.mark.parametrize(("state", "health", "says"), [pytest.param(row[1], *row[3:], id=row[0]) for row in STATES])
def test_the_check_for_argo_cd_says_the_same_and_why(state: dict[str, Any], health: str, says: str) -> None:
    assert argo(state) == (health, says)
