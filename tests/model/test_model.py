"""The model test, with an account in this process, and over the real driver: the same runs each time, or those of
MODEL_SEED."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import partial
from pathlib import Path

import hypothesis
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.harness.endpoint import Endpoint
from tests.model.endpoint import SEED as ACCOUNT
from tests.model.endpoint import Remote
from tests.model.machine import Machine

RUNS = int(os.environ.get("MODEL_RUNS", "150"))
STEPS = 25
SEED = os.environ.get("MODEL_SEED")


def run(
    machine: type[RuleBasedStateMachine], runs: int, phases: Collection[hypothesis.Phase] = tuple(hypothesis.Phase)
) -> None:
    """Play a machine.

    Args:
        machine: which one.
        runs: how often, each time from the beginning.
        phases: what else is done; by default, a run that fails is made as short as it can be.
    """
    settings = hypothesis.settings(
        max_examples=runs,
        stateful_step_count=STEPS,
        derandomize=SEED is None,
        # What a run has found is kept as a test, and not in a folder.
        database=None,
        phases=phases,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    seeded = machine if SEED is None else hypothesis.seed(int(SEED))(machine)
    run_state_machine_as_test(seeded, settings=settings)


def test_whatever_happens_nothing_but_what_is_ours_is_touched_and_all_ends_as_declared() -> None:
    run(Machine, RUNS)


def test_the_same_holds_over_the_driver_and_the_protocol(tmp_path: Path) -> None:
    endpoint = Endpoint(tmp_path, ACCOUNT)

    class Wired(Machine):
        account = partial(Remote, endpoint)

    try:
        run(Wired, max(RUNS // 30, 1))
    finally:
        endpoint.stop()
