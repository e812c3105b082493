"""The alerts of the chart ask about what the processes count."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from freehold.metrics import REGISTRY
from freehold_controllers.reconciler import sweeping
from freehold_webhook import metrics as admission

COUNTING = (admission, sweeping)
"""Modules that register what is asked about."""

ALERTS = Path(__file__).parents[2] / "charts/freehold/files/alerts.yaml"


def test_every_metric_of_an_alert_is_counted() -> None:
    counted = {family.name + ("_total" if family.type == "counter" else "") for family in REGISTRY.collect()}
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]:
        asked = set(re.findall(r"freehold_\w+", rule["expr"]))
        assert asked, rule["alert"]
        assert asked <= counted, rule["alert"]
