"""Planning, where it isn't a statement: what no ALTER can change, what is remembered, what can be adopted."""

from __future__ import annotations

from typing import Any

import pytest

from freehold import fingerprint, planning
from freehold.kinds.property import Change, Property
from freehold.kinds.registry import KINDS
from freehold.kinds.spec_fields import SpecField
from freehold.kinds.steps import Difference
from freehold.observation import Observation


@pytest.mark.parametrize(
    ("kind", "old", "new", "recreated"),
    [
        ("Database", {"transient": False}, {"transient": True}, ["transient"]),
        ("Database", {}, {"transient": True}, ["transient"]),
        ("Database", {}, {"transient": False}, []),
        ("Database", {"transient": True}, {}, []),
        ("Warehouse", {"warehouseType": "STANDARD"}, {"warehouseType": "SNOWPARK-OPTIMIZED"}, []),
        ("Warehouse", {}, {"warehouseType": "INTERACTIVE"}, ["warehouseType"]),
        ("Warehouse", {"warehouseType": "INTERACTIVE"}, {}, ["warehouseType"]),
        ("Warehouse", {"comment": "a"}, {"comment": "b"}, []),
    ],
)
def test_only_what_needs_a_new_object_is_refused(
    kind: str, old: dict[str, Any], new: dict[str, Any], recreated: list[str]
) -> None:
    before, after = (KINDS[kind].spec.model_validate({"name": "X", **each}) for each in (old, new))
    assert [field.name for field, *_ in planning.recreated(KINDS[kind], before, after)] == recreated


def test_the_hash_of_a_spec_leaves_out_provider_and_policies() -> None:
    warehouse = KINDS["Warehouse"]
    plain = warehouse.spec.model_validate({"name": "X", "comment": "c"})
    other = warehouse.spec.model_validate({"name": "X", "comment": "c", "paused": True, "providerRef": {"name": "p"}})
    changed = warehouse.spec.model_validate({"name": "X", "comment": "d"})
    assert fingerprint.spec_hash(warehouse, plain) == fingerprint.spec_hash(warehouse, other)
    assert fingerprint.spec_hash(warehouse, plain) != fingerprint.spec_hash(warehouse, changed)


HERE = {"snowflake_region": "AWS_EU_CENTRAL_1", "account_locator": "FH1"}
ELSEWHERE = {"snowflake_region": "AWS_EU_CENTRAL_1", "account_locator": "FH2"}


@pytest.mark.parametrize(
    ("row", "replication", "why"),
    [
        ({"kind": "STANDARD", "origin": ""}, (), None),
        ({"kind": "STANDARD", "origin": "", "name": "DB"}, ({"name": "DB", **HERE, "is_primary": "true"},), None),
        ({"kind": "IMPORTED DATABASE", "origin": "ORG.ACC.SHARE"}, (), "IMPORTED DATABASE from ORG.ACC.SHARE"),
        (
            {"kind": "STANDARD"},
            ({"name": "DB", **HERE, "is_primary": "false", "primary": "O.A.DB"},),
            "a replica of O.A.DB",
        ),
        ({"kind": "STANDARD"}, ({"name": "DB", **ELSEWHERE, "is_primary": "false", "primary": "O.A.DB"},), None),
        ({"kind": "STANDARD"}, ({"name": "OTHER", **HERE, "is_primary": "false"},), None),
    ],
)
def test_a_database_that_is_somebody_elses_copy_is_not_adopted(
    row: dict[str, str], replication: tuple[dict[str, str], ...], why: str | None
) -> None:
    details = {"account": ({"region": "AWS_EU_CENTRAL_1", "locator": "FH1"},), "replication": replication}
    found = KINDS["Database"].adoptable(Observation({"name": "DB", **row}, {}, details))
    assert (found is None) if why is None else (found is not None and why in found)


def test_what_adoption_depends_on_is_read_only_by_those_who_may_adopt() -> None:
    database = KINDS["Database"]
    adopting, both = {"name": "X", "managementPolicies": {"adoptionPolicy": "adopt"}}, {"account", "replication"}
    assert planning.details(database, database.spec.model_validate({"name": "X"}), ()) == frozenset()
    assert planning.details(database, database.spec.model_validate(adopting), ()) == both
    assert planning.details(database, database.spec.model_validate({"name": "X"}), ["replication"]) == both


COMMENT = SpecField("comment", "comment", Property(sql="COMMENT"))


@pytest.mark.parametrize(
    ("difference", "told"),
    [
        (Difference(COMMENT, "ours", "theirs", Change.ALTER), 'comment was "theirs", is "ours" now'),
        (Difference(COMMENT, None, "theirs", Change.ALTER), 'comment was "theirs", is reset now'),
        (Difference(COMMENT, "x", None, Change.ALTER, "[A]", said="is declared, and missing"), "comment[A] was added"),
        (Difference(COMMENT, None, "x", Change.ASKED, "[A]", said="is listed, and there"), "comment[A] was dropped"),
    ],
)
def test_what_was_mended_is_told_as_past(difference: Difference, told: str) -> None:
    assert difference.mended == told


def test_a_secret_is_told_neither_in_a_difference_nor_in_a_statement() -> None:
    facts = Property(sql="PASSWORD", secret=True)
    difference = Difference(SpecField("password", "password", facts), "tops3cret", "0ld", Change.ALTER)
    assert str(difference) == "password is '***', should be '***'"
    assert difference.mended == "password was '***', is '***' now"
    assignment = facts.assignment("tops3cret")
    assert assignment.text == "PASSWORD = 'tops3cret'"
    assert str(assignment) == "PASSWORD = '***'"
    assert "tops3cret" not in assignment.redact("invalid value tops3cret")
