"""The page about metrics, which `make lint` keeps as the processes are: nothing that anybody asks for is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from freehold.lifecycle.reasons import AWAITED

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/metrics.md"
ALERTS = ROOT / "charts/freehold/files/alerts.yaml"


@pytest.fixture(scope="module")
def rows() -> dict[str, list[str]]:
    """The page's rows, without the name, by metric."""
    found = (re.split(r" *\| *", line)[1:-1] for line in PAGE.read_text().splitlines() if line.startswith("| `"))
    return {name.strip("`"): rest for name, *rest in found}


def test_each_metric_is_on_the_page_with_what_it_is_and_the_processes_that_have_it(rows: dict[str, list[str]]) -> None:
    assert rows["freehold_admission_requests_total"][0] == "counter"
    assert rows["freehold_admission_requests_total"][1] == "`kind`, `operation`, `verdict`, `reason`"
    assert rows["freehold_admission_requests_total"][3] == "webhook"
    assert rows["freehold_reconcile_duration_seconds"][::3] == ["histogram", "account, schema"]
    assert rows["freehold_kubernetes_requests_total"][3] == "all"


def test_no_text_breaks_the_table(rows: dict[str, list[str]]) -> None:
    assert {len(row) for row in rows.values()} == {4}


def test_alerts_ask_for_what_is_counted(rows: dict[str, list[str]]) -> None:
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]:
        asked = set(re.findall(r"freehold_\w+", rule["expr"]))
        assert asked, rule["alert"]
        assert asked <= rows.keys(), rule["alert"]


def test_alerts_and_the_guide_name_the_same_ones() -> None:
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    guide = (ROOT / "docs/operations.md").read_text()
    assert set(re.findall(r"^\| `(Freehold\w+)` \|", guide, re.MULTILINE)) == {rule["alert"] for rule in group["rules"]}


def test_the_guides_speak_of_what_is_counted(rows: dict[str, list[str]]) -> None:
    guides = " ".join(path.read_text() for path in ROOT.glob("docs/*.md"))
    told = set(re.findall(r"`(freehold_\w+)`", guides))
    assert told
    assert told <= rows.keys()


def test_nobody_is_woken_for_what_somebody_wants_so() -> None:
    [excluded] = re.findall(r'reason!~"([^"]+)"', ALERTS.read_text())
    assert set(excluded.split("|")) == AWAITED
