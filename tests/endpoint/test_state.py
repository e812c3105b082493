"""What survives the end of the process, and the command line that keeps it."""

from pathlib import Path

import pytest

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.seed import SeedAccount
from tests.endpoint.conftest import Start


def names(endpoint: SnowflakeEndpoint, sql: str = "SHOW DATABASES") -> list[object]:
    return [record["name"] for record in endpoint.sql(sql, role="ACCOUNTADMIN").records()]


async def test_catalog_and_journal_survive_a_restart(start: Start, state_file: Path) -> None:
    first = await start(state=state_file)
    first.sql("CREATE DATABASE kept COMMENT = 'c' DATA_RETENTION_TIME_IN_DAYS = 7", role="SYSADMIN")
    first.sql("CREATE DATABASE gone", role="SYSADMIN")
    first.sql("DROP DATABASE gone", role="SYSADMIN")
    first.sql("GRANT USAGE ON DATABASE kept TO ROLE other", role="SYSADMIN")
    first.sql("GRANT MONITOR ON DATABASE kept TO ROLE other", role="SYSADMIN")
    first.sql("REVOKE MONITOR ON DATABASE kept FROM ROLE other", role="SYSADMIN")
    shows = ("SHOW DATABASES HISTORY", "SHOW PARAMETERS IN DATABASE kept", "SHOW GRANTS ON DATABASE kept")
    before = [first.sql(show, role="SYSADMIN").rows for show in shows]
    texts = [entry.text for entry in first.journal.since()]
    await first.__aexit__(None, None, None)

    second = await start(state=state_file)
    assert [entry.text for entry in second.journal.since()] == texts
    assert [second.sql(show, role="SYSADMIN").rows for show in shows] == before
    second.sql("UNDROP DATABASE gone", role="SYSADMIN")


async def test_a_refused_statement_leaves_its_journal_entry_and_nothing_else(start: Start, state_file: Path) -> None:
    first = await start(state=state_file)
    with pytest.raises(SqlError):
        first.sql("CREATE DATABASE d LOG_LEVEL = 'LOUD'", role="SYSADMIN")
    await first.__aexit__(None, None, None)
    second = await start(state=state_file)
    assert second.journal.since()[-1].outcome == "001008"
    assert names(second) == []


def cut_last_line(file: Path) -> None:
    """Leave of the last line what a crash might."""
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])


async def test_a_line_that_a_crash_cut_short_does_not_count(start: Start, state_file: Path) -> None:
    first = await start(state=state_file)
    first.sql("CREATE DATABASE one", role="SYSADMIN")
    first.sql("CREATE DATABASE two", role="SYSADMIN")
    await first.__aexit__(None, None, None)
    cut_last_line(state_file)
    second = await start(state=state_file)
    assert names(second) == ["ONE"]
    second.sql("CREATE DATABASE three", role="SYSADMIN")
    await second.__aexit__(None, None, None)
    assert names(await start(state=state_file)) == ["ONE", "THREE"]


async def test_records_are_the_same_ones_after_a_restart(start: Start, state_file: Path) -> None:
    statements = (
        "CREATE DATABASE d COMMENT = 'c'",
        "CREATE SCHEMA d.s DATA_RETENTION_TIME_IN_DAYS = 1",
        "CREATE TAG d.s.t ALLOWED_VALUES 'a', 'b'",
        "ALTER SCHEMA d.s SET TAG d.s.t = 'a'",
        "GRANT SELECT ON FUTURE TABLES IN SCHEMA d.s TO ROLE other",
        "CREATE FUNCTION d.s.f(a NUMBER) RETURNS NUMBER AS 'a'",
        "ALTER TAG d.s.t SET COMMENT = 'd'",
    )
    first = await start(state=state_file)
    for statement in statements:
        first.sql(statement, role="ACCOUNTADMIN")
    before, said = vars(first._engine.accounts["DEVSTACK"].catalog), effects(first)
    await first.__aexit__(None, None, None)
    second = await start(state=state_file)
    after = vars(second._engine.accounts["DEVSTACK"].catalog)
    assert (after["_objects"], after["_grants"]) == (before["_objects"], before["_grants"])
    assert effects(second) == said


def effects(endpoint: SnowflakeEndpoint) -> list[list[str]]:
    return [endpoint.effects(entry) for entry in endpoint.journal.since()]


async def test_a_state_without_an_account_of_its_own_leaves_it_out(start: Start, state_file: Path) -> None:
    first = await start(state=state_file)
    first.add_account(SeedAccount(name="SECOND", locator="FH00002"))
    first.sql("CREATE DATABASE second", role="SYSADMIN", account="SECOND")
    first.sql("CREATE DATABASE first", role="SYSADMIN")
    await first.__aexit__(None, None, None)
    second = await start(state=state_file)
    assert names(second) == ["FIRST"]
    second.add_account(SeedAccount(name="SECOND", locator="FH00002"))
    databases = second.sql("SHOW DATABASES", role="ACCOUNTADMIN", account="SECOND").records()
    assert [record["name"] for record in databases] == ["SECOND"]
