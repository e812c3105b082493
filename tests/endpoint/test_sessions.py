"""Sessions that idle, close and lose their clients, and requests with several statements."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiohttp
import pytest

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.errors import LoginError
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.journal import Journal
from freehold_devstack.snowflake.sessions import Session, SessionStore
from tests.endpoint.conftest import Clock, Connect, Start, error_number, http_client, log_in, rows

FIVE_MINUTES = 300


def ended(outcome: str) -> Any:
    """Whether the database's creation has ended so."""

    def condition(journal: Journal) -> bool:
        return [entry.outcome for entry in journal.statements("CREATE DATABASE")] == [outcome]

    return condition


T = TypeVar("T")


async def becomes(condition: Callable[[], T | None]) -> T:
    """What a condition says, once that is true.

    Raises:
        TimeoutError: It did not become true in time.
    """
    async with asyncio.timeout(10):
        while not (value := condition()):  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0)
    return value


@asynccontextmanager
async def logged_in(endpoint: SnowflakeEndpoint) -> AsyncIterator[aiohttp.ClientSession]:
    """A client without a driver."""
    async with http_client(endpoint) as http:
        http.headers["Authorization"] = f'Snowflake Token="{(await log_in(http))["token"]}"'
        yield http


@pytest.fixture
async def raw(endpoint: SnowflakeEndpoint) -> AsyncIterator[aiohttp.ClientSession]:
    async with logged_in(endpoint) as http:
        yield http


def send(http: aiohttp.ClientSession, sql: str, **body: Any) -> Any:
    return http.post("/queries/v1/query-request", json={"sqlText": sql, **body})


# --- tokens ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(clock: Clock) -> SessionStore:
    return SessionStore(clock, validity=100, master_validity=1000)


def test_a_session_without_a_word_from_its_client_ends(store: SessionStore, clock: Clock) -> None:
    pair = store.open(Session(1, "A", None, 1))
    clock.now += 1000
    with pytest.raises(LoginError) as expired:
        store.session(pair.token)
    with pytest.raises(LoginError) as idle:
        store.renew(pair.master)
    assert (expired.value.number, idle.value.number) == (390112, 390114)


def test_each_request_begins_the_idle_time_anew(store: SessionStore, clock: Clock) -> None:
    pair = store.open(Session(1, "A", None, 1))
    clock.now += 99
    store.session(pair.token)
    clock.now += 999
    store.renew(pair.master)


def test_a_master_token_is_of_use_once(store: SessionStore) -> None:
    pair = store.open(Session(1, "A", None, 1))
    renewed = store.renew(pair.master)
    with pytest.raises(LoginError) as caught:
        store.renew(pair.master)
    assert caught.value.number == 390113
    assert store.session(renewed.token) is pair.session


async def test_a_heartbeat_keeps_a_session_alive(endpoint: SnowflakeEndpoint, clock: Clock) -> None:
    async with http_client(endpoint) as http:
        tokens = await log_in(http)
        for _ in range(2):
            clock.now += 3000
            async with http.post("/session/token-request", headers=token(tokens["masterToken"])) as response:
                renewed = (await response.json())["data"]
            tokens = {"token": renewed["sessionToken"], "masterToken": renewed["masterToken"]}
            async with http.post("/session/heartbeat", headers=token(tokens["token"])) as response:
                assert (await response.json())["success"]
        clock.now += 14400
        async with http.post("/session/token-request", headers=token(tokens["masterToken"])) as response:
            assert (await response.json())["code"] == "390114"


def token(value: str) -> dict[str, str]:
    return {"Authorization": f'Snowflake Token="{value}"'}


async def test_the_driver_keeps_a_session_alive_when_told_to(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint, client_session_keep_alive=True)
    [(key, value, *_)] = await rows(connection, "SHOW PARAMETERS LIKE 'CLIENT_SESSION_KEEP_ALIVE'")
    assert (key, value) == ("CLIENT_SESSION_KEEP_ALIVE", "true")


async def test_the_server_side_of_a_connection_is_at_hand(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    session = endpoint.session(connection.session_id)
    session.role = next(role.id for role in endpoint._engine.accounts["DEVSTACK"].catalog.members("ROLE"))
    [(role,)] = await rows(connection, "SELECT CURRENT_ROLE()")
    assert role == "ACCOUNTADMIN"


# --- lost clients ----------------------------------------------------------------------------------------------------


async def test_closing_aborts_what_runs_but_for_asynchronous_queries(
    endpoint: SnowflakeEndpoint, raw: aiohttp.ClientSession
) -> None:
    endpoint.faults.add(Fault(match="CREATE", action="hang", times=2))
    running = asyncio.create_task(send(raw, "CREATE DATABASE d").__aenter__())
    await endpoint.journal.wait_for(lambda journal: bool(journal.statements("DATABASE")))
    async with send(raw, "CREATE WAREHOUSE w", asyncExec=True) as response:
        assert (await response.json())["code"] == "333334"
    async with raw.post("/session", params={"delete": "true"}, json={}) as response:
        assert (await response.json())["success"]
    await endpoint.journal.wait_for(ended("000604"))
    assert endpoint.journal.statements("WAREHOUSE")[0].outcome is None
    await running


@pytest.mark.parametrize(
    ("setting", "waited", "outcome"),
    [("TRUE", FIVE_MINUTES, "000604"), ("TRUE", FIVE_MINUTES - 1, "ok"), ("FALSE", 10 * FIVE_MINUTES, "ok")],
)
async def test_a_query_that_lost_its_client_is_aborted_after_five_minutes_if_the_session_says_so(
    start: Start, clock: Clock, setting: str, waited: float, outcome: str
) -> None:
    endpoint = await start(answer_within=60)
    async with logged_in(endpoint) as http:
        async with send(http, f"ALTER SESSION SET ABORT_DETACHED_QUERY = {setting}") as response:
            assert (await response.json())["success"]
        endpoint.faults.add(Fault(match="CREATE DATABASE", action="delay", seconds=1))
        asking = asyncio.create_task(send(http, "CREATE DATABASE d").__aenter__())
        query = await becomes(lambda: next(iter(endpoint._engine.queries.running), None))
        await becomes(lambda: query.listeners)
        asking.cancel()
        await becomes(lambda: not query.listeners)
    clock.now += waited
    await endpoint.journal.wait_for(ended(outcome))


async def test_asking_for_a_query_keeps_it_from_being_aborted(
    endpoint: SnowflakeEndpoint, raw: aiohttp.ClientSession, clock: Clock
) -> None:
    async with send(raw, "ALTER SESSION SET ABORT_DETACHED_QUERY = TRUE") as response:
        assert (await response.json())["success"]
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="delay", seconds=1))
    async with send(raw, "CREATE DATABASE d", asyncExec=True) as response:
        query = (await response.json())["data"]["queryId"]
    for _ in range(2):
        clock.now += 299
        async with raw.get(f"/queries/{query}/result") as response:
            assert (await response.json())["success"]
    await endpoint.journal.wait_for(ended("ok"))


# --- several statements ----------------------------------------------------------------------------------------------


async def test_several_statements_each_have_their_result(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    cursor = (await connect(endpoint)).cursor()
    await cursor.execute("SELECT 1; CREATE DATABASE d; SELECT 'x', ';'", num_statements=3)
    found = [await cursor.fetchall()]
    while await cursor.nextset():
        found.append(await cursor.fetchall())
    assert found == [[(1,)], [("Database D successfully created.",)], [("x", ";")]]


async def test_any_number_of_statements_is_taken_when_none_is_said(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    cursor = (await connect(endpoint)).cursor()
    await cursor.execute("SELECT 1; SELECT 2;", num_statements=0)
    assert await cursor.fetchall() == [(1,)]
    assert await cursor.nextset()
    assert await cursor.fetchall() == [(2,)]
    await cursor.execute("SELECT 3", num_statements=0)
    assert await cursor.fetchall() == [(3,)]


async def test_the_first_of_several_statements_that_fails_is_the_last_that_runs(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    sql = "CREATE DATABASE d;\n DROP DATABASE a_database_that_there_is_not; CREATE DATABASE e"
    assert await error_number(connection, sql, num_statements=3) == 100132
    assert [(entry.text[:17], entry.outcome) for entry in endpoint.journal.statements("DATABASE")] == [
        ("CREATE DATABASE d", "100132"),
        ("CREATE DATABASE d", "ok"),
        ("DROP DATABASE a_d", "002003"),
    ]


async def test_the_error_of_several_statements_says_which_one_failed(raw: aiohttp.ClientSession) -> None:
    sql = "SELECT 1;\n DROP DATABASE a_database_that_there_is_not"
    async with send(raw, sql, parameters={"MULTI_STATEMENT_COUNT": 2}) as response:
        answer = await response.json()
    assert (answer["code"], answer["data"]["sqlState"]) == ("100132", "P0000")
    assert 'failed on statement "DROP DATABASE a_database_that_..." (at line 2, position 1).' in answer["message"]
    assert "Database 'A_DATABASE_THAT_THERE_IS_NOT' does not exist" in answer["message"]


# --- quoted identifiers ----------------------------------------------------------------------------------------------


async def test_quoted_identifiers_ignore_case_in_a_session_or_in_one_statement(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    ignore = {"QUOTED_IDENTIFIERS_IGNORE_CASE": True}
    assert await rows(connection, 'SELECT 1 AS "one"', _statement_params=ignore) == [(1,)]
    await rows(connection, 'CREATE DATABASE "one"', _statement_params=ignore)
    await rows(connection, 'CREATE DATABASE "two"')
    await rows(connection, "ALTER SESSION SET QUOTED_IDENTIFIERS_IGNORE_CASE = TRUE")
    await rows(connection, 'CREATE DATABASE "three"')
    created = [entry.form and entry.form.name for entry in endpoint.journal.statements("CREATE")]
    assert created == [("ONE",), ("two",), ("THREE",)]
