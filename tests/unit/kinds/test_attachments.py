"""What is set on other objects, on an account of the endpoint's own engine: filled, found, filled anew, emptied."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from freehold import altering, fingerprint, planning
from freehold.identity import Slot
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.registry import KINDS
from freehold.observation import Observation
from freehold.sql import Sql
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.queries import Request
from freehold_devstack.snowflake.seed import SeedAccount

SETUP = (
    "CREATE WAREHOUSE WH",
    "USE WAREHOUSE WH",
    'CREATE DATABASE "my db"',
    "CREATE DATABASE DB",
    "CREATE SCHEMA DB.S",
    "CREATE TAG DB.S.T",
    'CREATE TABLE DB.S.TBL (C VARCHAR, D VARCHAR, "a""b" VARCHAR)',
    "CREATE TABLE DB.S.REF (R VARCHAR UNIQUE)",
    "CREATE VIEW DB.S.V AS SELECT C, D FROM DB.S.TBL",
    "CREATE MASKING POLICY DB.S.P AS (V VARCHAR) RETURNS VARCHAR -> '*'",
    'CREATE MASKING POLICY DB.S."p" AS (V VARCHAR, W VARCHAR) RETURNS VARCHAR -> W',
    "CREATE FUNCTION DB.S.F(A NUMBER) RETURNS NUMBER AS 'A'",
    "CREATE NETWORK POLICY NP ALLOWED_IP_LIST = ('0.0.0.0/0')",
    "CREATE NETWORK POLICY \"n p\" ALLOWED_IP_LIST = ('0.0.0.0/0')",
    "CREATE USER BOB",
)

TAG = {"tagName": "DB.S.T", "tagValue": "v"}

FILLED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("TagAssociation", {**TAG, "objectType": "WAREHOUSE", "objectName": "WH"}, {"tagValue": "it's"}),
    ("TagAssociation", {**TAG, "objectType": "DATABASE", "objectName": '"my db"'}, {"tagValue": "w"}),
    ("TagAssociation", {**TAG, "objectType": "SCHEMA", "objectName": "DB.S"}, {"tagValue": "w"}),
    ("TagAssociation", {**TAG, "objectType": "TABLE", "objectName": "DB.S.TBL"}, {"tagValue": "w"}),
    ("TagAssociation", {**TAG, "objectType": "VIEW", "objectName": "DB.S.V"}, {"tagValue": "w"}),
    ("TagAssociation", {**TAG, "objectType": "USER", "objectName": "BOB"}, {"tagValue": "w"}),
    ("TagAssociation", {**TAG, "objectType": "FUNCTION", "objectName": "DB.S.F(INT)"}, {"tagValue": "w"}),
    (
        "TagAssociation",
        {**TAG, "objectType": "COLUMN", "objectName": "DB.S.TBL", "columnName": 'a"b'},
        {"tagValue": "w"},
    ),
    ("NetworkPolicyAttachment", {"targetType": "ACCOUNT", "policyName": "NP"}, {"policyName": "n p"}),
    (
        "NetworkPolicyAttachment",
        {"targetType": "USER", "targetName": "BOB", "policyName": "NP"},
        {"policyName": "n p"},
    ),
    (
        "TableConstraint",
        {"tableName": "DB.S.TBL", "name": "PK", "type": "PRIMARY KEY", "columns": ["D", "C"]},
        {"properties": {"rely": True}},
    ),
    (
        "TableConstraint",
        {"tableName": "DB.S.TBL", "name": "UK", "type": "UNIQUE", "columns": ["D"], "properties": {"rely": True}},
        {"properties": {"rely": False}},
    ),
    (
        "TableConstraint",
        {
            "tableName": "DB.S.TBL",
            "name": "FK",
            "type": "FOREIGN KEY",
            "columns": ["C"],
            "foreignKeyProperties": {
                "referencesTableName": "DB.S.REF",
                "referencesColumns": ["R"],
                "onDelete": "CASCADE",
            },
        },
        {"properties": {"rely": True}},
    ),
    (
        "MaskingPolicyApplication",
        {"tableName": "DB.S.TBL", "columnName": "C", "policyName": "DB.S.P"},
        {"policyName": 'DB.S."p"', "usingColumns": ["C", "D"]},
    ),
    (
        "MaskingPolicyApplication",
        {"tableName": "DB.S.V", "objectType": "VIEW", "columnName": "C", "policyName": "DB.S.P"},
        {"policyName": 'DB.S."p"', "usingColumns": ["C", "D"]},
    ),
]


class Account:
    """An account, as one of its administrators sees it."""

    def __init__(self) -> None:
        self._engine = Engine(clock=itertools.count(1_800_000_000).__next__)
        self._engine.add_accounts(SeedAccount())
        self._session = self._engine.session_as(role="ACCOUNTADMIN")
        for statement in SETUP:
            self.run(statement)

    def run(self, statement: Sql | str) -> list[Mapping[str, Any]]:
        query = self._engine.submit(self._session, Request(str(statement)))
        assert query.result is not None, query.error
        return [{name.lower(): cell for name, cell in row.items()} for row in query.result.records()]

    def look(self, kind: Kind, target: Target, details: frozenset[str] = frozenset()) -> Observation | None:
        row = kind.row_of(target, self.run(kind.show(target)))
        return (
            Observation(row, {}, {name: tuple(self.run(kind.details[name](target))) for name in details})
            if row
            else None
        )


def target_of(kind: Kind, spec: Any) -> Target:
    computation = kind.names(spec, "default", KINDS)
    with pytest.raises(StopIteration) as done:
        next(computation)
    (slot,) = done.value.value
    assert isinstance(slot, Slot)
    return kind.target_of(slot)


@pytest.mark.parametrize(("name", "fields", "changes"), FILLED, ids=str)
def test_a_slot_is_filled_found_filled_anew_and_emptied(
    name: str, fields: dict[str, Any], changes: dict[str, Any]
) -> None:
    account, kind = Account(), KINDS[name]
    spec, changed = kind.spec.model_validate(fields), kind.spec.model_validate({**fields, **changes})
    target = target_of(kind, spec)
    assert account.look(kind, target) is None
    account.run(planning.create(kind, target, spec))
    first = account.look(kind, target, planning.details(kind, spec, ()))
    assert first is not None
    assert not planning.differences(kind, spec, first, ())
    assert fingerprint.held(kind, first) == fingerprint.put(kind, spec)
    found = planning.differences(kind, changed, first, ())
    for step in altering.alter(kind, target, changed, first, found):
        account.run(step.statement)
    second = account.look(kind, target, planning.details(kind, changed, ()))
    assert second is not None
    assert not planning.differences(kind, changed, second, ())
    assert fingerprint.held(kind, second) == fingerprint.put(kind, changed)
    account.run(planning.drop(kind, target))
    assert account.look(kind, target) is None


def test_what_is_inherited_fills_no_slot() -> None:
    account, kind = Account(), KINDS["TagAssociation"]
    account.run("ALTER SCHEMA DB.S SET TAG DB.S.T = 'v'")
    spec = kind.spec.model_validate({**TAG, "objectType": "TABLE", "objectName": "DB.S.TBL"})
    assert account.look(kind, target_of(kind, spec)) is None


def test_a_masking_policy_of_somebody_else_is_never_replaced_by_the_first_statement() -> None:
    account, kind = Account(), KINDS["MaskingPolicyApplication"]
    account.run('ALTER TABLE DB.S.TBL ALTER COLUMN C SET MASKING POLICY DB.S."p" USING (C, D)')
    fields = {"tableName": "DB.S.TBL", "columnName": "C", "policyName": "DB.S.P"}
    spec = kind.spec.model_validate(fields)
    with pytest.raises(AssertionError, match="already"):
        account.run(planning.create(kind, target_of(kind, spec), spec))
