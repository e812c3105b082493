"""Constraints that are made together with a table: how a spec declares them, and what keys SHOW finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ConfigDict, Field

from freehold import bodies, sql
from freehold.identifiers import split, split_in_schema
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import checked, ref
from freehold.kinds.model import Model
from freehold.kinds.property import Change, Deviation, Target
from freehold.kinds.resource import Rule, exactly_one, ruled
from freehold.kinds.spec_fields import item_name
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation, Row
from freehold.sql import Sql

PRIMARY, UNIQUE, FOREIGN, CHECK = "PrimaryKey", "Unique", "ForeignKey", "Check"

_WORDS = {PRIMARY: "PRIMARY KEY", UNIQUE: "UNIQUE", FOREIGN: "FOREIGN KEY"}

_MOST_COLUMNS = 100

QUERIES = {"primary_keys": "PRIMARY KEYS", "unique_keys": "UNIQUE KEYS", "imported_keys": "IMPORTED KEYS"}
"""Names of the queries among the details of a kind, and the words of SHOW."""


def show(words: str, target: Target) -> Sql:
    """The keys of a table."""
    return sql.sql("SHOW {words} IN TABLE {name}", words=sql.words(words), name=target.name)


def repeated(columns: Mapping[str, Sequence[str] | None]) -> Iterator[str]:
    """What a key names twice, which Snowflake refuses.

    Args:
        columns: of keys, by their place in the spec.
    """
    for place, names in columns.items():
        yield from (
            f"spec.{place}: column {name} is listed twice: take one out"
            for name, count in Counter(names or ()).items()
            if count > 1
        )


class ForeignKey(Model):
    """What a foreign key refers to."""

    model_config = ConfigDict(json_schema_extra=ruled(exactly_one("table", "tableRef")))

    table: str | None = checked(split_in_schema, default=None, min_length=1, max_length=1024)
    """The table by its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME."""
    table_ref: Reference | None = ref("Table", instead_of="table", qualified=True)
    """The Table, in place of its name."""
    columns: list[Name] = Field(min_length=1, max_length=_MOST_COLUMNS)
    """Its columns, in the order of those that refer to them."""


class Constraint(Model):
    """A constraint. Snowflake enforces NOT NULL and CHECK; keys tell people and the optimizer."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            Rule(f"has(self.check) == (self.type == '{CHECK}')", "check goes with type Check", "check"),
            Rule(f"has(self.columns) == (self.type != '{CHECK}')", "keys need columns, type Check has none", "columns"),
            Rule(
                f"has(self.foreignKey) == (self.type == '{FOREIGN}')",
                "foreignKey goes with type ForeignKey",
                "foreignKey",
            ),
            Rule(
                "!has(self.foreignKey) || !has(self.columns) || size(self.foreignKey.columns) == size(self.columns)",
                "a foreign key has as many columns as the key that it refers to",
                "foreignKey",
            ),
        )
    )

    name: Name
    """Its name as it is stored."""
    type: Literal["PrimaryKey", "Unique", "ForeignKey", "Check"]
    """What it is."""
    columns: list[Name] | None = Field(default=None, min_length=1, max_length=_MOST_COLUMNS)
    """Columns of a key, in its order."""
    foreign_key: ForeignKey | None = None
    """What a foreign key refers to."""
    check: str | None = checked(bodies.expression, default=None, max_length=65_536)
    """Condition that every row fulfils."""


@dataclass(frozen=True, slots=True)
class Key:
    """A constraint for comparison.

    Attributes:
        name: its name.
        type: as in a spec.
        columns: of a key, in its order.
        table: stored name parts of the table that a foreign key refers to; none while a reference isn't resolved.
        referenced: columns there.
        check: words of a condition; Snowflake's SHOW doesn't tell it.
    """

    name: str
    type: str
    columns: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    referenced: tuple[str, ...] = ()
    check: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = " ".join(self.check) if self.check else ", ".join(self.columns)
        target = f" to {sql.identifier(*self.table)} ({', '.join(self.referenced)})" if self.table else ""
        return f"{self.type} ({what}){target}"

    def same(self, other: Key) -> bool:
        """Whether two are alike; a table that isn't known yet may be any."""
        tables = self.table == other.table or not self.table or not other.table
        return tables and (self.type, self.columns, self.referenced, self.check) == (
            other.type,
            other.columns,
            other.referenced,
            other.check,
        )


@dataclass(frozen=True, slots=True)
class Keys:
    """All that are told of a table.

    Attributes:
        by_name: each by its name.
        checks: whether conditions are among them, as in a spec.
    """

    by_name: Mapping[str, Key]
    checks: bool


class Constraints(Codec):
    """The constraints of a table."""

    def canonical(self, value: Sequence[Constraint]) -> Keys:
        return Keys({each.name: key(each) for each in value}, checks=True)

    def read(self, raw: object) -> object:
        return raw


def key(constraint: Constraint) -> Key:
    """What a spec declares."""
    target = constraint.foreign_key
    return Key(
        constraint.name,
        constraint.type,
        tuple(constraint.columns or ()),
        split(target.table) if target and target.table else (),
        tuple(target.columns) if target else (),
        bodies.canonical(constraint.check) if constraint.check else (),
    )


def observed(observation: Observation) -> object:
    """The keys that SHOW found."""
    details = observation.details or {}
    if not QUERIES.keys() <= details.keys():
        return UNKNOWN
    found = (
        *_keys(PRIMARY, details["primary_keys"]),
        *_keys(UNIQUE, details["unique_keys"]),
        *_foreign_keys(details["imported_keys"]),
    )
    return Keys({each.name: each for each in found}, checks=False)


def _keys(type_: str, rows: Iterable[Row]) -> Iterator[Key]:
    for name, those in _by_name(rows, "constraint_name").items():
        yield Key(name, type_, tuple(str(row["column_name"]) for row in those))


def _foreign_keys(rows: Iterable[Row]) -> Iterator[Key]:
    for name, those in _by_name(rows, "fk_name").items():
        table = tuple(str(those[0][f"pk_{part}_name"]) for part in ("database", "schema", "table"))
        columns, referenced = (tuple(str(row[f"{side}_column_name"]) for row in those) for side in ("fk", "pk"))
        yield Key(name, FOREIGN, columns, table, referenced)


def _by_name(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(str(row["key_sequence"]))):
        found.setdefault(str(row[column]), []).append(row)
    return found


def deviations(spec: Any, have: Keys, tracked: Collection[str]) -> Iterator[Deviation]:
    """Constraints that aren't as declared. Others are no concern of the table's: they may be declared elsewhere.

    Args:
        spec: what is wanted, with the columns.
        have: what is there.
        tracked: names under which fields and constraints were ever sent.
    """
    renamed = {each.previous_name: each.name for each in spec.columns if each.previous_name}
    own = (spec.database_name, spec.schema_name, spec.name)
    declared = {each.name: key(each) for each in spec.constraints or ()}
    for name, wanted in declared.items():
        live = have.by_name.get(name)
        if live is None and (have.checks or wanted.type != CHECK):
            yield _fixed(name, str(wanted), None)
        elif live is not None and not wanted.same(_renamed(live, renamed, own)) and not wanted.same(live):
            yield _fixed(name, str(wanted), str(live))
    for name, live in have.by_name.items():
        if name not in declared and item_name("constraints", name) in tracked:
            yield _fixed(name, None, str(live))


def _renamed(live: Key, renamed: Mapping[str, str], own: tuple[str | None, ...]) -> Key:
    """A key after the columns of its own table were renamed, which a foreign key may refer to as well."""
    columns, referenced = (
        tuple(renamed.get(each, each) for each in those) for those in (live.columns, live.referenced)
    )
    return replace(live, columns=columns, referenced=referenced if live.table in ((), own) else live.referenced)


def _fixed(name: str, desired: str | None, observed: str | None) -> Deviation:
    remedy = "constraints are made with their table only: put it back, or alter it yourself and declare what is there"
    return Deviation(item_name("", name), desired, observed, Change.RECREATE, remedy=remedy)


def definitions(constraints: Sequence[Constraint]) -> Sql | None:
    """The constraints in the parentheses of CREATE TABLE."""
    # A foreign key to a reference that isn't resolved yet has no table to name.
    known = [each for each in constraints if each.type != FOREIGN or key(each).table]
    return sql.join(map(_definition, known), ", ") if known else None


def _definition(constraint: Constraint) -> Sql:
    name = sql.identifier(constraint.name)
    if constraint.check is not None:
        return sql.sql("CONSTRAINT {name} CHECK ({check})", name=name, check=bodies.written(constraint.check))
    wanted = key(constraint)
    columns = _listed(wanted.columns)
    own = sql.sql(
        "CONSTRAINT {name} {type} ({columns})", name=name, type=sql.words(_WORDS[wanted.type]), columns=columns
    )
    if not wanted.table:
        return own
    table = sql.identifier(*wanted.table)
    return sql.sql("{own} REFERENCES {table} ({columns})", own=own, table=table, columns=_listed(wanted.referenced))


def _listed(columns: Iterable[str]) -> Sql:
    return sql.join(map(sql.identifier, columns), ", ")
