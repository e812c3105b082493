"""Policies on tables, views and their columns: how a spec names them, and where POLICY_REFERENCES shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import ConfigDict, Field

from freehold import sql
from freehold.identifiers import qualified, split, split_in_schema
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import attribute, checked, custom, ref
from freehold.kinds.model import Model
from freehold.kinds.property import Target
from freehold.kinds.resource import exactly_one, ruled
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation, Row
from freehold.sql import Sql

DETAIL = "policies"
"""Name of the query below among the details of a kind."""


def references(target: Target) -> Sql:
    """The policies on a table or view and on its columns. It is a function, so the session needs a warehouse."""
    return sql.sql(
        "SELECT * FROM TABLE({database}.INFORMATION_SCHEMA.POLICY_REFERENCES("
        "REF_ENTITY_NAME => {name}, REF_ENTITY_DOMAIN => {domain}))",
        database=sql.identifier(target.parts[0]),
        name=sql.literal(target.name.text),
        domain=sql.literal(target.object_type),
    )


def attribute_of_column() -> Any:
    """A policy among the attributes of a column."""
    return attribute(codec=Used(), details=(DETAIL,), shared=True)


def _policy_name(**constraints: Any) -> Any:
    return checked(split_in_schema, min_length=1, max_length=1024, **constraints)


_ONE_NAME = ConfigDict(json_schema_extra=ruled(exactly_one("policy", "policyRef")))


class PolicyUse(Model):
    """A policy that is put on something."""

    policy: str = _policy_name()
    """Its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME, with parts quoted where they must be."""


class AggregationPolicyUse(PolicyUse):
    """An aggregation policy."""

    entity_key: list[Name] | None = Field(default=None, min_length=1, max_length=100)
    """Columns that tell one entity from another."""


class StorageLifecyclePolicyUse(PolicyUse):
    """A storage lifecycle policy."""

    columns: list[Name] = Field(min_length=1, max_length=100)
    """Columns that it is given, in the order of its arguments."""


class RowAccessPolicyUse(Model):
    """A row access policy."""

    model_config = _ONE_NAME

    policy: str | None = _policy_name(default=None)
    """Its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME, with parts quoted where they must be."""
    policy_ref: Reference | None = ref("RowAccessPolicy", instead_of="policy", qualified=True)
    """The RowAccessPolicy, in place of its name."""
    columns: list[Name] = Field(min_length=1, max_length=100)
    """Columns that it is given, in the order of its arguments."""


class MaskingPolicyUse(Model):
    """A masking policy."""

    model_config = _ONE_NAME

    policy: str | None = _policy_name(default=None)
    """Its fully-qualified name as SQL reads it: DATABASE.SCHEMA.NAME, with parts quoted where they must be."""
    policy_ref: Reference | None = ref("MaskingPolicy", instead_of="policy", qualified=True)
    """The MaskingPolicy, in place of its name."""
    using: list[Name] | None = Field(default=None, min_length=1, max_length=100)
    """Columns that it is given, the masked one first. By default the masked one alone."""


class Masked(Protocol):
    """A column that may have a masking policy."""

    @property
    def name(self) -> str: ...

    @property
    def masking_policy(self) -> MaskingPolicyUse | None: ...


def misused(columns: Iterable[Masked]) -> Iterator[str]:
    """What is wrong with the columns that masking policies are given."""
    for at, each in enumerate(columns):
        using = each.masking_policy.using if each.masking_policy else None
        if using and using[0] != each.name:
            yield f"spec.columns[{at}].maskingPolicy.using: the first column is the masked one, {each.name}"


Use = PolicyUse | RowAccessPolicyUse | MaskingPolicyUse


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy on something.

    Attributes:
        parts: its stored name parts; none while a reference to it isn't resolved.
        columns: that it is given; None where Snowflake doesn't tell.
    """

    parts: tuple[str, ...]
    columns: tuple[str, ...] | None = ()

    def __str__(self) -> str:
        name = sql.identifier(*self.parts).text
        return f"{name} ({', '.join(self.columns)})" if self.columns else name


def named(use: Use, columns: Iterable[str] = ()) -> Policy:
    """The policy that a spec names."""
    return Policy(split(use.policy) if use.policy else (), tuple(columns))


def same(desired: Policy, observed: Policy | None) -> bool:
    """Whether a live policy is the one that the spec asks for; columns that aren't told are taken for right."""
    return observed is not None and desired.parts == observed.parts and observed.columns in (None, desired.columns)


_COLUMN = re.compile(r'"((?:[^"]|"")*)"')


def found(rows: Iterable[Row], words: str, column: str | None = None) -> Policy | None:
    """The policy of a type on an object, or on one of its columns; what a tag brings along doesn't count.

    Args:
        rows: of POLICY_REFERENCES.
        words: the policy's type.
        column: stored name of the column.
    """
    own = (row for row in rows if row["ref_column_name"] == column and not row.get("tag_name"))
    return next(of_type(own, words), None)


def of_type(rows: Iterable[Row], words: str) -> Iterator[Policy]:
    """The policies of a type.

    Args:
        rows: of POLICY_REFERENCES.
        words: the policies' type.
    """
    for row in rows:
        if row["policy_kind"] == words.replace(" ", "_"):
            parts = tuple(str(row[each]) for each in ("policy_db", "policy_schema", "policy_name"))
            given = row.get("ref_arg_column_names")
            columns = tuple(name.replace('""', '"') for name in _COLUMN.findall(str(given))) if given else None
            yield Policy(parts, columns)


def clause(words: str, policy: Policy, keyword: str = "") -> Sql:
    """`MASKING POLICY "DB"."S"."P" USING ("A", "B")`.

    Args:
        words: the policy's type.
        policy: the policy.
        keyword: what stands before its columns.
    """
    name = sql.sql("{words} {name}", words=sql.words(words), name=sql.identifier(*policy.parts))
    if not policy.columns:
        return name
    columns = sql.join(map(sql.identifier, policy.columns), ", ")
    return sql.sql("{name} {keyword} ({columns})", name=name, keyword=sql.words(keyword), columns=columns)


class Used(Codec):
    """A policy on something, which is remembered by its name."""

    def canonical(self, value: Any) -> Policy:
        return named(value)

    def label(self, canonical: Policy) -> str:
        return qualified(canonical.parts)


@dataclass(frozen=True, slots=True)
class PolicyType(Used):
    """A type of policy that a table or view has at most one of: the codec and the statements of its field.

    Attributes:
        words: its SQL words.
        columns: attribute of the spec that lists the columns that it is given.
        keyword: what stands before these columns in SQL.
        replaced: whether SET ... FORCE puts it on and UNSET takes it off; else it is added and dropped.
        dropped_by_name: whether DROP names it.
    """

    words: str
    columns: str = ""
    keyword: str = ""
    replaced: bool = False
    dropped_by_name: bool = False

    def field(self) -> Any:
        """A field of a spec that holds it."""
        return custom(
            alter=self.alter,
            observe=self.observe,
            source=f"policies.{self.words}",
            clause=lambda use: self._clause(self.canonical(use)) if use.policy else None,
            codec=self,
            details=(DETAIL,),
            # CREATE OR ALTER takes no policy, and leaves those that are there.
            or_alter=False,
            shared=True,
        )

    def canonical(self, value: Any) -> Policy:
        return named(value, (self.columns and getattr(value, self.columns)) or ())

    def read(self, raw: object) -> Any:
        return raw

    def matches(self, desired: Any, observed: Any) -> bool:
        return same(desired, observed)

    def observe(self, observation: Observation) -> object:
        """The policy of this type on the object."""
        rows = (observation.details or {}).get(DETAIL)
        return UNKNOWN if rows is None else found(rows, self.words)

    def alter(self, target: Target, desired: Any, observed: object) -> Sequence[Sql]:
        """The statements that put it on, replace it or take it off."""
        have = observed if isinstance(observed, Policy) else None
        if desired is None:
            return tuple(target.alter(each) for each in self._off(have))
        wanted = self._clause(self.canonical(desired))
        if self.replaced:
            force = " FORCE" if have else ""
            return (target.alter(sql.sql("SET {wanted}{force}", wanted=wanted, force=sql.words(force))),)
        added = sql.sql("ADD {wanted}", wanted=wanted)
        if have and self.dropped_by_name:
            # In one statement, so that the rows are never bare.
            return (target.alter(sql.join((*self._off(have), added), ", ")),)
        return tuple(target.alter(each) for each in (*self._off(have), added))

    def _clause(self, policy: Policy) -> Sql:
        return clause(self.words, policy, self.keyword)

    def _off(self, have: Policy | None) -> tuple[Sql, ...]:
        if have is None:
            return ()
        bare = clause(self.words, Policy(have.parts)) if self.dropped_by_name else sql.words(self.words)
        return (sql.sql("{verb} {policy}", verb=sql.words("UNSET" if self.replaced else "DROP"), policy=bare),)


ROW_ACCESS = PolicyType("ROW ACCESS POLICY", "columns", "ON", dropped_by_name=True)
STORAGE_LIFECYCLE = PolicyType("STORAGE LIFECYCLE POLICY", "columns", "ON")
AGGREGATION = PolicyType("AGGREGATION POLICY", "entity_key", "ENTITY KEY", replaced=True)
JOIN = PolicyType("JOIN POLICY", replaced=True)
