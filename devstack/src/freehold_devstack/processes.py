"""Processes that never outlive what they belong to: tied to their parent's life, known by more than a number."""

import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from freehold_devstack.errors import StartError

WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
"""Prefix of a command that the kernel kills when the thread that started it ends (PR_SET_PDEATHSIG)."""


@dataclass(frozen=True)
class ProcessId:
    """A process by number and start time, so that a number given again to another process is never mistaken for it.

    Attributes:
        pid: the process's number.
        start: its start in clock ticks since boot, field 22 of /proc/PID/stat.
    """

    pid: int
    start: int

    @classmethod
    def of(cls, pid: int) -> "ProcessId":
        """The process that has this number now.

        Raises:
            ProcessLookupError: there is none.
        """
        stat = _stat(pid)
        if stat is None:
            raise ProcessLookupError(pid)
        return cls(pid, stat.start)

    @property
    def alive(self) -> bool:
        """Whether it runs; a zombie, which only waits to be reaped, does not."""
        stat = _stat(self.pid)
        return stat is not None and stat.start == self.start and stat.state not in "ZX"

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process is gone."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            if self.alive:
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return
        finally:
            os.close(descriptor)

    def wait(self, seconds: float) -> bool:
        """Wait until it is gone; says whether that happened in time."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            return not self.alive or bool(select.select([descriptor], [], [], seconds)[0])
        finally:
            os.close(descriptor)

    def kill(self) -> None:
        """End the process and all its descendants at once, and wait until they are gone."""
        tree = [self, *_descendants(self.pid)] if self.alive else []
        for process in tree:
            process.signal(signal.SIGKILL)
        for process in tree:
            process.wait(10)


@dataclass(frozen=True)
class _Stat:
    state: str
    parent: int
    start: int


def _stat(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the command's name before it may hold spaces and brackets
    return _Stat(state=fields[0], parent=int(fields[1]), start=int(fields[19]))


def _descendants(pid: int) -> list[ProcessId]:
    stats = {int(entry.name): _stat(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdecimal()}
    found: list[ProcessId] = []
    parents = {pid}
    while parents:
        children = {child: stat for child, stat in stats.items() if stat and stat.parent in parents}
        found += [ProcessId(child, stat.start) for child, stat in children.items()]
        parents = set(children)
    return found


def until(condition: Callable[[], bool], seconds: float, what: str, remedy: Callable[[], str] = str) -> None:
    """Wait for a condition.

    Args:
        condition: asked again and again until it holds.
        seconds: the deadline.
        what: what is waited for, as a noun and a state ("the API server to be ready").
        remedy: where to look when it does not come; only asked for then.

    Raises:
        StartError: the deadline has passed.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise StartError(f"waited {seconds:.0f} s in vain for {what}", remedy())
        time.sleep(0.05)
