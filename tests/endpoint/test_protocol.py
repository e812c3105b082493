"""Sessions and queries with the real driver."""

import asyncio
from typing import Any

import pytest
from snowflake.connector.errors import DatabaseError, ProgrammingError

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.journal import Journal
from freehold_devstack.snowflake.seed import Seed, SeedUser
from tests.endpoint.conftest import Clock, Connect, Start, error_number, http_client, log_in, rows


def running(pattern: str) -> Any:
    """Whether a statement has been received and is not done."""

    def condition(journal: Journal) -> bool:
        return any(entry.outcome is None for entry in journal.statements(pattern))

    return condition


async def test_cells_arrive_as_python_values(endpoint: SnowflakeEndpoint, connect: Connect, clock: Clock) -> None:
    connection = await connect(endpoint, session_parameters={"TIMEZONE": "UTC"})
    [(one, text, nothing, now)] = await rows(connection, "SELECT 1, 'it''s', NULL, CURRENT_TIMESTAMP()")
    assert (one, text, nothing) == (1, "it's", None)
    assert now.timestamp() == pytest.approx(clock.now, abs=0.001)


async def test_an_error_carries_number_sqlstate_query_id_and_text(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    with pytest.raises(ProgrammingError) as caught:
        await rows(connection, "DROP DATABASE nope")
    error = caught.value
    assert (error.errno, error.sqlstate) == (2003, "02000")
    assert "Database 'NOPE' does not exist or not authorized." in str(error.raw_msg)
    assert error.sfqid == endpoint.journal.statements("DROP")[-1].query_id


async def test_an_expired_session_token_is_renewed_without_the_client_noticing(
    endpoint: SnowflakeEndpoint, connect: Connect, clock: Clock
) -> None:
    connection = await connect(endpoint)
    [(session,)] = await rows(connection, "SELECT CURRENT_SESSION()")
    clock.now += 3601
    assert await rows(connection, "SELECT CURRENT_SESSION()") == [(session,)]


async def test_a_session_can_not_be_renewed_after_its_master_token_expired(
    endpoint: SnowflakeEndpoint, connect: Connect, clock: Clock
) -> None:
    connection = await connect(endpoint)
    clock.now += 14401
    assert await error_number(connection, "SELECT 1") == 390114


async def test_a_session_does_not_outlive_the_process(start: Start, connect: Connect) -> None:
    first = await start()
    connection, port = await connect(first), first.port
    await first.__aexit__(None, None, None)
    await start(port=port)
    assert await error_number(connection, "SELECT 1") == 390111


async def test_a_slow_statement_is_answered_as_in_progress_and_polled(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="delay", seconds=0.3))
    assert await rows(connection, "CREATE DATABASE d") == [("Database D successfully created.",)]
    assert len(endpoint.journal.statements("CREATE")) == 1


async def test_an_asynchronous_query_is_fetched_by_its_id(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    cursor = connection.cursor()
    await cursor.execute_async("SELECT 7")
    fetched = connection.cursor()
    await fetched.get_results_from_sfqid(cursor.sfqid)
    assert await fetched.fetchall() == [(7,)]


@pytest.mark.parametrize(
    ("account", "user", "code"),
    [
        ("FREEHOLD-DEVSTACK", "OPERATOR", None),
        ("FREEHOLD-DEVSTACK", "NEIGHBOUR", "000709"),
        ("FREEHOLD-SECOND", "OPERATOR", "000709"),
    ],
)
@pytest.mark.parametrize(
    ("method", "url"),
    [("GET", "/queries/{}/result"), ("GET", "/monitoring/queries/{}"), ("POST", "/queries/{}/abort-request")],
)
async def test_a_query_is_there_for_all_sessions_of_its_user_and_for_nobody_else(
    start: Start, seed: Seed, connect: Connect, account: str, user: str, code: str | None, method: str, url: str
) -> None:
    seed.accounts[0].users["NEIGHBOUR"] = SeedUser(password="correct horse")
    # In a twin of the account the same ids stand for other users.
    seed.accounts.append(seed.accounts[0].model_copy(update={"name": "SECOND", "locator": "FH00002"}))
    endpoint = await start()
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="hang"))
    cursor = (await connect(endpoint)).cursor()
    await cursor.execute_async("CREATE DATABASE d")
    async with http_client(endpoint) as http:
        token = (await log_in(http, account=account, user=user))["token"]
        headers = {"Authorization": f'Snowflake Token="{token}"'}
        async with http.request(method, url.format(cursor.sfqid), headers=headers) as response:
            answer = await response.json()
    assert (None if answer["success"] else answer["code"]) == code


async def test_a_cancelled_statement_is_aborted_before_it_takes_effect(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="hang"))
    statement = asyncio.create_task(rows(connection, "CREATE DATABASE d"))
    await endpoint.journal.wait_for(running("CREATE DATABASE"))
    statement.cancel()
    await endpoint.journal.wait_for(lambda journal: bool(journal.statements("CREATE", outcome="000604")))
    assert await rows(connection, "SHOW DATABASES") == []


async def test_a_statement_that_takes_too_long_is_cancelled(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint, session_parameters={"STATEMENT_TIMEOUT_IN_SECONDS": 1})
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="hang"))
    assert await error_number(connection, "CREATE DATABASE d") == 630


async def test_the_query_tag_of_a_statement_is_journalled_for_it_alone(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    await rows(connection, "SELECT 1", _statement_params={"QUERY_TAG": "mine"})
    await rows(connection, "SELECT 2")
    assert [entry.query_tag for entry in endpoint.journal.statements("SELECT")] == ["mine", ""]


async def test_a_request_holds_as_many_statements_as_it_says(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    assert await error_number(connection, "SELECT 1; DROP DATABASE d") == 8
    assert await error_number(connection, "SELECT 1; SELECT 2; SELECT 3", num_statements=2) == 8
    assert await error_number(connection, "SELECT 1", num_statements=2) == 8
    assert await rows(connection, "SELECT 1;") == [(1,)]


async def test_bind_variables_are_refused(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint, paramstyle="qmark")
    assert await error_number(connection, "SELECT ?", parameters=(1,)) == 2


async def test_closing_ends_the_session(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    await connection.close()
    with pytest.raises(DatabaseError):
        await rows(connection, "SELECT 1")


async def test_use_role_changes_the_session_and_the_driver_is_told(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    await rows(connection, "USE ROLE PUBLIC")
    assert await rows(connection, "SELECT CURRENT_ROLE()") == [("PUBLIC",)]
    assert connection.role == "PUBLIC"
