"""What is printed, on a terminal and elsewhere, and what is said where there is no cluster to ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from freehold.cli import app, console
from freehold.identity import Identity, Name
from tests.unit.cli.cluster import ACCOUNT, RUNNER, Cluster

LONG = Identity(ACCOUNT, "DATABASE", Name(("Z" * 200,)))


def test_elsewhere_than_on_a_terminal_a_row_is_one_line_whatever_its_length(cluster: Cluster) -> None:
    cluster.claim(LONG, "a", "long")
    lines = cluster.run("claims", "list").stdout.splitlines()
    assert len(lines) == 2
    assert LONG.fqn in lines[1]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 60 columns."""
    drawn = Console(force_terminal=True, color_system="standard", width=60, soft_wrap=True, highlight=False)
    monkeypatch.setattr(console, "out", drawn)


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_a_long_name_is_folded_and_words_have_colours(capsys: pytest.CaptureFixture[str]) -> None:
    console.table(("FQN", "EVIDENCE"), [(LONG.fqn, "created")])
    shown = capsys.readouterr().out
    assert "\x1b[36mcreated" in shown
    assert shown.count("Z") == len(LONG.parts[0])


@pytest.mark.usefixtures("terminal")
def test_a_table_too_long_to_be_read_is_printed_plain(capsys: pytest.CaptureFixture[str]) -> None:
    console.table(("A", "B"), [("live", "x")] * (console.LONG + 1))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["A      B", "live   x"]
    assert len(lines) == console.LONG + 2


def test_without_a_kubeconfig_it_is_said_where_to_name_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    result = RUNNER.invoke(app, ["claims", "list"])
    assert result.exit_code == 2
    assert "set $KUBECONFIG" in result.stderr


def test_a_context_that_isnt_in_the_kubeconfig_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("{apiVersion: v1, kind: Config, contexts: [], clusters: [], users: [], current-context: ''}")
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    result = RUNNER.invoke(app, ["claims", "list", "--context=elsewhere"])
    assert result.exit_code == 2
    assert "elsewhere" in result.stderr
    assert len(result.stderr.splitlines()) == 1
