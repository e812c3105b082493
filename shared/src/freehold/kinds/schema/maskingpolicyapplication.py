"""Masking policies on columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from freehold import slots, sql
from freehold.identifiers import split, split_in_schema
from freehold.identity import Slot
from freehold.kinds import policies
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import own_name, prop, qualified_name, ref, unsupported
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.policies import Policy
from freehold.kinds.property import KEEP, Change, Property, Target
from freehold.kinds.resource import Rule, exactly_one
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation, Row
from freehold.sql import Sql

_MASKING = "MASKING POLICY"
_SHOWN = "policy name"
"""Column of DESCRIBE that tells a policy which is set on a column itself; the columns that it is given are told by
POLICY_REFERENCES alone, for which the session needs a warehouse."""


class _PolicyName(Codec):
    """A policy by its qualified name, however it is spelt."""

    def canonical(self, value: Any) -> tuple[str, ...]:
        return split(str(value))


class _Columns(Codec):
    """The columns that a policy is given, in their order."""

    def canonical(self, value: Any) -> tuple[str, ...]:
        return tuple(value)

    def read(self, raw: object) -> object:
        return raw


def _using(observation: Observation) -> object:
    rows = (observation.details or {}).get(policies.DETAIL)
    if rows is None:
        return UNKNOWN
    column = str(observation.row["name"])
    policy = policies.found(rows, _MASKING, column)
    return (column,) if policy is None or policy.columns is None else policy.columns


class MaskingPolicyApplicationSpec(SnowflakeSpec):
    """The masking policy of one column, which has one at most. A Table or View whose columns name policies themselves
    is another way to the same: use one of the two for a column."""

    policy_name: str | None = prop(
        _MASKING, show=_SHOWN, codec=_PolicyName(), check=split_in_schema, min_length=1, max_length=1024
    )
    """The policy by its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME. Another one takes its place in one
    statement, so that the column is never bare."""
    policy_ref: Reference | None = ref("MaskingPolicy", instead_of="policy_name", qualified=True)
    """The MaskingPolicy, in place of its name."""
    object_type: Literal["TABLE", "VIEW", "ICEBERG TABLE", "EXTERNAL TABLE"] = Field(
        default="TABLE", json_schema_extra=Property(change=Change.IDENTITY)
    )
    """What has the column. The policy of a materialized view is given when that is made."""
    table_name: str | None = qualified_name(split_in_schema)
    """The table or view by its fully-qualified name: DATABASE.SCHEMA.NAME."""
    table_ref: Reference | None = ref("Table", instead_of="table_name", parent=True, qualified=True)
    """The Table, in place of its name."""
    view_ref: Reference | None = unsupported("name the view in tableName, with objectType VIEW")
    """The View, in place of its name."""
    column_name: Name = own_name()
    """Stored name of the column."""
    using_columns: list[Name] | None = prop(
        "USING",
        observe=_using,
        codec=_Columns(),
        reset=KEEP,
        details=(policies.DETAIL,),
        min_length=1,
        max_length=100,
    )
    """Columns that the policy is given, the masked one first. By default the masked one alone."""
    force: bool | None = unsupported(
        "a policy of Freehold's own is replaced anyway, and anybody else's never: leave it out"
    )
    """Replace a policy."""


def _slot(spec: MaskingPolicyApplicationSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    parts = yield from named_in(spec, "table_name", namespace, kinds)
    relation = (spec.object_type, slots.of("TABLE", *parts)[1])
    return (slots.attachment(_MASKING, slots.column(relation, spec.column_name)),)


def _relation(slot: Slot) -> tuple[str, Target]:
    """The word by which ALTER and DESCRIBE know what has the column, and that."""
    place = slots.holder(slot)
    if place.name is None:
        raise TypeError(f"{slot} is of no column")
    word = "TABLE" if place.type == "EXTERNAL TABLE" else place.type
    return word, Target(word, place.name.parts)


def _show(slot: Slot) -> Listing:
    _, relation = _relation(slot)
    column = slots.holder(slot).column or ""
    return Listing(sql.sql("DESCRIBE {type} {name}", type=relation.type, name=relation.name), "name", (column,))


def _fills(slot: Slot, row: Row) -> bool:
    return row["name"] == slots.holder(slot).column and bool(row.get(_SHOWN))


def _alter(slot: Slot, clause: Sql) -> Sql:
    _, relation = _relation(slot)
    column = sql.identifier(slots.holder(slot).column or "")
    return relation.alter(sql.sql("ALTER COLUMN {column} {clause}", column=column, clause=clause))


def _policy(spec: Any) -> Sql:
    policy = Policy(split(spec.policy_name), tuple(spec.using_columns or ()))
    return policies.clause(_MASKING, policy, "USING")


def _set(slot: Slot, spec: Any) -> Sql:
    return _alter(slot, sql.sql("SET {policy}", policy=_policy(spec)))


def _replace(slot: Slot, spec: Any) -> Sql:
    return _alter(slot, sql.sql("SET {policy} FORCE", policy=_policy(spec)))


def _unset(slot: Slot, _force: bool) -> Sql:
    return _alter(slot, sql.words(f"UNSET {_MASKING}"))


def _references(target: Target) -> Sql:
    if target.slot is None:
        raise TypeError(f"{target} is no slot")
    word, relation = _relation(target.slot)
    # The function knows tables of all sorts by one word.
    return policies.references(Target("VIEW" if word == "VIEW" else "TABLE", relation.parts))


def _faults(spec: MaskingPolicyApplicationSpec) -> Iterator[str]:
    if spec.using_columns and spec.using_columns[0] != spec.column_name:
        yield (
            f"spec.usingColumns: the first column is the masked one, {spec.column_name}, and not "
            f"{spec.using_columns[0]}: list it first"
        )


MASKING_POLICY_APPLICATION = Kind(
    spec=MaskingPolicyApplicationSpec,
    domain=Domain.SCHEMA,
    object_type="MASKING POLICY APPLICATION",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("mpa",),
    slots=_slot,
    privileges={"APPLY MASKING POLICY": ""},
    filling=Filling(show=_show, fills=_fills, fill=_set, empty=_unset, value=("policy_name",), refill=_replace),
    details={policies.DETAIL: _references},
    rules=(
        exactly_one("policyName", "policyRef"),
        exactly_one("tableName", "tableRef"),
        Rule(
            "!has(self.tableRef) || self.objectType == 'TABLE'",
            "tableRef points at a Table: set objectType to TABLE, or use tableName",
            "objectType",
        ),
    ),
    faults=lambda spec: tuple(_faults(spec)),
)
