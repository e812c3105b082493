"""The rules between the properties of a task, and those between them and its graph."""

import json
import uuid
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Given
from freehold_devstack.snowflake.tasks import graph
from freehold_devstack.snowflake.tasks.schedules import check_schedule, is_completion_interval
from freehold_devstack.snowflake.values import SIZE_ORDER, SIZES

OVERLAPPING = "ALLOW_OVERLAPPING_EXECUTION"
POLICY = "OVERLAP_POLICY"
NO_OVERLAP, CHILD_OVERLAP = "NO_OVERLAP", "ALLOW_CHILD_OVERLAP"
COMPLETION = "TARGET_COMPLETION_INTERVAL"
_INITIAL_SIZE = "USER_TASK_MANAGED_INITIAL_WAREHOUSE_SIZE"
_MIN_SIZE, _MAX_SIZE = "SERVERLESS_TASK_MIN_STATEMENT_SIZE", "SERVERLESS_TASK_MAX_STATEMENT_SIZE"
SIZE_PARAMETERS = (_INITIAL_SIZE, _MAX_SIZE, _MIN_SIZE)
_LARGEST = "2X-Large"
RETRIES = "TASK_AUTO_RETRY_ATTEMPTS"
USER = "EXECUTE AS USER"


def fresh() -> Given:
    """What no task takes from another."""
    return {"ID": str(uuid.uuid4()), **graph.FRESH}


def settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Check the statement's values, resolve what it names, and keep the rules of serverless tasks and of graphs."""
    old = context.catalog.get(draft.id)
    if old is not None:
        graph.check_changeable(context, old)
    _check_values(draft)
    properties = {
        **draft.properties,
        "WAREHOUSE": _warehouse(context, draft.properties["WAREHOUSE"]),
        USER: _user(context, draft.properties[USER]),
        **_overlap(draft, given),
    }
    if old is None:
        properties |= fresh()
    task = replace(draft, properties=properties)
    _check_serverless(task, given)
    task = graph.link(context, task)
    _check_root_settings(context, task, given)
    if old is None:
        check_triggered(context, task)
    elif graph.is_root(context, task) and not graph.is_root(context, old):
        reason = "CHILD_BECAME_ROOT" if old.properties["FINALIZE"] is None else "FINALIZER_BECAME_ROOT"
        task = graph.suspended(context, task, reason)
    return task


def _check_values(task: CatalogObject) -> None:
    schedule, config, interval = (task.properties[name] for name in ("SCHEDULE", "CONFIG", COMPLETION))
    if schedule is not None:
        check_schedule(str(schedule))
    if config is not None and not _is_json_object(str(config)):
        raise errors.unnumbered("Invalid config. Must be a string representation of a valid JSON Object.", family="")
    if interval is not None and not is_completion_interval(str(interval)):
        raise errors.invalid_parameter_value(str(interval), COMPLETION)
    if task.parameters.get("AUTOCOMMIT") is False:
        raise errors.unnumbered(
            "The parameter AUTOCOMMIT = false is not supported with Tasks. Remove the parameter and try again.",
            family="",
        )


def _is_json_object(config: str) -> bool:
    try:
        return isinstance(json.loads(config), dict)
    except ValueError:
        return False


def _warehouse(context: Context, value: Value) -> Value:
    """The id of a warehouse that a statement names."""
    if value is None or isinstance(value, int):
        return value
    name = tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)
    found = context.catalog.find("WAREHOUSE", name[0])
    if len(name) > 1 or found is None or not context.sees(found):
        raise errors.task_warehouse(".".join(name))
    context.require("USAGE", found, primary_only=True)
    return found.id


def _user(context: Context, value: Value) -> Value:
    """The id of a user that a statement names: the session's own, or one that its role may act as."""
    if not isinstance(value, str):
        return value
    user = context.catalog.find("USER", value)
    if user is None:
        raise context.missing("USER", value)
    if user.id != context.session.user:
        context.require("IMPERSONATE", user)
    return user.id


def _overlap(task: CatalogObject, given: frozenset[str]) -> Given:
    """The older switch says the same as two of the policies."""
    switch, policy = task.properties[OVERLAPPING], task.properties[POLICY]
    if OVERLAPPING not in given:
        return {POLICY: policy}
    meant = CHILD_OVERLAP if switch else NO_OVERLAP
    if POLICY in given and policy != meant:
        raise errors.unnumbered(
            f"Cannot specify {OVERLAPPING} and {POLICY} to different values in the same command.", family=""
        )
    return {POLICY: meant, OVERLAPPING: None}


def _check_serverless(task: CatalogObject, given: frozenset[str]) -> None:
    sizes = [name for name in SIZE_PARAMETERS if name in task.parameters]
    if task.properties["WAREHOUSE"] is not None:
        for name in sizes:
            if name in given:
                raise errors.unnumbered(f"Cannot set {name} on a non-serverless task.", family="")
        if task.properties[COMPLETION] is not None:
            raise errors.not_serverless(COMPLETION)
        for name in sizes:
            raise errors.unnumbered(f"Cannot set {name} on a non-serverless task.", family="")
    ranks = {
        name: SIZE_ORDER.index(SIZES.get(str(task.parameters[name]), str(task.parameters[name]))) for name in sizes
    }
    if ranks.get(_INITIAL_SIZE, 0) > SIZE_ORDER.index(_LARGEST):
        raise errors.invalid_parameter_value(str(task.parameters[_INITIAL_SIZE]), _INITIAL_SIZE)
    for small, large, order in (
        (_MIN_SIZE, _MAX_SIZE, "{0} cannot be greater than {1}."),
        (_MIN_SIZE, _INITIAL_SIZE, "{1} cannot be less than {0}."),
        (_INITIAL_SIZE, _MAX_SIZE, "{1} cannot be less than {0}."),
    ):
        if small in ranks and large in ranks and ranks[small] > ranks[large]:
            shown = [f"{name} ({task.parameters[name]})" for name in (small, large)]
            raise errors.unnumbered(order.format(*shown), family="")


def _check_root_settings(context: Context, task: CatalogObject, given: frozenset[str]) -> None:
    """What only a root takes."""
    if graph.is_root(context, task):
        return
    name, path = task.name, context.print_path(task)
    predecessors, policy = task.properties["AFTER"], task.properties[POLICY]
    if task.properties["SCHEDULE"] is not None:
        both = "both a schedule and a predecessor" if predecessors else "a schedule and be a finalizer task"
        raise errors.unnumbered(f"Task {name} cannot have {both}.", family="")
    if task.properties["CONFIG"] is not None:
        raise errors.unnumbered(f"Task {path} cannot both be a non-root task and have a config.", family="")
    if POLICY in given or policy != NO_OVERLAP:
        setting = "allow_overlapping_execution" if OVERLAPPING in given else "overlap policy"
        raise errors.unnumbered(f"Cannot set {setting} on non-root task {path}.", family="")
    if RETRIES in task.parameters:
        raise errors.unnumbered(
            f"Cannot set parameter {RETRIES} on non-root task {name}. Non-root tasks use the parameter setting from "
            "their root task. Please set this on the root task for this task instead.",
            family="",
        )


def check_triggered(context: Context, task: CatalogObject) -> None:
    """A serverless task that changes in a stream run has to say how long it may take."""
    properties = task.properties
    triggered = "SYSTEM$STREAM_HAS_DATA" in str(properties["WHEN"]).upper() and properties["SCHEDULE"] is None
    serverless = properties["WAREHOUSE"] is None and properties[COMPLETION] is None
    if triggered and serverless and graph.is_root(context, task):
        raise errors.unnumbered(f"{COMPLETION} is required for serverless triggered tasks.", family="")
