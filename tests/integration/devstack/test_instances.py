"""Ending instances ends those that are meant, cleans up what is dead, and leaves all others alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from freehold_devstack import cli, instance
from freehold_devstack.errors import AlreadyRunningError
from freehold_devstack.instance import Ended
from freehold_devstack.prerequisites import Tier
from freehold_devstack.processes import ProcessId
from freehold_devstack.state import Record, State


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., ProcessId]]:
    """Starts what passes for an instance: a process of which its record says that it is the supervisor."""
    monkeypatch.setenv("FREEHOLD_CACHE", str(tmp_path))
    with ExitStack() as started:

        def start(name: str, owner: int | None = None, tier: Tier = Tier.CONTROL_PLANE) -> ProcessId:
            process = started.enter_context(subprocess.Popen(("sleep", "60")))
            started.callback(process.kill)
            supervisor = ProcessId.of(process.pid)
            State(name).create()
            owned_by = ProcessId.of(owner) if owner else None
            State(name).save_record(Record(tier, supervisor, "https://127.0.0.1:1", "/absent", owned_by))
            return supervisor

        yield start


def test_one_is_ended_by_name_and_what_is_dead_is_cleaned_up(
    start: Callable[..., ProcessId], capsys: pytest.CaptureFixture[str]
) -> None:
    demo, mine, dead = start("demo"), start("mine"), start("dead")
    dead.kill()
    cli.down("demo")
    assert capsys.readouterr().err == "dead: leftovers of a run that was killed: removed\ndemo: ended\n"
    assert (demo.alive, mine.alive) == (False, True)
    assert [left.name for left in instance.instances()] == ["mine"]


def test_without_a_name_all_are_ended_but_those_of_runs_in_progress(start: Callable[..., ProcessId]) -> None:
    start("mine")
    owned = start("tests", owner=os.getpid())
    assert instance.end() == [Ended("mine", killed=False)]
    assert owned.alive


def test_no_environment_is_printed_that_would_not_reach_the_instance(
    start: Callable[..., ProcessId], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start("nodes", tier=Tier.CLUSTER)
    monkeypatch.setattr(sys, "argv", ["devstack", "env", "--name", "nodes"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (1, "")
    assert "devstack kubectl`" in printed.err


def test_an_instance_in_the_way_is_ended_by_the_command_that_the_error_names() -> None:
    command = str(AlreadyRunningError("demo")).split("`")[1].split()
    assert Path(command[0]).exists()
    assert command[1:] == ["down", "--name", "demo"]
