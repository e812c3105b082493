"""Warehouses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from freehold import sql
from freehold.identifiers import split
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import comment, custom, own_name, parameter, prop, ref, tags
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.property import KEEP, DoneOn, Target, set_to
from freehold.kinds.resource import Rule, at_most, exclusive, only_when
from freehold.kinds.sizes import SIZE, Size
from freehold.kinds.steps import Difference, Step
from freehold.kinds.values import Codec, Identifier, Number, Word
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

ADAPTIVE = "ADAPTIVE"
INTERACTIVE = "INTERACTIVE"
SNOWPARK = "SNOWPARK-OPTIMIZED"

ALREADY_SUSPENDED = 90064
"""Snowflake's answer to SUSPEND of a suspended warehouse."""


class QualifiedNames(Codec):
    """Fully-qualified names as a set, whatever their quoting and order."""

    def canonical(self, value: Sequence[str]) -> frozenset[tuple[str, ...]]:
        return frozenset(split(name) for name in value)

    def read(self, raw: object) -> frozenset[tuple[str, ...]]:
        return self.canonical([name.strip() for name in str(raw or "").split(",") if name.strip()])


def _tables_clause(names: Sequence[str]) -> Sql | None:
    if not names:
        return None
    return sql.sql("TABLES ({names})", names=_listed(QualifiedNames().canonical(names)))


def _listed(tables: frozenset[tuple[str, ...]]) -> Sql:
    return sql.join((sql.identifier(*parts) for parts in sorted(tables)), ", ")


def _alter_tables(target: Target, desired: Sequence[str] | None, observed: object) -> Sequence[Sql]:
    wanted = QualifiedNames().canonical(desired or ())
    have = observed if isinstance(observed, frozenset) else frozenset[tuple[str, ...]]()
    changes = (("ADD", wanted - have), ("DROP", have - wanted))
    return tuple(
        target.alter(sql.sql("{verb} TABLES ({tables})", verb=sql.words(verb), tables=_listed(tables)))
        for verb, tables in changes
        if tables
    )


def _constraint(observation: Observation) -> object:
    """For other types the column speaks of the generation, with which it shares a property of the server."""
    row = observation.row
    return row.get("resource_constraint", UNKNOWN) if row.get("type") == SNOWPARK else UNKNOWN


class WarehouseSpec(SnowflakeSpec):
    """A cluster of compute that runs queries."""

    name: Name = own_name()
    """The warehouse's name as it is stored: case kept, never folded."""
    warehouse_type: Literal["STANDARD", "SNOWPARK-OPTIMIZED", "ADAPTIVE", "INTERACTIVE"] | None = prop(
        "WAREHOUSE_TYPE",
        show="type",
        reset=set_to("STANDARD"),
        # An interactive warehouse has a CREATE of its own.
        clause=lambda value: None if value == INTERACTIVE else sql.sql("WAREHOUSE_TYPE = {v}", v=sql.literal(value)),
        recreate_when=lambda old, new: (old == INTERACTIVE) != (new == INTERACTIVE),
    )
    """What the warehouse is made for. A change suspends it for a moment; no change leads to or from INTERACTIVE."""
    warehouse_size: Size | None = prop("WAREHOUSE_SIZE", show="size", codec=SIZE, reset=KEEP)
    """Compute power that a query gets. All spellings of Snowflake are understood. Removed, the live size stays."""
    max_cluster_count: int | None = prop("MAX_CLUSTER_COUNT", show="max_cluster_count", missing=1, ge=1)
    """Most clusters that run at once; the upper limit depends on the size. Needs Enterprise edition."""
    min_cluster_count: int | None = prop("MIN_CLUSTER_COUNT", show="min_cluster_count", missing=1, ge=1)
    """Fewest clusters that run while the warehouse does. Needs Enterprise edition."""
    scaling_policy: Literal["STANDARD", "ECONOMY"] | None = prop("SCALING_POLICY", show="scaling_policy")
    """Whether clusters start to avoid queues (STANDARD) or to be fully used (ECONOMY)."""
    auto_suspend: int | None = prop(
        "AUTO_SUSPEND", show="auto_suspend", codec=Number(absent=0), reset=set_to(600), ge=0
    )
    """Idle seconds before the warehouse stops. 0 means never."""
    auto_resume: bool | None = prop("AUTO_RESUME", show="auto_resume")
    """Whether a query starts a suspended warehouse."""
    initially_suspended: bool | None = prop("INITIALLY_SUSPENDED", create_only=True)
    """Create the warehouse suspended. Acts at creation only."""
    resource_monitor: Name | None = prop(
        "RESOURCE_MONITOR", show="resource_monitor", codec=Identifier(absent="null"), own_statement=True
    )
    """Resource monitor that watches the credits; setting it needs ACCOUNTADMIN."""
    resource_monitor_ref: Reference | None = ref("ResourceMonitor", instead_of="resource_monitor")
    """ResourceMonitor to assign, in place of its name."""
    comment: str | None = comment()
    """A note for people."""
    enable_query_acceleration: bool | None = prop("ENABLE_QUERY_ACCELERATION", show="enable_query_acceleration")
    """Whether parts of queries may run on shared compute."""
    query_acceleration_max_scale_factor: int | None = prop(
        "QUERY_ACCELERATION_MAX_SCALE_FACTOR", show="query_acceleration_max_scale_factor", ge=0, le=100
    )
    """Most acceleration as a multiple of the warehouse's size. 0 means no limit."""
    resource_constraint: (
        Literal["MEMORY_1X", "MEMORY_1X_x86", "MEMORY_16X", "MEMORY_16X_x86", "MEMORY_64X", "MEMORY_64X_x86"] | None
    ) = prop(
        "RESOURCE_CONSTRAINT",
        show="resource_constraint",
        observe=_constraint,
        codec=Word(case={f"MEMORY_{n}X_X86": f"MEMORY_{n}X_x86" for n in (1, 16, 64)}),
    )
    """Memory and processor of a Snowpark-optimized warehouse."""
    generation: Literal["1", "2"] | None = prop("GENERATION", show="generation")
    """Hardware generation of a standard warehouse."""
    max_concurrency_level: int | None = parameter("MAX_CONCURRENCY_LEVEL", ge=1)
    """Statements that run at once on a cluster before others queue."""
    statement_queued_timeout_in_seconds: int | None = parameter("STATEMENT_QUEUED_TIMEOUT_IN_SECONDS", ge=0)
    """Seconds that a statement may queue. 0 means without limit."""
    statement_timeout_in_seconds: int | None = parameter("STATEMENT_TIMEOUT_IN_SECONDS", ge=0, le=604_800)
    """Seconds that a statement may run."""
    max_query_performance_level: (
        Literal["XSMALL", "SMALL", "MEDIUM", "LARGE", "XLARGE", "XXLARGE", "XXXLARGE", "X4LARGE"] | None
    ) = prop("MAX_QUERY_PERFORMANCE_LEVEL", show="max_query_performance_level", codec=SIZE)
    """Most compute that a query gets in an adaptive warehouse."""
    query_throughput_multiplier: int | None = prop(
        "QUERY_THROUGHPUT_MULTIPLIER", show="query_throughput_multiplier", ge=0
    )
    """Throughput of an adaptive warehouse as a multiple."""
    tables: list[Annotated[str, Field(max_length=1024)]] | None = custom(
        alter=_alter_tables,
        observe=column("tables"),
        source="show.tables",
        codec=QualifiedNames(),
        clause=_tables_clause,
        max_length=1000,
    )
    """Fully-qualified names of the tables that an interactive warehouse serves."""
    fallback_warehouse: Name | None = parameter("FALLBACK_WAREHOUSE", codec=Identifier())
    """Warehouse that takes the queries which an interactive one can't serve."""
    fallback_warehouse_ref: Reference | None = ref("Warehouse", instead_of="fallback_warehouse")
    """Warehouse to fall back to, in place of its name."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


def _suspended_for_type_change(
    target: Target, observation: Observation, differences: tuple[Difference, ...], steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """Older accounts refuse a change of type while the warehouse runs; suspended first, it works everywhere.

    It is resumed whatever came of the change.
    """
    changes_type = any(each.field.name == "warehouseType" for each in differences)
    # An adaptive warehouse is enabled or disabled, and knows no SUSPEND.
    if not changes_type or observation.row.get("state") == "SUSPENDED" or observation.row.get("type") == ADAPTIVE:
        return steps
    suspend = Step(
        target.alter(sql.words("SUSPEND")), done_on=DoneOn(ALREADY_SUSPENDED), wait_for=("state", "SUSPENDED")
    )
    return (suspend, *steps, Step(_resume(target), resumes=target))


def _resume(warehouse: Target) -> Sql:
    return warehouse.alter(sql.words("RESUME IF SUSPENDED"))


def _advice(spec: WarehouseSpec) -> tuple[str, ...]:
    if spec.initially_suspended or spec.warehouse_type == ADAPTIVE:
        return ()
    return ("initiallySuspended isn't true: the warehouse starts when it is created, and bills at least a minute",)


def _is(*types: str) -> str:
    return " || ".join(f"(has(self.warehouseType) && self.warehouseType == '{each}')" for each in types)


def _unless(type_: str, *fields: str) -> Rule:
    return only_when(fields, f"!({_is(type_)})", f"warehouseType {type_} takes none of {', '.join(fields)}")


WAREHOUSE = Kind(
    spec=WarehouseSpec,
    domain=Domain.ACCOUNT,
    object_type="WAREHOUSE",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("wh",),
    shown_in_pages=False,
    create_or_alter=True,
    parameters=True,
    separator=" ",
    rules=(
        at_most("minClusterCount", "maxClusterCount"),
        Rule(
            "!has(self.minClusterCount) || self.minClusterCount == 1 || has(self.maxClusterCount)",
            "minClusterCount above 1 needs maxClusterCount, which is 1 by itself",
            "minClusterCount",
        ),
        exclusive("generation", "resourceConstraint"),
        exclusive("resourceMonitor", "resourceMonitorRef"),
        exclusive("fallbackWarehouse", "fallbackWarehouseRef"),
        only_when(
            ("generation",), f"!has(self.warehouseType) || {_is('STANDARD')}", "generation needs warehouseType STANDARD"
        ),
        only_when(("resourceConstraint",), _is(SNOWPARK), f"resourceConstraint needs warehouseType {SNOWPARK}"),
        only_when(
            ("maxQueryPerformanceLevel", "queryThroughputMultiplier"),
            _is(ADAPTIVE),
            "maxQueryPerformanceLevel and queryThroughputMultiplier need warehouseType ADAPTIVE",
        ),
        only_when(
            ("tables", "fallbackWarehouse", "fallbackWarehouseRef"),
            _is(INTERACTIVE),
            "tables and fallbackWarehouse need warehouseType INTERACTIVE",
        ),
        _unless(
            "ADAPTIVE",
            "warehouseSize",
            "maxClusterCount",
            "minClusterCount",
            "scalingPolicy",
            "autoSuspend",
            "autoResume",
            "initiallySuspended",
            "enableQueryAcceleration",
            "queryAccelerationMaxScaleFactor",
            "resourceConstraint",
            "generation",
            "maxConcurrencyLevel",
        ),
        _unless(
            INTERACTIVE,
            "scalingPolicy",
            "enableQueryAcceleration",
            "queryAccelerationMaxScaleFactor",
            "resourceConstraint",
            "generation",
        ),
        _unless(SNOWPARK, "enableQueryAcceleration"),
        Rule(
            "!has(self.warehouseSize) || !(self.warehouseSize in ['X5LARGE', 'X6LARGE', '5X-Large', '6X-Large', "
            "'5X-LARGE', '6X-LARGE', '5XLARGE', '6XLARGE']) || "
            f"(!(has(self.generation) && self.generation == '2') && !({_is(SNOWPARK)} && "
            "has(self.resourceConstraint) && self.resourceConstraint != 'MEMORY_16X'))",
            "X5LARGE and X6LARGE don't go with generation 2, and with SNOWPARK-OPTIMIZED only with MEMORY_16X",
            "warehouseSize",
        ),
    ),
    volatile=frozenset(
        {
            "state",
            "started_clusters",
            "running",
            "queued",
            "available",
            "provisioning",
            "quiescing",
            "other",
            "resumed_on",
            "updated_on",
            "actives",
            "pendings",
            "failed",
            "suspended",
        }
    ),
    create_prefix=lambda spec: sql.words(INTERACTIVE) if spec.warehouse_type == INTERACTIVE else None,
    # A new type brings defaults of its own for size and constraint; growing may need fewer clusters at once.
    companions={"warehouseType": ("warehouseSize", "resourceConstraint"), "warehouseSize": ("maxClusterCount",)},
    around_alter=_suspended_for_type_change,
    resume=_resume,
    advice=_advice,
)
