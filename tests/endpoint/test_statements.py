"""The SQL surface, case by case: `cases/*.yaml` holds them.

A case is a list of steps in one session. A step that is a text must succeed; one that is a mapping has the statement
in `sql` and what it must answer: `rows` (each a part of the row, in order), `status`, `columns` or `error` (the number)
with `text` (a part of the message) or `message` (all of it). `as` opens a new session with another primary role,
`later` lets seconds pass. A first step without `sql` sets the account's `edition` or `hints`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from freehold_devstack.snowflake import show
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.seed import Seed, SeedAccount, SeedRole, SeedUser
from freehold_devstack.snowflake.sessions import Session

CASES = Path(__file__).parent / "cases"
STEP = {"sql", "as", "user", "later", "rows", "status", "columns", "error", "text", "message", "sqlstate"}
START_MILLISECONDS = 1_800_000_000_000


class Bench:
    """An engine whose clock moves a second with every statement, and the session that the steps run in."""

    def __init__(self, **account: Any) -> None:
        self.now = START_MILLISECONDS / 1000
        users = {"U": SeedUser(default_role="R", roles=["R", "R2"])}
        roles = {"R": SeedRole(granted_to=["SYSADMIN"]), "R2": SeedRole(), "STRANGER": SeedRole()}
        statements = ["GRANT CREATE DATABASE, CREATE WAREHOUSE ON ACCOUNT TO ROLE R"]
        seed = Seed(
            accounts=[SeedAccount(users=users, roles=roles, statements=statements, peers=["FREEHOLD.DR"], **account)]
        )
        self.engine = Engine(seed, clock=lambda: self.now)
        self.session: Session = self.engine.session_as(role="R")

    def run(self, step: Mapping[str, Any]) -> Result:
        self.now += step.get("later", 1)
        if "as" in step:
            self.session = self.engine.session_as(role=step["as"], user=step.get("user"))
        return self.engine.run(self.session, step["sql"])


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{file.stem}: {name}")
        for file in sorted(CASES.glob("*.yaml"))
        for name, case in yaml.safe_load(file.read_text()).items()
    ]


@pytest.mark.parametrize("case", cases())
def test_case(case: list[str | dict[str, Any]]) -> None:
    settings = case[0] if isinstance(case[0], dict) and "sql" not in case[0] else {}
    bench = Bench(**settings)
    for step in case[1:] if settings else case:
        if isinstance(step, str):
            bench.run({"sql": step})
        else:
            check(bench, step)


def check(bench: Bench, step: Mapping[str, Any]) -> None:
    unknown = step.keys() - STEP
    assert not unknown, unknown
    if "error" in step:
        with pytest.raises(SqlError) as caught:
            bench.run(step)
        assert caught.value.code == step["error"], caught.value.message
        assert step.get("text", "") in caught.value.message
        assert step.get("message", caught.value.message) == caught.value.message
        assert step.get("sqlstate", caught.value.sqlstate) == caught.value.sqlstate
        return
    result = bench.run(step)
    if "status" in step:
        assert [row[0] for row in result.rows] == [step["status"]]
    if "columns" in step:
        assert [column.name for column in result.columns] == step["columns"]
    if "rows" in step:
        records = result.records()
        assert len(records) == len(step["rows"]), records
        for record, expected in zip(records, step["rows"], strict=True):
            assert {name: record[name] for name in expected} == expected


def test_show_refuses_or_cuts_what_exceeds_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "ROW_LIMIT", 2)
    bench = Bench()
    for number in range(3):
        bench.run({"sql": f"CREATE DATABASE d{number}"})
        bench.run({"sql": f"CREATE WAREHOUSE w{number}"})
    check(bench, {"sql": "SHOW DATABASES", "error": "090153", "sqlstate": "22000"})
    check(bench, {"sql": "SHOW DATABASES LIMIT 2 FROM 'D0'", "rows": [{"name": "D1"}, {"name": "D2"}]})
    check(bench, {"sql": "SHOW WAREHOUSES", "rows": [{"name": "W0"}, {"name": "W1"}]})


def test_accounts_of_one_process_share_nothing() -> None:
    engine = Engine(Seed(accounts=[SeedAccount(), SeedAccount(name="SECOND", locator="FH00002")]), clock=lambda: 0)
    engine.run_as("CREATE DATABASE d", role="SYSADMIN", account="DEVSTACK")
    assert engine.run_as("SHOW DATABASES", role="SYSADMIN", account="SECOND").rows == []
    engine.run_as("CREATE DATABASE d", role="SYSADMIN", account="SECOND")
