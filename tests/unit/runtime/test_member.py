"""Membership: one active member, and never two, whatever the Lease and the work do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

import pytest

from freehold.kube.errors import Unavailable
from freehold.kube.lease import NEVER, Lease
from freehold_controllers.runtime.member import Member, NotActive
from tests.unit.kube.script import until


class Scripted(Lease):
    """A Lease in memory that lasts 0.3 s and does what the test says."""

    def __init__(self) -> None:
        self.duration = timedelta(seconds=0.3)
        self.clock = time.monotonic
        self.expires = NEVER
        self.answer: Callable[[], bool] = lambda: True
        self.attempts = 0
        self.released = 0

    async def acquire(self) -> bool:
        self.attempts += 1
        begun = self.clock()
        held = self.answer()
        self.expires = begun + 0.3 if held else NEVER
        return held

    async def release(self) -> None:
        self.released += 1
        self.expires = NEVER


def unavailable() -> NoReturn:
    raise Unavailable(0, "", "no answer")


class Work:
    """What a member does while it is active."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.was_cancelled = False

    async def lead(self, stop: asyncio.Event) -> None:
        self.begun.set()
        try:
            await stop.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        finally:
            self.ended.set()


@pytest.fixture
def lease() -> Scripted:
    return Scripted()


@pytest.fixture
def stop() -> asyncio.Event:
    return asyncio.Event()


async def finished(task: asyncio.Task[None]) -> None:
    await asyncio.wait_for(task, 10)


async def test_an_active_member_renews_until_it_is_stopped_and_then_releases(
    lease: Scripted, stop: asyncio.Event
) -> None:
    member, job = Member(lease), Work()
    running = asyncio.create_task(member.run(job.lead, stop))
    await asyncio.wait_for(job.begun.wait(), 10)
    renewed = lease.attempts + 10  # 0.6 s, twice the duration
    async with asyncio.timeout(10):
        while lease.attempts < renewed:
            member.require_active()
            await asyncio.sleep(0.01)
    stop.set()
    await finished(running)
    assert (job.was_cancelled, lease.released) == (False, 1)


async def test_an_idle_member_waits_and_may_not_act(lease: Scripted, stop: asyncio.Event) -> None:
    member, job = Member(lease), Work()
    lease.answer = lambda: lease.attempts > 3
    running = asyncio.create_task(member.run(job.lead, stop))
    with pytest.raises(NotActive):
        member.require_active()
    await asyncio.wait_for(job.begun.wait(), 10)
    assert lease.attempts == 4
    stop.set()
    await finished(running)


@pytest.mark.parametrize("answer", [unavailable, lambda: False], ids=["no answer", "taken by another"])
async def test_work_is_cancelled_before_the_lease_could_be_anothers(
    lease: Scripted, stop: asyncio.Event, answer: Callable[[], bool]
) -> None:
    member, job = Member(lease), Work()
    running = asyncio.create_task(member.run(job.lead, stop))
    await asyncio.wait_for(job.begun.wait(), 10)
    expires = lease.expires
    lease.answer = answer
    await asyncio.wait_for(job.ended.wait(), 10)
    assert job.was_cancelled
    assert time.monotonic() < max(expires, lease.expires)
    with pytest.raises(NotActive):
        member.require_active()
    job.begun.clear()
    lease.answer = lambda: True
    await asyncio.wait_for(job.begun.wait(), 10)
    stop.set()
    await finished(running)


async def test_a_member_begins_only_once_nobody_else_works_where_it_would(lease: Scripted, stop: asyncio.Event) -> None:
    why: str | None = "another release works here"
    looked = 0

    async def rival() -> str | None:
        nonlocal looked
        looked += 1
        return why

    member, job = Member(lease, rival=rival), Work()
    running = asyncio.create_task(member.run(job.lead, stop))
    await until(lambda: looked > 3)
    assert (member.hindrance, lease.attempts, job.begun.is_set()) == (why, 0, False)
    why = None
    await asyncio.wait_for(job.begun.wait(), 10)
    assert member.hindrance is None
    stop.set()
    await finished(running)


async def test_a_member_gives_the_lease_back_when_somebody_has_begun_meanwhile(
    lease: Scripted, stop: asyncio.Event
) -> None:
    async def rival() -> str | None:
        return "another release works here" if lease.attempts else None

    member, job = Member(lease, rival=rival), Work()
    running = asyncio.create_task(member.run(job.lead, stop))
    await until(lambda: lease.released > 0)
    assert not job.begun.is_set()
    assert not member.active
    stop.set()
    await finished(running)


async def test_a_member_that_can_not_look_for_others_does_not_begin(lease: Scripted, stop: asyncio.Event) -> None:
    async def rival() -> str | None:
        unavailable()

    member, job = Member(lease, rival=rival), Work()
    running = asyncio.create_task(member.run(job.lead, stop))
    await until(lambda: "it can't be told" in (member.hindrance or ""))
    assert (lease.attempts, job.begun.is_set()) == (0, False)
    stop.set()
    await finished(running)


async def test_a_hanging_renewal_is_given_up_in_time(lease: Scripted, stop: asyncio.Event) -> None:
    member, job = Member(lease), Work()
    running = asyncio.create_task(member.run(job.lead, stop))
    await asyncio.wait_for(job.begun.wait(), 10)

    async def hang() -> bool:
        await asyncio.Event().wait()
        return True

    lease.acquire = hang  # type: ignore[method-assign]  # the fault
    await asyncio.wait_for(job.ended.wait(), 10)
    assert time.monotonic() < lease.expires or lease.released
    stop.set()
    await finished(running)


async def test_work_that_cant_be_stopped_ends_the_process(lease: Scripted, stop: asyncio.Event) -> None:
    ended = asyncio.Event()

    async def stubborn(_stop: asyncio.Event) -> None:
        while not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError:
                continue

    member = Member(lease, end=lambda _code: ended.set())
    running = asyncio.create_task(member.run(stubborn, stop))
    await until(lambda: member.active)
    lease.answer = lambda: False
    stop.set()
    await asyncio.wait_for(ended.wait(), 10)
    await finished(running)


async def test_a_crash_of_the_work_releases_the_lease_and_is_raised(lease: Scripted, stop: asyncio.Event) -> None:
    async def crash(_stop: asyncio.Event) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(Member(lease).run(crash, stop), 10)
    assert lease.released == 1


async def test_work_that_drains_keeps_its_lease(lease: Scripted, stop: asyncio.Event) -> None:
    async def drain(stop: asyncio.Event) -> None:
        await stop.wait()
        enough = lease.attempts + 8
        while lease.attempts < enough:
            member.require_active()
            await asyncio.sleep(0.01)

    member = Member(lease)
    running = asyncio.create_task(member.run(drain, stop))
    await until(lambda: member.active)
    stop.set()
    await finished(running)
    assert lease.released == 1
