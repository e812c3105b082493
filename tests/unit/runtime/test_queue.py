"""The keyed queue's contract."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold.kube.backoff import Backoff
from freehold.kube.objects import Key
from freehold_controllers.runtime.lines import Lines, Priority, Workers
from freehold_controllers.runtime.queue import Closed, Queue

A, B, C = (Key("Thing", "n", name) for name in "abc")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def plenty() -> Lines:
    return Lines(Workers(own=100, pool=0))


@pytest.fixture
def queue(clock: Clock) -> Queue:
    return Queue(Backoff(first=1.0, most=60.0, random=lambda: 1.0), plenty(), group=lambda key: key.kind, clock=clock)


async def ready(queue: Queue) -> list[Key]:
    """Take all keys that are ready, in order."""
    taken: list[Key] = []
    while True:
        task = asyncio.create_task(queue.get())
        for _ in range(3):
            await asyncio.sleep(0)
        if not task.done():
            task.cancel()
            return taken
        taken.append(task.result().key)


async def test_a_key_is_in_the_queue_once(queue: Queue) -> None:
    for _ in range(20):
        queue.add(A)
    assert await ready(queue) == [A]


async def test_what_a_user_applied_goes_first_and_equals_go_in_turn(queue: Queue) -> None:
    keys = [Key("Thing", "n", str(number)) for number in range(6)]
    order = [Priority.RESYNC, Priority.RETRY, Priority.CHANGE, Priority.DELETION, Priority.CHANGE, Priority.RESYNC]
    for key, priority in zip(keys, order, strict=True):
        queue.add(key, priority)
    queue.add(keys[2], Priority.CHANGE)
    assert [key.name for key in await ready(queue)] == ["2", "4", "3", "1", "0", "5"]


async def test_a_waiting_key_moves_up_but_never_down(queue: Queue) -> None:
    queue.add(A, Priority.RESYNC)
    queue.add(B, Priority.RETRY)
    queue.add(A, Priority.CHANGE)
    queue.add(A, Priority.RESYNC)
    assert await ready(queue) == [A, B]


async def test_an_event_during_work_makes_the_key_ready_again_afterwards(queue: Queue) -> None:
    queue.add(A)
    assert await ready(queue) == [A]
    queue.add(A, Priority.RESYNC)
    assert await ready(queue) == []
    queue.done(A, again=300)
    assert await ready(queue) == [A]


async def test_a_resync_comes_after_its_time(queue: Queue, clock: Clock) -> None:
    queue.add(A)
    await ready(queue)
    queue.done(A, again=300)
    clock.now = 299
    assert await ready(queue) == []
    clock.now = 300
    assert await ready(queue) == [A]


async def test_failures_wait_longer_and_longer_until_a_success(queue: Queue, clock: Clock) -> None:
    queue.add(A)
    for delay in (1, 2, 4, 8, 16, 32, 60, 60):
        assert await ready(queue) == [A]
        queue.failed(A)
        clock.now += delay - 0.5
        assert await ready(queue) == []
        clock.now += 0.5
    assert await ready(queue) == [A]
    queue.done(A, again=5)
    clock.now += 5
    assert await ready(queue) == [A]
    queue.failed(A)
    clock.now += 1
    assert await ready(queue) == [A]


async def test_who_is_not_hurried_waits_long_at_once_and_longer_each_time(queue: Queue, clock: Clock) -> None:
    queue.add(A)
    for delay in (16, 32, 60):
        assert await ready(queue) == [A]
        queue.failed(A, earlier=4)
        clock.now += delay - 0.5
        assert await ready(queue) == []
        clock.now += 0.5
    assert await ready(queue) == [A]


async def test_a_change_comes_at_once_and_makes_failures_forgotten(queue: Queue, clock: Clock) -> None:
    queue.add(A)
    for _ in range(5):
        await ready(queue)
        queue.failed(A)
        queue.add(A, Priority.RETRY)
    queue.add(A, Priority.CHANGE)
    assert await ready(queue) == [A]
    queue.failed(A)
    clock.now += 1
    assert await ready(queue) == [A]


async def test_the_earlier_of_two_times_holds(queue: Queue, clock: Clock) -> None:
    queue.add(A, Priority.RESYNC, after=10)
    queue.add(A, Priority.RETRY, after=20)
    queue.add(B, Priority.RESYNC, after=20)
    queue.add(B, Priority.RETRY, after=10)
    clock.now = 10
    assert sorted(await ready(queue)) == [A, B]
    clock.now = 30
    queue.done(A)
    queue.done(B)
    assert await ready(queue) == []


async def test_what_is_ready_isnt_put_off(queue: Queue) -> None:
    queue.add(A)
    queue.add(A, after=100)
    assert await ready(queue) == [A]


async def test_a_worker_that_waits_is_woken_by_an_addition_and_by_a_due_time() -> None:
    queue = Queue(Backoff(first=1, most=1), plenty())
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add(A, after=0.02)
    queue.add(B, after=100)
    assert (await asyncio.wait_for(waiting, 10)).key == A
    queue.add(C)
    assert (await asyncio.wait_for(queue.get(), 10)).key == C


async def taken_at(queue: Queue, clock: Clock, now: float) -> float:
    """Take the one key that is ready at a time; returns the instant before which nothing that was seen counts."""
    clock.now = now
    return (await asyncio.wait_for(queue.get(), 10)).not_before


async def test_what_was_seen_before_an_event_tells_nothing_of_it(queue: Queue, clock: Clock) -> None:
    clock.now = 1
    queue.add(A, Priority.RESYNC)
    clock.now = 5
    queue.add(A, Priority.RETRY)
    assert await taken_at(queue, clock, 9) == 5


async def test_what_was_seen_before_a_turn_ended_tells_nothing_of_what_it_has_written(
    queue: Queue, clock: Clock
) -> None:
    queue.add(A)
    await taken_at(queue, clock, 1)
    queue.add(A)
    clock.now = 7
    queue.done(A, again=100)
    assert await taken_at(queue, clock, 9) == 7


async def test_a_resync_is_content_with_what_was_seen_in_the_second_part_of_its_interval(
    queue: Queue, clock: Clock
) -> None:
    queue.add(A)
    await taken_at(queue, clock, 10)
    queue.done(A, again=100)
    assert await taken_at(queue, clock, 130) == 50


async def test_a_retry_wants_to_see_what_has_become_of_it_when_its_time_has_come(queue: Queue, clock: Clock) -> None:
    queue.add(A)
    await taken_at(queue, clock, 10)
    queue.done(A)
    queue.add(A, Priority.RETRY, after=100)
    assert await taken_at(queue, clock, 130) == 110


async def test_an_event_while_a_resync_is_awaited_counts_from_its_own_time(queue: Queue, clock: Clock) -> None:
    queue.add(A, Priority.RESYNC, after=100)
    clock.now = 20
    queue.add(A)
    assert await taken_at(queue, clock, 30) == 20


async def test_closing_ends_all_who_wait(queue: Queue) -> None:
    queue.add(A)
    taken = await ready(queue)
    waiting = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.close()
    assert all(isinstance(each, Closed) for each in await asyncio.gather(*waiting, return_exceptions=True))
    queue.done(taken[0], again=1)


async def all_held(queue: Queue, *keys: Key) -> None:
    for key in keys:
        queue.add(key)
    for key in await ready(queue):
        queue.hold(key, retry_in=60)


async def test_of_what_is_held_one_tries_again_and_the_others_follow_when_it_went_on(
    queue: Queue, clock: Clock
) -> None:
    await all_held(queue, A, B, C)
    clock.now = 59
    assert await ready(queue) == []
    clock.now = 60
    assert await ready(queue) == [A]
    queue.hold(A, retry_in=120)
    clock.now = 179
    assert await ready(queue) == []
    clock.now = 180
    assert await ready(queue) == [A]
    queue.done(A)
    assert await ready(queue) == [B]
    queue.failed(B)
    assert await ready(queue) == [C]


async def test_what_is_held_follows_at_once_when_its_group_is_released(queue: Queue) -> None:
    other = Key("Other", "n", "x")
    await all_held(queue, A, B, C, other)
    queue.release("Thing")
    assert await ready(queue) == [A, B, C]
    queue.release("Thing")
    assert await ready(queue) == []


async def test_what_is_being_worked_on_when_its_group_is_released_is_not_held_thereafter(queue: Queue) -> None:
    await all_held(queue, A)
    queue.add(B)
    assert await ready(queue) == [B]
    queue.release("Thing")
    queue.hold(B, retry_in=60)
    assert await ready(queue) == [A, B]


async def test_a_change_is_looked_at_also_while_its_key_is_held_and_leaves_it_to_the_same_one_to_try(
    queue: Queue, clock: Clock
) -> None:
    await all_held(queue, A, B)
    queue.add(B)
    assert await ready(queue) == [B]
    queue.hold(B, retry_in=10)
    clock.now = 60
    assert await ready(queue) == [A]


async def test_who_tries_for_others_and_goes_to_another_group_leaves_that_to_the_next(clock: Clock) -> None:
    groups = {A: "old", B: "old"}
    queue = Queue(Backoff(first=1, most=1), plenty(), group=lambda key: groups[key], clock=clock)
    await all_held(queue, A, B)
    groups[A] = "new"
    queue.add(A)
    assert await ready(queue) == [A]
    queue.hold(A, retry_in=60)
    assert await ready(queue) == [B]
    queue.hold(B, retry_in=60)
    clock.now = 60
    assert sorted(await ready(queue)) == [A, B]


async def test_a_worker_that_comes_back_serves_a_group_that_had_to_wait_for_it() -> None:
    queue = Queue(Backoff(first=1, most=1), Lines(Workers(own=1, pool=0)))
    queue.add(A)
    queue.add(B)
    assert (await queue.get()).key == A
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.done(A)
    assert (await asyncio.wait_for(waiting, 10)).key == B


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "later", "take", "done", "failed", "hold", "release"]),
        st.sampled_from([A, B, C]),
        st.sampled_from(list(Priority)),
    ),
    max_size=60,
)


@given(STEPS)
async def test_whatever_happens_no_key_is_with_two_workers_and_no_addition_is_lost(
    steps: list[tuple[str, Key, Priority]],
) -> None:
    clock = Clock()
    queue = Queue(Backoff(first=1.0, most=60.0), plenty(), clock=clock)
    working: set[Key] = set()
    owed: set[Key] = set()
    for step, key, priority in steps:
        clock.now += 0.3
        if step in ("add", "later"):
            queue.add(key, priority, after=float(step == "later"))
            owed.add(key)
        elif step == "take":
            for taken in await ready(queue):
                assert taken not in working
                working.add(taken)
                owed.discard(taken)
        elif step == "release":
            queue.release("")
        elif key in working:
            working.discard(key)
            ways: dict[str, Callable[[Key], None]] = {
                "done": queue.done,
                "failed": queue.failed,
                "hold": partial(queue.hold, retry_in=10),
            }
            ways[step](key)
            owed |= {key} if step == "hold" else set()
    for key in working:
        queue.done(key)
    # Each round at least the one comes that tries for those that are held.
    for _ in range(3):
        clock.now += 1000
        for key in await ready(queue):
            owed.discard(key)
            queue.done(key)
    assert not owed
