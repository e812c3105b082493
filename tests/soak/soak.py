"""A soak from its beginning to its end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random

from tests.soak.deeds import Deeds
from tests.soak.end import End
from tests.soak.faults import Faults
from tests.soak.installation import Installation
from tests.soak.people import People
from tests.soak.population import NAMESPACES, population
from tests.soak.processes import Processes
from tests.soak.strangers import Strangers

_DEEDS_A_SECOND, _FAULTS_A_SECOND, _SAMPLES_A_SECOND = 4.0, 0.5, 0.2

_LOOKALIKES = 10
"""Places beside which there are objects that may be taken for theirs."""

_RESTARTS = (
    (0.15, "account controller", True),
    (0.2, "schema controller", True),
    (0.3, "webhook 2", True),
    (0.4, "account controller", False),
    (0.45, "schema controller", False),
    (0.5, "webhook 2", False),
)
"""After which part of the time what is started anew, and whether it is killed or told to end."""

_OUTAGE = 0.6
"""After which part of the time Snowflake is silent for a while."""

_TOLD = 20
"""Violations of a stage that are told one by one."""

_MOST_GROWTH = 0.1
"""Of the memory of a process."""


class Soak:
    """Resources among people, strangers, faults and restarts.

    Attributes:
        places: of the resources.
        violations: what was wrong.
        deeds: what was done, by name.
        faults: what went wrong, by name.
        restarts: of processes.
        gave_up: processes that were held up for longer than their Lease, and ended.
        memory: (process, MiB at its end, growth since its first minute) of those that have lived long enough.
    """

    def __init__(self, resources: int, seconds: float, seed: int, stage: Callable[[str], None]) -> None:
        """
        Args:
            resources: how many may be declared.
            seconds: from the moment when all are ready until the last disturbance.
            seed: has the same things done, in the order in which the machine's pace lets them.
            stage: is told what goes on.
        """
        self.places = population(resources)
        self.violations: list[str] = []
        self.deeds: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.restarts = self.gave_up = 0
        self.memory: list[tuple[str, float, float]] = []
        self._seconds = seconds
        self._seed = seed
        self._stage = stage

    async def run(self) -> None:
        """Run it."""
        self._stage("starting everything")
        async with Installation(NAMESPACES) as installation:
            processes = installation.processes
            people = People(installation.kube, self.places, self._random("people"))
            strangers = Strangers(installation.endpoint, people, self._random("strangers"))
            end = End(installation, people, strangers, self.places, installation.endpoint.sequence, self._stage)
            sampling = asyncio.create_task(self._throughout(_SAMPLES_A_SECOND, processes.sample))
            await self._live(installation, people, strangers, end)
            sampling.cancel()
            self.violations += people.wronged + processes.died
            for name in processes.living:
                self.violations += await processes.end(name, kill=False)
            self.violations += processes.unhandled()
            self.restarts, self.gave_up = processes.restarts, processes.gave_up
            self._weigh(processes)

    async def _live(self, installation: Installation, people: People, strangers: Strangers, end: End) -> None:
        self._stage(f"declaring {len(self.places)} resources")
        await people.begin()
        alone = [place for place in self.places if not place.within]
        for place in self._random("lookalikes").sample(alone, min(_LOOKALIKES, len(alone))):
            await strangers.look_alike(place)
        steps = {
            "waiting until all are ready": end.settle,
            "disturbing them": lambda: self._disturb(installation, people, strangers),
            "waiting until all have settled": end.settle,
            "following the advice of conditions": end.follow_advice,
            "deleting everything": end.leave,
        }
        for stage, step in steps.items():
            self._stage(stage)
            if found := await step():
                more = [f"and {len(found) - _TOLD} more"] if len(found) > _TOLD else []
                self.violations += [f"while {stage}: {each}" for each in [*found[:_TOLD], *more]]
                break

    async def _disturb(self, installation: Installation, people: People, strangers: Strangers) -> list[str]:
        deeds = Deeds([*people.deeds, *strangers.deeds], self.places, self._random("deeds"))
        faults = Faults(installation.endpoint, self._random("faults"))
        found: list[str] = []
        installation.processes.weigh_from_now()

        async def deed() -> None:
            await deeds.next()
            self._stage(f"{deeds.counts.total()} deeds and {faults.counts.total()} faults so far")

        async def restart(part: float, name: str, *, kill: bool) -> None:
            await asyncio.sleep(part * self._seconds)
            found.extend(await installation.processes.restart(name, kill=kill))

        async def outage() -> None:
            await asyncio.sleep(_OUTAGE * self._seconds)
            await faults.outage()

        async with asyncio.TaskGroup() as group:
            for part, name, kill in _RESTARTS:
                group.create_task(restart(part, name, kill=kill))
            group.create_task(outage())
            for rate, act in ((_DEEDS_A_SECOND, deed), (_FAULTS_A_SECOND, faults.strike)):
                group.create_task(self._throughout(rate, act, self._seconds))
        await faults.end()
        self.deeds, self.faults = deeds.counts, faults.counts
        return found

    async def _throughout(self, rate: float, act: Callable[[], Awaitable[None]], seconds: float | None = None) -> None:
        """Let something happen again and again, so often a second, for so long or until it is cancelled."""
        loop, random = asyncio.get_running_loop(), self._random(act.__qualname__)
        until = None if seconds is None else loop.time() + seconds
        while until is None or loop.time() < until:
            await asyncio.sleep(random.expovariate(rate))
            await act()

    def _weigh(self, processes: Processes) -> None:
        for life in processes.lives:
            if life.growth is not None:
                self.memory.append((life.name, life.samples[-1][1], life.growth))
        self.violations += [
            f"{name} has grown by {growth:.0%} to {mebibytes:.0f} MiB since its first minute"
            for name, mebibytes, growth in self.memory
            if growth > _MOST_GROWTH
        ]

    def _random(self, what: str) -> Random:
        return Random(f"{self._seed} {what}")  # noqa: S311  # no secret
