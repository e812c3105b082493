"""The script of the role suffices, and no statement of it can be left out: the endpoint says so."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from typer.testing import CliRunner

from freehold.cli import app
from freehold.kinds.kind import Kind
from freehold.kinds.names import Level
from freehold.kinds.registry import KINDS
from freehold.planning import privilege_to_create
from freehold.role_script import Absence, Granting, grants, text
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.seed import SeedAccount
from tests.chaos.samples import create

NO_PRIVILEGE = 3001
ROLE = "FREEHOLD"
OTHERS = ("OTHERS", "RAW")
"""A schema of somebody else."""
RUNNER = CliRunner()

CREATED = [kind for kind in KINDS.values() if kind.slots is None and not kind.created_by]


class Account:
    """An account after the script was run, some privileges left out."""

    def __init__(self, without: Collection[str] = (), absence: Absence = Absence.NONE) -> None:
        self._engine = Engine(clock=lambda: 1_800_000_000)
        self._engine.add_accounts(SeedAccount())
        for statement in ("CREATE DATABASE OTHERS", "CREATE SCHEMA OTHERS.RAW"):
            self.run(statement, role="SYSADMIN")
        script = list(grants(KINDS.values(), ROLE, absence, databases=["OTHERS"], schemas=[OTHERS]))
        for line in text(script, ROLE, absence):
            if not line.startswith("--"):
                self.run(_left_out(line, without), role="ACCOUNTADMIN")

    def run(self, statement: str, role: str = ROLE) -> None:
        session = self._engine.session_as(role=role)
        session.secondary = "NONE"
        self._engine.run(session, statement)

    def refusal(self, statement: str) -> str:
        """Why the role may not run a statement; empty where it may, whatever else is wrong with it."""
        try:
            self.run(statement)
        except SqlError as error:
            return str(error) if error.number == NO_PRIVILEGE else ""
        return ""


def _left_out(line: str, privileges: Collection[str]) -> str:
    """A line of the script without some of the privileges that it grants; a query where it grants no more."""
    statement = line.partition(";")[0]
    verb, on, securable = statement.partition(" ON ")
    if not verb.startswith("GRANT ") or not on:
        return statement
    kept = [each for each in verb.removeprefix("GRANT ").split(", ") if each not in privileges]
    return f"GRANT {', '.join(kept)} ON {securable}" if kept else "SHOW ROLES"


def _parts(kind: Kind) -> tuple[str, ...]:
    return (*OTHERS[: kind.level.value - 1], "MINE")


@pytest.mark.parametrize("kind", CREATED, ids=lambda kind: kind.name)
def test_the_role_may_create_every_kind_and_not_without_its_privilege(kind: Kind) -> None:
    statement = create(kind, _parts(kind))
    container = "account" if kind.level is Level.ACCOUNT else kind.level.name.lower()
    assert f"operate on {container} " not in Account().refusal(statement)
    assert f"operate on {container} " in Account(without=[privilege_to_create(kind)]).refusal(statement)


@pytest.mark.parametrize(
    ("absence", "holds"), [(Absence.RESOLVE_ALL, "RESOLVE ALL"), (Absence.MANAGE_GRANTS, "MANAGE GRANTS")]
)
def test_how_the_role_proves_absence_is_granted_and_its_cost_is_told(absence: Absence, holds: str) -> None:
    script = list(text(grants(KINDS.values(), ROLE, absence), ROLE, absence))
    assert any(line.startswith(f'GRANT {holds} ON ACCOUNT TO ROLE "FREEHOLD"') for line in script)
    assert any("It costs that" in line for line in script)


def test_without_proof_nothing_shows_all() -> None:
    script = "\n".join(text(grants(KINDS.values(), ROLE, Absence.NONE), ROLE, Absence.NONE))
    assert "GRANT RESOLVE ALL" not in script
    assert "GRANT MANAGE GRANTS" not in script
    assert "NotVisible" in script


def test_kinds_that_are_not_used_get_nothing() -> None:
    script = list(grants([KINDS["Warehouse"]], ROLE, Absence.NONE))
    assert [each.statement.text for each in script] == ['GRANT CREATE WAREHOUSE ON ACCOUNT TO ROLE "FREEHOLD"']


def test_the_right_to_create_what_only_a_system_role_creates_is_not_granted() -> None:
    assert not list(grants([KINDS["ResourceMonitor"]], ROLE, Absence.NONE))


def test_what_a_privilege_is_for_stands_beside_it() -> None:
    script = {each.statement.text: each.why for each in grants(KINDS.values(), ROLE, Absence.NONE)}
    assert script['GRANT MANAGE SHARE TARGET ON ACCOUNT TO ROLE "FREEHOLD"'] == "accounts of Share"
    assert script['GRANT IMPORT SHARE ON ACCOUNT TO ROLE "FREEHOLD"'] == "to see it: Share; SharedDatabase"


def test_hostile_names_stay_names() -> None:
    name = 'r"; DROP ROLE "x'
    (granting,) = grants([KINDS["Warehouse"]], name, Absence.NONE)
    assert isinstance(granting, Granting)
    assert granting.statement.text == 'GRANT CREATE WAREHOUSE ON ACCOUNT TO ROLE "r""; DROP ROLE ""x"'


def test_the_command_prints_the_script() -> None:
    result = RUNNER.invoke(app, ["role-script", "--kind", "wh", "--schema", "sales.RAW", "--user", "bot"])
    assert result.exit_code == 0
    lines = [line for line in result.output.splitlines() if not line.startswith("--")]
    assert lines == [
        'CREATE ROLE IF NOT EXISTS "FREEHOLD";',
        'GRANT CREATE WAREHOUSE ON ACCOUNT TO ROLE "FREEHOLD"; -- Warehouse',
        'GRANT RESOLVE ALL ON ACCOUNT TO ROLE "FREEHOLD"; -- proof that something is gone',
        'GRANT USAGE ON DATABASE "SALES" TO ROLE "FREEHOLD";',
        'GRANT USAGE ON SCHEMA "SALES"."RAW" TO ROLE "FREEHOLD";',
        'GRANT ROLE "FREEHOLD" TO ROLE SYSADMIN;',
        'GRANT ROLE "FREEHOLD" TO USER "bot";',
    ]


@pytest.mark.parametrize(
    "options", [["--kind", "Sprocket"], ["--schema", "RAW"], ["--role", ""], ["--absence", "hope"]]
)
def test_what_makes_no_script_is_said(options: list[str]) -> None:
    assert RUNNER.invoke(app, ["role-script", *options]).exit_code == 2
