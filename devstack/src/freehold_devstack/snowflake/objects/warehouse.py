"""WAREHOUSE: https://docs.snowflake.com/en/sql-reference/sql/create-warehouse and the pages beside it."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import parse_names
from freehold_devstack.snowflake.grammar import REFUSED, Act, Action, Clause, Given, Part, Property, uncovered
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

_STANDARD, _SNOWPARK, _ADAPTIVE, _INTERACTIVE = "STANDARD", "SNOWPARK-OPTIMIZED", "ADAPTIVE", "INTERACTIVE"

_ADAPTIVE_STATES = ("ENABLED", "DISABLED")
_WORKING = ("STARTED", "ENABLED")
_GENERATIONS = ("STANDARD_GEN_1", "STANDARD_GEN_2")
_TIMEOUT = "STATEMENT_TIMEOUT_IN_SECONDS"

_ATTACH = "MANAGE ATTACHED TABLES"

_MULTI_CLUSTER = "MULTI_CLUSTER_WAREHOUSES"
_ACCELERATION = "QUERY_ACCELERATION"

_RESUMABLE = ("WAREHOUSE_SIZE", "MAX_CLUSTER_COUNT", "MIN_CLUSTER_COUNT", "AUTO_SUSPEND", "AUTO_RESUME")
_TABLES = "TABLES"
_MAX_TABLES = 100
_STANDARD_ONLY = ("SCALING_POLICY", "ENABLE_QUERY_ACCELERATION", "QUERY_ACCELERATION_MAX_SCALE_FACTOR")
_ADAPTIVE_ONLY = ("MAX_QUERY_PERFORMANCE_LEVEL", "QUERY_THROUGHPUT_MULTIPLIER")
_INTERACTIVE_ONLY = ("FALLBACK_WAREHOUSE", _TABLES)

_FOREIGN: Mapping[str, frozenset[str]] = {
    _STANDARD: frozenset({"RESOURCE_CONSTRAINT", *_ADAPTIVE_ONLY, *_INTERACTIVE_ONLY}),
    _SNOWPARK: frozenset({"GENERATION", "ENABLE_QUERY_ACCELERATION", *_ADAPTIVE_ONLY, *_INTERACTIVE_ONLY}),
    _ADAPTIVE: frozenset(
        {*_RESUMABLE, *_STANDARD_ONLY, "INITIALLY_SUSPENDED", "RESOURCE_CONSTRAINT", "GENERATION"}
        | {"MAX_CONCURRENCY_LEVEL", *_INTERACTIVE_ONLY}
    ),
    _INTERACTIVE: frozenset({*_STANDARD_ONLY, "RESOURCE_CONSTRAINT", "GENERATION", *_ADAPTIVE_ONLY}),
}
"""Settings that a warehouse of each type does not take."""

_CONSTRAINT_SIZES: Mapping[str, tuple[str, str]] = {
    "MEMORY_1X": ("X-Small", "4X-Large"),
    "MEMORY_1X_x86": ("X-Small", "4X-Large"),
    "MEMORY_16X": ("Medium", "6X-Large"),
    "MEMORY_16X_x86": ("Medium", "4X-Large"),
    "MEMORY_64X": ("Large", "4X-Large"),
    "MEMORY_64X_x86": ("Large", "4X-Large"),
}
"""The smallest and the largest size of each resource constraint."""

_MAX_CLUSTERS: Mapping[str, int] = {
    **dict.fromkeys(("X-Small", "Small", "Medium"), 300),
    "Large": 160,
    "X-Large": 80,
    "2X-Large": 40,
    "3X-Large": 20,
    **dict.fromkeys(("4X-Large", "5X-Large", "6X-Large"), 10),
}
"""The most clusters of each size: https://docs.snowflake.com/en/user-guide/warehouses-multicluster"""

# https://docs.snowflake.com/en/sql-reference/sql/create-interactive-warehouse
_INTERACTIVE_MAX_CLUSTERS = 10
_INTERACTIVE_MIN_AUTO_SUSPEND = 86_400
_INTERACTIVE_MAX_TIMEOUT = 5
_INTERACTIVE_DEFAULTS: Mapping[str, Scalar] = {"AUTO_SUSPEND": None, "AUTO_RESUME": False}

# https://docs.snowflake.com/en/user-guide/warehouses-adaptive
_LEVEL, _MULTIPLIER = "MAX_QUERY_PERFORMANCE_LEVEL", "QUERY_THROUGHPUT_MULTIPLIER"
_ADAPTIVE_LEVEL, _ADAPTIVE_MULTIPLIER = "X-Large", 2
_ACCELERATED_FACTOR = 2
"""The scale factor of warehouses for which Snowflake itself turns query acceleration on."""


# --- rules between properties ----------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Complete what depends on the type and refuse what doesn't go together."""
    properties = dict(draft.properties)
    kind = str(properties["WAREHOUSE_TYPE"])
    old = context.catalog.get(draft.id)
    if old is not None:
        _check_conversion(old, kind)
        properties["STATE"] = _state(context, old)
    if kind == _ADAPTIVE and not context.enabled(_ADAPTIVE):
        raise errors.unsupported("ADAPTIVE WAREHOUSE")
    if "WAIT_FOR_COMPLETION" in given and "WAREHOUSE_SIZE" not in given:
        raise errors.unnumbered("WAIT_FOR_COMPLETION can only be given together with WAREHOUSE_SIZE.")
    if str(properties["RESOURCE_CONSTRAINT"]) in _GENERATIONS:
        raise errors.generation_as_constraint(str(properties["RESOURCE_CONSTRAINT"]))
    for name in sorted(given & _FOREIGN[kind]):
        raise errors.invalid_combination(("WAREHOUSE_TYPE", kind), (name, {**properties, **draft.parameters}.get(name)))
    _refuse_tables(context, properties.pop(_TABLES, ()), "CREATE")
    properties = _completed(context, kind, properties, old, given)
    _check_combinations(kind, properties)
    return replace(draft, properties=_with_state(context, properties), parameters=_capped(kind, draft.parameters))


def _check_conversion(old: CatalogObject, kind: str) -> None:
    """Refuse the changes of type that there are not."""
    pair = {str(old.properties["WAREHOUSE_TYPE"]), kind}
    too_large = old.properties["WAREHOUSE_SIZE"] in SIZE_ORDER[-2:] and pair == {_STANDARD, _ADAPTIVE}
    if len(pair) > 1 and (_INTERACTIVE in pair or pair == {_SNOWPARK, _ADAPTIVE} or too_large):
        raise errors.invalid_property_value(kind, "WAREHOUSE_TYPE")


def _completed(
    context: Context, kind: str, properties: dict[str, Value], old: CatalogObject | None, given: frozenset[str]
) -> dict[str, Value]:
    """The properties with what the type makes of those that nobody gave."""
    before = dict(properties)
    properties |= {name: None if kind == _ADAPTIVE else _ABSENT[name] for name in _FOREIGN[kind] & _ABSENT.keys()}
    if kind == _ADAPTIVE:
        return properties | _adaptive(properties, before if old is not None else {})
    if old is not None and old.properties["WAREHOUSE_TYPE"] == _ADAPTIVE:
        properties |= {name: value for name, value in _REGAINED.items() if name not in given}
    if kind == _INTERACTIVE:
        if old is None:
            properties |= {name: value for name, value in _INTERACTIVE_DEFAULTS.items() if name not in given}
        idle = properties["AUTO_SUSPEND"]
        # Less is raised without a word.
        properties["AUTO_SUSPEND"] = max(idle, _INTERACTIVE_MIN_AUTO_SUSPEND) if isinstance(idle, int) else None
    if kind == _SNOWPARK and properties["RESOURCE_CONSTRAINT"] is None:
        properties["RESOURCE_CONSTRAINT"] = "MEMORY_16X"
    if properties["WAREHOUSE_SIZE"] is None:
        properties["WAREHOUSE_SIZE"] = "Medium" if kind == _SNOWPARK else "X-Small"
    if kind == _STANDARD and properties["GENERATION"] is None:
        properties["GENERATION"] = "1"
    if old is None and kind == _STANDARD and context.enabled(_ACCELERATION):
        properties |= _accelerated(properties, given)
    return properties


def _adaptive(properties: Mapping[str, Value], before: Mapping[str, Value]) -> dict[str, Value]:
    """Level and multiplier of an adaptive warehouse, derived from what it was before where nobody gives them."""
    size, clusters = before.get("WAREHOUSE_SIZE"), before.get("MAX_CLUSTER_COUNT")
    level = properties[_LEVEL] or size or _ADAPTIVE_LEVEL
    derived = max(clusters, _ADAPTIVE_MULTIPLIER) if isinstance(clusters, int) else _ADAPTIVE_MULTIPLIER
    multiplier = derived if properties[_MULTIPLIER] is None else properties[_MULTIPLIER]
    if multiplier == 1:
        raise errors.invalid_property_value("1", _MULTIPLIER)
    return {_LEVEL: level, _MULTIPLIER: multiplier}


def _accelerated(properties: Mapping[str, Value], given: frozenset[str]) -> dict[str, Value]:
    """Query acceleration, which Snowflake turns on for new warehouses of several clusters or of generation 2."""
    several = properties["MAX_CLUSTER_COUNT"] != 1 or properties["GENERATION"] == "2"
    if not several or "ENABLE_QUERY_ACCELERATION" in given:
        return {}
    factor = "QUERY_ACCELERATION_MAX_SCALE_FACTOR"
    return {
        "ENABLE_QUERY_ACCELERATION": True,
        factor: properties[factor] if factor in given else _ACCELERATED_FACTOR,
    }


def _capped(kind: str, parameters: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    """The parameters with the time limit that interactive warehouses have."""
    limit = parameters.get(_TIMEOUT)
    if kind != _INTERACTIVE or not isinstance(limit, int):
        return parameters
    return {**parameters, _TIMEOUT: min(limit or _INTERACTIVE_MAX_TIMEOUT, _INTERACTIVE_MAX_TIMEOUT)}


def _check_combinations(kind: str, properties: Mapping[str, Value]) -> None:
    size, constraint = properties["WAREHOUSE_SIZE"], properties["RESOURCE_CONSTRAINT"]
    low, high = properties["MIN_CLUSTER_COUNT"], properties["MAX_CLUSTER_COUNT"]
    if isinstance(low, int) and isinstance(high, int):
        if low > high:
            raise errors.invalid_combination(("MAX_CLUSTER_COUNT", high), ("MIN_CLUSTER_COUNT", low))
        if high > (_INTERACTIVE_MAX_CLUSTERS if kind == _INTERACTIVE else _MAX_CLUSTERS[str(size)]):
            raise errors.invalid_combination(("MAX_CLUSTER_COUNT", high), ("WAREHOUSE_SIZE", size))
    if size in SIZE_ORDER[-2:] and (properties["GENERATION"] == "2" or kind == _INTERACTIVE):
        limiting = "WAREHOUSE_TYPE" if kind == _INTERACTIVE else "GENERATION"
        raise errors.invalid_combination((limiting, properties[limiting]), ("WAREHOUSE_SIZE", size))
    if kind == _SNOWPARK and size is not None:
        smallest, largest = (SIZE_ORDER.index(bound) for bound in _CONSTRAINT_SIZES[str(constraint)])
        if not smallest <= SIZE_ORDER.index(str(size)) <= largest:
            raise errors.invalid_combination(("RESOURCE_CONSTRAINT", constraint), ("WAREHOUSE_SIZE", size))


def _refuse_tables(context: Context, tables: Value, verb: str) -> None:
    """No table here is an interactive one, so that none can be attached to a warehouse."""
    names = [tuple(name) for name in tables if isinstance(name, tuple)] if isinstance(tables, tuple) else []
    if len(names) > _MAX_TABLES:
        raise errors.unnumbered(f"At most {_MAX_TABLES} tables can be attached to a warehouse.")
    for name in names:
        table = context.resolve_reference("TABLE", name, verb)
        raise errors.unnumbered(f"Table '{context.print_path(table)}' is not an interactive table.")


# --- states ----------------------------------------------------------------------------------------------------------


def _with_state(context: Context, properties: dict[str, Value]) -> dict[str, Value]:
    """The properties with what the server keeps by itself, and without what counts for one statement."""
    suspended = properties.pop("INITIALLY_SUSPENDED", False)
    properties.pop("WAIT_FOR_COMPLETION", None)
    if "UUID" not in properties:
        properties["UUID"] = str(uuid.uuid4())
        properties["STATE"] = "SUSPENDED" if suspended else "STARTED"
        properties["RESUMED_ON"] = context.now
    # What an adaptive warehouse shows is not whether it runs but whether it takes work.
    if (properties["WAREHOUSE_TYPE"] == _ADAPTIVE) != (properties["STATE"] in _ADAPTIVE_STATES):
        properties["STATE"] = "ENABLED" if properties["WAREHOUSE_TYPE"] == _ADAPTIVE else "STARTED"
        properties["RESUMED_ON"] = context.now
    properties["UPDATED_ON"] = context.now
    return properties


def _state(context: Context, warehouse: CatalogObject) -> str:
    """The state of now: nothing uses a warehouse here, so that AUTO_SUSPEND counts from when it was started."""
    state, idle = str(warehouse.properties["STATE"]), warehouse.properties["AUTO_SUSPEND"]
    started = warehouse.properties["RESUMED_ON"]
    if state == "STARTED" and isinstance(idle, int) and isinstance(started, int) and idle:
        return "SUSPENDED" if context.now > started + idle * 1000 else state
    return state


# --- forms of ALTER --------------------------------------------------------------------------------------------------


def _require_type(warehouse: CatalogObject, kind: str, clause: str) -> None:
    if warehouse.properties["WAREHOUSE_TYPE"] != kind:
        raise errors.unnumbered(f"{clause} applies to {kind.lower()} warehouses only.")


def _set_state(context: Context, warehouse: CatalogObject, state: str) -> None:
    changed: dict[str, Scalar] = {"STATE": state, "UPDATED_ON": context.now}
    if state == "STARTED":
        changed["RESUMED_ON"] = context.now
    context.catalog.update(warehouse, replace(warehouse, properties={**warehouse.properties, **changed}))


def _refuse_adaptive(warehouse: CatalogObject) -> None:
    if warehouse.properties["WAREHOUSE_TYPE"] == _ADAPTIVE:
        raise errors.unnumbered("Adaptive warehouses are enabled and disabled instead of resumed and suspended.")


def _suspend(_parser: Parser) -> Act:
    def act(context: Context, warehouse: CatalogObject) -> None:
        _refuse_adaptive(warehouse)
        if _state(context, warehouse) == "SUSPENDED":
            raise errors.warehouse_state(warehouse.name, "suspended")
        _set_state(context, warehouse, "SUSPENDED")

    return act


def _resume(parser: Parser) -> Act:
    if_suspended = parser.accept("IF", "SUSPENDED")

    def act(context: Context, warehouse: CatalogObject) -> None:
        _refuse_adaptive(warehouse)
        if _state(context, warehouse) == "SUSPENDED":
            _set_state(context, warehouse, "STARTED")
        elif not if_suspended:
            raise errors.warehouse_state(warehouse.name, "resumed")

    return act


def _abort_all_queries(_parser: Parser) -> Act:
    return lambda context, warehouse: context.aborted.add(warehouse.id)


def _switch(state: str, _parser: Parser) -> Act:
    def act(context: Context, warehouse: CatalogObject) -> None:
        _require_type(warehouse, _ADAPTIVE, "ENABLE | DISABLE")
        _set_state(context, warehouse, state)

    return act


def _parse_tables(parser: Parser) -> Given:
    parser.expect("(")
    tables = tuple(parse_names(parser))
    parser.expect(")")
    return {_TABLES: tables}


def _attach_tables(parser: Parser) -> Act:
    tables = _parse_tables(parser)[_TABLES]

    def act(context: Context, warehouse: CatalogObject) -> None:
        _require_type(warehouse, _INTERACTIVE, "{ ADD | DROP } TABLES")
        _refuse_tables(context, tables, "ALTER")

    return act


def _parse_with(parser: Parser) -> Given:
    """WITH may stand before the properties and says nothing itself."""
    if parser.token.kind is not TokenKind.WORD or parser.at("WITH"):
        raise parser.unexpected()
    return {}


# --- the declaration -------------------------------------------------------------------------------------------------

_REGAINED: Mapping[str, Scalar] = {
    "MAX_CLUSTER_COUNT": 1,
    "MIN_CLUSTER_COUNT": 1,
    "SCALING_POLICY": "STANDARD",
    "AUTO_SUSPEND": 600,
    "AUTO_RESUME": True,
    "ENABLE_QUERY_ACCELERATION": False,
    "QUERY_ACCELERATION_MAX_SCALE_FACTOR": 8,
}
"""What a warehouse that was adaptive has again as a standard one."""

_ABSENT: Mapping[str, Scalar] = {
    "AUTO_SUSPEND": None,
    "AUTO_RESUME": None,
    "QUERY_ACCELERATION_MAX_SCALE_FACTOR": 8,
    "WAREHOUSE_SIZE": None,
    "MAX_CLUSTER_COUNT": None,
    "MIN_CLUSTER_COUNT": None,
    "SCALING_POLICY": None,
    "ENABLE_QUERY_ACCELERATION": False,
    "RESOURCE_CONSTRAINT": None,
    "GENERATION": None,
    "MAX_QUERY_PERFORMANCE_LEVEL": None,
    "QUERY_THROUGHPUT_MULTIPLIER": None,
}
"""What a property is on a warehouse of a type that does not have it."""


def _boolean_text(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda _, obj: None if obj.properties[name] is None else str(obj.properties[name]).lower()


def _constraint(_context: Context, warehouse: CatalogObject) -> Scalar:
    """One server property holds the constraint and the generation of a standard warehouse."""
    generation = warehouse.properties["GENERATION"]
    constraint = warehouse.properties["RESOURCE_CONSTRAINT"]
    return f"STANDARD_GEN_{generation}" if generation is not None else None if constraint is None else str(constraint)


def _started(value: Scalar) -> Callable[[Context, CatalogObject], Scalar]:
    """What a column shows of a warehouse that runs; else nothing of it."""
    return lambda context, obj: value if _state(context, obj) == "STARTED" else "" if isinstance(value, str) else 0


def _load(what: str, high: int) -> Callable[[Context, CatalogObject], Scalar]:
    """How many statements a warehouse works on, which changes without any of ours; none while it is suspended."""
    return lambda context, obj: context.fluctuation(obj, what, high) if _state(context, obj) in _WORKING else 0


def _clusters(context: Context, warehouse: CatalogObject) -> Scalar:
    return stored("MIN_CLUSTER_COUNT")(context, warehouse) if _state(context, warehouse) == "STARTED" else 0


def _is_default(context: Context, warehouse: CatalogObject) -> Scalar:
    user = context.session.user
    default = None if user is None else context.catalog[user].properties.get("DEFAULT_WAREHOUSE")
    return "Y" if default == warehouse.name else "N"


def _disabled_reasons(context: Context, warehouse: CatalogObject) -> Scalar:
    return "ALTER WAREHOUSE ... DISABLE" if _state(context, warehouse) == "DISABLED" else None


def _constant(column: Column, value: Scalar) -> ShowColumn:
    return ShowColumn(column, lambda *_: value)


_COLUMNS = (
    NAME,
    ShowColumn(text("state"), _state),
    ShowColumn(text("type"), stored("WAREHOUSE_TYPE")),
    ShowColumn(text("size"), stored("WAREHOUSE_SIZE")),
    ShowColumn(number("min_cluster_count"), stored("MIN_CLUSTER_COUNT"), feature=_MULTI_CLUSTER),
    ShowColumn(number("max_cluster_count"), stored("MAX_CLUSTER_COUNT"), feature=_MULTI_CLUSTER),
    ShowColumn(number("started_clusters"), _clusters, feature=_MULTI_CLUSTER),
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
    ShowColumn(text("suspended"), lambda context, obj: "1" if _state(context, obj) == "SUSPENDED" else "0"),
    ShowColumn(text("uuid"), stored("UUID")),
    ShowColumn(text("scaling_policy"), stored("SCALING_POLICY"), feature=_MULTI_CLUSTER),
    _constant(text("budget"), None),
    OWNER_ROLE_TYPE,
    ShowColumn(text("resource_constraint"), _constraint),
    ShowColumn(text("generation"), stored("GENERATION")),
    ShowColumn(text("max_query_performance_level"), stored("MAX_QUERY_PERFORMANCE_LEVEL")),
    ShowColumn(number("query_throughput_multiplier"), stored("QUERY_THROUGHPUT_MULTIPLIER")),
    _constant(text("tables"), None),
    ShowColumn(text("disabled_reasons"), _disabled_reasons, feature=_ADAPTIVE),
)


def _describe(_context: Context, warehouse: CatalogObject) -> Result:
    columns = (timestamp("created_on"), text("name"), text("kind"))
    return Result(columns, [(warehouse.created_on, warehouse.name, warehouse.kind)])


_UP_TO_4X = {spelling: size for spelling, size in SIZES.items() if size not in SIZE_ORDER[-2:]}

TYPE = ObjectType(
    kind="WAREHOUSE",
    plural="WAREHOUSES",
    modifiers=tuple(Clause(kind, "WAREHOUSE_TYPE", kind) for kind in (_ADAPTIVE, _INTERACTIVE)),
    clauses=(Part(_TABLES, _parse_tables), Part("WITH", _parse_with)),
    properties=(
        Property("WAREHOUSE_TYPE", choice(_STANDARD, _SNOWPARK, _ADAPTIVE, _INTERACTIVE), _STANDARD, unset=_STANDARD),
        Property("WAREHOUSE_SIZE", Choice(SIZES), unset=REFUSED),
        Property("WAIT_FOR_COMPLETION", Boolean(), unset=REFUSED, only="ALTER"),
        Property("MAX_CLUSTER_COUNT", Integer(1, 300), 1, unset=1, feature=_MULTI_CLUSTER),
        Property("MIN_CLUSTER_COUNT", Integer(1, 300), 1, unset=1, feature=_MULTI_CLUSTER),
        Property("SCALING_POLICY", choice("STANDARD", "ECONOMY"), "STANDARD", unset="STANDARD", feature=_MULTI_CLUSTER),
        # The documentation promises 600 after UNSET; live accounts give 0, which is "never".
        Property("AUTO_SUSPEND", Integer(0, null=True), 600, unset=0),
        Property("AUTO_RESUME", Boolean(), True, unset=True),
        Property("INITIALLY_SUSPENDED", Boolean(), False, only="CREATE"),
        Property("RESOURCE_MONITOR", Reference("RESOURCE MONITOR", privilege=None), only_role="ACCOUNTADMIN"),
        Property("COMMENT", Text(), default="", unset=""),
        Property("ENABLE_QUERY_ACCELERATION", Boolean(), False, unset=False, feature=_ACCELERATION),
        Property("QUERY_ACCELERATION_MAX_SCALE_FACTOR", Integer(0, 100), 8, unset=8, feature=_ACCELERATION),
        Property("RESOURCE_CONSTRAINT", choice(*_CONSTRAINT_SIZES, *_GENERATIONS)),
        Property("GENERATION", Text(check=lambda generation: generation in {"1", "2"})),
        Property(_LEVEL, Choice(_UP_TO_4X), unset=_ADAPTIVE_LEVEL),
        Property(_MULTIPLIER, Integer(0), unset=_ADAPTIVE_MULTIPLIER),
    ),
    parameters=(
        "MAX_CONCURRENCY_LEVEL",
        "STATEMENT_QUEUED_TIMEOUT_IN_SECONDS",
        _TIMEOUT,
        "FALLBACK_WAREHOUSE",
    ),
    rights=Rights(
        grantable=frozenset({"USAGE", "OPERATE", "MODIFY", "MONITOR", "APPLYBUDGET", _ATTACH}),
        alter="MODIFY",
        describe=None,
        implied={
            "MANAGE WAREHOUSES": frozenset({"MODIFY", "MONITOR", "OPERATE", _ATTACH}),
            "MODIFY": frozenset({_ATTACH}),
        },
        visible_with=("MONITOR USAGE", "MANAGE WAREHOUSES"),
    ),
    actions=(
        Action("SUSPEND", _suspend, "OPERATE"),
        Action("RESUME", _resume, "OPERATE"),
        Action("ABORT ALL QUERIES", _abort_all_queries, "OPERATE"),
        Action("ENABLE", partial(_switch, "ENABLED"), "OPERATE"),
        Action("DISABLE", partial(_switch, "DISABLED"), "OPERATE"),
        Action("UNSET DCM PROJECT", uncovered("DCM PROJECT")),
        Action("ADD TABLES", _attach_tables, _ATTACH),
        Action("DROP TABLES", _attach_tables, _ATTACH),
    ),
    or_alter=True,
    show=Show(_COLUMNS, cut=True, privileges=True),
    describe=_describe,
    lifecycle=Lifecycle(
        settle=_settle,
        created=make_current,
    ),
)
