"""What no table can be, told from a spec alone."""

from __future__ import annotations

from typing import Any

import pytest

from freehold import fingerprint, planning, validation
from freehold.kinds import columns, evolution
from freehold.kinds.constraints import Constraint
from freehold.kinds.registry import KINDS, refused
from freehold.kinds.schema.table import TABLE

KEY = {"name": "K", "type": "PrimaryKey", "columns": ["A"]}
POLICY = {"policy": "D.S.P"}


def faults(*columns: dict[str, Any], **spec: Any) -> tuple[str, ...]:
    declared = {"databaseName": "D", "schemaName": "S", "name": "T", "columns": columns, **spec}
    return validation.faults(TABLE, TABLE.spec.model_validate(declared))


def a(type_: str = "INT", **attributes: Any) -> dict[str, Any]:
    """A column."""
    return {"name": "A", "type": type_, **attributes}


@pytest.mark.parametrize(
    ("constraint", "place"),
    [
        ({"type": "PrimaryKey", "columns": ["A", "B", "A"]}, "constraints[0].columns"),
        (
            {"type": "ForeignKey", "columns": ["A", "B"], "foreignKey": {"table": "D.S.P", "columns": ["X", "X"]}},
            "constraints[0].foreignKey.columns",
        ),
    ],
)
def test_a_key_names_no_column_twice(constraint: dict[str, Any], place: str) -> None:
    columns_ = ({"name": "A", "type": "INT"}, {"name": "B", "type": "INT"})
    (found,) = faults(*columns_, constraints=[{"name": "K", **constraint}])
    assert found.startswith(f"spec.{place}: column ")
    assert "listed twice" in found


def test_a_constraint_of_its_own_names_no_column_twice() -> None:
    kind = KINDS["TableConstraint"]
    spec = {"name": "K", "type": "UNIQUE", "tableName": "D.S.T", "columns": ["A", "A"]}
    (found,) = validation.faults(kind, kind.spec.model_validate(spec))
    assert found == "spec.columns: column A is listed twice: take one out"


@pytest.mark.parametrize(
    ("columns", "spec"),
    [
        ([a(identity={"increment": -1})], {}),
        ([a("CHAR", collate="de")], {}),
        ([a("SHINY", identity={}, collate="de")], {}),
        ([a(maskingPolicy={**POLICY, "using": ["A", "B"]}), {"name": "B", "type": "INT", "previousName": "C"}], {}),
        ([a()], {"constraints": [KEY], "clusterBy": ["MOD(A, 3)"], "searchOptimization": ["EQUALITY(V:a.b)"]}),
        ([a()], {"droppedColumns": ["A", "B"]}),
    ],
)
def test_a_sound_table_has_no_faults(columns: list[dict[str, Any]], spec: dict[str, Any]) -> None:
    assert faults(*columns, **spec) == ()


@pytest.mark.parametrize(
    ("columns", "spec", "fault"),
    [
        ([a("CLOB")], {}, "spec.columns[0].type: Snowflake has no type CLOB"),
        ([a("VARCHAR COLLATE 'de'")], {}, "spec.columns[0].type: the collation has a field of its own"),
        ([a("NUMBER(5,2)", identity={})], {}, "spec.columns[0].identity: only whole numbers are counted"),
        ([a("FLOAT", identity={})], {}, "spec.columns[0].identity: only whole numbers are counted"),
        ([a(collate="de")], {}, "spec.columns[0].collate: only texts have a collation"),
        ([a(collate="")], {}, "spec.columns[0].collate: only texts have a collation"),
        ([a(default="1, b INT")], {}, "spec.columns[0].default: one expression is needed"),
        ([a(expression="1) --")], {}, "spec.columns[0].expression: ) in line 1 closes nothing"),
        ([a(sequence="S.SEQ")], {}, "spec.columns[0].sequence: a fully-qualified name has three parts"),
        ([a(maskingPolicy={"policy": "P"})], {}, "spec.columns[0].maskingPolicy.policy: a fully-qualified name"),
        ([a(maskingPolicy={**POLICY, "using": ["B"]})], {}, "spec.columns[0].maskingPolicy.using: the first column"),
        ([a(previousName="A")], {}, "spec.columns[0].previousName: A is another column's name, too"),
        ([a()], {"clusterBy": ["A; DROP"]}, "spec.clusterBy[0]: ; in line 1 ends an expression"),
        ([a()], {"searchOptimization": ["NEAR(A)"]}, "spec.searchOptimization[0]: EQUALITY, SUBSTRING, GEO"),
        ([a()], {"searchOptimization": ["EQUALITY(*)"]}, "spec.searchOptimization[0]: "),
        ([a()], {"constraints": [{**KEY, "columns": ["B"]}]}, "spec.constraints[0].columns: spec.columns has no B"),
        ([a()], {"rowAccessPolicy": {**POLICY, "columns": ["B"]}}, "spec.rowAccessPolicy.columns: spec.columns has no"),
    ],
)
def test_what_no_table_can_be_is_told_with_its_place(
    columns: list[dict[str, Any]], spec: dict[str, Any], fault: str
) -> None:
    (found,) = faults(*columns, **spec)
    assert found.startswith(fault)


def test_references_to_kinds_to_come_are_refused_by_their_place() -> None:
    reference = {"name": "x"}
    spec = {
        "databaseName": "D",
        "schemaName": "S",
        "name": "T",
        "columns": [a(), {"name": "B", "type": "INT", "maskingPolicy": {"policyRef": reference}, "tags": {"t": "v"}}],
        "rowAccessPolicy": {"policyRef": reference, "columns": ["A"]},
        "copyGrants": True,
    }
    places = {"columns[1].maskingPolicy.policyRef", "columns[1].tags", "rowAccessPolicy.policyRef", "copyGrants"}
    unbuilt = {"columns[1].maskingPolicy.policyRef": "MaskingPolicy", "rowAccessPolicy.policyRef": "RowAccessPolicy"}
    expected = {place for place in places if unbuilt.get(place) not in KINDS}
    assert {place for place, _ in refused(TABLE.spec.model_validate(spec))} == expected


def spec(*declared: Any) -> Any:
    columns = [{"name": name, "type": "DATE"} if isinstance(name, str) else name for name in declared]
    return TABLE.spec.model_validate({"databaseName": "D", "schemaName": "S", "name": "T", "columns": columns})


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (("A", "B"), ("A", "B", "C"), ""),
        (("A", "B"), ({"name": "C", "type": "DATE", "previousName": "A"}, "B"), ""),
        (("A", "B"), ("B", "A"), "columns keep the order of their creation in the table: A, B"),
        (("A", "B"), ("A", "N", "B"), "columns keep the order of their creation in the table: A, B, N"),
        (("A", "B"), ("A",), "columns[B] isn't declared any more, and dropping it would lose its data: declare it; "),
        (("A",), (a("TIME"),), "columns[A].type is "),
    ],
)
def test_what_a_change_will_not_bring_about_is_told_when_it_is_made(
    old: tuple[Any, ...], new: tuple[Any, ...], told: str
) -> None:
    found = planning.ineffective(TABLE, spec(*old), spec(*new))
    assert len(found) == bool(told)
    assert all(each.startswith(told) for each in found)


@pytest.mark.parametrize(("table", "same"), [("D.S.T", True), ("D.S.OTHER", False)])
def test_a_key_follows_columns_that_are_renamed_in_its_own_table_alone(table: str, same: bool) -> None:
    def keyed(*columns: Any, key: str, referenced: str) -> Any:
        target = {"table": table, "columns": [referenced]}
        constraint = {"name": "K", "type": "ForeignKey", "columns": [key], "foreignKey": target}
        return spec(*columns).model_copy(update={"constraints": [Constraint.model_validate(constraint)]})

    renamed = ({"name": name, "type": "DATE", "previousName": name[0]} for name in ("A1", "B1"))
    old, new = keyed("A", "B", key="A", referenced="B"), keyed(*renamed, key="A1", referenced="B1")
    assert bool(planning.recreated(TABLE, old, new)) != same


def test_a_column_that_comes_again_after_it_was_given_up_is_no_riddle() -> None:
    given_up = spec("A").model_copy(update={"dropped_columns": ["B"]})
    (found,) = evolution.dropped(given_up, columns.Columns().canonical(spec("A", "B").columns), ())
    assert "drop it yourself, or declare it" in found.remedy


def test_what_was_put_on_a_table_and_its_columns_is_remembered_by_its_name() -> None:
    spec = TABLE.spec.model_validate(
        {
            "databaseName": "DB",
            "schemaName": "SC",
            "name": "T",
            "columns": [{"name": "A", "type": "INT", "maskingPolicy": {"policy": 'g."p".M', "using": ["A", "B"]}}],
            "rowAccessPolicy": {"policy": "G.P.R", "columns": ["A"]},
        }
    )
    assert fingerprint.applied(TABLE, spec).keys() == {
        "columns",
        "columns[A]",
        "columns[A].maskingPolicy",
        'columns[A].maskingPolicy["G"."p"."M"]',
        "rowAccessPolicy",
        'rowAccessPolicy["G"."P"."R"]',
    }
