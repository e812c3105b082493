"""Views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from freehold import bodies, sql
from freehold.kinds import policies, texts, view_columns
from freehold.kinds.clauses import clause
from freehold.kinds.columns import DETAIL, observed
from freehold.kinds.fields import comment, custom, items, prop, tags, unsupported
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.policies import AggregationPolicyUse, PolicyUse, RowAccessPolicyUse
from freehold.kinds.property import Change, Place, Target, set_to
from freehold.kinds.resource import only_when
from freehold.kinds.values import Boolean
from freehold.kinds.view_columns import ViewColumn
from freehold.observation import Observation
from freehold.sql import Sql

_DOESNT_WORK = frozenset({2037, 2057})
"""DESCRIBE compiles a view: what it reads is gone, or has other columns than the view was made for."""
_NO_METRICS = "no kind of this release sets data metric functions: leave it out, and have a SQLStatement set them"


def _secure(value: bool) -> Sql | None:
    return sql.words("SECURE") if value else None


def _recursive(value: bool) -> Sql | None:
    return sql.words("RECURSIVE") if value else None


def _alter_secure(target: Target, desired: bool | None, _observed: object) -> Sequence[Sql]:
    return (target.alter(sql.words("SET SECURE" if desired else "UNSET SECURE")),)


class ViewSpec(InSchemaSpec):
    """A query under a name."""

    secure: bool | None = custom(
        alter=_alter_secure,
        observe=column("is_secure"),
        source="show.is_secure",
        clause=_secure,
        codec=Boolean(),
        place=Place.BEFORE_TYPE,
    )
    """Whether its query is shown to its owner alone, and nothing of what it filters out can be guessed."""
    recursive: bool | None = clause(
        "RECURSIVE", write=_recursive, change=Change.RECREATE, unset=False, place=Place.BEFORE_TYPE
    )
    """Whether its query refers to the view itself. It then needs columns."""
    columns: list[ViewColumn] | None = items(
        ViewColumn,
        differ=view_columns.deviations,
        codec=view_columns.ViewColumns(),
        observe=observed,
        source="describe",
        details=(DETAIL,),
        clause=view_columns.definitions,
        redefinition=partial(view_columns.definitions, governed=False),
        unset=(),
        default=None,
        min_length=1,
        max_length=2000,
    )
    """Names of its columns, as many as the query has. By default they are named as in the query."""
    change_tracking: bool | None = prop(
        "CHANGE_TRACKING", show="change_tracking", reset=set_to(False), own_statement=True
    )
    """Whether changes are kept for streams, here and in the tables that it reads. The first stream turns it on by
    itself."""
    comment: str | None = comment()
    """A note for people."""
    row_access_policy: RowAccessPolicyUse | None = policies.ROW_ACCESS.field()
    """The row access policy that says who sees which rows."""
    aggregation_policy: AggregationPolicyUse | None = policies.AGGREGATION.field()
    """The aggregation policy that says how rows must be grouped."""
    join_policy: PolicyUse | None = policies.JOIN.field()
    """The join policy that says when the view must be joined."""
    statement: str = texts.text(
        "AS",
        check=bodies.query,
        observe=texts.in_create("text"),
        source="show.text",
        # What the query can't be changed for is seen there.
        details=(DETAIL,),
        change=Change.REDEFINE,
        required=True,
    )
    """The query. Names that aren't qualified are looked for in the schema of the view. Another one takes its place by
    CREATE OR ALTER, which keeps privileges, policies and tags."""
    copy_grants: bool | None = unsupported("a view is never replaced, so that its grants stay: leave it out")
    """Keep privileges when the view is replaced."""
    data_metric_schedule: str | None = unsupported(_NO_METRICS)
    """When data metric functions run."""
    data_metric_functions: list[str] | None = unsupported(_NO_METRICS)
    """Data metric functions that measure it."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


def _faults(spec: ViewSpec) -> tuple[str, ...]:
    return tuple(policies.misused(spec.columns or ()))


def _advice(spec: ViewSpec) -> tuple[str, ...]:
    return tuple(_starred(spec.statement))


def _starred(query: str) -> Iterator[str]:
    if ("SELECT", "*") in pairwise(bodies.canonical(query)):
        yield (
            "spec.statement selects *: these are the columns of now, and the view stops working when a table gets "
            "another one. Name the columns"
        )


def _adoptable(observation: Observation) -> str | None:
    return "it is a materialized view" if observation.row.get("is_materialized") == "true" else None


VIEW = Kind(
    spec=ViewSpec,
    domain=Domain.SCHEMA,
    object_type="VIEW",
    level=Level.SCHEMA,
    holds_data=False,
    namespace_class="TABLE",
    create_or_alter=True,
    rules=(*IN_SCHEMA_RULES, only_when(("recursive",), "has(self.columns)", "a recursive view needs columns")),
    # The spec has it.
    volatile=frozenset({"text"}),
    details={DETAIL: Target.describe, policies.DETAIL: policies.references},
    adoptable=_adoptable,
    broken_by=_DOESNT_WORK,
    ailment=lambda observation: observation.broken or None,
    faults=_faults,
    advice=_advice,
)
