"""Processes are known by more than their number, and end with all that they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from freehold_devstack.errors import StartError
from freehold_devstack.processes import WITH_PARENT, ProcessId, until


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A shell with a child."""
    with subprocess.Popen(("sh", "-c", "sleep 60 & wait")) as process:
        yield process
        process.kill()


def child_of(pid: int) -> ProcessId:
    found: list[str] = []

    def has_child() -> bool:
        listed = subprocess.run(("pgrep", "--parent", str(pid)), capture_output=True, text=True, check=False)
        found[:] = listed.stdout.split()
        return bool(found)

    until(has_child, 5, "a child")
    return ProcessId.of(int(found[0]))


def test_a_process_is_killed_with_its_descendants(sleeper: subprocess.Popen[bytes]) -> None:
    process, child = ProcessId.of(sleeper.pid), child_of(sleeper.pid)
    process.kill()
    assert not process.alive
    assert not child.alive


def test_a_number_that_was_given_again_is_left_alone(sleeper: subprocess.Popen[bytes]) -> None:
    process = ProcessId.of(sleeper.pid)
    earlier = replace(process, start=process.start - 1)
    assert not earlier.alive
    earlier.signal(signal.SIGKILL)
    earlier.kill()
    assert process.alive
    assert sleeper.poll() is None


def test_a_zombie_is_not_alive(sleeper: subprocess.Popen[bytes]) -> None:
    process = ProcessId.of(sleeper.pid)
    os.kill(sleeper.pid, signal.SIGKILL)
    assert process.wait(5)
    assert not process.alive


def test_a_process_without_a_number_is_gone() -> None:
    gone = ProcessId(2**22 + 1, 1)  # above the kernel's greatest number
    gone.signal(signal.SIGKILL)
    assert gone.wait(0)
    with pytest.raises(ProcessLookupError):
        ProcessId.of(gone.pid)


def test_a_process_tied_to_its_parent_dies_with_it() -> None:
    program = f"import subprocess; print(subprocess.Popen({(*WITH_PARENT, 'sleep', '60')!r}).pid, flush=True); input()"
    with subprocess.Popen(
        (sys.executable, "-c", program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        child = ProcessId.of(int(parent.stdout.readline()))
        # Only then it is tied: whoever ties a process replaces itself by it.
        until(lambda: Path(f"/proc/{child.pid}/comm").read_text() == "sleep\n", 30, "the child to be itself")
        parent.kill()
    until(lambda: not child.alive, 30, "the child to be gone")


def test_waiting_ends_with_the_condition_or_says_what_was_waited_for() -> None:
    event = threading.Event()
    threading.Timer(0.1, event.set).start()
    until(event.is_set, 5, "the event")
    with pytest.raises(StartError, match=r"in vain for the moon to fall\nlook up"):
        until(lambda: False, 0, "the moon to fall", lambda: "look up")
