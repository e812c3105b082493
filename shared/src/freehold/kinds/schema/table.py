"""Tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

from pydantic import Field

from freehold import bodies, datatypes, sql
from freehold.datatypes import DataType, InvalidDataType
from freehold.kinds import columns, constraints, evolution, policies, search_optimization
from freehold.kinds.columns import Column
from freehold.kinds.common import Name
from freehold.kinds.constraints import Constraint
from freehold.kinds.containers import TRANSIENT_RETENTION
from freehold.kinds.content import Content
from freehold.kinds.fields import (
    comment,
    custom,
    items,
    keyword,
    parameter,
    prop,
    tags,
    unsupported,
)
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.policies import AggregationPolicyUse, PolicyUse, RowAccessPolicyUse, StorageLifecyclePolicyUse
from freehold.kinds.property import Change, Place, Target
from freehold.kinds.resource import Rule
from freehold.kinds.values import Codec, Collation
from freehold.observation import UNKNOWN, Observation, Row
from freehold.sql import Sql


class ClusteringKey(Codec):
    """Expressions, which SHOW prints as LINEAR(...)."""

    def canonical(self, value: Sequence[str]) -> str:
        return " , ".join(" ".join(bodies.canonical(each)) for each in value)

    def read(self, raw: object) -> str | None:
        words = bodies.canonical(str(raw)) if raw else ()
        inside = words[2:-1] if words[:2] == ("LINEAR", "(") else words[1:-1] if words[:1] == ("(",) else words
        return " ".join(inside) or None


def _clustered(expressions: Sequence[str]) -> Sql:
    return sql.sql("CLUSTER BY ({all})", all=sql.join(map(bodies.written, expressions), ", "))


def _alter_clustering(target: Target, desired: Sequence[str] | None, observed: object) -> Sequence[Sql]:
    if desired:
        return (target.alter(_clustered(desired)),)
    return (target.alter(sql.words("DROP CLUSTERING KEY")),) if observed is not None else ()


def _transient(observation: Observation) -> object:
    kind = observation.row.get("kind")
    return UNKNOWN if kind is None else kind == "TRANSIENT"


_GIVEN_UP = columns.GivenUp()

_column_items = partial(
    items, codec=columns.Columns(), observe=columns.observed, source="describe", details=(columns.DETAIL,)
)


class TableSpec(InSchemaSpec):
    """A table, which is only ever added to: columns and data go when the manifest says so by name."""

    transient: bool | None = keyword("TRANSIENT", place=Place.BEFORE_TYPE, observe=_transient, source="show.kind")
    """Without Fail-safe, and with at most one day of Time Travel."""
    columns: list[Column] = _column_items(
        Column, differ=evolution.deviations, clause=columns.definitions, min_length=1, max_length=2000
    )
    """The columns, in the order of their creation; further ones come last. They are added, widened, renamed by
    previousName and noted on, but a column is dropped only when droppedColumns lists it as well."""
    constraints: list[Constraint] | None = items(
        Constraint,
        differ=constraints.deviations,
        codec=constraints.Constraints(),
        observe=constraints.observed,
        source="show.primary_keys, show.unique_keys, show.imported_keys",
        details=tuple(constraints.QUERIES),
        clause=constraints.definitions,
        change=Change.RECREATE,
        default=None,
        min_length=1,
        max_length=100,
    )
    """Keys and conditions, which are made with the table."""
    cluster_by: list[Annotated[str, Field(min_length=1, max_length=4096)]] | None = custom(
        alter=_alter_clustering,
        observe=column("cluster_by"),
        source="show.cluster_by",
        codec=ClusteringKey(),
        clause=_clustered,
        check=bodies.expression,
        min_length=1,
        max_length=50,
    )
    """The clustering key: columns or expressions."""
    enable_schema_evolution: bool | None = prop("ENABLE_SCHEMA_EVOLUTION", show="enable_schema_evolution")
    """Whether loads may add columns and take NOT NULL away. Columns that they added are left alone."""
    data_retention_time_in_days: int | None = parameter("DATA_RETENTION_TIME_IN_DAYS", ge=0, le=90)
    """Days that Time Travel reaches back: up to 90; up to 1 on Standard edition and for transient tables."""
    max_data_extension_time_in_days: int | None = parameter("MAX_DATA_EXTENSION_TIME_IN_DAYS", ge=0, le=90)
    """Days by which retention may be extended so that streams don't become stale."""
    change_tracking: bool | None = prop("CHANGE_TRACKING", show="change_tracking")
    """Whether changes are kept for streams, which turn it on by themselves."""
    default_ddl_collation: str | None = parameter(
        "DEFAULT_DDL_COLLATION", codec=Collation(), alias="defaultDDLCollation", max_length=256
    )
    """Collation of columns to come. An empty text pins "no collation" against an inherited one."""
    row_access_policy: RowAccessPolicyUse | None = policies.ROW_ACCESS.field()
    """The row access policy that says who sees which rows."""
    aggregation_policy: AggregationPolicyUse | None = policies.AGGREGATION.field()
    """The aggregation policy that says how rows must be grouped."""
    join_policy: PolicyUse | None = policies.JOIN.field()
    """The join policy that says when the table must be joined."""
    storage_lifecycle_policy: StorageLifecyclePolicyUse | None = policies.STORAGE_LIFECYCLE.field()
    """The storage lifecycle policy that archives or expires rows."""
    search_optimization: list[Annotated[str, Field(min_length=1, max_length=1024)]] | None = custom(
        alter=search_optimization.alter,
        observe=search_optimization.observed,
        source="describe search optimization",
        codec=search_optimization.Targets(),
        details=(search_optimization.DETAIL,),
        check=search_optimization.check,
        max_length=1000,
    )
    """Searches to speed up, each as EQUALITY, SUBSTRING, GEO or FULL_TEXT of a column. Empty means the whole table."""
    copy_grants: bool | None = unsupported("a table is never replaced, so that its grants stay: leave it out")
    """Keep privileges when the table is replaced."""
    comment: str | None = comment()
    """A note for people."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""
    dropped_columns: list[Name] | None = _column_items(
        str, differ=evolution.dropped, codec=_GIVEN_UP, default=None, min_length=1, max_length=2000
    )
    """Columns that may be dropped, with all data in them, once columns doesn't list them any more."""


def _faults(spec: TableSpec) -> tuple[str, ...]:
    return (*_column_faults(spec), *_type_faults(spec), *_constraint_faults(spec))


def _column_faults(spec: TableSpec) -> Iterator[str]:
    names = {each.name for each in spec.columns}
    previous = Counter(each.previous_name for each in spec.columns if each.previous_name)
    for at, each in enumerate(spec.columns):
        place = f"spec.columns[{at}]"
        if each.previous_name and (each.previous_name in names or previous[each.previous_name] > 1):
            yield f"{place}.previousName: {each.previous_name} is another column's name, too"

    yield from policies.misused(spec.columns)


def _type_faults(spec: TableSpec) -> Iterator[str]:
    for place, each, found in _typed(spec):
        whole = found.base == "NUMBER" and found.arguments[1:] == (0,)
        if each.identity and found.known and not whole:
            yield f"{place}.identity: only whole numbers are counted, not {found}"
        if each.collate is not None and found.known and found.base != "VARCHAR":
            yield f"{place}.collate: only texts have a collation, not {found}"


def _typed(spec: TableSpec) -> Iterator[tuple[str, Column, DataType]]:
    """(place, column, its type) wherever the type can be read; what is wrong with others is told elsewhere."""
    for at, each in enumerate(spec.columns):
        with suppress(InvalidDataType):
            yield f"spec.columns[{at}]", each, datatypes.parse(each.type)


def _advice(spec: TableSpec) -> tuple[str, ...]:
    unknown = [(place, found) for place, _, found in _typed(spec) if not found.known]
    return tuple(
        f"{place}.type: {found} is no data type that this release knows: see whether it is misspelt"
        for place, found in unknown
    )


def _constraint_faults(spec: TableSpec) -> Iterator[str]:
    """Columns that keys and policies name must be there, and in a key once."""
    names = {each.name for each in spec.columns}
    named: dict[str, Sequence[str]] = {
        f"constraints[{at}].columns": each.columns or () for at, each in enumerate(spec.constraints or ())
    }
    yield from constraints.repeated(named)
    yield from constraints.repeated(
        {
            f"constraints[{at}].foreignKey.columns": each.foreign_key.columns
            for at, each in enumerate(spec.constraints or ())
            if each.foreign_key
        }
    )
    if spec.row_access_policy:
        named["rowAccessPolicy.columns"] = spec.row_access_policy.columns
    if spec.storage_lifecycle_policy:
        named["storageLifecyclePolicy.columns"] = spec.storage_lifecycle_policy.columns
    if spec.aggregation_policy:
        named["aggregationPolicy.entityKey"] = spec.aggregation_policy.entity_key or ()
    for place, those in named.items():
        if missing := [each for each in those if each not in names]:
            yield f"spec.{place}: spec.columns has no {', '.join(missing)}"


_OTHER_TABLES: Mapping[str, str] = {
    "is_external": "an external",
    "is_event": "an event",
    "is_hybrid": "a hybrid",
    "is_iceberg": "an Iceberg",
    "is_dynamic": "a dynamic",
}
"""Columns of SHOW TABLES that tell tables of other kinds."""


def _adoptable(observation: Observation) -> str | None:
    for flag, word in _OTHER_TABLES.items():
        if observation.row.get(flag) == "Y":
            return f"it is no ordinary table but {word} one"
    return None


def _of_another_table(row: Row) -> bool:
    parts = ("database", "schema", "table")
    return any(row[f"pk_{part}_name"] != row[f"fk_{part}_name"] for part in parts)


TABLE = Kind(
    spec=TableSpec,
    domain=Domain.SCHEMA,
    object_type="TABLE",
    level=Level.SCHEMA,
    holds_data=True,
    history=True,
    short_names=("tbl",),
    parameters=True,
    rules=(
        *IN_SCHEMA_RULES,
        TRANSIENT_RETENTION,
        Rule(
            f"!has(self.constraints) || self.constraints.filter(c, c.type == '{constraints.PRIMARY}').size() <= 1",
            "a table has at most one primary key",
            "constraints",
        ),
    ),
    volatile=frozenset(
        {"rows", "bytes", "automatic_clustering", "search_optimization_progress", "search_optimization_bytes"}
    ),
    details={
        columns.DETAIL: columns.describe,
        policies.DETAIL: policies.references,
        search_optimization.DETAIL: search_optimization.describe,
        **{name: partial(constraints.show, words) for name, words in constraints.QUERIES.items()},
    },
    content=(
        Content(
            partial(constraints.show, "EXPORTED KEYS"),
            counts=_of_another_table,
            name=lambda row: f"foreign key {row['fk_name']} of table {row['fk_table_name']}",
            remedy="its DROP would take it along, so drop it first",
            # Those of tables that the role can't see, RESTRICT keeps.
            told_to_all=True,
        ),
    ),
    restricts=True,
    adoptable=_adoptable,
    faults=_faults,
    advice=_advice,
)
