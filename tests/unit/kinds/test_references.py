"""References are found wherever a spec has them, and stand for the name in the form that the raw field takes."""

from __future__ import annotations

import pytest

from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import immutable, own_name, prop, ref
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Level, Requested
from freehold.kinds.property import Change
from freehold.kinds.references import references_of, with_names
from freehold.kinds.registry import KINDS


class Masking(Model):
    policy: str | None = prop("MASKING POLICY")
    policy_ref: Reference | None = ref("MaskingPolicy", instead_of="policy", qualified=True)


class Column(Model):
    name: str
    masking: Masking | None = None
    types: list[str] | None = None


class SheetSpec(SnowflakeSpec):
    name: Name = own_name()
    database_name: Name | None = immutable()
    database_ref: Reference | None = ref("Database", instead_of="database_name", parent=True)
    columns: list[Column] | None = None
    default: Masking | None = None
    policies: list[str] | None = prop("POLICIES")
    policy_refs: list[Reference] | None = ref("MaskingPolicy", instead_of="policies", max_length=9, qualified=True)


def sheet(**fields: object) -> SheetSpec:
    return SheetSpec.model_validate({"name": "S", **fields})


EVERYWHERE = sheet(
    databaseRef={"name": "db", "namespace": "platform"},
    columns=[
        {"name": "a", "types": ["x"]},
        {"name": "b", "masking": {"policyRef": {"name": "hide"}}},
        {"name": "c", "masking": {"policy": "P"}},
    ],
    default={"policyRef": {"name": "show", "namespace": "team-b"}},
    policyRefs=[{"name": "hide"}, {"name": "show", "namespace": "team-b"}],
)

FOUND = (
    Requested("Database", "platform", "db", "databaseRef"),
    Requested("MaskingPolicy", "team", "hide", "columns[1].masking.policyRef"),
    Requested("MaskingPolicy", "team-b", "show", "default.policyRef"),
    Requested("MaskingPolicy", "team", "hide", "policyRefs[0]"),
    Requested("MaskingPolicy", "team-b", "show", "policyRefs[1]"),
)


@pytest.mark.parametrize(("spec", "found"), [(sheet(), ()), (EVERYWHERE, FOUND)], ids=["none", "at any depth"])
def test_references_are_found_at_any_depth(spec: SheetSpec, found: tuple[Requested, ...]) -> None:
    assert references_of(spec, "team") == found


def test_a_reference_stands_for_a_bare_or_a_qualified_name_as_its_field_says() -> None:
    named = with_names(EVERYWHERE, {FOUND[0].field: ("D",), FOUND[1].field: ("D", "S", 'a"b')})
    assert named.database_name == "D"
    assert named.columns is not None
    assert [each.masking and each.masking.policy for each in named.columns] == [None, '"D"."S"."a""b"', "P"]
    assert named.default == EVERYWHERE.default


def test_a_list_of_references_stands_for_a_list_of_names_once_all_are_known() -> None:
    first, second = FOUND[3].field, FOUND[4].field
    assert with_names(EVERYWHERE, {first: ("D", "S", "P")}).policies is None
    assert with_names(EVERYWHERE, {first: ("D", "S", "P"), second: ("D", "S", "q")}).policies == [
        '"D"."S"."P"',
        '"D"."S"."q"',
    ]
    assert with_names(sheet(policyRefs=[]), {}).policies == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_what_lies_elsewhere_is_referred_to_by_its_qualified_name(kind: Kind) -> None:
    # What is taken from several fields, with the object's own containers among them, lies beside it.
    beside = {each.attribute for each in kind.fields if each.facts.derived}
    for each in kind.fields:
        target = KINDS.get(each.facts.reference or "")
        if each.facts.instead_of in beside:
            continue
        if target is not None and target.level is not Level.ACCOUNT and each.facts.change is not Change.IDENTITY:
            containers = target.level.value - 1
            assert each.facts.qualified or len(each.facts.within) == containers, each.name


def test_a_reference_may_stand_for_the_names_of_what_contains_it_too() -> None:
    stream = KINDS["StreamOnTable"].spec.model_validate({"name": "S", "databaseName": "D", "tableRef": {"name": "t"}})
    named = with_names(stream, {"tableRef": ("D2", "S 2", "T")})
    names = {key: value for key, value in named.model_dump(by_alias=True, exclude_none=True).items() if "Name" in key}
    assert names == {"databaseName": "D", "sourceDatabaseName": "D2", "sourceSchemaName": "S 2", "tableName": "T"}
