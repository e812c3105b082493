"""Faults of a spec, with the place that each is in."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kinds.kind import Kind
from freehold.validation import faults
from tests.harness.declarations import FUNCTION, GRANT, TASK

AT = {"databaseName": "D", "schemaName": "S", "name": "X"}


def found(kind: Kind, spec: dict[str, Any]) -> tuple[str, ...]:
    return faults(kind, kind.spec.model_validate(spec))


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (TASK, AT),
        (TASK, {**AT, "schedule": "USING CRON 0 9 * * MON Europe/Berlin", "after": ["A.B.C"]}),
        (FUNCTION, {**AT, "arguments": [{"name": "N", "type": "NUMBER(10, 2)"}]}),
        (GRANT, {"privileges": ["SELECT"], "schemaRef": {"name": "s"}, "every": "ALL", "roleName": "R"}),
    ],
)
def test_a_sound_spec_has_none(kind: Kind, spec: dict[str, Any]) -> None:
    assert found(kind, spec) == ()


def test_every_fault_is_told_with_its_place() -> None:
    arguments = [{"name": "A", "type": "INT"}, {"name": "B", "type": "CLOB"}, {"name": "C", "type": "("}]
    second, third = found(FUNCTION, {**AT, "arguments": arguments})
    assert second.startswith("spec.arguments[1].type: Snowflake has no type CLOB")
    assert third.startswith("spec.arguments[2].type: not a data type")


def test_what_fields_only_together_make_impossible_is_told_too() -> None:
    (fault,) = found(GRANT, {"privileges": ["USAGE", "SELECT"], "schemaRef": {"name": "s"}, "roleName": "R"})
    assert fault.startswith("spec.privileges[1]: SELECT can't be granted on SCHEMA")
