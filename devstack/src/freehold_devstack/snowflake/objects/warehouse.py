"""WAREHOUSE: https://docs.snowflake.com/en/sql-reference/sql/create-warehouse and the pages beside it."""

from collections.abc import Callable
from functools import partial

from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import REFUSED, Action, Clause, Given, Part, Property, uncovered
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.results import Column, Result, number, text, timestamp
from freehold_devstack.snowflake.session_statements import make_current
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    stored,
)
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import SIZE_ORDER, SIZES, Boolean, Choice, Integer, Reference, Text, choice
from freehold_devstack.snowflake.warehouses.kinds import (
    ACCELERATION,
    ADAPTIVE,
    ADAPTIVE_LEVEL,
    ADAPTIVE_MULTIPLIER,
    ATTACH,
    CONSTRAINT_SIZES,
    GENERATIONS,
    INTERACTIVE,
    LEVEL,
    MULTI_CLUSTER,
    MULTIPLIER,
    SNOWPARK,
    STANDARD,
    TABLES,
    TIMEOUT,
    WORKING,
)
from freehold_devstack.snowflake.warehouses.rules import settle
from freehold_devstack.snowflake.warehouses.states import abort_all_queries, resume, state_of, suspend, switch
from freehold_devstack.snowflake.warehouses.tables import attach_tables, parse_tables


def _parse_with(parser: Parser) -> Given:
    """WITH may stand before the properties and says nothing itself."""
    if parser.token.kind is not TokenKind.WORD or parser.at("WITH"):
        raise parser.unexpected()
    return {}


# --- SHOW and DESCRIBE ------------------------------------------------------------------------------------------------


def _boolean_text(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda _, obj: None if obj.properties[name] is None else str(obj.properties[name]).lower()


def _constraint(_context: Context, warehouse: CatalogObject) -> Scalar:
    """One server property holds the constraint and the generation of a standard warehouse."""
    generation = warehouse.properties["GENERATION"]
    constraint = warehouse.properties["RESOURCE_CONSTRAINT"]
    return f"STANDARD_GEN_{generation}" if generation is not None else None if constraint is None else str(constraint)


def _started(value: Scalar) -> Callable[[Context, CatalogObject], Scalar]:
    """What a column shows of a warehouse that runs; else nothing of it."""
    return lambda context, obj: value if state_of(context, obj) == "STARTED" else "" if isinstance(value, str) else 0


def _load(what: str, high: int) -> Callable[[Context, CatalogObject], Scalar]:
    """How many statements a warehouse works on, which changes without any of ours; none while it is suspended."""
    return lambda context, obj: context.fluctuation(obj, what, high) if state_of(context, obj) in WORKING else 0


def _clusters(context: Context, warehouse: CatalogObject) -> Scalar:
    return stored("MIN_CLUSTER_COUNT")(context, warehouse) if state_of(context, warehouse) == "STARTED" else 0


def _is_default(context: Context, warehouse: CatalogObject) -> Scalar:
    user = context.session.user
    default = None if user is None else context.catalog[user].properties.get("DEFAULT_WAREHOUSE")
    return "Y" if default == warehouse.name else "N"


def _disabled_reasons(context: Context, warehouse: CatalogObject) -> Scalar:
    return "ALTER WAREHOUSE ... DISABLE" if state_of(context, warehouse) == "DISABLED" else None


def _constant(column: Column, value: Scalar) -> ShowColumn:
    return ShowColumn(column, lambda *_: value)


_COLUMNS = (
    NAME,
    ShowColumn(text("state"), state_of),
    ShowColumn(text("type"), stored("WAREHOUSE_TYPE")),
    ShowColumn(text("size"), stored("WAREHOUSE_SIZE")),
    ShowColumn(number("min_cluster_count"), stored("MIN_CLUSTER_COUNT"), feature=MULTI_CLUSTER),
    ShowColumn(number("max_cluster_count"), stored("MAX_CLUSTER_COUNT"), feature=MULTI_CLUSTER),
    ShowColumn(number("started_clusters"), _clusters, feature=MULTI_CLUSTER),
    ShowColumn(number("running"), _load("running", 8)),
    ShowColumn(number("queued"), _load("queued", 3)),
    ShowColumn(text("is_default"), _is_default),
    ShowColumn(text("is_current"), lambda context, obj: "Y" if context.is_current(obj) else "N"),
    ShowColumn(number("auto_suspend"), stored("AUTO_SUSPEND")),
    ShowColumn(text("auto_resume"), _boolean_text("AUTO_RESUME")),
    ShowColumn(text("available"), _started("100")),
    ShowColumn(text("provisioning"), _started("0")),
    ShowColumn(text("quiescing"), _started("0")),
    ShowColumn(text("other"), _started("0")),
    CREATED_ON,
    ShowColumn(timestamp("resumed_on"), stored("RESUMED_ON")),
    ShowColumn(timestamp("updated_on"), stored("UPDATED_ON")),
    OWNER,
    COMMENT,
    ShowColumn(text("enable_query_acceleration"), _boolean_text("ENABLE_QUERY_ACCELERATION")),
    ShowColumn(number("query_acceleration_max_scale_factor"), stored("QUERY_ACCELERATION_MAX_SCALE_FACTOR")),
    ShowColumn(text("resource_monitor"), lambda _, obj: str(obj.properties["RESOURCE_MONITOR"] or "null")),
    ShowColumn(text("actives"), _started("1")),
    _constant(text("pendings"), "0"),
    _constant(text("failed"), "0"),
    ShowColumn(text("suspended"), lambda context, obj: "1" if state_of(context, obj) == "SUSPENDED" else "0"),
    ShowColumn(text("uuid"), stored("UUID")),
    ShowColumn(text("scaling_policy"), stored("SCALING_POLICY"), feature=MULTI_CLUSTER),
    _constant(text("budget"), None),
    OWNER_ROLE_TYPE,
    ShowColumn(text("resource_constraint"), _constraint),
    ShowColumn(text("generation"), stored("GENERATION")),
    ShowColumn(text("max_query_performance_level"), stored("MAX_QUERY_PERFORMANCE_LEVEL")),
    ShowColumn(number("query_throughput_multiplier"), stored("QUERY_THROUGHPUT_MULTIPLIER")),
    _constant(text("tables"), None),
    ShowColumn(text("disabled_reasons"), _disabled_reasons, feature=ADAPTIVE),
)


def _describe(_context: Context, warehouse: CatalogObject) -> Result:
    columns = (timestamp("created_on"), text("name"), text("kind"))
    return Result(columns, [(warehouse.created_on, warehouse.name, warehouse.kind)])


# --- the declaration -------------------------------------------------------------------------------------------------

_UP_TO_4X = {spelling: size for spelling, size in SIZES.items() if size not in SIZE_ORDER[-2:]}

TYPE = ObjectType(
    kind="WAREHOUSE",
    plural="WAREHOUSES",
    modifiers=tuple(Clause(kind, "WAREHOUSE_TYPE", kind) for kind in (ADAPTIVE, INTERACTIVE)),
    clauses=(Part(TABLES, parse_tables), Part("WITH", _parse_with)),
    properties=(
        Property("WAREHOUSE_TYPE", choice(STANDARD, SNOWPARK, ADAPTIVE, INTERACTIVE), STANDARD, unset=STANDARD),
        Property("WAREHOUSE_SIZE", Choice(SIZES), unset=REFUSED),
        Property("WAIT_FOR_COMPLETION", Boolean(), unset=REFUSED, only="ALTER"),
        Property("MAX_CLUSTER_COUNT", Integer(1, 300), 1, unset=1, feature=MULTI_CLUSTER),
        Property("MIN_CLUSTER_COUNT", Integer(1, 300), 1, unset=1, feature=MULTI_CLUSTER),
        Property("SCALING_POLICY", choice("STANDARD", "ECONOMY"), "STANDARD", unset="STANDARD", feature=MULTI_CLUSTER),
        # The documentation promises 600 after UNSET; live accounts give 0, which is "never".
        Property("AUTO_SUSPEND", Integer(0, null=True), 600, unset=0),
        Property("AUTO_RESUME", Boolean(), True, unset=True),
        Property("INITIALLY_SUSPENDED", Boolean(), False, only="CREATE"),
        Property("RESOURCE_MONITOR", Reference("RESOURCE MONITOR", privilege=None), only_role="ACCOUNTADMIN"),
        Property("COMMENT", Text(), default="", unset=""),
        Property("ENABLE_QUERY_ACCELERATION", Boolean(), False, unset=False, feature=ACCELERATION),
        Property("QUERY_ACCELERATION_MAX_SCALE_FACTOR", Integer(0, 100), 8, unset=8, feature=ACCELERATION),
        Property("RESOURCE_CONSTRAINT", choice(*CONSTRAINT_SIZES, *GENERATIONS)),
        Property("GENERATION", Text(check=lambda generation: generation in {"1", "2"})),
        Property(LEVEL, Choice(_UP_TO_4X), unset=ADAPTIVE_LEVEL),
        Property(MULTIPLIER, Integer(0), unset=ADAPTIVE_MULTIPLIER),
    ),
    parameters=(
        "MAX_CONCURRENCY_LEVEL",
        "STATEMENT_QUEUED_TIMEOUT_IN_SECONDS",
        TIMEOUT,
        "FALLBACK_WAREHOUSE",
    ),
    rights=Rights(
        grantable=frozenset({"USAGE", "OPERATE", "MODIFY", "MONITOR", "APPLYBUDGET", ATTACH}),
        alter="MODIFY",
        describe=None,
        implied={
            "MANAGE WAREHOUSES": frozenset({"MODIFY", "MONITOR", "OPERATE", ATTACH}),
            "MODIFY": frozenset({ATTACH}),
        },
        visible_with=("MONITOR USAGE", "MANAGE WAREHOUSES"),
    ),
    actions=(
        Action("SUSPEND", suspend, "OPERATE"),
        Action("RESUME", resume, "OPERATE"),
        Action("ABORT ALL QUERIES", abort_all_queries, "OPERATE"),
        Action("ENABLE", partial(switch, "ENABLED"), "OPERATE"),
        Action("DISABLE", partial(switch, "DISABLED"), "OPERATE"),
        Action("UNSET DCM PROJECT", uncovered("DCM PROJECT")),
        Action("ADD TABLES", attach_tables, ATTACH),
        Action("DROP TABLES", attach_tables, ATTACH),
    ),
    or_alter=True,
    show=Show(_COLUMNS, cut=True, privileges=True),
    describe=_describe,
    lifecycle=Lifecycle(
        settle=settle,
        created=make_current,
    ),
)
