"""The SQL surface through the real driver, case by case: see bench.py for their form."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
import snowflake.connector.aio
from snowflake.connector.errors import Error

from freehold_devstack.snowflake import show
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.objects import load as load_types
from freehold_devstack.snowflake.seed import SeedAccount
from freehold_devstack.snowflake.tls import Certificate
from tests.endpoint.bench import EXPECTATIONS, FOLDER, PASSWORD, Case, Clock, Step, load, session_of

LEAST_ACCEPTED, LEAST_REFUSED = 30, 20
CENTURY = 100 * 365 * 86_400


class Client:
    """The driver, logged in to the account of a case."""

    def __init__(self, endpoint: SnowflakeEndpoint, connection: Any, clock: Clock) -> None:
        self._endpoint = endpoint
        self._connection = connection
        self._clock = clock
        self._session = endpoint.session(connection.session_id)
        self._become({"as": "R"})

    def _become(self, step: Step) -> None:
        """Make of the driver's session the one that the step wants; the driver itself could not act as any role."""
        wanted = session_of(self._endpoint._engine, step)
        vars(self._session).update({**vars(wanted), "id": self._session.id})

    async def run(self, step: Step) -> tuple[list[str], list[dict[str, Any]], list[str]]:
        """Columns, rows and effects of a statement.

        Raises:
            Error: As the driver raises it.
        """
        self._clock.move(step)
        if "as" in step:
            self._become(step)
        cursor = self._connection.cursor()
        await cursor.execute(step["sql"])
        columns = [column.name for column in cursor.description]
        rows = [dict(zip(columns, map(_plain, row), strict=True)) for row in await cursor.fetchall()]
        return columns, rows, self._endpoint.effects(self._endpoint.journal.since()[-1])


def _plain(value: object) -> object:
    """A value as cases spell it: timestamps in milliseconds since 1970."""
    match value:
        case datetime():
            return round(value.timestamp() * 1000)
        case Decimal() if value == int(value):
            return int(value)
        case _:
            return value


@asynccontextmanager
async def driver(case: Case, certificate: Certificate) -> AsyncIterator[Client]:
    """The driver at an endpoint of its own."""
    clock = Clock()
    endpoint = SnowflakeEndpoint(
        case.seed, certificate, clock=clock, session_validity=CENTURY, master_validity=CENTURY, answer_within=60
    )
    async with endpoint:
        connection = await snowflake.connector.aio.connect(
            account="FREEHOLD-DEVSTACK",
            user="U",
            password=PASSWORD,
            host="127.0.0.1",
            port=endpoint.port,
            protocol="https",
            custom_root_store_path=str(certificate.ca),
            enable_server_session_keep_alive_auto_detection=True,
            retry_max_attempts=1,
            login_timeout=10,
        )
        try:
            yield Client(endpoint, connection, clock)
        finally:
            await connection.close()


@pytest.mark.parametrize("case", load(), ids=str)
async def test_case(case: Case, certificate: Certificate) -> None:
    async with driver(case, certificate) as client:
        for step in case.steps:
            if "error" in step:
                await check_refused(client, step)
            else:
                await check_accepted(client, step)


async def check_refused(client: Client, step: Step) -> None:
    with pytest.raises(Error) as caught:
        await client.run(step)
    error = caught.value
    assert f"{error.errno:06d}" == step["error"], error.msg
    message = str(error.raw_msg)
    assert step.get("text", "") in message
    assert step.get("message", message) == message
    assert step.get("sqlstate", error.sqlstate) == error.sqlstate


async def check_accepted(client: Client, step: Step) -> None:
    columns, rows, effect = await client.run(step)
    if "status" in step:
        assert [row["status"] for row in rows] == [step["status"]]
    if "columns" in step:
        assert columns == step["columns"]
    if "effect" in step:
        assert effect == step["effect"]
    if "rows" in step:
        assert len(rows) == len(step["rows"]), rows
        for row, expected in zip(rows, step["rows"], strict=True):
            assert {name: row[name] for name in expected} == expected


# --- the cases as a whole --------------------------------------------------------------------------------------------


def _steps(kind: str) -> Sequence[Step]:
    stem = kind.lower().replace(" ", "_")
    longer = {each.lower().replace(" ", "_") for each in load_types() if each.startswith(f"{kind} ")}
    files = [case for case in load() if case.file.startswith(stem) and not case.file.startswith(tuple(longer) or "-")]
    return [step for case in files for step in case.steps]


@pytest.mark.parametrize("kind", sorted(load_types()))
def test_each_type_is_held_to_enough_statements_with_their_exact_outcome(kind: str) -> None:
    steps = _steps(kind)
    accepted = [step for step in steps if "error" not in step and EXPECTATIONS & step.keys()]
    refused = [step for step in steps if "error" in step and {"sqlstate", "text", "message"} & step.keys()]
    assert len(accepted) >= LEAST_ACCEPTED
    assert len(refused) >= LEAST_REFUSED


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_each_case_names_the_source_of_its_facts(file: Any) -> None:
    lines = file.read_text().splitlines()
    starts = [index for index, line in enumerate(lines) if re.match(r"[^\s#].*:\s*$", line)]
    unsourced = [
        lines[index]
        for index in starts
        if not index or not re.match(r"# (https://docs\.snowflake\.com/|seen: )", lines[index - 1])
    ]
    assert not unsourced


# --- what takes more than cases --------------------------------------------------------------------------------------


async def test_show_refuses_or_cuts_what_exceeds_its_limit(
    monkeypatch: pytest.MonkeyPatch, certificate: Certificate
) -> None:
    monkeypatch.setattr(show, "ROW_LIMIT", 2)
    async with driver(Case("", "", {}, ()), certificate) as client:
        for number in range(3):
            await client.run({"sql": f"CREATE DATABASE d{number}"})
            await client.run({"sql": f"CREATE WAREHOUSE w{number}"})
        await check_refused(client, {"sql": "SHOW DATABASES", "error": "090153", "sqlstate": "22000"})
        await check_accepted(
            client, {"sql": "SHOW DATABASES LIMIT 2 FROM 'D0'", "rows": [{"name": "D1"}, {"name": "D2"}]}
        )
        await check_accepted(client, {"sql": "SHOW WAREHOUSES", "rows": [{"name": "W0"}, {"name": "W1"}]})


def test_accounts_of_one_process_share_nothing() -> None:
    engine = Engine(clock=lambda: 0)
    engine.add_accounts(SeedAccount(), SeedAccount(name="SECOND", locator="FH00002"))
    engine.run_as("CREATE DATABASE d", role="SYSADMIN", account="DEVSTACK")
    assert engine.run_as("SHOW DATABASES", role="SYSADMIN", account="SECOND").rows == []
    engine.run_as("CREATE DATABASE d", role="SYSADMIN", account="SECOND")
