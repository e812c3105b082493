"""Columns of a view: how a spec declares them, and how they get from what they are to that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Protocol

from freehold import sql
from freehold.datatypes import DataType
from freehold.kinds import policies
from freehold.kinds.columns import MASKING, PROJECTION, Live, policy_clause
from freehold.kinds.common import Name
from freehold.kinds.fields import attribute
from freehold.kinds.model import Model
from freehold.kinds.pairs import Pair, governed
from freehold.kinds.policies import MaskingPolicyUse, Policy, PolicyUse
from freehold.kinds.property import Action, Change, Deviation, Target
from freehold.kinds.values import Codec
from freehold.observation import Unknown
from freehold.sql import Sql

_ANY = DataType("VARIANT")
"""Of columns whose type the query decides."""


class ViewColumn(Model):
    """A column of a view."""

    name: Name
    """The column's name as it is stored: case kept, never folded."""
    comment: str | None = attribute(max_length=1_000_000)
    """A note for people."""
    masking_policy: MaskingPolicyUse | None = policies.attribute_of_column()
    """The masking policy that hides its values."""
    projection_policy: PolicyUse | None = policies.attribute_of_column()
    """The projection policy that says who may select it."""

    @property
    def previous_name(self) -> None:
        """None: no column of a view is renamed."""

    @property
    def masking(self) -> Policy | None:
        """Its masking policy with the further columns that this is given."""
        use = self.masking_policy
        return policies.named(use, (each for each in use.using or () if each != self.name)) if use else None

    @property
    def projection(self) -> Policy | None:
        return policies.named(self.projection_policy) if self.projection_policy else None


class ViewColumns(Codec):
    """The columns of a view. A spec without any would have CREATE OR ALTER take their comments away, and no more."""

    def canonical(self, value: Sequence[ViewColumn]) -> tuple[Live, ...]:
        """The columns that a spec would have made; their types are the query's."""
        return tuple(Live(each.name, _ANY, comment=each.comment or "", printed=False) for each in value)

    def read(self, raw: object) -> object:
        return raw

    def matches(self, desired: object, observed: Sequence[Live] | Unknown) -> bool:
        return not desired and not isinstance(observed, Unknown) and not any(each.comment for each in observed)


class Described(Protocol):
    """A spec of a view."""

    @property
    def columns(self) -> list[ViewColumn] | None: ...


def deviations(spec: Described, have: Sequence[Live], tracked: Collection[str]) -> Iterator[Deviation]:
    """What isn't as it should be in the columns of a view.

    Args:
        spec: what is wanted.
        have: the columns that are there.
        tracked: names under which fields, columns and their attributes were ever sent.
    """
    declared = {each.name: each for each in spec.columns or ()}
    names = tuple(each.name for each in have)
    if declared and tuple(declared) != names:
        yield Deviation("", ", ".join(declared), ", ".join(names), Change.REDEFINE)
    # Of columns that aren't declared, what was sent earlier is taken back.
    known = have if not declared else [each for each in have if each.name in declared]
    for live in known:
        pair = Pair(declared.get(live.name, ViewColumn(name=live.name)), live, tracked)
        yield from _comment(pair)
        yield from governed(pair)


def _comment(pair: Pair[ViewColumn]) -> Iterator[Deviation]:
    """ALTER VIEW has no words for it ("ALTER VIEW", "COMMENT")."""
    desired, observed = pair.column.comment, pair.live.comment
    if (desired or "") == observed or (desired is None and not pair.sent("comment")):
        return
    whole = partial(_noted, pair.column.name, desired or "")
    yield Deviation(pair.place("comment"), desired, observed, actions=(Action("", sql.words(""), whole=whole),))


def _noted(column: str, comment: str, target: Target) -> Sql:
    return sql.sql(
        "COMMENT ON COLUMN {name} IS {text}",
        name=sql.identifier(*target.parts, column),
        text=sql.literal(comment),
    )


def definitions(columns: Sequence[ViewColumn], *, governed: bool = True) -> Sql:
    """The columns in the parentheses of CREATE VIEW.

    Args:
        columns: the columns.
        governed: whether their policies are put on them, which CREATE OR ALTER doesn't.
    """
    return sql.join((_definition(each, governed=governed) for each in columns), ", ")


def _definition(column: ViewColumn, *, governed: bool) -> Sql:
    clauses = [sql.identifier(column.name)]
    for words, policy in ((MASKING, column.masking), (PROJECTION, column.projection)):
        # A reference that isn't resolved yet has no name.
        if governed and policy is not None and policy.parts:
            clauses.append(policy_clause(words, column.name, policy))
    if column.comment:
        clauses.append(sql.sql("COMMENT {text}", text=sql.literal(column.comment)))
    return sql.join(clauses)
