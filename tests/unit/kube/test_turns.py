"""Turns by Leases: one process at a time, over the end of one that was killed in its turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold.kube.client import Kube
from freehold.kube.objects import Object
from freehold.kube.turns import KEPT, NOTE, LeaseTurns
from tests.unit.kube.script import Store, client_of, until

pytestmark = pytest.mark.usefixtures("no_waiting")

DURATION = timedelta(seconds=15)
LEASE = "freehold-login-x"


@dataclass
class Clock:
    now: datetime = datetime(2026, 11, 30, tzinfo=UTC)


class Process(LeaseTurns):
    """A process that sees the API server's time as a test says."""

    def __init__(self, kube: Kube, instance: str, clock: Clock, duration: timedelta = DURATION) -> None:
        super().__init__(kube, "ns", instance, duration)
        self._clock = clock

    @property
    def now(self) -> datetime:
        return self._clock.now


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freehold.kube.turns._PAUSE", timedelta(seconds=0.005))


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
async def kube(store: Store) -> AsyncIterator[Kube]:
    async with client_of(store.handle) as kube:
        yield kube


@pytest.fixture
def clock() -> Clock:
    return Clock()


def heedless(_note: str) -> None:
    """Takes its turn whatever the note says."""


async def test_one_process_at_a_time_has_the_turn_and_finds_the_note_of_the_one_before(
    kube: Kube, clock: Clock
) -> None:
    at_it: list[str] = []

    async def take(process: LeaseTurns) -> None:
        async with process.turn("login-x", heedless) as turn:
            assert turn.note == str(len(at_it) or "")
            at_it.append("")
            await asyncio.sleep(0.02)
            assert turn.note == str(len(at_it) - 1 or "")
            turn.note = str(len(at_it))

    processes = [Process(kube, name, clock) for name in "abc"]
    await asyncio.gather(*(take(each) for each in processes for _ in range(2)))

    assert await processes[0].note("login-x") == "6"


async def test_a_note_that_is_heeded_ends_the_wait_and_nothing_is_written(
    kube: Kube, clock: Clock, store: Store
) -> None:
    first, second = Process(kube, "a", clock), Process(kube, "b", clock)
    read = asyncio.Event()

    def heed(note: str) -> None:
        read.set()
        if note:
            raise LookupError(note)

    async def wait() -> None:
        async with second.turn("login-x", heed):
            raise AssertionError("it had a turn")

    async with first.turn("login-x", heedless) as turn:
        waiting = asyncio.create_task(wait())
        await read.wait()
        turn.note = "refused"

    with pytest.raises(LookupError, match="refused"):
        await waiting
    writes = store.version
    with pytest.raises(LookupError):
        await wait()
    assert store.version == writes


async def test_the_turn_of_a_killed_process_is_taken_once_its_lease_has_expired_and_not_before(
    kube: Kube, clock: Clock, store: Store
) -> None:
    killed = Process(kube, "a", clock)
    await killed._take("login-x", heedless)
    reads = asyncio.Event()
    taken = asyncio.Event()

    async def take() -> None:
        async with Process(kube, "b", clock).turn("login-x", lambda _: reads.set()):
            taken.set()

    waiting = asyncio.create_task(take())
    for seconds in (0, 15):
        clock.now = Clock.now + timedelta(seconds=seconds)
        for _ in range(2):
            reads.clear()
            await reads.wait()
        assert not taken.is_set()
    clock.now += timedelta(seconds=1)
    await waiting

    # What the killed one would have left, had it lived on, must not end the turn of another.
    async with Process(kube, "c", clock).turn("login-x", heedless):
        await killed._give_back("login-x", "late")
        assert store.objects[LEASE]["spec"]["holderIdentity"].startswith("c_")


async def test_a_turn_that_lasts_is_renewed(kube: Kube, clock: Clock, store: Store) -> None:
    async with Process(kube, "a", clock, timedelta(seconds=0.03)).turn("login-x", heedless):
        clock.now += timedelta(seconds=60)
        await until(lambda: store.objects[LEASE]["spec"]["renewTime"].startswith("2026-11-30T00:01"))


async def test_a_cancelled_turn_is_given_back_at_once(kube: Kube, clock: Clock, store: Store) -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        async with Process(kube, "a", clock).turn("login-x", heedless):
            begun.set()
            await asyncio.Event().wait()

    hanging = asyncio.create_task(hang())
    await begun.wait()
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert store.objects[LEASE]["spec"]["holderIdentity"] == ""


async def test_a_turn_that_cannot_be_given_back_ends_by_itself(kube: Kube, clock: Clock, store: Store) -> None:
    process = Process(kube, "a", clock)
    async with process.turn("login-x", heedless):
        store.down = True
    store.down = False
    assert store.objects[LEASE]["spec"]["holderIdentity"]

    clock.now += timedelta(seconds=16)
    async with process.turn("login-x", heedless):
        pass
    assert store.objects[LEASE]["spec"]["holderIdentity"] == ""


async def test_a_renewal_that_arrives_late_keeps_no_note_from_the_next_one(
    kube: Kube, clock: Clock, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, late = kube.get, iter(["late"])

    async def get(*which: Any) -> Object:
        found = await read(*which)
        if version := next(late, None):
            store.objects[LEASE]["metadata"]["resourceVersion"] = version
        return found

    async with Process(kube, "a", clock).turn("login-x", heedless) as turn:
        turn.note = "refused"
        monkeypatch.setattr(kube, "get", get)

    assert store.objects[LEASE]["spec"]["holderIdentity"] == ""
    assert store.objects[LEASE]["metadata"]["annotations"][NOTE] == "refused"


async def test_a_server_that_says_nothing_holds_up_nobody_who_gives_a_turn_back(
    kube: Kube, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silence(*_: object) -> None:
        await asyncio.Event().wait()

    async with asyncio.timeout(5), Process(kube, "a", clock, timedelta(seconds=0.05)).turn("login-x", heedless):
        monkeypatch.setattr(kube, "get", silence)


@pytest.mark.parametrize(("age", "kept"), [(KEPT, True), (KEPT + timedelta(seconds=1), False)])
async def test_a_lease_that_nobody_has_taken_for_a_day_is_swept(
    kube: Kube, clock: Clock, store: Store, age: timedelta, kept: bool
) -> None:
    process = Process(kube, "a", clock)
    async with process.turn("login-x", heedless) as turn:
        turn.note = "old"
    assert store.objects[LEASE]["metadata"]["annotations"][NOTE] == "old"
    clock.now += age

    await process.sweep()

    assert (LEASE in store.objects) is kept
