"""Conditions out of what a pass found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold.kube.conditions import STALLED
from freehold.kube.objects import Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold_controllers.reconciler.status import (
    CONVERGING,
    DELETE_BLOCKED,
    DRIFT_DETECTED,
    IN_USE,
    READY,
    REFERENCES_RESOLVED,
    SYNCED,
    Verdict,
    conditions,
    verdicts_of,
    well,
)

THEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOW = THEN + timedelta(hours=1)
YES = Verdict("True", Reason.AVAILABLE, "as declared")


def resource(*told: tuple[str, str], generation: int = 1) -> Object:
    listed: list[dict[str, Any]] = [
        {
            "type": type_,
            "status": status,
            "reason": "Available",
            "message": "as declared",
            "lastTransitionTime": THEN.isoformat(),
            "observedGeneration": 1,
        }
        for type_, status in told
    ]
    return Object({"metadata": {"name": "x", "generation": generation}, "status": {"conditions": listed}})


FRESH, WELL = resource(), resource((READY, "True"), (SYNCED, "True"), (DRIFT_DETECTED, "True"))
CHANGED = resource((READY, "True"), (SYNCED, "True"), generation=2)
NEITHER = {READY: "False", SYNCED: "False"}

STOPS = [
    # what is stopped, resource, stop, statuses of the conditions afterwards
    ("an error", WELL, Stop(Reason.TERMINAL_ERROR, "m"), {**NEITHER, STALLED: "True"}),
    ("an error that may go", WELL, Stop(Reason.RECONCILE_ERROR, "m"), NEITHER),
    ("an error that may go soon", WELL, Stop(Reason.NOT_VISIBLE, "m", soon=True), NEITHER),
    (
        "an outage",
        WELL,
        Stop(Reason.RECONCILE_ERROR, "m", passing=True),
        {READY: "True", SYNCED: "False", DRIFT_DETECTED: "True"},
    ),
    ("an outage at first", FRESH, Stop(Reason.RECONCILE_ERROR, "m", passing=True), NEITHER),
    ("an outage when the spec has changed", CHANGED, Stop(Reason.RECONCILE_ERROR, "m", passing=True), NEITHER),
    ("paused", CHANGED, Stop(Reason.RECONCILE_PAUSED, "m"), {READY: "True", SYNCED: "False"}),
    ("paused at first", FRESH, Stop(Reason.RECONCILE_PAUSED, "m"), NEITHER),
    ("only observed", WELL, Stop(Reason.OBSERVE_ONLY, "m"), {READY: "False", SYNCED: "True"}),
    ("an heir that waits", FRESH, Stop(Reason.AWAITING_HAND_OVER, "m"), NEITHER),
    (
        "not converging",
        WELL,
        Stop(Reason.NOT_CONVERGING, "m", condition=CONVERGING),
        {**NEITHER, CONVERGING: "False", STALLED: "True"},
    ),
    (
        "not deletable",
        WELL,
        Stop(Reason.DELETE_BLOCKED, "m", condition=DELETE_BLOCKED),
        {**NEITHER, DELETE_BLOCKED: "True", STALLED: "True"},
    ),
]


@pytest.mark.parametrize(("found", "stop", "expected"), [pytest.param(*r[1:], id=r[0]) for r in STOPS])
def test_a_stop_turns_conditions(found: Object, stop: Stop, expected: dict[str, str]) -> None:
    told = conditions(found, verdicts_of(stop, found), NOW)
    assert {each.type: each.status for each in told} == expected


@pytest.mark.parametrize("reason", [Reason.DEPENDENCY_NOT_READY, Reason.RECONCILE_PAUSED])
def test_what_was_not_ready_says_what_it_waits_for_now(reason: Reason) -> None:
    verdict = verdicts_of(Stop(reason, "m", passing=True), resource((READY, "False")))[READY]
    assert verdict == Verdict("False", reason, "m")


WELL_OR_NOT = [
    # conditions, whether all is in order
    ((READY, SYNCED), True),
    ((READY, SYNCED, REFERENCES_RESOLVED), True),
    ((READY,), False),
    ((), False),
    ((READY, SYNCED, DRIFT_DETECTED), False),
    ((READY, SYNCED, IN_USE), False),
]


@pytest.mark.parametrize(("true", "expected"), WELL_OR_NOT)
def test_all_is_well_when_no_condition_says_otherwise(true: tuple[str, ...], expected: bool) -> None:
    assert well(resource(*((type_, "True") for type_ in true))) is expected


@pytest.mark.parametrize("type_", [READY, SYNCED, CONVERGING, REFERENCES_RESOLVED])
def test_not_all_is_well_when_a_condition_is_false(type_: str) -> None:
    told = {READY: "True", SYNCED: "True", type_: "False"}
    assert not well(resource(*told.items()))


def test_a_condition_that_says_nothing_any_more_goes() -> None:
    told = conditions(WELL, {READY: YES, SYNCED: YES}, NOW)
    assert [each.type for each in told] == [READY, SYNCED]


def test_a_condition_that_is_left_alone_still_speaks_of_the_generation_that_it_was_found_for() -> None:
    (ready,) = conditions(CHANGED, {READY: None}, NOW)
    assert (ready.status, ready.observed_generation, ready.last_transition_time) == ("True", 1, THEN)


def test_the_time_of_a_condition_moves_with_its_status_alone() -> None:
    (ready,) = conditions(CHANGED, {READY: YES}, NOW)
    assert (ready.observed_generation, ready.last_transition_time) == (2, THEN)
    (ready,) = conditions(WELL, {READY: Verdict("False", Reason.REPLACED, "m")}, NOW)
    assert ready.last_transition_time == NOW
