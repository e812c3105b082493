"""`freehold plan --offline` and `freehold kinds`, as a person uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from freehold.cli import app

RUNNER = CliRunner()

MANIFESTS = """
apiVersion: snowflake.freehold.dev/v1alpha1
kind: Database
metadata: {name: sales}
spec: {name: sales}
---
apiVersion: snowflake.freehold.dev/v1alpha1
kind: Schema
metadata: {name: raw}
spec: {databaseRef: {name: sales}, name: RAW}
"""

GRANTED = """
kind: AccountRole
metadata: {name: reader}
spec: {name: READER}
---
kind: GrantPrivilegesToAccountRole
metadata: {name: reader-uses-raw}
spec: {privileges: [USAGE, MONITOR], accountRoleRef: {name: reader}, onSchema: {schemaRef: {name: raw}}}
---
kind: Task
metadata: {name: t}
spec: {databaseName: D, schemaName: S, name: T, warehouseRef: {name: wh}, sqlStatement: SELECT 1}
---
kind: Warehouse
metadata: {name: wh}
spec: {name: LOADING}
"""

NO_TYPE = """
kind: Table
metadata: {name: t}
spec: {databaseName: D, schemaName: S, name: T, columns: [{name: A, type: "NUMBER(9,1"}]}
"""


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "manifests.yaml"
    path.write_text(text)
    return str(path)


def test_plan_prints_the_statements_with_parents_resolved(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", _file(tmp_path, MANIFESTS)])
    assert result.exit_code == 0
    assert 'CREATE DATABASE "sales";' in result.stdout
    assert 'CREATE SCHEMA "sales"."RAW";' in result.stdout
    assert "people must put it in double quotes" in result.stderr


def test_plan_names_the_field_the_value_and_the_remedy_of_bad_input(tmp_path: Path) -> None:
    bad = MANIFESTS.replace("name: RAW}", "name: RAW, logLevel: LOUD}").replace(
        "{name: sales}\n---", "{name: sales, tags: {a: b}}\n---"
    )
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", _file(tmp_path, bad)])
    assert result.exit_code == 1
    assert "spec.logLevel: Input should be 'TRACE'" in result.stderr
    assert "spec.tags isn't supported" in result.stderr


def test_kinds_lists_every_kind() -> None:
    result = RUNNER.invoke(app, ["kinds"])
    assert "Warehouse" in result.stdout
    assert result.exit_code == 0


def test_plan_shows_what_follows_a_creation(tmp_path: Path) -> None:
    text = MANIFESTS.replace("spec: {name: sales}", "spec: {name: sales, dropPublicSchemaOnCreation: true}")
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", _file(tmp_path, text)])
    assert 'CREATE DATABASE "sales";\nDROP SCHEMA "sales"."PUBLIC";' in result.stdout


@pytest.mark.parametrize(
    ("text", "told", "exit_code"),
    [
        ("a: [", 'manifests.yaml", line 1', 1),
        ("- a", "not a manifest but a list", 1),
        ("kind: Database", "a Database has no metadata.name", 1),
        ("{kind: Database, metadata: {name: d}, spec: {name: D, nme: E}}", "spec.nme: unknown field", 1),
        (
            NO_TYPE,
            "spec.columns[0].type: not a data type: 'NUMBER(9,1'",
            1,
        ),
    ],
)
def test_plan_tells_in_one_line_what_is_wrong_with_a_file(tmp_path: Path, text: str, told: str, exit_code: int) -> None:
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", _file(tmp_path, text)])
    assert result.exit_code == exit_code
    assert told in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_plan_reads_folders_and_says_when_there_is_nothing_to_plan(tmp_path: Path) -> None:
    _file(tmp_path, MANIFESTS)
    assert 'CREATE SCHEMA "sales"."RAW"' in RUNNER.invoke(app, ["plan", "--offline", "-f", str(tmp_path)]).stdout
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", _file(tmp_path, "{kind: ConfigMap}")])
    assert result.stderr.startswith("nothing to plan")


def test_plan_says_which_file_is_missing(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", str(tmp_path / "none.yaml")])
    assert result.exit_code == 1
    assert "none.yaml: No such file" in result.stderr


def test_plan_tells_each_grant_and_names_what_is_referred_to(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", _file(tmp_path, f"{MANIFESTS}---{GRANTED}")])
    assert 'GRANT USAGE ON SCHEMA "sales"."RAW" TO ROLE "READER";' in result.stdout
    assert 'GRANT MONITOR ON SCHEMA "sales"."RAW" TO ROLE "READER";' in result.stdout
    assert 'WAREHOUSE = "LOADING"' in result.stdout


def test_plan_asks_for_the_file_of_what_is_referred_to(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["plan", "--offline", "-f", _file(tmp_path, GRANTED.split("---")[2])])
    assert result.exit_code == 1
    assert "spec.warehouseRef names Warehouse default/wh, which no file holds: give its file, too" in result.stderr
