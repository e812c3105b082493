"""Our processes during a soak: they are killed, told to end and started again, and their memory is watched."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Protocol

_STARTING_SECONDS = 60.0
"""Until a process is so far as to listen when it is told to end."""

_SETTLING_SECONDS = 60.0
"""After the start of a process, what it needs anyway has been allocated."""

_JUDGED_SECONDS = 60.0
"""By how much longer a process has to live for its growth to tell anything."""

_SAMPLES = 5
"""That the memory at a time is the median of."""

UNHANDLED = ("Traceback (most recent call last)", "was never retrieved", "was never awaited")
"""What logs show of exceptions that nobody has handled."""

_GAVE_UP = "although the Lease is lost; this process ends at once"

_SHOWN_LINES = 40


class Program(Protocol):
    """A process that can be started anew."""

    @property
    def pid(self) -> int: ...

    @property
    def log(self) -> Path: ...

    def begin(self) -> None: ...

    def kill(self) -> None: ...

    def stop(self) -> int: ...


@dataclass
class Life:
    """A process from its start to its end.

    Attributes:
        name: of the program.
        pid: of the process.
        log: where its output goes.
        begun: time of the loop from which on its memory counts.
        samples: (time of the loop, MiB), once it has settled.
    """

    name: str
    pid: int
    log: Path
    begun: float
    samples: list[tuple[float, float]] = field(default_factory=list)

    def sample(self, now: float) -> None:
        """Note how much it holds.

        Raises:
            ProcessLookupError: it has ended.
        """
        mebibytes = _resident(self.pid)
        if now - self.begun >= _SETTLING_SECONDS:
            self.samples.append((now, mebibytes))

    @property
    def growth(self) -> float | None:
        """By which part it has grown; None where it hasn't lived long enough."""
        if not self.samples or self.samples[-1][0] - self.samples[0][0] < _JUDGED_SECONDS:
            return None
        first, last = self._at(self.samples[:_SAMPLES]), self._at(self.samples[-_SAMPLES:])
        return last / first - 1

    @staticmethod
    def _at(samples: Sequence[tuple[float, float]]) -> float:
        return median(mebibytes for _, mebibytes in samples)


def _resident(pid: int) -> float:
    """MiB of memory that a process holds."""
    status = Path(f"/proc/{pid}/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ProcessLookupError(pid)


class Processes:
    """All of them.

    Attributes:
        programs: by name.
        lives: of each process there was.
        restarts: how often one was ended and started again.
        gave_up: how often one has ended by itself because it was held up for longer than its Lease.
        died: those that have ended for another reason.
    """

    def __init__(self, programs: Mapping[str, Program]) -> None:
        self.programs = programs
        self.lives: list[Life] = []
        self.restarts = 0
        self.gave_up = 0
        self.died: list[str] = []
        self._living: dict[str, Life] = {}

    def begin(self, name: str) -> None:
        """Start one, without waiting."""
        program = self.programs[name]
        program.begin()
        self._living[name] = Life(name, program.pid, program.log, asyncio.get_running_loop().time())
        self.lives.append(self._living[name])

    def weigh_from_now(self) -> None:
        """What they have needed so far was for what there was to do at first."""
        for life in self._living.values():
            life.begun = asyncio.get_running_loop().time()
            life.samples.clear()

    async def restart(self, name: str, *, kill: bool) -> list[str]:
        """End one, as a power cut would or in good order, and start it again.

        Returns:
            What was wrong with its end.
        """
        found = await self.end(name, kill=kill)
        self.restarts += 1
        self.begin(name)
        return found

    async def end(self, name: str, *, kill: bool) -> list[str]:
        """End one.

        Returns:
            What was wrong with that.
        """
        program, life = self.programs[name], self._living.pop(name)
        if kill:
            program.kill()
            return []
        old = asyncio.get_running_loop().time() - life.begun > _STARTING_SECONDS
        code = await asyncio.to_thread(program.stop)
        right = {0} if old else {0, -signal.SIGTERM}
        return [] if code in right else [f"{name} ends with {code} when it is told to end"]

    @property
    def living(self) -> tuple[str, ...]:
        """Names of those that run."""
        return tuple(self._living)

    async def sample(self) -> None:
        """Note how much memory they hold, and start again what has ended."""
        for name, life in list(self._living.items()):
            try:
                life.sample(asyncio.get_running_loop().time())
            except ProcessLookupError:
                self._ended(life)
                self.begin(name)

    def _ended(self, life: Life) -> None:
        last = life.log.read_text().splitlines()[-_SHOWN_LINES:]
        if last and _GAVE_UP in last[-1]:
            self.gave_up += 1
        else:
            self.died.append("\n".join([f"{life.name} has ended by itself; the last that it said:", *last]))

    def unhandled(self) -> list[str]:
        """What their logs show of exceptions that nobody has handled: the first of each, with what follows it."""
        found = []
        for log in sorted({life.log for life in self.lives}):
            lines = log.read_text().splitlines()
            hits = [at for at, line in enumerate(lines) if any(each in line for each in UNHANDLED)]
            if hits:
                shown = "\n".join(lines[max(0, hits[0] - 1) : hits[0] + _SHOWN_LINES])
                found.append(f"{len(hits)} unhandled exceptions in {log.name}, first\n{shown}")
        return found
