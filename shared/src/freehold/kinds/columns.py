"""Columns of a table: how a spec declares them, how DESCRIBE prints them, and how CREATE writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ConfigDict

from freehold import bodies, datatypes, sql
from freehold.datatypes import DataType, InvalidDataType
from freehold.identifiers import qualified, split, split_in_schema
from freehold.kinds import policies
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import attribute, checked, ref, tags
from freehold.kinds.model import Model
from freehold.kinds.policies import MaskingPolicyUse, Policy, PolicyUse
from freehold.kinds.property import KEEP, Change, Target
from freehold.kinds.resource import Rule, exclusive, ruled
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation, Row, Unknown
from freehold.sql import Sql

DETAIL = "columns"
"""Name of the query below among the details of a kind."""

MASKING, PROJECTION = "MASKING POLICY", "PROJECTION POLICY"


def describe(target: Target) -> Sql:
    """The columns of a table, in their order."""
    return sql.sql("DESCRIBE TABLE {name} TYPE = COLUMNS", name=target.name)


def column_type(text: str) -> DataType:
    """Read the type of a column.

    Raises:
        InvalidDataType: it is none, or more than a type.
    """
    found = datatypes.parse(text)
    if found.collation is not None:
        raise InvalidDataType(f"the collation has a field of its own, collate: {text!r}")
    return found


class Identity(Model):
    """Numbers that Snowflake counts up by itself."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            Rule("!has(self.increment) || self.increment != 0", "increment can't be 0", "increment")
        )
    )

    start: int = 1
    """First number."""
    increment: int = 1
    """Step to the next one; may be negative."""
    order: bool | None = None
    """Whether numbers grow in the order of insertion. By default as the account's NOORDER_SEQUENCE_AS_DEFAULT says."""

    def __str__(self) -> str:
        order = {True: " ORDER", False: " NOORDER", None: ""}[self.order]
        return f"IDENTITY START {self.start} INCREMENT {self.increment}{order}"


class Column(Model):
    """A column."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            exclusive("default", "sequence", "sequenceRef", "identity", "expression"),
            Rule(
                "!has(self.expression) || !has(self.nullable) || self.nullable",
                "a virtual column takes NULL: leave nullable out",
                "nullable",
            ),
        )
    )

    name: Name
    """The column's name as it is stored: case kept, never folded."""
    type: str = checked(column_type, min_length=1, max_length=16_384)
    """Its data type, in any spelling that Snowflake takes. It can be widened: a longer text, more digits."""
    nullable: bool | None = attribute()
    """Whether it takes NULL, which it does by itself unless it belongs to the primary key."""
    default: str | None = attribute(reset=KEEP, check=bodies.expression, max_length=65_536)
    """Value of new rows that give none: an expression. It belongs to the creation of the column."""
    sequence: str | None = attribute(reset=KEEP, check=split_in_schema, max_length=1024)
    """Sequence that gives new rows their value, by its fully-qualified name; another sequence may take its place."""
    sequence_ref: Reference | None = ref("Sequence", instead_of="sequence", qualified=True)
    """The Sequence, in place of its name."""
    identity: Identity | None = attribute(reset=KEEP, change=Change.RECREATE)
    """Count new rows. Only for whole numbers."""
    expression: str | None = attribute(reset=KEEP, change=Change.RECREATE, check=bodies.expression, max_length=65_536)
    """Makes it a virtual column: what it is computed by."""
    collate: str | None = attribute(reset=KEEP, change=Change.RECREATE, max_length=256)
    """Collation of a text. By default that of the table, schema, database or account."""
    comment: str | None = attribute(max_length=1_000_000)
    """A note for people."""
    masking_policy: MaskingPolicyUse | None = policies.attribute_of_column()
    """The masking policy that hides its values."""
    projection_policy: PolicyUse | None = policies.attribute_of_column()
    """The projection policy that says who may select it."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""
    previous_name: Name | None = None
    """Name that it had before: a column of that name is renamed, with its data. Harmless afterwards."""

    @property
    def source(self) -> str | None:
        """What DESCRIBE prints as its default, in the spec's own spelling."""
        if self.identity:
            return str(self.identity)
        return f"{qualified(split(self.sequence))}.NEXTVAL" if self.sequence else self.default

    @property
    def masking(self) -> Policy | None:
        """Its masking policy with the further columns that this is given."""
        use = self.masking_policy
        return policies.named(use, (each for each in use.using or () if each != self.name)) if use else None

    @property
    def projection(self) -> Policy | None:
        return policies.named(self.projection_policy) if self.projection_policy else None


@dataclass(frozen=True, slots=True)
class Live:
    """A column that is there.

    Attributes:
        name: its stored name.
        type: its type with the collation.
        nullable: whether it takes NULL.
        key: whether it belongs to the primary key.
        default: its default, IDENTITY included.
        expression: what a virtual column is computed by.
        comment: empty when there is none.
        masking: its masking policy, with the further columns that this is given; UNKNOWN when that wasn't read.
        projection: likewise its projection policy.
        printed: whether the texts are Snowflake's spelling, and not that of a spec.
    """

    name: str
    type: DataType
    nullable: bool = True
    key: bool = False
    default: str | None = None
    expression: str | None = None
    comment: str = ""
    masking: Policy | Unknown | None = UNKNOWN
    projection: Policy | Unknown | None = UNKNOWN
    printed: bool = True


class Columns(Codec):
    """The columns of a table."""

    def canonical(self, value: Sequence[Column]) -> tuple[Live, ...]:
        """The columns that a spec would have made."""
        return tuple(
            Live(
                each.name,
                datatypes.read(f"{each.type} COLLATE {sql.literal(each.collate).text}" if each.collate else each.type),
                each.nullable is not False,
                default=each.source,
                expression=each.expression,
                comment=each.comment or "",
                printed=False,
            )
            for each in value
        )

    def read(self, raw: object) -> object:
        return raw


class GivenUp(Columns):
    """Names of columns that may go."""

    def canonical(self, _value: Sequence[object]) -> tuple[Live, ...]:
        """Nothing: a spec that gives columns up doesn't say that they are there."""
        return ()


def observed(observation: Observation) -> object:
    """The columns in DESCRIBE, with the policies on them where these were asked for."""
    details = observation.details or {}
    rows = details.get(DETAIL)
    return UNKNOWN if rows is None else tuple(_live(row, details.get(policies.DETAIL)) for row in rows)


def _live(row: Row, used: Sequence[Row] | None) -> Live:
    name = str(row["name"])
    masking = UNKNOWN if used is None else policies.found(used, MASKING, name)
    if isinstance(masking, Policy) and masking.columns:
        masking = Policy(masking.parts, tuple(each for each in masking.columns if each != name))
    return Live(
        name,
        datatypes.read(str(row["type"])),
        nullable=row.get("null?") != "N",
        key=row.get("primary key") == "Y",
        default=_text(row.get("default")),
        expression=_text(row.get("expression")),
        comment=_text(row.get("comment")) or "",
        masking=masking,
        projection=UNKNOWN if used is None else policies.found(used, PROJECTION, name),
    )


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def definition(column: Column) -> Sql:
    """A column in CREATE TABLE and ADD COLUMN."""
    return sql.join((sql.identifier(column.name), sql.words(column_type(column.type).ddl), *_attributes(column)))


def definitions(columns: Sequence[Column]) -> Sql:
    """The columns in the parentheses of CREATE TABLE."""
    return sql.join(map(definition, columns), ", ")


def _attributes(column: Column) -> Iterator[Sql]:
    if column.expression is not None:
        yield sql.sql("AS ({expression})", expression=bodies.written(column.expression))
    if column.nullable is False:
        yield sql.words("NOT NULL")
    if column.collate is not None:
        yield sql.sql("COLLATE {collation}", collation=sql.literal(column.collate))
    if column.identity is not None:
        yield sql.words(str(column.identity))
    elif column.source is not None:
        yield sql.sql("DEFAULT {source}", source=bodies.written(column.source))
    for words, policy in ((MASKING, column.masking), (PROJECTION, column.projection)):
        # A reference that isn't resolved yet has no name.
        if policy is not None and policy.parts:
            yield policy_clause(words, column.name, policy)
    if column.comment:
        yield sql.sql("COMMENT {comment}", comment=sql.literal(column.comment))


def policy_clause(words: str, name: str, policy: Policy) -> Sql:
    """`MASKING POLICY <policy> [USING (<column>, ...)]`; the column itself comes first.

    Args:
        words: the policy's type.
        name: the column.
        policy: with the further columns that it is given.
    """
    return policies.clause(words, Policy(policy.parts, (name, *policy.columns) if policy.columns else ()), "USING")


_IDENTITY = re.compile(r"IDENTITY START (-?[0-9]+) INCREMENT (-?[0-9]+)(?: (ORDER|NOORDER))?", re.IGNORECASE)


def identity_in(default: str | None) -> Identity | None:
    """The IDENTITY that a default is."""
    match = _IDENTITY.fullmatch(default or "")
    if match is None:
        return None
    start, increment, order = match.groups()
    return Identity(
        start=int(start), increment=int(increment), order=None if order is None else order.upper() == "ORDER"
    )
