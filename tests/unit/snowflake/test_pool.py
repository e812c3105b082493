"""The pool: one log-in however many ask, and sessions closed when idle, lost or outdated, never under a user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import cast

import pytest

from freehold.snowflake.credentials import Password
from freehold.snowflake.errors import CredentialsRefused, Unreachable
from freehold.snowflake.pool import Pool
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings

SETTINGS = ConnectionSettings("team/default", "ACME-MAIN", "h", 443, "U", "R", None, Password("Secret", "one"))
ROTATED = replace(SETTINGS, credential=Password("Secret", "two"), as_of=1.0)


@dataclass
class StubConnection:
    """Stands in for a connection: the pool looks at `lost` and calls `close`."""

    lost: bool = False
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def close(self) -> None:
        self.closed.set()


@dataclass
class Opener:
    """Opens stub sessions, when it may, and counts."""

    opened: list[ConnectionSettings] = field(default_factory=list)
    may_open: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None

    async def __call__(self, settings: ConnectionSettings) -> Session:
        self.opened.append(settings)
        await self.may_open.wait()
        if self.failure:
            raise self.failure
        return cast("Session", SimpleNamespace(connection=StubConnection()))


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def stub(session: Session) -> StubConnection:
    return cast("StubConnection", session.connection)


@pytest.fixture
def opener() -> Opener:
    opener = Opener()
    opener.may_open.set()
    return opener


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(opener: Opener, clock: Clock) -> Pool:
    return Pool(opener, capacity=2, idle_seconds=60, clock=clock)


async def connection(pool: Pool, settings: ConnectionSettings = SETTINGS) -> StubConnection:
    async with pool.session(settings) as session:
        return stub(session)


def provider(name: str) -> ConnectionSettings:
    return replace(SETTINGS, provider=name)


async def test_many_tasks_at_once_log_in_once_and_share_the_session(pool: Pool, opener: Opener) -> None:
    opener.may_open.clear()
    tasks = [asyncio.create_task(connection(pool)) for _ in range(20)]
    await asyncio.sleep(0)
    opener.may_open.set()

    assert len(set(map(id, await asyncio.gather(*tasks)))) == 1
    assert opener.opened == [SETTINGS]


async def test_a_failed_log_in_fails_everybody_who_waited_and_the_next_one_tries_again(
    pool: Pool, opener: Opener
) -> None:
    opener.failure = Unreachable("no")
    results = await asyncio.gather(*(connection(pool) for _ in range(3)), return_exceptions=True)
    assert results == [opener.failure] * 3
    assert len(opener.opened) == 1

    opener.failure = None
    await connection(pool)
    assert len(opener.opened) == 2


async def test_a_waiter_that_gives_up_leaves_the_log_in_to_the_others(pool: Pool, opener: Opener) -> None:
    opener.may_open.clear()
    impatient = asyncio.create_task(connection(pool))
    patient = asyncio.create_task(connection(pool))
    await asyncio.sleep(0)
    impatient.cancel()
    opener.may_open.set()

    assert not (await patient).closed.is_set()
    assert len(opener.opened) == 1


async def test_each_role_has_a_session_of_its_own(pool: Pool) -> None:
    first = await connection(pool)

    assert await connection(pool, SETTINGS.acting_as("OTHER")) is not first
    assert await connection(pool) is first


async def test_a_lost_session_is_replaced_and_closed_after_its_last_user(pool: Pool) -> None:
    async with pool.session(SETTINGS) as session:
        first = stub(session)
        first.lost = True
        await connection(pool)
        assert await connection(pool) is not first
        assert not first.closed.is_set()

    async with asyncio.timeout(1):
        await first.closed.wait()


async def test_sessions_of_an_older_secret_are_closed_once_the_newer_one_has_logged_in(
    pool: Pool, opener: Opener
) -> None:
    async with pool.session(SETTINGS) as session:
        old = stub(session)
        opener.failure = CredentialsRefused("no", number=390144)
        with pytest.raises(CredentialsRefused):
            await connection(pool, ROTATED)
        assert await connection(pool) is old

        opener.failure = None
        await connection(pool, ROTATED)
        assert not old.closed.is_set()

    async with asyncio.timeout(1):
        await old.closed.wait()


async def test_a_new_secret_of_one_provider_leaves_the_sessions_of_others_alone(pool: Pool) -> None:
    other = await connection(pool, provider("team/other"))
    await connection(pool, ROTATED)

    assert await connection(pool, provider("team/other")) is other


async def test_who_began_with_the_older_secret_leaves_the_sessions_of_the_newer_one_alone(pool: Pool) -> None:
    newer = await connection(pool, ROTATED)
    await connection(pool, SETTINGS)

    assert await connection(pool, ROTATED) is newer


async def test_a_secret_that_was_put_back_is_the_newer_one(pool: Pool) -> None:
    await connection(pool, SETTINGS)
    rotated = await connection(pool, ROTATED)
    await connection(pool, replace(SETTINGS, as_of=2.0))

    async with asyncio.timeout(1):
        await rotated.closed.wait()


async def test_a_session_that_is_to_be_forgotten_is_closed_after_its_last_user(pool: Pool) -> None:
    async with pool.session(SETTINGS) as session:
        pool.forget(SETTINGS)
        assert await connection(pool) is not stub(session)
        assert not stub(session).closed.is_set()

    async with asyncio.timeout(1):
        await stub(session).closed.wait()


async def test_an_unused_session_is_closed_after_its_time_though_nothing_else_is_opened(opener: Opener) -> None:
    pool = Pool(opener, capacity=2, idle_seconds=0.01)
    async with pool.session(SETTINGS) as session, asyncio.timeout(1):
        other = await connection(pool, provider("team/other"))
        await other.closed.wait()
        assert not stub(session).closed.is_set()

    async with asyncio.timeout(1):
        await stub(session).closed.wait()


async def test_the_longest_unused_session_makes_room(pool: Pool, clock: Clock) -> None:
    oldest = await connection(pool, provider("a"))
    clock.now = 1
    newer = await connection(pool, provider("b"))
    await connection(pool, provider("c"))

    async with asyncio.timeout(1):
        await oldest.closed.wait()
    assert await connection(pool, provider("b")) is newer


async def test_sessions_in_use_never_make_room(pool: Pool) -> None:
    async with pool.session(provider("a")) as first, pool.session(provider("b")) as second:
        await connection(pool, provider("c"))

        assert not any(stub(each).closed.is_set() for each in (first, second))


async def test_closing_the_pool_logs_out_everywhere_and_gives_up_log_ins(pool: Pool, opener: Opener) -> None:
    first = await connection(pool)
    opener.may_open.clear()
    waiting = asyncio.create_task(connection(pool, provider("b")))
    await asyncio.sleep(0)

    await pool.close()

    assert first.closed.is_set()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_sessions_are_told_by_provider_and_state_and_those_of_a_provider_that_is_gone_are_closed(
    pool: Pool, opener: Opener
) -> None:
    other = replace(SETTINGS, provider="team/other")
    idle = await connection(pool, other)
    async with pool.session(SETTINGS) as used:
        assert dict(pool.sessions()) == {("team/default", "used"): 1, ("team/other", "idle"): 1}
        pool.leave("team/other")
        await idle.closed.wait()
        assert dict(pool.sessions()) == {("team/default", "used"): 1}
        assert not stub(used).closed.is_set()
    assert len(opener.opened) == 2
