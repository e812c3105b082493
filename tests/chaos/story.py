"""A story: an operation on an object of one kind, told once undisturbed, and again for each death of the process."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from freehold.kinds.kind import Kind
from tests.chaos.account import STRANGERS, Parts, Row
from tests.chaos.case import Case
from tests.chaos.gate import Death, Request, Timing
from tests.chaos.operations import SECONDS, Operation
from tests.chaos.waiting import TimedOut, eventually

_QUIET_SECONDS = 0.5
"""Without a request for that long, a process has done what it had to."""

_NAME_TAKEN = "CREATE 002002"


class Missed(Exception):
    """The process has done all it had to, without the request that it was to die of."""


class Variant(StrEnum):
    """What else is the case."""

    PLAIN = "plain"
    """The role sees everything, and nobody interferes."""
    TAKEN = "taken"
    """While no process lives, a stranger puts an object of its own in the place of ours."""
    BLIND = "blind"
    """The role doesn't see everything, so that it can't prove absence."""


@dataclass(frozen=True)
class Recording:
    """What an undisturbed run was like.

    Attributes:
        requests: what the process sent.
        state: what there was afterwards.
        outcomes: of the statements that change something, by verb and outcome.
    """

    requests: Sequence[Request]
    state: Mapping[str, Any]
    outcomes: Counter[str]


@dataclass(frozen=True)
class Story:
    """What is done to what.

    Attributes:
        kind: the object's kind.
        operation: what is done.
        variant: what else is the case.
    """

    kind: Kind
    operation: Operation
    variant: Variant

    def __str__(self) -> str:
        return f"{self.kind.name} {self.operation.name} {self.variant}"

    def deaths(self, recording: Recording) -> Iterator[Death]:
        """The deaths that it is told again for: of each request, beside the plain variant of those that write."""
        plain = self.variant is Variant.PLAIN
        for each in recording.requests:
            if plain or each.writes:
                yield Death(each, Timing.BEFORE)
                yield Death(each, Timing.AFTER)
            if plain and each.writes and each.statement:
                yield Death(each, Timing.LATE)

    async def record(self, case: Case) -> Recording:
        """Tell it undisturbed.

        Raises:
            TimedOut: it doesn't end, although nobody dies.
        """
        await self._begin(case, None)
        await eventually(lambda: self.operation.done(case), SECONDS, f"an undisturbed {self.operation.name} to end")
        await eventually(lambda: _quiet(case), SECONDS, "the process to have nothing more to do")
        recording = Recording(tuple(case.lane.gate.passed), await case.state(), await case.outcomes())
        await _end(case)
        return recording

    async def tell(self, case: Case, death: Death, recording: Recording) -> list[str]:
        """Tell it with a death in it.

        Returns:
            What was violated.
        """
        try:
            beside = await self._begin(case, death)
            await self._die(case, death)
            found = await self._go_on(case, death, recording) + await _strays(case, beside)
        except TimedOut as late:
            found = [f"{late}\n{_unlike(await case.state(), recording.state)}"]
        if not found:
            await _end(case)
        return found

    async def _begin(self, case: Case, death: Death | None) -> Mapping[Parts, Row]:
        """Do what the operation asks for.

        Returns:
            Objects of strangers that look like ours.
        """
        lane, operation = case.lane, self.operation
        for parts in case.lookalikes:
            await case.make(parts)
        beside = await case.rows()
        if operation.before:
            await operation.before(case)
        if operation.prepare:
            lane.gate.watch(case.told, None, lane.kill)
            lane.start(case.kind)
            await operation.prepare(case)
        lane.gate.watch(case.told, death, lane.kill)
        await operation.act(case)
        if not operation.prepare:
            lane.start(case.kind)
        return beside

    async def _die(self, case: Case, death: Death) -> None:
        """Wait for the death.

        Raises:
            Missed: there was no such request.
        """
        died = case.lane.gate.died

        async def died_or_done() -> bool:
            return died.is_set() or (await self.operation.done(case) and await _quiet(case))

        await eventually(died_or_done, SECONDS, "the process to die, or to have done its part")
        if not died.is_set():
            await _end(case)
            raise Missed(f"an undisturbed run has the request {death.request}, and this one doesn't")

    async def _go_on(self, case: Case, death: Death, recording: Recording) -> list[str]:
        """What happens while no process lives, and then the next one.

        Returns:
            What was violated.
        """
        lane = case.lane
        theirs: Row | None = None
        if self.variant is Variant.TAKEN:
            await case.make(case.parts, replace=True)
            theirs = (await case.rows())[case.parts]
        await lane.let_the_lease_end(case.kind)
        lane.start(case.kind)
        if death.timing is Timing.LATE:

            async def looked() -> bool:
                # Who knows of a DROP that may be under way waits without a look.
                return lane.gate.looked.is_set() or await lane.has_worked_on(case.kind)

            await eventually(looked, SECONDS, "the next process to look")
            await lane.gate.deliver()
        if theirs is not None:
            return await _left_alone(case, theirs)
        return await self._as_recorded(case, recording)

    async def _as_recorded(self, case: Case, recording: Recording) -> list[str]:
        """Wait for the end of an undisturbed run, and compare all there is.

        Returns:
            What was violated.
        """

        async def same() -> bool:
            found = await case.resources()
            if found != recording.state["resources"]:
                return await self._rightly_invisible(case)
            # The status may be the dead process's: the next one has to be content with it, too.
            return not found or await case.lane.has_worked_on(case.kind)

        await eventually(same, SECONDS, "the end of an undisturbed run")
        if await self._rightly_invisible(case):
            await case.annotate("a", "abandon-on-delete", "true")
            return await _gone(case)
        state, outcomes = await case.state(), await case.outcomes()
        found = [
            f"{each}: {outcomes[each]} times, and {recording.outcomes[each]} times in an undisturbed run"
            for each in ("CREATE ok", "DROP ok")
            if outcomes[each] != recording.outcomes[each]
        ]
        if state != recording.state:
            found.append(f"it doesn't end as an undisturbed run\n{_unlike(state, recording.state)}")
        refused = {outcome for outcome in outcomes if not outcome.endswith(" ok")}
        if unexpected := sorted(refused - recording.outcomes.keys() - {_NAME_TAKEN}):
            found.append(f"refused: {', '.join(unexpected)}")
        return found

    async def _rightly_invisible(self, case: Case) -> bool:
        """Whether the resource says that it can't be told whether its object is gone, which it is by our DROP."""
        if self.variant is not Variant.BLIND or (await case.ready())[0] != "NotVisible":
            return False
        return (await case.outcomes())["DROP ok"] > 0 and case.parts not in await case.rows()


async def _quiet(case: Case) -> bool:
    return asyncio.get_running_loop().time() - case.lane.gate.quiet_since > _QUIET_SECONDS


async def _left_alone(case: Case, theirs: Row) -> list[str]:
    """Wait until a stranger's object in our place is left alone, and have the resources go without it.

    Returns:
        What was violated.
    """

    async def told() -> bool:
        standing = await case.standing()
        reasons = {(await case.ready(each))[0] for each in standing}
        return reasons <= STRANGERS and (not standing or await case.lane.has_worked_on(case.kind))

    await eventually(told, SECONDS, "the stranger's object to be told of")
    found = await _gone(case)
    if (await case.rows()).get(case.parts) != theirs:
        found.append("the stranger's object in our place was touched")
    return found


async def _gone(case: Case) -> list[str]:
    """Have the resources go, whatever becomes of the object.

    Returns:
        What was violated.
    """

    async def gone() -> bool:
        return not await case.standing()

    for each in await case.standing():
        await case.delete(each)
    await eventually(gone, SECONDS, "the resources to go")
    return [f"a claim is left: {each.spec}" for each in await case.claims()]


async def _strays(case: Case, beside: Mapping[Parts, Row]) -> list[str]:
    """What was done to anything but our object."""
    rows, ours = await case.rows(), f" {case.kind.target(case.parts).name.text}"
    touched = [
        f"a stranger's object was touched: {'.'.join(each)}" for each in beside if rows.get(each) != beside[each]
    ]
    return touched + [
        f"not about our object: {each}" for each in await case.sent() if not each.reads and ours not in each.text
    ]


async def _end(case: Case) -> None:
    case.lane.kill()
    await case.lane.let_the_lease_end(case.kind)
    await case.clear()


def _unlike(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    before, after = (json.dumps(each, indent=1, ensure_ascii=False).splitlines() for each in (expected, found))
    return "\n".join(difflib.unified_diff(before, after, "undisturbed", "found", n=1, lineterm=""))
