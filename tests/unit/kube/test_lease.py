"""The Lease: who holds it, judged by clocks of our own alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from freehold.kube.client import Kube
from freehold.kube.errors import Unavailable
from freehold.kube.lease import Lease
from tests.unit.kube.script import Store, client_of

pytestmark = pytest.mark.usefixtures("no_waiting")

DURATION = timedelta(seconds=15)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
async def leases(store: Store) -> AsyncIterator[Kube]:
    async with client_of(store.handle) as kube:
        yield kube


@pytest.fixture
def clock() -> Clock:
    return Clock()


def lease(kube: Kube, identity: str, clock: Clock) -> Lease:
    return Lease(kube, "ns", "domain", identity, DURATION, clock=clock)


async def held(kube: Kube, identity: str, clock: Clock) -> Lease:
    """A Lease that is held by one process after the time that a new Lease takes."""
    mine = lease(kube, identity, clock)
    await mine.acquire()
    clock.now += 15
    assert await mine.acquire()
    return mine


async def test_a_new_lease_is_taken_only_after_its_duration(leases: Kube, clock: Clock) -> None:
    mine = lease(leases, "a", clock)
    assert not await mine.acquire()
    clock.now += 14.9
    assert not await mine.acquire()
    clock.now += 0.1
    assert await mine.acquire()
    assert mine.expires == clock.now + 15


async def test_a_deleted_lease_never_makes_two(leases: Kube, store: Store, clock: Clock) -> None:
    first, second = await held(leases, "a", clock), lease(leases, "b", clock)
    assert not await second.acquire()
    store.objects.clear()
    assert not await second.acquire()
    assert not await first.acquire()
    assert first.expires < clock.now
    clock.now += 15
    assert await second.acquire()


async def test_the_holder_recreates_its_deleted_lease_and_goes_on(leases: Kube, store: Store, clock: Clock) -> None:
    mine = await held(leases, "a", clock)
    store.objects.clear()
    assert await mine.acquire()


async def test_it_is_taken_when_it_has_not_changed_for_its_duration_in_the_takers_eyes(
    leases: Kube, store: Store, clock: Clock
) -> None:
    await held(leases, "a", clock)
    second = lease(leases, "b", clock)
    clock.now += 1000  # not looked at in the meantime: that proves nothing
    assert not await second.acquire()
    clock.now += 15
    assert not await second.acquire()
    clock.now += 0.1
    assert await second.acquire()
    assert store.objects["domain"]["spec"]["leaseTransitions"] == 1


async def test_each_renewal_begins_the_time_anew(leases: Kube, clock: Clock) -> None:
    first, second = await held(leases, "a", clock), lease(leases, "b", clock)
    for _ in range(5):
        assert not await second.acquire()
        clock.now += 10
        assert await first.acquire()
    assert not await second.acquire()


async def test_two_takers_at_once_never_both_succeed(leases: Kube, store: Store, clock: Clock) -> None:
    first = await held(leases, "a", clock)
    await first.release()
    stale = dict(store.objects["domain"])
    second, third = lease(leases, "b", clock), lease(leases, "c", clock)
    assert await second.acquire()
    # The third one read the Lease before the second one wrote.
    store.objects["domain"], fresh = stale, store.objects["domain"]
    read = third._kube.get

    async def outdated(*args: object) -> object:
        found = await read(*args)  # type: ignore[arg-type]  # as passed
        store.objects["domain"] = fresh
        return found

    third._kube.get = outdated  # type: ignore[method-assign,assignment]  # the race, made certain
    assert not await third.acquire()


async def test_a_renewal_whose_answer_was_lost_is_recognised(leases: Kube, store: Store, clock: Clock) -> None:
    mine = await held(leases, "a", clock)
    store.down = True
    with pytest.raises(Unavailable):
        await mine.acquire()
    assert mine.expires == clock.now + 15
    store.down = False
    store.objects["domain"]["metadata"]["resourceVersion"] = "99"
    clock.now += 5
    assert await mine.acquire()
    assert mine.expires == clock.now + 15


async def test_release_lets_another_take_it_at_once(leases: Kube, clock: Clock) -> None:
    first, second = await held(leases, "a", clock), lease(leases, "b", clock)
    assert not await second.acquire()
    await first.release()
    assert first.expires < clock.now
    assert await second.acquire()


async def test_release_leaves_anothers_lease_alone(leases: Kube, store: Store, clock: Clock) -> None:
    await held(leases, "a", clock)
    await lease(leases, "b", clock).release()
    assert store.objects["domain"]["spec"]["holderIdentity"] == "a"
