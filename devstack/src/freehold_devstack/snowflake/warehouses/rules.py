"""What goes together in a warehouse."""

from collections.abc import Mapping
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.values import SIZE_ORDER
from freehold_devstack.snowflake.warehouses.kinds import (
    ABSENT,
    ACCELERATED_FACTOR,
    ACCELERATION,
    ADAPTIVE,
    ADAPTIVE_LEVEL,
    ADAPTIVE_MULTIPLIER,
    CONSTRAINT_SIZES,
    FOREIGN,
    GENERATIONS,
    INTERACTIVE,
    INTERACTIVE_DEFAULTS,
    INTERACTIVE_MAX_CLUSTERS,
    INTERACTIVE_MAX_TIMEOUT,
    INTERACTIVE_MIN_AUTO_SUSPEND,
    LEVEL,
    MAX_CLUSTERS,
    MULTIPLIER,
    REGAINED,
    SNOWPARK,
    STANDARD,
    TABLES,
    TIMEOUT,
)
from freehold_devstack.snowflake.warehouses.states import state_of, with_state
from freehold_devstack.snowflake.warehouses.tables import refuse_tables


def settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Complete what depends on the type and refuse what doesn't go together."""
    properties = dict(draft.properties)
    kind = str(properties["WAREHOUSE_TYPE"])
    old = context.catalog.get(draft.id)
    if old is not None:
        _check_conversion(old, kind)
        properties["STATE"] = state_of(context, old)
    if kind == ADAPTIVE and not context.enabled(ADAPTIVE):
        raise errors.unsupported("ADAPTIVE WAREHOUSE")
    if "WAIT_FOR_COMPLETION" in given and "WAREHOUSE_SIZE" not in given:
        raise errors.unnumbered("WAIT_FOR_COMPLETION can only be given together with WAREHOUSE_SIZE.")
    if str(properties["RESOURCE_CONSTRAINT"]) in GENERATIONS:
        raise errors.generation_as_constraint(str(properties["RESOURCE_CONSTRAINT"]))
    for name in sorted(given & FOREIGN[kind]):
        raise errors.invalid_combination(("WAREHOUSE_TYPE", kind), (name, {**properties, **draft.parameters}.get(name)))
    refuse_tables(context, properties.pop(TABLES, ()), "CREATE")
    properties = _completed(context, kind, properties, old, given)
    _check_combinations(kind, properties)
    return replace(draft, properties=with_state(context, properties), parameters=_capped(kind, draft.parameters))


def _check_conversion(old: CatalogObject, kind: str) -> None:
    """Refuse the changes of type that there are not."""
    pair = {str(old.properties["WAREHOUSE_TYPE"]), kind}
    too_large = old.properties["WAREHOUSE_SIZE"] in SIZE_ORDER[-2:] and pair == {STANDARD, ADAPTIVE}
    if len(pair) > 1 and (INTERACTIVE in pair or pair == {SNOWPARK, ADAPTIVE} or too_large):
        raise errors.invalid_property_value(kind, "WAREHOUSE_TYPE")


def _completed(
    context: Context, kind: str, properties: dict[str, Value], old: CatalogObject | None, given: frozenset[str]
) -> dict[str, Value]:
    """The properties with what the type makes of those that nobody gave."""
    before = dict(properties)
    properties |= {name: None if kind == ADAPTIVE else ABSENT[name] for name in FOREIGN[kind] & ABSENT.keys()}
    if kind == ADAPTIVE:
        return properties | _adaptive(properties, before if old is not None else {})
    if old is not None and old.properties["WAREHOUSE_TYPE"] == ADAPTIVE:
        properties |= {name: value for name, value in REGAINED.items() if name not in given}
    if kind == INTERACTIVE:
        if old is None:
            properties |= {name: value for name, value in INTERACTIVE_DEFAULTS.items() if name not in given}
        idle = properties["AUTO_SUSPEND"]
        # Less is raised without a word.
        properties["AUTO_SUSPEND"] = max(idle, INTERACTIVE_MIN_AUTO_SUSPEND) if isinstance(idle, int) else None
    if kind == SNOWPARK and properties["RESOURCE_CONSTRAINT"] is None:
        properties["RESOURCE_CONSTRAINT"] = "MEMORY_16X"
    if properties["WAREHOUSE_SIZE"] is None:
        properties["WAREHOUSE_SIZE"] = "Medium" if kind == SNOWPARK else "X-Small"
    if kind == STANDARD and properties["GENERATION"] is None:
        properties["GENERATION"] = "1"
    if old is None and kind == STANDARD and context.enabled(ACCELERATION):
        properties |= _accelerated(properties, given)
    return properties


def _adaptive(properties: Mapping[str, Value], before: Mapping[str, Value]) -> dict[str, Value]:
    """Level and multiplier of an adaptive warehouse, derived from what it was before where nobody gives them."""
    size, clusters = before.get("WAREHOUSE_SIZE"), before.get("MAX_CLUSTER_COUNT")
    level = properties[LEVEL] or size or ADAPTIVE_LEVEL
    derived = max(clusters, ADAPTIVE_MULTIPLIER) if isinstance(clusters, int) else ADAPTIVE_MULTIPLIER
    multiplier = derived if properties[MULTIPLIER] is None else properties[MULTIPLIER]
    if multiplier == 1:
        raise errors.invalid_property_value("1", MULTIPLIER)
    return {LEVEL: level, MULTIPLIER: multiplier}


def _accelerated(properties: Mapping[str, Value], given: frozenset[str]) -> dict[str, Value]:
    """Query acceleration, which Snowflake turns on for new warehouses of several clusters or of generation 2."""
    several = properties["MAX_CLUSTER_COUNT"] != 1 or properties["GENERATION"] == "2"
    if not several or "ENABLE_QUERY_ACCELERATION" in given:
        return {}
    factor = "QUERY_ACCELERATION_MAX_SCALE_FACTOR"
    return {
        "ENABLE_QUERY_ACCELERATION": True,
        factor: properties[factor] if factor in given else ACCELERATED_FACTOR,
    }


def _capped(kind: str, parameters: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    """The parameters with the time limit that interactive warehouses have."""
    limit = parameters.get(TIMEOUT)
    if kind != INTERACTIVE or not isinstance(limit, int):
        return parameters
    return {**parameters, TIMEOUT: min(limit or INTERACTIVE_MAX_TIMEOUT, INTERACTIVE_MAX_TIMEOUT)}


def _check_combinations(kind: str, properties: Mapping[str, Value]) -> None:
    size, constraint = properties["WAREHOUSE_SIZE"], properties["RESOURCE_CONSTRAINT"]
    low, high = properties["MIN_CLUSTER_COUNT"], properties["MAX_CLUSTER_COUNT"]
    if isinstance(low, int) and isinstance(high, int):
        if low > high:
            raise errors.invalid_combination(("MAX_CLUSTER_COUNT", high), ("MIN_CLUSTER_COUNT", low))
        if high > (INTERACTIVE_MAX_CLUSTERS if kind == INTERACTIVE else MAX_CLUSTERS[str(size)]):
            raise errors.invalid_combination(("MAX_CLUSTER_COUNT", high), ("WAREHOUSE_SIZE", size))
    if size in SIZE_ORDER[-2:] and (properties["GENERATION"] == "2" or kind == INTERACTIVE):
        limiting = "WAREHOUSE_TYPE" if kind == INTERACTIVE else "GENERATION"
        raise errors.invalid_combination((limiting, properties[limiting]), ("WAREHOUSE_SIZE", size))
    if kind == SNOWPARK and size is not None:
        smallest, largest = (SIZE_ORDER.index(bound) for bound in CONSTRAINT_SIZES[str(constraint)])
        if not smallest <= SIZE_ORDER.index(str(size)) <= largest:
            raise errors.invalid_combination(("RESOURCE_CONSTRAINT", constraint), ("WAREHOUSE_SIZE", size))
