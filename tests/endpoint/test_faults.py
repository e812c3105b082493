"""Faults, the journal and the admin side."""

import asyncio
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from snowflake.connector.errors import DatabaseError, Error

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.seed import Seed
from tests.endpoint.conftest import Connect, Start, error_number, http_client, refused, rows


async def test_an_injected_error_stops_the_statement_that_matches_and_no_other(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="create database", action="error", number=603, sqlstate="XX000", message="boom"))
    await rows(connection, "SHOW DATABASES")
    with pytest.raises(DatabaseError) as caught:
        await rows(connection, "CREATE DATABASE d")
    assert (caught.value.errno, caught.value.sqlstate) == (603, "XX000")
    assert await rows(connection, "SHOW DATABASES") == []
    await rows(connection, "CREATE DATABASE d")


async def test_a_fault_spares_what_it_is_told_to_skip_and_hits_as_often_as_told(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="SELECT", action="error", skip=1, times=2, number=604))
    outcomes = []
    for _ in range(4):
        try:
            await rows(connection, "SELECT 1")
            outcomes.append("ok")
        except DatabaseError:
            outcomes.append("error")
    assert outcomes == ["ok", "error", "error", "ok"]


async def test_a_connection_cut_before_execution_leaves_no_effect(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="drop-before", times=20))
    with pytest.raises(Error):
        await rows(connection, "CREATE DATABASE d")
    assert endpoint.journal.statements("CREATE DATABASE") == []


async def test_a_connection_cut_after_execution_leaves_the_effect(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="drop-after", times=20))
    with pytest.raises(Error):
        await rows(connection, "CREATE DATABASE d")
    assert [entry.outcome for entry in endpoint.journal.statements("CREATE DATABASE")] == ["ok"]


async def test_a_repeated_request_is_answered_with_the_first_ones_result(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint, retry_max_attempts=6)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="drop-after"))
    assert await rows(connection, "CREATE DATABASE d") == [("Database D successfully created.",)]
    assert len(endpoint.journal.statements("CREATE DATABASE")) == 1


async def test_the_journal_finds_statements_by_text_time_and_outcome(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    await rows(connection, "CREATE DATABASE d")
    seen = endpoint.journal.next_sequence - 1
    with pytest.raises(DatabaseError):
        await rows(connection, "CREATE DATABASE d")
    journal = endpoint.journal
    assert [entry.outcome for entry in journal.statements("^create database")] == ["ok", "002002"]
    assert [entry.outcome for entry in journal.statements(since=seen)] == ["002002"]
    assert [entry.text for entry in journal.statements(outcome="002002")] == ["CREATE DATABASE d"]
    [entry] = journal.statements(outcome="002002")
    assert (entry.account, entry.user, entry.role) == ("DEVSTACK", "OPERATOR", "OPERATOR")
    assert entry.request_id


async def test_waiting_for_the_journal_ends_at_its_deadline(endpoint: SnowflakeEndpoint) -> None:
    with pytest.raises(TimeoutError):
        await endpoint.journal.wait_for(lambda _: False, seconds=0.01)


# --- over HTTP -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def admin_of(endpoint: SnowflakeEndpoint) -> AsyncIterator[aiohttp.ClientSession]:
    async with http_client(endpoint) as session:
        session.headers["Authorization"] = f"Bearer {endpoint.control_token}"
        yield session


@pytest.fixture
async def admin(endpoint: SnowflakeEndpoint) -> AsyncIterator[aiohttp.ClientSession]:
    async with admin_of(endpoint) as session:
        yield session


async def test_a_stranger_acts_over_http_and_is_journalled(admin: aiohttp.ClientSession) -> None:
    sql = {"role": "SYSADMIN", "sql": "CREATE DATABASE d"}
    async with admin.post("/devstack/sql", json=sql) as response:
        assert await response.json() == {"columns": ["status"], "rows": [["Database D successfully created."]]}
    async with admin.post("/devstack/sql", json=sql) as response:
        assert response.status == 422
        assert (await response.json())["number"] == "002002"
    async with admin.get("/devstack/journal/latest") as response:
        assert await response.json() == 2
    async with admin.get("/devstack/journal", params={"since": "0"}) as response:
        assert [(entry["text"], entry["outcome"]) for entry in await response.json()] == [
            ("CREATE DATABASE d", "ok"),
            ("CREATE DATABASE d", "002002"),
        ]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/devstack/faults", {"action": "explode"}),
        ("/devstack/faults", {"action": "error", "match": "("}),
        ("/devstack/sql", {"sql": "SELECT 1"}),
        ("/devstack/sql", {"sql": "SELECT 1", "role": "NOSUCH"}),
    ],
)
async def test_a_bad_admin_request_is_refused(admin: aiohttp.ClientSession, path: str, body: dict[str, str]) -> None:
    async with admin.post(path, json=body) as response:
        assert response.status == 400


@pytest.mark.parametrize("path", ["journal?since=x", "journal?since=-1", "journal/0/effects", "journal/7/effects"])
async def test_what_is_no_number_of_the_journal_is_refused(admin: aiohttp.ClientSession, path: str) -> None:
    async with admin.get(f"/devstack/{path}") as response:
        assert response.status == 400


@pytest.mark.parametrize("authorization", ["", "Bearer guess", "Bearer gu\xe9ss"])
async def test_the_admin_side_wants_its_token(endpoint: SnowflakeEndpoint, authorization: str) -> None:
    async with (
        http_client(endpoint) as http,
        http.get("/devstack/journal", headers={"Authorization": authorization}) as response,
    ):
        assert response.status == 401


async def test_faults_are_added_and_cleared_over_http(
    admin: aiohttp.ClientSession, endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    async with admin.post("/devstack/faults", json={"action": "error", "times": 5}) as response:
        assert response.status == 200
    with pytest.raises(DatabaseError) as caught:
        await rows(connection, "SELECT 1")
    assert caught.value.errno == 999999
    async with admin.delete("/devstack/faults") as response:
        assert response.status == 200
    assert await rows(connection, "SELECT 1") == [(1,)]


async def test_statements_that_hang_end_with_the_endpoint(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(action="hang"))
    statement = asyncio.create_task(rows(connection, "SELECT 1"))
    await endpoint.journal.wait_for(lambda journal: bool(journal.statements("SELECT")))
    await endpoint.__aexit__(None, None, None)
    assert endpoint.journal.statements("SELECT")[-1].outcome == "000604"
    statement.cancel()
    with pytest.raises((asyncio.CancelledError, Error)):
        await statement


# --- what happens to a connection -----------------------------------------------------------------------------------


async def test_a_statement_can_run_on_after_its_client_is_gone(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="drop-during", seconds=0.1))
    with pytest.raises(Error):
        await rows(connection, "CREATE DATABASE d")
    await endpoint.journal.wait_for(lambda journal: bool(journal.statements("CREATE", outcome="ok")))
    assert await rows(connection, "SHOW DATABASES") != []


@pytest.mark.parametrize("status", [429, 503])
async def test_an_http_status_stands_for_an_answer_as_often_as_told(
    endpoint: SnowflakeEndpoint, connect: Connect, status: int
) -> None:
    connection = await connect(endpoint, retry_max_attempts=6)
    endpoint.faults.add(
        Fault.model_validate({"match": "CREATE", "action": "http", "status": status, "times": 2, "retry_after": 0})
    )
    await rows(connection, "CREATE DATABASE d")
    assert len(endpoint.journal.statements("CREATE DATABASE")) == 1


async def test_an_http_status_says_when_to_come_back(endpoint: SnowflakeEndpoint) -> None:
    endpoint.faults.add(Fault(match="^LOGIN", action="http", status=429, retry_after=7))
    async with (
        http_client(endpoint) as http,
        http.post("/session/v1/login-request", json={"data": {"ACCOUNT_NAME": "FREEHOLD-DEVSTACK"}}) as response,
    ):
        assert (response.status, response.headers["Retry-After"]) == (429, "7")


async def test_a_token_expires_when_told_to_and_the_driver_renews_it(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="expire-token"))
    await rows(connection, "CREATE DATABASE d")
    assert len(endpoint.journal.statements("CREATE DATABASE")) == 1


async def test_a_session_is_lost_when_told_to(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="SELECT", action="lose-session"))
    assert await error_number(connection, "SELECT 1") == 390111
    assert await error_number(connection, "SELECT 2") == 390111
    await connect(endpoint)


# --- whom and when ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "number"),
    [
        ({}, 603),
        ({"user": "OPERATOR", "role": "OPERATOR", "account": "DEVSTACK"}, 603),
        ({"user": "NOBODY"}, None),
        ({"role": "PUBLIC"}, None),
        ({"account": "SECOND"}, None),
    ],
)
async def test_a_fault_can_be_limited_to_an_account_a_user_or_a_role(
    endpoint: SnowflakeEndpoint, connect: Connect, limits: dict[str, str], number: int | None
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault.model_validate({"match": "SELECT", "action": "error", "number": 603, **limits}))
    if number is None:
        assert await rows(connection, "SELECT 1") == [(1,)]
    else:
        assert await error_number(connection, "SELECT 1") == number


async def test_a_fault_without_end_hits_until_it_is_cleared(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="^SHOW", action="error", times=None, number=603))
    for _ in range(3):
        assert await error_number(connection, "SHOW DATABASES") == 603
    endpoint.faults.clear()
    await rows(connection, "SHOW DATABASES")


def latencies(**facts: Any) -> list[float]:
    fault = Fault.model_validate({"action": "delay", **facts})
    return [fault.latency() for _ in range(2000)]


@pytest.mark.parametrize(
    ("facts", "least", "median", "most"),
    [
        ({"seconds": 2}, 2, 2, 2),
        ({"distribution": "uniform", "seconds": 2, "spread": 1}, 1, 2, 3),
        ({"distribution": "exponential", "seconds": 2}, 0, 1.386, 40),
        ({"distribution": "lognormal", "seconds": 2, "spread": 0.5}, 0, 2, 40),
    ],
)
def test_delays_follow_their_distribution(facts: dict[str, Any], least: float, median: float, most: float) -> None:
    drawn = latencies(**facts)
    assert least <= min(drawn) <= max(drawn) <= most
    assert statistics.median(drawn) == pytest.approx(median, rel=0.1)


def test_delays_are_the_same_ones_for_the_same_seed() -> None:
    facts = {"distribution": "exponential", "seconds": 1}
    assert latencies(**facts, seed=1) == latencies(**facts, seed=1) != latencies(**facts, seed=2)


@pytest.mark.parametrize(
    "facts", [{"action": "error", "seconds": 1}, {"action": "hang", "number": 1}, {"action": "delay", "status": 503}]
)
def test_a_fault_with_a_field_that_has_no_effect_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="without effect"):
        Fault.model_validate(facts)


# --- the whole account -----------------------------------------------------------------------------------------------


async def test_a_frozen_account_answers_nothing_until_it_is_thawed(start: Start, seed: Seed, connect: Connect) -> None:
    second = seed.accounts[0].model_copy(update={"name": "SECOND", "locator": "FH00002"})
    endpoint = await start()
    endpoint.add_account(second)
    connection = await connect(endpoint)
    async with admin_of(endpoint) as admin:
        assert (await admin.put("/devstack/frozen/NO_SUCH")).status == 400
        assert (await admin.put("/devstack/frozen/DEVSTACK")).status == 200
        statement = asyncio.create_task(rows(connection, "SELECT 1"))
        other = await connect(endpoint, account="FREEHOLD-SECOND")
        assert await rows(other, "SELECT 2") == [(2,)]
        assert not statement.done()
        assert [entry.text for entry in endpoint.journal.statements()] == ["SELECT 2"]
        assert (await admin.delete("/devstack/frozen/DEVSTACK")).status == 200
    assert await statement == [(1,)]


async def test_an_account_is_added_once(endpoint: SnowflakeEndpoint, seed: Seed) -> None:
    with pytest.raises(ValueError, match="DEVSTACK"):
        endpoint.add_account(seed.accounts[0])


@pytest.mark.parametrize(("skew", "cause"), [(-90, "future"), (3700, "expired")])
async def test_a_clock_that_is_wrong_refuses_good_tokens(
    endpoint: SnowflakeEndpoint, connect: Connect, admin: aiohttp.ClientSession, skew: float, cause: str
) -> None:
    async with admin.put("/devstack/clock", json={"skew": skew}) as response:
        assert response.status == 200
    assert await refused(connect, endpoint) == 390144
    assert cause in endpoint.journal.since()[-1].detail
    endpoint.clock.skew = 0
    await connect(endpoint)
