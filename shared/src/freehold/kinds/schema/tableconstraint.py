"""Keys of tables."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from pydantic import ConfigDict, Field

from freehold import slots, sql
from freehold.identifiers import split, split_in_schema
from freehold.identity import Slot
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.compared import compared
from freehold.kinds.constraints import repeated
from freehold.kinds.fields import attribute, checked, own_name, prop, qualified_name, ref
from freehold.kinds.filling import Filling, Listing
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Level, Slots, named_in
from freehold.kinds.property import KEEP, Deviation
from freehold.kinds.resource import Rule, exactly_one, ruled
from freehold.kinds.values import Codec, Comment
from freehold.observation import Observation, Row
from freehold.sql import Sql

_MOST_COLUMNS = 100
_SHOWN_BY: Mapping[str, str] = {"PRIMARY KEY": "PRIMARY KEYS", "UNIQUE": "UNIQUE KEYS", "FOREIGN KEY": "IMPORTED KEYS"}
_NOTHING = "NO ACTION"

Act = Literal["CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"]


class ForeignKeyProperties(Model):
    """What a foreign key refers to."""

    model_config = ConfigDict(json_schema_extra=ruled(exactly_one("referencesTableName", "referencesTableRef")))

    references_table_name: str | None = checked(split_in_schema, default=None, min_length=1, max_length=1024)
    """The table by its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME."""
    references_table_ref: Reference | None = ref("Table", instead_of="references_table_name", qualified=True)
    """The Table, in place of its name."""
    references_columns: list[Name] = Field(min_length=1, max_length=_MOST_COLUMNS)
    """The columns of a primary or unique key there, in its order."""
    match: Literal["FULL", "PARTIAL", "SIMPLE"] | None = None
    """What rows with NULL match, for other tools: Snowflake doesn't enforce it, and doesn't show it."""
    on_update: Act | None = None
    """What becomes of rows whose key there changes. By default NO ACTION."""
    on_delete: Act | None = None
    """What becomes of rows whose key there is deleted. By default NO ACTION."""


class Properties(Model):
    """What else is said of a constraint. Standard tables enforce none."""

    enforced: bool | None = None
    """Whether rows must fulfil it. Only false can be had."""
    deferrable: bool | None = None
    """Whether it could be checked at the end of a transaction. Only foreign keys show it."""
    initially: Literal["DEFERRED", "IMMEDIATE"] | None = None
    """When it would be checked."""
    enable: bool | None = None
    """Whether it is enabled, for other tools. Only false can be had."""
    validate_: bool | None = Field(default=None, alias="validate")
    """Whether rows that are there are checked. Only false can be had."""
    rely: bool | None = attribute()
    """Whether the optimizer may rely on it. Wrong data then give wrong results."""


@dataclass(frozen=True, slots=True)
class _Target:
    """What a foreign key refers to, for comparison; without words it does nothing."""

    table: tuple[str, ...]
    columns: tuple[str, ...]
    on_update: str = _NOTHING
    on_delete: str = _NOTHING


class _Columns(Codec):
    """Columns in their order, which `_merged` has put into one column as JSON."""

    def canonical(self, value: Any) -> tuple[str, ...]:
        return tuple(value)

    def read(self, raw: object) -> tuple[str, ...]:
        return tuple(orjson.loads(str(raw)))


class _Reference(Codec):
    def canonical(self, value: Any) -> _Target:
        table = split(value.references_table_name) if value.references_table_name else ()
        rules = (value.on_update or _NOTHING, value.on_delete or _NOTHING)
        return _Target(table, tuple(value.references_columns), *rules)

    def read(self, raw: object) -> object:
        return raw


def _referred(observation: Observation) -> object:
    row = observation.row
    if "pk_table_name" not in row:
        return None
    table = tuple(str(row[f"pk_{part}_name"]) for part in ("database", "schema", "table"))
    return _Target(table, _Columns().read(row["referenced"]), str(row["update_rule"]), str(row["delete_rule"]))


def _relied(observation: Observation) -> object:
    return str(observation.row.get("rely")).lower() == "true"


class _Properties(Codec):
    """Of the properties what is compared: whether it is relied on."""

    def canonical(self, value: Any) -> Any:
        return value.rely if isinstance(value, Properties) else None

    def read(self, raw: object) -> object:
        return raw


def _properties_differ(spec: Any, have: bool | None, tracked: Collection[str]) -> Iterator[Deviation]:
    wanted = spec.properties.rely if spec.properties else None
    reset = wanted is None and "properties.rely" in tracked and have
    if have is not None and (reset or (wanted is not None and wanted != have)):
        yield Deviation(".rely", wanted, have)


class TableConstraintSpec(SnowflakeSpec):
    """A key of a table, for tools and the optimizer. A Table that lists it among its constraints is another way to the
    same: use one of the two."""

    name: Name = own_name()
    """Its name as it is stored; the table has one name space for all of them."""
    type: Literal["PRIMARY KEY", "UNIQUE", "FOREIGN KEY"] = own_name()
    """What it is."""
    table_name: str | None = qualified_name(split_in_schema)
    """The table by its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME."""
    table_ref: Reference | None = ref("Table", instead_of="table_name", parent=True, qualified=True)
    """The Table, in place of its name."""
    columns: list[Name] = prop(
        "COLUMNS",
        show="columns",
        codec=_Columns(),
        reset=KEEP,
        recreate_when=operator.ne,
        required=True,
        min_length=1,
        max_length=_MOST_COLUMNS,
    )
    """Its columns in their order. Those of a primary key become NOT NULL, and stay so."""
    foreign_key_properties: ForeignKeyProperties | None = prop(
        "REFERENCES", observe=_referred, codec=_Reference(), reset=KEEP, recreate_when=operator.ne
    )
    """What a FOREIGN KEY refers to."""
    properties: Properties | None = compared(
        _properties_differ, codec=_Properties(), observe=_relied, source="show.rely"
    )
    """What else is said of it."""
    comment: str | None = prop(
        "COMMENT", show="comment", codec=Comment(), reset=KEEP, recreate_when=operator.ne, max_length=10_000
    )
    """A note for people, given when it is made."""


def _slot(spec: TableConstraintSpec, namespace: str, kinds: Mapping[str, Kind]) -> Slots:
    table = yield from named_in(spec, "table_name", namespace, kinds)
    return (slots.constraint(spec.type, spec.name, slots.of("TABLE", *table)),)


def _show(slot: Slot) -> Listing:
    given = slots.constrained(slot)
    words = sql.words(_SHOWN_BY[given.type])
    query = sql.sql("SHOW {words} IN TABLE {table}", words=words, table=sql.named(given.table))
    return Listing(query, _name_column(slot), (given.name,))


def _name_column(slot: Slot) -> str:
    return "fk_name" if slots.constrained(slot).type == "FOREIGN KEY" else "constraint_name"


def _fills(slot: Slot, row: Row) -> bool:
    return row[_name_column(slot)] == slots.constrained(slot).name


def _merged(rows: Sequence[Row]) -> Row:
    """One row of those of its columns."""
    ordered = sorted(rows, key=lambda row: int(str(row["key_sequence"])))

    def listed(name: str) -> str:
        return orjson.dumps([row[name] for row in ordered]).decode()

    first = ordered[0]
    if "fk_name" in first:
        return {**first, "columns": listed("fk_column_name"), "referenced": listed("pk_column_name")}
    return {**first, "columns": listed("column_name")}


def _alter(slot: Slot, clause: Sql) -> Sql:
    table = sql.named(slots.constrained(slot).table)
    return sql.sql("ALTER TABLE {table} {clause}", table=table, clause=clause)


def _constraint(slot: Slot) -> Sql:
    return sql.sql("CONSTRAINT {name}", name=sql.identifier(slots.constrained(slot).name))


def _add(slot: Slot, spec: Any) -> Sql:
    parts = [sql.words("ADD"), _constraint(slot), sql.words(slots.constrained(slot).type), _listed(spec.columns)]
    if target := spec.foreign_key_properties:
        table = sql.identifier(*split(target.references_table_name))
        parts += [sql.sql("REFERENCES {table}", table=table), _listed(target.references_columns)]
        words = (("MATCH", target.match), ("ON UPDATE", target.on_update), ("ON DELETE", target.on_delete))
        parts += [sql.words(f"{word} {value}") for word, value in words if value]
    if spec.properties:
        parts += [sql.words(each) for each in _said(spec.properties)]
    if spec.comment:
        parts.append(sql.sql("COMMENT {text}", text=sql.literal(spec.comment)))
    return _alter(slot, sql.join(parts))


def _listed(columns: Sequence[str]) -> Sql:
    return sql.sql("({all})", all=sql.join(map(sql.identifier, columns), ", "))


def _said(given: Properties) -> Iterator[str]:
    """The words of what is set."""
    initially = {"DEFERRED": True, "IMMEDIATE": False}.get(given.initially or "")
    for value, on, off in (
        (given.enforced, "ENFORCED", "NOT ENFORCED"),
        (given.deferrable, "DEFERRABLE", "NOT DEFERRABLE"),
        (initially, "INITIALLY DEFERRED", "INITIALLY IMMEDIATE"),
        (given.enable, "ENABLE", "DISABLE"),
        (given.validate_, "VALIDATE", "NOVALIDATE"),
    ):
        if value is not None:
            yield on if value else off
    if given.rely is not None:
        yield _reliance(given.rely)


def _reliance(value: bool | None) -> str:
    return "RELY" if value else "NORELY"


def _change(slot: Slot, spec: Any) -> Sql:
    words = sql.words(_reliance(spec.properties.rely if spec.properties else None))
    return _alter(slot, sql.sql("ALTER {constraint} {words}", constraint=_constraint(slot), words=words))


def _drop(slot: Slot, force: bool) -> Sql:
    how = sql.words("CASCADE" if force else "RESTRICT")
    return _alter(slot, sql.sql("DROP {constraint} {how}", constraint=_constraint(slot), how=how))


def _faults(spec: TableConstraintSpec) -> Iterator[str]:
    foreign = spec.foreign_key_properties
    yield from repeated(
        {
            "columns": spec.columns,
            "foreignKeyProperties.referencesColumns": foreign.references_columns if foreign else None,
        }
    )
    given = spec.properties or Properties()
    for name, value in (("enforced", given.enforced), ("enable", given.enable), ("validate", given.validate_)):
        if value:
            yield (
                f"spec.properties.{name}: Snowflake leaves out, without a word, a constraint of a standard table that "
                "asks for this: remove it, or set it to false"
            )


def _advice(spec: TableConstraintSpec) -> Iterator[str]:
    if spec.properties and spec.properties.rely:
        yield "rows that break a constraint with RELY give wrong results: Snowflake doesn't check them"


TABLE_CONSTRAINT = Kind(
    spec=TableConstraintSpec,
    domain=Domain.SCHEMA,
    object_type="TABLE CONSTRAINT",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("tc",),
    slots=_slot,
    filling=Filling(
        show=_show,
        fills=_fills,
        fill=_add,
        empty=_drop,
        value=("columns", "foreign_key_properties"),
        refill=_change,
        merge=_merged,
    ),
    rules=(
        exactly_one("tableName", "tableRef"),
        Rule(
            "has(self.foreignKeyProperties) == (self.type == 'FOREIGN KEY')",
            "foreignKeyProperties goes with type FOREIGN KEY",
            "foreignKeyProperties",
        ),
        Rule(
            "!has(self.foreignKeyProperties) || "
            "size(self.foreignKeyProperties.referencesColumns) == size(self.columns)",
            "a foreign key has as many columns as the key that it refers to",
            "foreignKeyProperties",
        ),
    ),
    faults=lambda spec: tuple(_faults(spec)),
    advice=lambda spec: tuple(_advice(spec)),
)
