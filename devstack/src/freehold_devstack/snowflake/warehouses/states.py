"""Whether a warehouse runs or takes work, and the forms of ALTER that change it."""

import uuid
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.warehouses.kinds import ADAPTIVE, ADAPTIVE_STATES, require_type


def with_state(context: Context, properties: dict[str, Value]) -> dict[str, Value]:
    """The properties with what the server keeps by itself, and without what counts for one statement."""
    suspended = properties.pop("INITIALLY_SUSPENDED", False)
    properties.pop("WAIT_FOR_COMPLETION", None)
    if "UUID" not in properties:
        properties["UUID"] = str(uuid.uuid4())
        properties["STATE"] = "SUSPENDED" if suspended else "STARTED"
        properties["RESUMED_ON"] = context.now
    # What an adaptive warehouse shows is not whether it runs but whether it takes work.
    if (properties["WAREHOUSE_TYPE"] == ADAPTIVE) != (properties["STATE"] in ADAPTIVE_STATES):
        properties["STATE"] = "ENABLED" if properties["WAREHOUSE_TYPE"] == ADAPTIVE else "STARTED"
        properties["RESUMED_ON"] = context.now
    properties["UPDATED_ON"] = context.now
    return properties


def state_of(context: Context, warehouse: CatalogObject) -> str:
    """The state of now: nothing uses a warehouse here, so that AUTO_SUSPEND counts from when it was started."""
    state, idle = str(warehouse.properties["STATE"]), warehouse.properties["AUTO_SUSPEND"]
    started = warehouse.properties["RESUMED_ON"]
    if state == "STARTED" and isinstance(idle, int) and isinstance(started, int) and idle:
        return "SUSPENDED" if context.now > started + idle * 1000 else state
    return state


def _set_state(context: Context, warehouse: CatalogObject, state: str) -> None:
    changed: dict[str, Scalar] = {"STATE": state, "UPDATED_ON": context.now}
    if state == "STARTED":
        changed["RESUMED_ON"] = context.now
    context.catalog.update(warehouse, replace(warehouse, properties={**warehouse.properties, **changed}))


def _refuse_adaptive(warehouse: CatalogObject) -> None:
    if warehouse.properties["WAREHOUSE_TYPE"] == ADAPTIVE:
        raise errors.unnumbered("Adaptive warehouses are enabled and disabled instead of resumed and suspended.")


def suspend(_parser: Parser) -> Act:
    """SUSPEND: 090064 for what is suspended."""

    def act(context: Context, warehouse: CatalogObject) -> None:
        _refuse_adaptive(warehouse)
        if state_of(context, warehouse) == "SUSPENDED":
            raise errors.warehouse_state(warehouse.name, "suspended")
        _set_state(context, warehouse, "SUSPENDED")

    return act


def resume(parser: Parser) -> Act:
    """RESUME [IF SUSPENDED]: 090063 for what runs."""
    if_suspended = parser.accept("IF", "SUSPENDED")

    def act(context: Context, warehouse: CatalogObject) -> None:
        _refuse_adaptive(warehouse)
        if state_of(context, warehouse) == "SUSPENDED":
            _set_state(context, warehouse, "STARTED")
        elif not if_suspended:
            raise errors.warehouse_state(warehouse.name, "resumed")

    return act


def abort_all_queries(_parser: Parser) -> Act:
    """ABORT ALL QUERIES: of those that run in the warehouse."""
    return lambda context, warehouse: context.aborted.add(warehouse.id)


def switch(state: str, _parser: Parser) -> Act:
    """ENABLE and DISABLE, which lead to a state."""

    def act(context: Context, warehouse: CatalogObject) -> None:
        require_type(warehouse, ADAPTIVE, "ENABLE | DISABLE")
        _set_state(context, warehouse, state)

    return act
