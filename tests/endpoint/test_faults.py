"""Faults, the journal and the admin side."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from snowflake.connector.errors import DatabaseError, Error

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.faults import Fault
from tests.endpoint.conftest import Connect, http_client, rows


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


@pytest.fixture
async def admin(endpoint: SnowflakeEndpoint) -> AsyncIterator[aiohttp.ClientSession]:
    async with http_client(endpoint) as session:
        session.headers["Authorization"] = f"Bearer {endpoint.control_token}"
        yield session


async def test_the_admin_side_wants_its_token(admin: aiohttp.ClientSession) -> None:
    async with admin.get("/devstack/journal", headers={"Authorization": "Bearer guess"}) as response:
        assert response.status == 401


async def test_a_stranger_acts_over_http_and_is_journalled(admin: aiohttp.ClientSession) -> None:
    sql = {"role": "SYSADMIN", "sql": "CREATE DATABASE d"}
    async with admin.post("/devstack/sql", json=sql) as response:
        assert await response.json() == {"columns": ["status"], "rows": [["Database D successfully created."]]}
    async with admin.post("/devstack/sql", json=sql) as response:
        assert response.status == 422
        assert (await response.json())["number"] == "002002"
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
