"""The model test with an account in this process: the same runs each time, or those of MODEL_SEED."""

from __future__ import annotations

import os

import hypothesis
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.model.machine import Machine

RUNS = int(os.environ.get("MODEL_RUNS", "100"))
STEPS = 50
SEED = os.environ.get("MODEL_SEED")


def run(machine: type[RuleBasedStateMachine], runs: int) -> None:
    """Play a machine.

    Args:
        machine: which one.
        runs: how often, each time from the beginning.
    """
    settings = hypothesis.settings(
        max_examples=runs,
        stateful_step_count=STEPS,
        derandomize=SEED is None,
        # What a run has found is kept as a test, and not in a folder.
        database=None,
        deadline=None,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    seeded = machine if SEED is None else hypothesis.seed(int(SEED))(machine)
    run_state_machine_as_test(seeded, settings=settings)


def test_whatever_happens_nothing_but_what_is_ours_is_touched_and_all_ends_as_declared() -> None:
    run(Machine, RUNS)
