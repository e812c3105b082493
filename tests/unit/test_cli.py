"""The command line, as a person uses it."""

from __future__ import annotations

from pathlib import Path

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


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "manifests.yaml"
    path.write_text(text)
    return str(path)


def test_plan_prints_the_statements_with_parents_resolved(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["plan", _file(tmp_path, MANIFESTS)])
    assert result.exit_code == 0
    assert 'CREATE DATABASE "sales";' in result.stdout
    assert 'CREATE SCHEMA "sales"."RAW";' in result.stdout
    assert "people must put it in double quotes" in result.stderr


def test_plan_names_the_field_the_value_and_the_remedy_of_bad_input(tmp_path: Path) -> None:
    bad = MANIFESTS.replace("name: RAW}", "name: RAW, logLevel: LOUD}").replace(
        "{name: sales}\n---", "{name: sales, tags: {a: b}}\n---"
    )
    result = RUNNER.invoke(app, ["plan", _file(tmp_path, bad)])
    assert result.exit_code == 1
    assert "spec.logLevel: Input should be 'TRACE'" in result.stderr
    assert "spec.tags isn't supported" in result.stderr


def test_kinds_lists_every_kind() -> None:
    result = RUNNER.invoke(app, ["kinds"])
    assert "Warehouse" in result.stdout
    assert result.exit_code == 0
