"""Statements with the real driver: results, refusals, lost answers, lost sessions, limits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from freehold.snowflake import driver
from freehold.snowflake.client import Snowflake
from freehold.snowflake.driver import STATEMENT_TIMEOUT
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import words
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.faults import Fault

from .conftest import TAG, Clock


async def test_rows_have_lower_case_names_and_instants_in_utc_to_the_millisecond(
    snowflake: Snowflake, settings: ConnectionSettings
) -> None:
    await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)
    (row,) = (await snowflake.execute(settings, words("SHOW DATABASES LIKE 'D'"), TAG)).rows
    created = row["created_on"]

    assert (row["name"], row["owner"]) == ("D", "OPERATOR")
    assert isinstance(created, datetime)
    assert created.tzinfo is UTC
    assert created.microsecond % 1000 == 0
    assert abs(created - datetime.now(UTC)) < timedelta(minutes=1)


async def test_snowflakes_clock_compares_with_created_on(snowflake: Snowflake, settings: ConnectionSettings) -> None:
    before = await snowflake.clock(settings, TAG)
    await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)
    (row,) = (await snowflake.execute(settings, words("SHOW DATABASES LIKE 'D'"), TAG)).rows

    assert before.tzinfo is UTC
    assert before <= row["created_on"]  # type: ignore[operator]  # a column is an object until it is looked at


@pytest.mark.parametrize(
    ("statement", "number", "kind"),
    [
        ("DROP DATABASE NO_SUCH", 2003, ErrorClass.MISSING),
        ("DROP DATABASE FOREIGN", 3001, ErrorClass.PERMISSION),
        ("CREATE DATABASE TAKEN", 2002, ErrorClass.EXISTS),
        ("CREATE DATABSE X", 1003, ErrorClass.SYNTAX),
        ("SELECT 1; SELECT 2", 8, ErrorClass.SYNTAX),
    ],
)
async def test_a_refusal_has_the_servers_number_and_a_class(
    statement: str,
    number: int,
    kind: ErrorClass,
    snowflake: Snowflake,
    settings: ConnectionSettings,
    endpoint: SnowflakeEndpoint,
) -> None:
    endpoint.sql("CREATE DATABASE FOREIGN", role="SYSADMIN")
    endpoint.sql("GRANT USAGE ON DATABASE FOREIGN TO ROLE OPERATOR", role="SYSADMIN")
    await snowflake.execute(settings, words("CREATE DATABASE TAKEN"), TAG)

    with pytest.raises(SnowflakeError) as refusal:
        await snowflake.execute(settings, words(statement), TAG)

    assert (refusal.value.number, refusal.value.error_class) == (number, kind)
    assert refusal.value.query_id
    assert not isinstance(refusal.value, OutcomeUnknown)


async def test_a_refusal_leaves_the_session_as_it_is_and_nothing_behind(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    for _ in range(3):
        with pytest.raises(SnowflakeError):
            await snowflake.execute(settings, words("DROP DATABASE NO_SUCH"), TAG)

    async with snowflake._pool.session(settings) as session:
        assert session.connection._connection.messages == []
    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == 1


@pytest.mark.parametrize("action", ["drop-before", "drop-after"])
async def test_a_cut_connection_leaves_the_outcome_unknown_and_the_statement_is_not_repeated(
    action: str, snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault.model_validate({"match": "CREATE DATABASE", "action": action}))

    with pytest.raises(OutcomeUnknown):
        await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)

    rows = (await snowflake.execute(settings, words("SHOW DATABASES LIKE 'D'"), TAG)).rows
    assert len(rows) == (action == "drop-after")
    assert len(endpoint.journal.statements("CREATE DATABASE D")) <= 1


@pytest.mark.parametrize("status", [429, 503])
async def test_a_statement_that_the_front_end_turns_away_is_not_repeated_by_the_driver(
    status: Literal[429, 503], snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    await snowflake.verify(settings)
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="http", status=status))

    with pytest.raises(OutcomeUnknown):
        await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)

    assert not endpoint.journal.statements("CREATE DATABASE D")


async def test_tasks_that_share_a_session_each_get_their_own_rows(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault(match="^SELECT [0-9]", action="delay", seconds=0.1, times=None))

    async def ask(number: int) -> object:
        ((value,),) = [row.values() for row in (await snowflake.execute(settings, words(f"SELECT {number}"), TAG)).rows]
        return value

    assert await asyncio.gather(*(ask(number) for number in range(20))) == list(range(20))
    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == 1


@pytest.mark.parametrize("number", [603, 604, 630])
async def test_an_answer_that_does_not_tell_leaves_the_outcome_unknown(
    number: int, snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault(match="CREATE", action="error", number=number, sqlstate="57014"))

    with pytest.raises(OutcomeUnknown) as failure:
        await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)

    assert failure.value.number == number


async def test_a_statement_that_hangs_is_aborted_by_us_in_the_end(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BACKSTOP_SECONDS", 0.5 - STATEMENT_TIMEOUT.total_seconds())
    await snowflake.verify(settings)
    endpoint.faults.add(Fault(match="CREATE", action="hang"))

    with pytest.raises(OutcomeUnknown, match=r"within 0\.5 s"):
        await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)

    await endpoint.journal.wait_for(lambda journal: bool(journal.statements("CREATE DATABASE", outcome="000604")))


@pytest.mark.parametrize(
    ("limit", "of_the_provider", "holds"),
    [(None, None, 60), (300, None, 300), (30, None, 60), (300, 20, 20)],
    ids=["usual", "longer", "never shorter", "never longer than the provider's"],
)
async def test_a_statement_may_run_for_longer_than_others(
    limit: int | None,
    of_the_provider: int | None,
    holds: int,
    snowflake: Snowflake,
    settings: ConnectionSettings,
) -> None:
    if of_the_provider:
        settings = replace(settings, statement_timeout=timedelta(seconds=of_the_provider))
    asked = words("SHOW PARAMETERS LIKE 'STATEMENT_TIMEOUT_IN_SECONDS' IN SESSION")
    longer = timedelta(seconds=limit) if limit else None
    (row,) = (await snowflake.execute(settings, asked, TAG, limit=longer)).rows
    assert row["value"] == str(holds)


async def test_what_may_run_for_longer_is_aborted_by_us_later(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    await snowflake.verify(settings)
    monkeypatch.setattr(driver, "BACKSTOP_SECONDS", 0.5 - 300)
    endpoint.faults.add(Fault(match="CREATE", action="hang"))

    with pytest.raises(OutcomeUnknown, match=r"within 0\.5 s"):
        await snowflake.execute(settings, words("CREATE DATABASE D"), TAG, limit=timedelta(seconds=300))


async def test_cancelling_a_task_aborts_its_statement_and_spares_the_others(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault(match="CREATE DATABASE HANGS", action="hang"))
    endpoint.faults.add(Fault(match="CREATE DATABASE SLOW", action="delay", seconds=0.5))
    hanging = asyncio.create_task(snowflake.execute(settings, words("CREATE DATABASE HANGS"), TAG))
    slow = asyncio.create_task(snowflake.execute(settings, words("CREATE DATABASE SLOW"), TAG))
    await endpoint.journal.wait_for(lambda journal: len(journal.statements("CREATE DATABASE")) == 2)

    hanging.cancel()

    await slow
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await endpoint.journal.wait_for(lambda journal: bool(journal.statements("HANGS", outcome="000604")))


async def test_a_long_statement_is_polled_until_it_ends(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="delay", seconds=0.6))

    await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)

    assert endpoint.journal.statements("CREATE DATABASE D", outcome="ok")


async def test_an_expired_session_token_is_renewed_under_the_statement(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint, clock: Clock
) -> None:
    await snowflake.verify(settings)
    clock.now += 3700

    await asyncio.gather(*(snowflake.execute(settings, words("SELECT 1"), TAG) for _ in range(5)))

    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == 1


@pytest.mark.parametrize("number", [390111, 390114, 390318])
async def test_a_read_goes_on_over_a_new_session_when_the_old_one_has_ended(
    number: int, snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    await snowflake.verify(settings)
    endpoint.faults.add(Fault(match="CURRENT_TIMESTAMP", action="error", number=number, sqlstate="08001"))

    await snowflake.clock(settings, TAG)

    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == 2


async def test_a_write_is_not_repeated_when_the_session_has_ended_and_the_next_statement_logs_in_anew(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault(match="CREATE DATABASE", action="error", number=390114, sqlstate="08001"))

    with pytest.raises(SnowflakeError) as failure:
        await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)
    await snowflake.execute(settings, words("CREATE DATABASE D"), TAG)

    assert failure.value.error_class is ErrorClass.SESSION
    assert [entry.outcome for entry in endpoint.journal.statements("CREATE DATABASE D")][-1] == "ok"
    assert sum(entry.kind == "login" for entry in endpoint.journal.since()) == 2
