"""Budgets: how many statements go out, in which order, and what is wanted of the account's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold import urgency
from freehold.kinds.account.providerconfig import PER_ACCOUNT, PER_CONTROLLER, Bucket, Budget
from freehold.snowflake.budget import Budgets, Limits, TokenBucket, strictest
from freehold.snowflake.shares import WHOLE
from tests.unit.snowflake.test_pool import SETTINGS

ACCOUNT = "AWS_EU_CENTRAL_1.XY12345"
LOGIN = replace(SETTINGS, account_key=ACCOUNT)
FEW = Bucket(rate=1, burst=1)
MANY = Bucket(rate=10_000, burst=10_000)


@pytest.mark.parametrize(
    ("budgets", "limits"),
    [
        ([], Limits(PER_CONTROLLER, PER_ACCOUNT)),
        ([None, Budget()], Limits(PER_CONTROLLER, PER_ACCOUNT)),
        ([Budget(per_controller=FEW)], Limits(FEW, PER_ACCOUNT)),
        ([None, Budget(per_account=MANY)], Limits(PER_CONTROLLER, MANY)),
        (
            [Budget(per_account=Bucket(rate=5, burst=90)), Budget(per_account=Bucket(rate=60, burst=10))],
            Limits(PER_CONTROLLER, Bucket(rate=5, burst=10)),
        ),
    ],
)
def test_of_several_budgets_the_smallest_numbers_hold(budgets: list[Budget | None], limits: Limits) -> None:
    assert strictest(budgets) == limits


@given(st.lists(st.tuples(st.floats(0, 0.3), st.sampled_from(["take", "take", "less", "more"])), max_size=60))
def test_no_more_tokens_are_taken_than_have_come_whatever_changes(steps: list[tuple[float, str]]) -> None:
    now, most, rate = 0.0, 0.0, 10.0
    bucket = TokenBucket(0, now)
    bucket.resize(rate, 3, now)
    for elapsed, step in steps:
        now, most = now + elapsed, min(3.0, most + elapsed * rate)
        if step == "take" and bucket.wait(now) == 0:
            bucket.take(now)
            most -= 1
            assert most >= -1e-6
        elif step in ("less", "more"):
            rate = max(2.5, rate / 2) if step == "less" else min(10.0, rate * 2)
            bucket.resize(rate, rate * 0.3, now)
            most = min(rate * 0.3, most)


def test_the_wait_is_until_the_next_token() -> None:
    bucket = TokenBucket(1, 0.0)
    bucket.resize(4, 1, 0.0)
    assert bucket.wait(0.0) == 0
    bucket.take(0.0)
    assert bucket.wait(0.0) == pytest.approx(0.25)
    assert bucket.wait(0.1) == pytest.approx(0.15)
    bucket.resize(0, 1, 0.1)
    assert bucket.wait(1000.0) == float("inf")


class World:
    """Budgets with a share and a clock that tests set, and those who want to send."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.share = WHOLE
        self.budgets = Budgets(lambda _: self.share, clock=lambda: self.now)
        self.budgets.limit(ACCOUNT, Limits(MANY, MANY))
        self.sent: list[int] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def ask(self, statements: int, rank: float = 0) -> None:
        """Have so many more wait for their turn."""

        async def take(number: int) -> None:
            with urgency.ranked(rank):
                await self.budgets.take(LOGIN)
            self.sent.append(number)

        self.tasks += [asyncio.create_task(take(len(self.tasks) + each)) for each in range(statements)]
        await self.wait(0.0)

    async def wait(self, seconds: float) -> None:
        """Let time pass, and go on whoever may."""
        self.now += seconds
        self.budgets.resize()
        for _ in range(3 * len(self.tasks)):
            await asyncio.sleep(0)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()


async def test_statements_go_in_the_order_in_which_they_came_and_who_gives_up_has_taken_nothing(world: World) -> None:
    world.budgets.limit(ACCOUNT, Limits(MANY, Bucket(rate=1, burst=1)))
    await world.ask(4)
    world.tasks[0].cancel()
    world.tasks[2].cancel()
    await world.wait(1.0)
    assert world.sent == [1]
    await world.wait(1.0)
    assert world.sent == [1, 3]


async def test_the_most_urgent_go_first_and_now_and_then_what_has_waited_longest(world: World) -> None:
    world.budgets.limit(ACCOUNT, Limits(MANY, Bucket(rate=1, burst=1)))
    await world.ask(4, rank=3)
    await world.ask(10, rank=0)
    for _ in range(14):
        await world.wait(1.0)
    # The first of four is whatever has waited longest.
    assert world.sent == [0, 4, 5, 6, 1, 7, 8, 9, 2, 10, 11, 12, 3, 13]


async def test_what_becomes_more_urgent_while_it_waits_goes_first_from_then_on(world: World) -> None:
    world.budgets.limit(ACCOUNT, Limits(MANY, FEW))
    await world.ask(1)
    await world.wait(1.0)
    await world.ask(3, rank=3)
    common, context = urgency.shared()
    flight = asyncio.create_task(world.budgets.take(LOGIN), context=context)
    await world.wait(0.0)
    common.raise_to(urgency.present())
    await world.wait(1.0)
    assert flight.done()
    assert world.sent == [0]


async def test_nothing_goes_without_a_share_and_a_share_is_taken_up_at_once() -> None:
    share = 0
    budgets = Budgets(lambda _: share)
    task = asyncio.create_task(budgets.take(LOGIN))
    done, _ = await asyncio.wait({task}, timeout=0.05)
    assert not done
    share = WHOLE
    budgets.resize()
    await asyncio.wait_for(task, 10)


@pytest.mark.parametrize(
    ("limits", "share", "at_once", "in_a_second"),
    [
        (Limits(Bucket(rate=5, burst=3), MANY), WHOLE, 3, 5),
        (Limits(MANY, Bucket(rate=5, burst=3)), WHOLE, 3, 5),
        (Limits(MANY, Bucket(rate=10, burst=6)), WHOLE // 2, 3, 5),
        (Limits(Bucket(rate=5, burst=4), Bucket(rate=7, burst=3)), WHOLE, 3, 6),
        (Limits(MANY, Bucket(rate=8, burst=1)), WHOLE // 4, 1, 2),
    ],
    ids=["per controller", "per account", "a share of the account's", "both", "a share that is less than a statement"],
)
async def test_as_many_statements_go_as_the_limits_say(
    world: World, limits: Limits, share: int, at_once: int, in_a_second: int
) -> None:
    world.share = share
    world.budgets.limit(ACCOUNT, limits)
    await world.ask(1)
    for _ in range(2):
        await world.wait(60)  # the first has gone, the buckets are full
    await world.ask(20)
    assert len(world.sent) == 1 + at_once
    for _ in range(64):
        await world.wait(1 / 64)
    assert len(world.sent) == 1 + at_once + in_a_second


async def test_a_new_process_has_nothing_saved_up_of_the_accounts_budget(world: World) -> None:
    await world.ask(1)
    assert not world.sent
    await world.wait(0.01)
    assert world.sent


async def test_other_limits_hold_for_whoever_waits_already(world: World) -> None:
    world.budgets.limit(ACCOUNT, Limits(MANY, FEW))
    await world.ask(100)
    await world.wait(1.0)
    assert len(world.sent) == 1
    world.budgets.limit(ACCOUNT, Limits(MANY, Bucket(rate=10, burst=10)))
    await world.wait(1.0)
    assert len(world.sent) == 11


async def test_accounts_do_not_wait_for_one_another_and_one_that_is_not_proven_waits_for_nothing(world: World) -> None:
    world.budgets.limit(ACCOUNT, Limits(MANY, FEW))
    await world.ask(1)
    other = asyncio.create_task(world.budgets.take(replace(SETTINGS, account_key="AWS_EU_CENTRAL_1.OTHER")))
    await world.budgets.take(replace(SETTINGS, account_key=None))
    await world.wait(0.0)
    await world.wait(0.1)
    await asyncio.wait_for(other, 10)
    assert not world.sent


@pytest.mark.parametrize(
    ("statements", "seconds", "demand"),
    [(0, 10, 0), (10, 10, 12_500), (40, 10, 50_000), (100, 10, WHOLE), (115, 40, WHOLE), (250, 10, WHOLE)],
    ids=["idle", "some", "more", "all", "all for a while", "more than there is"],
)
async def test_demand_is_what_was_sent_and_some_more_or_all_of_it_where_that_held_anybody_up(
    world: World, statements: int, seconds: float, demand: int
) -> None:
    world.budgets.limit(ACCOUNT, Limits(MANY, Bucket(rate=10, burst=110)))
    await world.ask(1)
    await world.wait(60)
    world.budgets.demands()
    await world.ask(statements)
    await world.wait(seconds)
    assert world.budgets.demands() == {ACCOUNT: demand}
    for _ in range(2):
        await world.wait(60)
        world.budgets.demands()
    await world.wait(1)
    assert world.budgets.demands() == {ACCOUNT: 0}
