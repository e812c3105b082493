"""Conditions out of what a pass found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Object
from freehold_controllers.reconciler.decision import Stop
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.status import READY, SYNCED, Verdict, conditions, verdicts_of

THEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOW = THEN + timedelta(hours=1)
YES = Verdict("True", Reason.AVAILABLE, "as declared")


def resource(*told: tuple[str, str]) -> Object:
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
    return Object({"metadata": {"name": "x", "generation": 2}, "status": {"conditions": listed}})


FRESH, WELL = resource(), resource((READY, "True"), (SYNCED, "True"), ("DriftDetected", "True"))

STOPS = [
    # what is stopped, resource, stop, statuses of the conditions afterwards
    ("an error", WELL, Stop(Reason.TERMINAL_ERROR, "m"), {READY: "False", SYNCED: "False"}),
    ("an outage", WELL, Stop(Reason.RECONCILE_ERROR, "m", passing=True), {READY: "True", SYNCED: "False"}),
    ("an outage at first", FRESH, Stop(Reason.RECONCILE_ERROR, "m", passing=True), {READY: "False", SYNCED: "False"}),
    ("paused", WELL, Stop(Reason.RECONCILE_PAUSED, "m"), {READY: "True", SYNCED: "False"}),
    ("only observed", WELL, Stop(Reason.OBSERVE_ONLY, "m"), {READY: "False", SYNCED: "True"}),
    (
        "not converging",
        WELL,
        Stop(Reason.NOT_CONVERGING, "m", condition="Converging"),
        {READY: "False", SYNCED: "False", "Converging": "False"},
    ),
]


@pytest.mark.parametrize(("found", "stop", "expected"), [pytest.param(*r[1:], id=r[0]) for r in STOPS])
def test_a_stop_turns_conditions(found: Object, stop: Stop, expected: dict[str, str]) -> None:
    told = conditions(found, verdicts_of(stop, conditions_of(found)), NOW)
    assert {each.type: each.status for each in told} == expected


@pytest.mark.parametrize("reason", [Reason.DEPENDENCY_NOT_READY, Reason.RECONCILE_PAUSED])
def test_what_was_not_ready_says_what_it_waits_for_now(reason: Reason) -> None:
    verdict = verdicts_of(Stop(reason, "m", passing=True), conditions_of(resource((READY, "False"))))[READY]
    assert verdict == Verdict("False", reason, "m")


def test_a_condition_that_says_nothing_any_more_goes() -> None:
    told = conditions(WELL, {READY: YES, SYNCED: YES}, NOW)
    assert [each.type for each in told] == [READY, SYNCED]


def test_a_condition_that_is_left_alone_still_speaks_of_the_generation_that_it_was_found_for() -> None:
    (ready,) = conditions(WELL, {READY: None}, NOW)
    assert (ready.status, ready.observed_generation, ready.last_transition_time) == ("True", 1, THEN)


def test_the_time_of_a_condition_moves_with_its_status_alone() -> None:
    (ready,) = conditions(WELL, {READY: YES}, NOW)
    assert (ready.observed_generation, ready.last_transition_time) == (2, THEN)
    (ready,) = conditions(WELL, {READY: Verdict("False", Reason.REPLACED, "m")}, NOW)
    assert ready.last_transition_time == NOW
