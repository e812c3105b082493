"""What survives the end of the process, and the command line that keeps it."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.errors import SqlError
from tests.endpoint.conftest import Connect, Start, rows


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


async def test_the_command_serves_with_its_own_ca_until_it_is_stopped(tmp_path: Path, connect: Connect) -> None:
    seed = tmp_path / "seed.yaml"
    seed.write_text(json.dumps({"accounts": [{"users": {"U": {"password": "p", "roles": ["SYSADMIN"]}}}]}))
    ready = tmp_path / "ready.json"
    arguments = ["--seed", seed, "--tls-dir", tmp_path / "tls", "--san", "snowflake.test", "--ready-file", ready]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from freehold_devstack.snowflake.main import main; main()",
        *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(20):
            assert (await process.stdout.readline()).startswith(b"Snowflake endpoint ready on 127.0.0.1:")
        told = json.loads(ready.read_text())
        address = {"port": told["port"], "custom_root_store_path": told["ca"]}
        connection = await connect(None, user="U", password="p", **address)
        assert await rows(connection, "SELECT CURRENT_USER()") == [("U",)]
        await connection.close()
    finally:
        process.terminate()
        async with asyncio.timeout(20):
            assert await process.wait() == 0
