"""Which row of SHOW REPLICATION DATABASES is a database's own, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kinds.registry import KINDS
from freehold.kinds.replication import own_row
from freehold.observation import UNKNOWN, Observation

SECONDARY = KINDS["SecondaryDatabase"]
ACCOUNT = ({"region": "PUBLIC.AWS_EU_CENTRAL_1", "locator": "FH2"},)


def _row(primary: bool, *, locator: str = "FH2", region: str = "AWS_EU_CENTRAL_1", name: str = "DB") -> dict[str, Any]:
    return {
        "name": name,
        "is_primary": primary,
        "primary": "ORG.ACC1.DB",
        "snowflake_region": region,
        "account_locator": locator,
    }


def _seen(*rows: dict[str, Any]) -> Observation:
    return Observation({"name": "DB"}, {}, {"account": ACCOUNT, "replication": rows})


@pytest.mark.parametrize(
    "theirs",
    [_row(True, locator="FH1"), _row(True, region="AWS_US_WEST_2"), _row(True, name="db")],
    ids=["account", "region", "name"],
)
def test_a_row_of_another_account_or_region_or_name_is_not_the_own_one(theirs: dict[str, Any]) -> None:
    assert own_row(_seen(theirs)) is None
    assert own_row(_seen(theirs, _row(False))) == _row(False)


def test_what_was_not_asked_is_not_known() -> None:
    assert own_row(Observation({"name": "DB"})) is UNKNOWN
    assert own_row(Observation({"name": "DB"}, {}, {"replication": (_row(False),)})) is UNKNOWN


@pytest.mark.parametrize(
    ("rows", "disowned", "adoptable"),
    [
        ((_row(False), _row(True, locator="FH1")), False, True),
        ((_row(True), _row(False, locator="FH1")), True, False),
        ((_row(True, locator="FH1"),), False, False),
        ((), False, False),
    ],
    ids=["a replica", "promoted", "replicated elsewhere alone", "not replicated"],
)
def test_a_replica_is_ours_until_it_is_promoted(
    rows: tuple[dict[str, Any], ...], disowned: bool, adoptable: bool
) -> None:
    assert SECONDARY.disowned is not None
    assert bool(SECONDARY.disowned(_seen(*rows))) is disowned
    assert (SECONDARY.adoptable(_seen(*rows)) is None) is adoptable


def test_a_name_that_is_not_the_primarys_is_warned_of() -> None:
    for name, warned in (("DB", False), ("COPY", True)):
        spec = SECONDARY.spec.model_validate({"name": name, "asReplicaOf": "ORG.ACC1.DB"})
        assert any("won't find" in each for each in SECONDARY.advice(spec)) is warned
