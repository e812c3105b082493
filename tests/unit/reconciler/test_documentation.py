"""Every condition and reason that people may meet is explained, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from freehold.lifecycle.reasons import AWAITED, PASSING, Reason
from freehold_controllers.reconciler import status

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/conditions.md").read_text()

OURS = {"budget-shares", "claim", "in-use", "holder", "note", "owner", "turn", "watch-namespaces"}
"""Finalizers, labels and annotations that Freehold sets for itself."""


def explained(begin: str, end: str) -> set[str]:
    """The words in the first column of the tables between two texts."""
    rows = re.findall(r"^\| (`.*?`) \|", PAGE.split(begin)[1].split(end)[0], re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`(\w+)`", row)}


def test_every_condition_is_explained() -> None:
    types = {value for name, value in vars(status).items() if name.isupper() and isinstance(value, str)}
    assert explained("## Conditions", "## Reasons") == types


def test_every_reason_is_explained() -> None:
    assert explained("## Reasons", "## Annotations") == set(Reason)


def test_what_is_awaited_is_told_apart_from_what_somebody_has_to_do() -> None:
    assert explained("While something is awaited", "When somebody has to act") == PASSING | AWAITED | {Reason.IN_USE}


def test_every_annotation_is_explained() -> None:
    # Those of the PostgreSQL kinds aren't for resources of Snowflake's kinds, of which the page speaks.
    sources = [
        path.read_text()
        for folder in ("shared", "controllers", "webhook")
        for path in ROOT.glob(f"{folder}/src/**/*.py")
        if "postgres" not in path.parts
    ]
    used = {word for text in sources for word in re.findall(r'"freehold\.dev/([a-z-]+)"', text)}
    assert set(re.findall(r"^\| `freehold\.dev/([a-z-]+)", PAGE, re.MULTILINE)) == used - OURS
