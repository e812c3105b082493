"""Workers: what becomes of a key after each way that a reconcile may end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest

from freehold import urgency
from freehold.kube.backoff import Backoff
from freehold.kube.errors import Conflict
from freehold.kube.objects import Key
from freehold_controllers.runtime.lines import Lines, Priority, Workers
from freehold_controllers.runtime.member import NotActive
from freehold_controllers.runtime.queue import Queue
from freehold_controllers.runtime.work import Done, Forget, Result, Unfinished, work

KEY = Key("Thing", "n", "a")


@dataclass(frozen=True)
class Back:
    """How a key was given back."""

    again: float | None = None
    failed: bool = False
    earlier: int = 0


class Given(Queue):
    """A queue that notes how keys are given back, and is closed then."""

    def __init__(self) -> None:
        super().__init__(Backoff(first=1, most=1), Lines(Workers(own=1, pool=0)))
        self.back: Back | None = None

    def done(self, _key: Key, *, again: float | None = None) -> None:
        self.back = Back(again)
        self.close()

    def failed(self, _key: Key, *, earlier: int = 0) -> None:
        self.back = Back(failed=True, earlier=earlier)
        self.close()


async def outcome(result: Result | BaseException) -> Back | None:
    async def reconcile(key: Key, _not_before: float) -> Result:
        assert key == KEY
        if isinstance(result, BaseException):
            raise result
        return result

    queue = Given()
    queue.add(KEY)
    await asyncio.wait_for(work(queue, reconcile, timedelta(seconds=300)), 10)
    return queue.back


@pytest.mark.parametrize(
    ("result", "least", "most"),
    [
        (Done(), 270, 330),
        (Done(every=timedelta(minutes=1)), 54, 66),
        (Done(resync=timedelta(minutes=30)), 1800, 3600),
    ],
    ids=["default", "its own", "rarely"],
)
async def test_what_is_done_comes_back_at_a_spread_resync(result: Done, least: float, most: float) -> None:
    for _ in range(20):
        back = await outcome(result)
        assert back is not None
        assert back.again is not None
        assert least <= back.again <= most


async def test_what_is_not_to_be_hurried_waits_half_a_minute_at_first_and_then_ever_longer() -> None:
    slow = await outcome(Unfinished("unheard of", slowly=True))
    assert slow is not None
    assert slow.failed
    assert Backoff(first=1, most=900, random=lambda: 0).delay(slow.earlier + 1) == 32


async def test_what_is_gone_does_not_come_back() -> None:
    assert await outcome(Forget()) == Back()


@pytest.mark.parametrize(
    ("error", "trace"),
    [
        (Unfinished("no such role yet"), False),
        (Conflict(409, "Conflict", "changed"), False),
        (NotActive("lost"), False),
        (ZeroDivisionError(), True),
    ],
)
async def test_failures_back_off_and_only_bugs_leave_a_trace(
    error: Exception, *, trace: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert await outcome(error) == Back(failed=True)
    assert ("Traceback" in caplog.text) is trace


async def test_a_reconcile_that_hangs_gives_its_worker_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freehold_controllers.runtime.work.LONGEST", timedelta(seconds=0.01))

    async def hang(_key: Key, _not_before: float) -> Done:
        await asyncio.Event().wait()
        return Done()

    queue = Given()
    queue.add(KEY)
    await asyncio.wait_for(work(queue, hang, timedelta(seconds=300)), 10)
    assert queue.back == Back(failed=True)


@pytest.mark.parametrize("priority", [Priority.CHANGE, Priority.RESYNC])
async def test_what_a_key_is_worked_on_for_is_as_urgent_wherever_it_waits(priority: Priority) -> None:
    ranks: list[float] = []

    async def reconcile(_key: Key, _not_before: float) -> Result:
        ranks.append(urgency.present().rank)
        return Done()

    queue = Given()
    queue.add(KEY, priority)
    await asyncio.wait_for(work(queue, reconcile, timedelta(seconds=300)), 10)
    assert ranks == [priority]
    assert urgency.present().rank == 0
