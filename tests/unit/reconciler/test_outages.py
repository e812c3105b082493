"""An account that doesn't answer: it is left alone, whoever waits for it, and all go on when it is back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import cast

from freehold.kube.backoff import Backoff
from freehold.kube.objects import Key
from freehold.snowflake.breaker import FAILURES, FIRST, MOST
from freehold.snowflake.client import Snowflake
from freehold.snowflake.driver import Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CircuitOpen, SnowflakeError, Unreachable
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql, words
from freehold_controllers.controller import _breaker_moved
from freehold_controllers.runtime.lines import Lines, Priority, Workers
from freehold_controllers.runtime.process import Process
from freehold_controllers.runtime.queue import Queue
from freehold_controllers.runtime.watches import Wake
from freehold_controllers.runtime.work import Hold

from .world import SETTINGS, Fuse, World

OPEN = CircuitOpen("nothing is sent", retry_in=42)
HELD = Hold(timedelta(seconds=42))


async def test_a_resource_that_is_held_back_says_why_and_goes_on_where_it_was() -> None:
    world = World(Fuse(0, done=False))
    world.snowflake.refuse("CREATE", OPEN, times=1)
    assert await world.process()(world.key) == HELD
    assert world.conditions["Synced"]["reason"] == "CircuitOpen"
    assert world.conditions["Synced"]["message"] == "nothing is sent"
    assert "Stalled" not in world.conditions
    await world.settle()
    assert world.snowflake.sent == [("CREATE", "ok")]


async def test_a_deletion_that_is_held_back_keeps_resource_and_object() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.delete()
    world.snowflake.refuse("DROP", OPEN, times=1)
    assert await world.process()(world.key) == HELD
    assert world.conditions["DeleteBlocked"]["message"].startswith("not dropped yet: nothing is sent")
    assert world.snowflake.rows
    await world.settle()
    assert not world.alive
    assert not world.snowflake.rows


class Account(Snowflake):
    """An account that can be out of reach, with a clock of its own.

    Attributes:
        up: whether it answers.
        now: the clock.
        logins: how many were tried.
        sent: how many statements were carried out.
    """

    def __init__(self) -> None:
        super().__init__("test", clock=lambda: self.now)
        self.up = False
        self.now = 0.0
        self.logins = 0
        self.sent = 0

    async def _open(self, _settings: ConnectionSettings) -> Session:
        self.logins += 1
        if not self.up:
            raise Unreachable("no log-in to h:443", error_class=ErrorClass.TRANSIENT)
        connection = SimpleNamespace(lost=False, execute=self._answer, close=self._close)
        return cast("Session", SimpleNamespace(connection=connection))

    async def _answer(self, _statement: Sql, _tag: str, _limit: timedelta | None) -> Result:
        self.sent += 1
        return Result((), None)

    async def _close(self) -> None:
        return


class Crowd:
    """Many resources of one ProviderConfig, in a controller whose time is the account's.

    Attributes:
        passes: how often each was worked on.
        done: those that could do what they were there for.
        woken: what was woken from outside.
    """

    def __init__(self, account: Account, count: int) -> None:
        self.account = account
        self.passes: Counter[Key] = Counter()
        self.done: set[Key] = set()
        lines = Lines(Workers())
        self.queue = Queue(
            Backoff(first=1.0, most=900.0), lines, group=lambda _: SETTINGS.provider, clock=lambda: account.now
        )
        self.woken: list[Wake] = []
        controller = cast("Process", self)
        account.breakers.listen(partial(_breaker_moved, controller, account, verifies=True))
        for number in range(count):
            self.queue.add(Key("Warehouse", "n", str(number)))

    def wake(self, wakes: Iterable[Wake]) -> None:
        self.woken += wakes

    def release(self, group: str) -> None:
        self.queue.release(group)

    async def work(self) -> None:
        """Work on all that is ready now."""
        while True:
            turns = []
            while turn := await self._next():
                turns.append(turn)
            if not turns:
                return
            await asyncio.gather(*map(self._take_turn, turns))

    async def _next(self) -> Key | None:
        waiting = asyncio.create_task(self.queue.get())
        for _ in range(3):
            await asyncio.sleep(0)
        if waiting.done():
            return waiting.result().key
        waiting.cancel()
        return None

    async def _take_turn(self, key: Key) -> None:
        self.passes[key] += 1
        tag = QueryTag(kind=key.kind, namespace=key.namespace, name=key.name, uid="u")
        try:
            await self.account.query(SETTINGS, words("SHOW WAREHOUSES"), tag)
        except CircuitOpen as error:
            self.queue.hold(key, error.retry_in)
        except SnowflakeError:
            self.queue.failed(key)
        else:
            self.done.add(key)
            self.queue.done(key)

    async def until(self, time: float) -> None:
        while self.account.now < time:
            self.account.now += 1
            await self.work()


async def test_one_tries_again_for_all_and_all_follow_at_once_when_the_account_is_back() -> None:
    async with Account() as account:
        crowd = Crowd(account, 500)
        await crowd.work()
        await crowd.until(FIRST / 2)
        assert account.logins == FAILURES
        passes = crowd.passes.total()

        await crowd.until(3600)
        probes = account.logins - FAILURES
        assert 3600 / MOST <= probes <= 10
        assert crowd.passes.total() == passes + probes

        account.up = True
        while not account.sent:
            await crowd.until(account.now + 1)
        assert len(crowd.done) == 500
        # The one that tried may come again: it was under way when the others were let go.
        assert account.sent <= 501
        assert account.logins == FAILURES + probes + 1
        # Once when it opened, once when it closed: the ProviderConfig tells of it.
        assert crowd.woken == [(Key("ProviderConfig", *SETTINGS.provider.split("/")), Priority.RETRY)] * 2
