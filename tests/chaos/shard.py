"""A shard: its part of all stories, told in lanes side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from freehold.kinds.kind import Kind
from freehold.kube.errors import ApiError
from freehold_devstack.snowflake.control_client import RefusedError
from tests.chaos.case import Case
from tests.chaos.gate import Death
from tests.chaos.lane import Lane
from tests.chaos.operations import OPERATIONS, Operation
from tests.chaos.samples import killed_kinds
from tests.chaos.story import Missed, Recording, Story, Variant
from tests.chaos.waiting import TimedOut
from tests.chaos.world import World


@dataclass
class Tally:
    """What came of a story.

    Attributes:
        story: the story.
        points: requests that the undisturbed process sent.
        planned: runs that follow from these.
        runs: how often it was told with a death.
        missed: how often the request to die of was only a look that a busy process takes together with another one.
        violations: (death, what was violated).
    """

    story: Story
    points: int = 0
    planned: int = 0
    runs: int = 0
    missed: int = 0
    violations: list[tuple[Death | None, str]] = field(default_factory=list)


Job = TypeVar("Job")

Wanted = Callable[[Story, Death], bool]
"""Which deaths are told."""

Report = Callable[[Tally, Death | None, str | None], None]
"""Takes a tally that has changed, and what was violated by which death, if anything was."""


def stories(kinds: Iterable[Kind] | None = None) -> list[Story]:
    """All there are of some kinds; of those that take part, if it isn't said of which."""
    told = killed_kinds() if kinds is None else tuple(kinds)
    return [
        Story(kind, operation, variant)
        for variant in Variant
        for kind in told
        for operation in OPERATIONS
        if operation.fits(kind) and _differs(variant, kind, operation)
    ]


def _differs(variant: Variant, kind: Kind, operation: Operation) -> bool:
    """Whether a variant has an end of its own that can be told from others."""
    if variant is Variant.TAKEN:
        return not operation.adopts
    # Who doesn't see all can't say that nothing is inside, and drops only what he is told to destroy.
    return variant is Variant.PLAIN or operation.name not in ("delete", "force-new") or not kind.content


class Shard:
    """Tells stories.

    Attributes:
        tallies: what came of each, in order.
    """

    def __init__(self, told: Iterable[Story], wanted: Wanted, report: Report) -> None:
        """
        Args:
            told: the stories.
            wanted: which of their deaths.
            report: is told of each step.
        """
        self.tallies = [Tally(story) for story in told]
        self._wanted = wanted
        self._report = report
        self._number = 0

    async def run(self, world: World) -> None:
        """Tell all stories."""
        runs: list[tuple[Tally, Death, Recording]] = []

        async def record(tally: Tally, lane: Lane) -> None:
            runs.extend(await self._record(tally, self._case(tally, lane, world)))

        async def run(job: tuple[Tally, Death, Recording], lane: Lane) -> None:
            tally, death, recording = job
            await self._run(tally, self._case(tally, lane, world), death, recording)

        await _side_by_side(world.lanes, self.tallies, record)
        # Whoever ends it early has seen something of everything.
        Random(0).shuffle(runs)  # noqa: S311  # no secret
        await _side_by_side(world.lanes, runs, run)

    def _case(self, tally: Tally, lane: Lane, world: World) -> Case:
        self._number += 1
        token, blind = f"C{self._number:04X}", tally.story.variant is Variant.BLIND
        return Case(lane, world.endpoint, tally.story.kind, token, world.endpoint.sequence, blind)

    async def _record(self, tally: Tally, case: Case) -> Sequence[tuple[Tally, Death, Recording]]:
        """Tell a story undisturbed; answers with the runs that follow from it."""
        try:
            recording = await tally.story.record(case)
        except (TimedOut, ApiError, RefusedError) as error:
            await self._give_up(tally, case, None, [str(error)])
            return ()
        deaths = [each for each in tally.story.deaths(recording) if self._wanted(tally.story, each)]
        tally.points, tally.planned = len(recording.requests), len(deaths)
        self._report(tally, None, None)
        return [(tally, each, recording) for each in deaths]

    async def _run(self, tally: Tally, case: Case, death: Death, recording: Recording) -> None:
        try:
            violations = await tally.story.tell(case, death, recording)
        except Missed as missed:
            tally.missed += not death.request.writes
            violations = [str(missed)] if death.request.writes else []
        except (ApiError, RefusedError) as error:
            violations = [repr(error)]
        tally.runs += 1
        if violations:
            await self._give_up(tally, case, death, violations)
        self._report(tally, None, None)

    async def _give_up(self, tally: Tally, case: Case, death: Death | None, violations: Sequence[str]) -> None:
        """Tell what went wrong, and go on elsewhere: what it has left is in nobody's way there."""
        case.lane.kill()
        tally.violations.append((death, "\n".join([*violations, *case.lane.last_lines()])))
        self._report(tally, *tally.violations[-1])
        await case.lane.let_the_lease_end(case.kind)
        await case.lane.renew()


async def _side_by_side(lanes: Sequence[Lane], jobs: Iterable[Job], do: Callable[[Job, Lane], Awaitable[None]]) -> None:
    """Do all jobs, one at a time in each lane."""
    left = iter(jobs)

    async def work(lane: Lane) -> None:
        for job in left:
            await do(job, lane)

    async with asyncio.TaskGroup() as working:
        for lane in lanes:
            working.create_task(work(lane))
