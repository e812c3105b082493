"""The one way of every statement: in which order what may hold it back is asked, and what is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from freehold.kube.backoff import Backoff
from freehold.snowflake.breaker import FAILURES, FIRST, Breakers, State
from freehold.snowflake.driver import Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CircuitOpen, CredentialsRefused, OutcomeUnknown, SnowflakeError, Unreachable
from freehold.snowflake.pool import Pool
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings
from freehold.snowflake.traffic import ATTEMPTS, QUICK, Traffic
from freehold.sql import Sql, words
from tests.unit.snowflake.test_pool import SETTINGS, Clock

ASK, WRITE = words("SHOW ROLES"), words("CREATE ROLE R")


def lost() -> SnowflakeError:
    return OutcomeUnknown("gone", error_class=ErrorClass.TRANSIENT)


@dataclass
class World:
    """Everything that a statement passes, which notes that it does.

    Attributes:
        passed: what was passed, in order.
        ends: errors that the next statements end in; None for success, which all further ones have.
        login: error of a log-in.
        takes: seconds that a statement takes.
        waits: what the budget waits for.
        limit: time limit of the latest statement.
        opened: whether there is a session already.
    """

    clock: Clock = field(default_factory=Clock)
    passed: list[str] = field(default_factory=list)
    ends: list[SnowflakeError | None] = field(default_factory=list)
    login: Callable[[], SnowflakeError] | None = None
    takes: float = 0.0
    waits: asyncio.Event | None = None
    limit: timedelta | None = None
    opened: bool = True

    def __post_init__(self) -> None:
        self.breakers = Breakers(clock=self.clock, random=lambda: 0.5)
        self.traffic = Traffic(
            cast("Pool", self),
            "test",
            breakers=self.breakers,
            budget=self,
            clock=self.clock,
            pauses=Backoff(first=0.0, most=0.0),
        )

    async def take(self, _settings: ConnectionSettings) -> None:
        self.passed.append("budget")
        if self.waits:
            await self.waits.wait()

    def is_open(self, _settings: ConnectionSettings) -> bool:
        return self.opened

    @asynccontextmanager
    async def session(self, _settings: ConnectionSettings) -> AsyncIterator[Session]:
        self.passed.append("session")
        if self.login:
            raise self.login()
        yield cast("Session", SimpleNamespace(connection=self))

    async def execute(self, statement: Sql, _tag: str | None, limit: timedelta | None) -> Result:
        self.limit = limit
        self.passed.append(statement.text)
        self.clock.now += self.takes
        if self.ends and (error := self.ends.pop(0)):
            raise error
        return Result((), None)

    def require(self) -> None:
        self.passed.append("require")

    async def write(self) -> None:
        await self.traffic.send(SETTINGS, WRITE, None, require=self.require)

    async def read(self) -> None:
        await self.traffic.read(SETTINGS, ASK, None)

    async def fail(self) -> None:
        """Open the breaker."""
        self.login = lambda: Unreachable("no log-in", error_class=ErrorClass.TRANSIENT)
        for _ in range(FAILURES):
            with suppress(Unreachable):
                await self.write()
        self.login = None
        self.passed.clear()

    def state(self) -> State:
        return self.breakers.of(SETTINGS).state

    @property
    def sent(self) -> int:
        return sum(each in (ASK.text, WRITE.text) for each in self.passed)


@pytest.fixture
def world() -> World:
    return World()


async def test_the_last_thing_that_is_asked_before_a_statement_goes_out_is_whether_it_still_may(world: World) -> None:
    await world.write()
    assert world.passed == ["budget", "session", "require", WRITE.text]


async def test_who_waits_for_a_session_has_taken_nothing_from_the_budget_yet(world: World) -> None:
    """Whatever has waited meanwhile would go out at once."""
    world.opened = False
    await world.write()
    assert world.passed == ["session", "budget", "session", "require", WRITE.text]


async def test_where_the_circuit_is_open_nothing_is_taken_from_the_budget_and_no_log_in_is_tried(world: World) -> None:
    await world.fail()
    with pytest.raises(CircuitOpen):
        await world.write()
    assert world.passed == []


async def test_a_read_that_opens_the_circuit_is_told_what_all_others_are(world: World) -> None:
    world.login = lambda: Unreachable("no log-in", error_class=ErrorClass.TRANSIENT)
    for _ in range(FAILURES - 1):
        with pytest.raises(Unreachable):
            await world.read()
    with pytest.raises(CircuitOpen, match="no log-in"):
        await world.read()
    world.clock.now += FIRST
    with pytest.raises(CircuitOpen, match="no log-in"):
        await world.read()
    assert world.sent == 0


async def test_a_circuit_that_opens_while_a_statement_waits_for_its_budget_stops_it(world: World) -> None:
    world.waits = asyncio.Event()
    waiting = asyncio.create_task(world.write())
    await asyncio.sleep(0)
    world.waits.set()
    await world.fail()
    with pytest.raises(CircuitOpen):
        await waiting
    assert world.sent == 0


async def test_a_probe_that_is_cancelled_or_may_not_be_sent_leaves_its_place_to_the_next(world: World) -> None:
    await world.fail()
    world.clock.now += FIRST

    def refuse() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await world.traffic.send(SETTINGS, WRITE, None, require=refuse)
    assert world.state() is State.HALF_OPEN
    await world.write()
    assert world.state() is State.CLOSED


async def test_who_waits_for_the_budget_is_no_probe(world: World) -> None:
    await world.fail()
    world.clock.now += FIRST
    world.waits = asyncio.Event()
    waiting = asyncio.create_task(world.write())
    await asyncio.sleep(0)
    world.breakers.of(SETTINGS).require()
    waiting.cancel()


async def test_a_write_is_never_sent_twice(world: World) -> None:
    for error in (lost(), SnowflakeError("e", number=390112), OutcomeUnknown("i", number=603)):
        world.passed.clear()
        world.ends = [error]
        with pytest.raises(SnowflakeError):
            await world.write()
        assert world.sent == 1


@pytest.mark.parametrize(
    ("error", "sent"),
    [
        (lost, ATTEMPTS),
        (lambda: OutcomeUnknown("i", number=603), ATTEMPTS),
        (lambda: SnowflakeError("e", number=390112), ATTEMPTS),
        (lambda: SnowflakeError("s", number=1003), 1),
        (lambda: SnowflakeError("t", number=390701), 1),
        (lambda: SnowflakeError("u", number=999999), 1),
    ],
    ids=["no answer", "internal error", "session ended", "wrong SQL", "throttled", "unknown"],
)
async def test_a_read_is_repeated_a_few_times_where_that_may_help_at_once(
    world: World, error: Callable[[], SnowflakeError], sent: int
) -> None:
    world.ends = [error() for _ in range(10)]
    with pytest.raises(SnowflakeError):
        await world.read()
    assert world.sent == sent
    assert world.passed.count("budget") == sent
    world.ends = [error()]
    world.passed.clear()
    with suppress(SnowflakeError):
        await world.read()
    assert world.sent == min(2, sent)


async def test_a_read_that_has_taken_its_time_is_not_repeated(world: World) -> None:
    world.ends, world.takes = [lost()], QUICK + 1
    with pytest.raises(OutcomeUnknown):
        await world.read()
    assert world.sent == 1


async def test_a_session_that_ended_while_a_read_waited_for_its_budget_is_opened_anew_all_the_same(
    world: World,
) -> None:
    world.ends, world.takes = [SnowflakeError("e", number=390112)], QUICK + 1
    await world.read()
    assert world.sent == 2


@pytest.mark.parametrize(
    "login",
    [lambda: Unreachable("r", error_class=ErrorClass.TRANSIENT), lambda: CredentialsRefused("c", number=390100)],
)
async def test_a_log_in_is_not_repeated(world: World, login: Callable[[], SnowflakeError]) -> None:
    world.login = login
    with pytest.raises(type(login())):
        await world.read()
    assert world.passed.count("session") == 1
