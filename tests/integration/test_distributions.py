"""The distributions as they are installed: each with what it needs, and nothing that it must not have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


def _install(folder: Path, *requirements: str) -> Path:
    """A fresh environment with some of the workspace's members, at the versions and hashes of the lock file."""
    environment = folder / "environment"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--python", environment, "--constraint", "requirements.lock", *requirements],
        check=True,
        cwd=ROOT,
    )
    return environment


def _packages(environment: Path) -> set[str]:
    listed = subprocess.run(
        [UV, "pip", "list", "--format", "json", "--python", environment], check=True, capture_output=True, text=True
    )
    return {each["name"] for each in json.loads(listed.stdout)}


def test_the_webhooks_environment_holds_no_database_driver_and_no_operator_framework(tmp_path: Path) -> None:
    environment = _install(tmp_path, "./shared", "./webhook")
    assert _packages(environment) & {"snowflake-connector-python", "kopf", "psycopg"} == set()
    subprocess.run([environment / "bin/freehold-webhook", "--help"], check=True, capture_output=True)


def test_the_controllers_start_from_their_own_distribution(tmp_path: Path) -> None:
    environment = _install(tmp_path, "./shared[snowflake]", "./controllers")
    assert "snowflake-connector-python" in _packages(environment)
    for program in ("freehold-account", "freehold-schema"):
        subprocess.run([environment / "bin" / program, "--help"], check=True, capture_output=True)


def test_the_command_line_installs_without_a_driver(tmp_path: Path) -> None:
    environment = _install(tmp_path, "./shared")
    assert "snowflake-connector-python" not in _packages(environment)
    sample = ROOT / "docs/samples/database.yaml"
    result = subprocess.run(
        [environment / "bin/freehold", "plan", "--offline", "-f", sample], check=True, capture_output=True, text=True
    )
    assert 'CREATE DATABASE "SALES"' in result.stdout
