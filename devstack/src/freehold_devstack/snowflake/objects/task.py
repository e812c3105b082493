"""TASK: https://docs.snowflake.com/en/sql-reference/sql/create-task and the pages beside it."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NoReturn

from freehold_devstack.snowflake import errors, task_graph
from freehold_devstack.snowflake.access import OWNERSHIP, Authority
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import data_type
from freehold_devstack.snowflake.functions import Function, register
from freehold_devstack.snowflake.grammar import Act, Action, Given, Part, Property
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parameters import SESSION_PARAMETERS, STORED_SESSION_PARAMETERS
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.results import Cell, Result, text, timestamp
from freehold_devstack.snowflake.schedules import check_schedule, is_completion_interval
from freehold_devstack.snowflake.scripting import parse_body, parse_condition
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    describe_as_shown,
    stored,
)
from freehold_devstack.snowflake.tokens import tokenize
from freehold_devstack.snowflake.values import SIZE_ORDER, SIZES, Boolean, Names, Reference, Text, choice

_OVERLAPPING = "ALLOW_OVERLAPPING_EXECUTION"
_POLICY = "OVERLAP_POLICY"
_NO_OVERLAP, _CHILD_OVERLAP = "NO_OVERLAP", "ALLOW_CHILD_OVERLAP"
_COMPLETION = "TARGET_COMPLETION_INTERVAL"
_INITIAL_SIZE = "USER_TASK_MANAGED_INITIAL_WAREHOUSE_SIZE"
_MIN_SIZE, _MAX_SIZE = "SERVERLESS_TASK_MIN_STATEMENT_SIZE", "SERVERLESS_TASK_MAX_STATEMENT_SIZE"
_SIZES = (_INITIAL_SIZE, _MAX_SIZE, _MIN_SIZE)
_LARGEST = "2X-Large"
_RETRIES = "TASK_AUTO_RETRY_ATTEMPTS"
_USER = "EXECUTE AS USER"

# --- the grammar -----------------------------------------------------------------------------------------------------


def _parse_tasks(parser: Parser) -> tuple[Name, ...]:
    """Take `<task> [, …]`, which clauses may follow."""
    tasks = [parser.name(parts=3)]
    while parser.accept(","):
        tasks.append(parser.name(parts=3))
    return tuple(tasks)


_TAIL: dict[str, Callable[[Parser], Value]] = {
    "AFTER": _parse_tasks,
    _USER: lambda parser: parser.identifier(),
    "WHEN": parse_condition,
    "AS": parse_body,
}
"""The clauses that follow the properties, in this order, and what their words are followed by."""


def _parse_tail(words: str, parser: Parser) -> Given:
    """Take what follows the words of one of these clauses, and the clauses after it up to the body."""
    following = [*_TAIL][[*_TAIL].index(words) + 1 :]
    given = {words: _TAIL[words](parser)}
    while words != "AS":
        words = next((words for words in following if parser.accept_phrase(words)), "")
        if not words:
            raise parser.unexpected()
        given[words] = _TAIL[words](parser)
        following = following[following.index(words) + 1 :]
    return given


def _unsupported(words: str, _parser: Parser) -> NoReturn:
    raise errors.unsupported(f"TASK {words}")


def _changing(words: str, parser: Parser) -> Act:
    """ALTER gives one of these clauses anew."""
    return _with({words: _TAIL[words](parser)})


def _removing(words: str, _parser: Parser) -> Act:
    return _with({words: None})


def _with(given: Given) -> Act:
    def act(context: Context, task: CatalogObject) -> None:
        _store(context, task, given)

    return act


def _store(context: Context, task: CatalogObject, given: Given) -> None:
    changed = replace(task, properties={**task.properties, **given})
    context.catalog.update(task, _settle(context, changed, frozenset(given)))


# --- the graph -------------------------------------------------------------------------------------------------------


def _add_after(parser: Parser) -> Act:
    names = _parse_tasks(parser)

    def act(context: Context, task: CatalogObject) -> None:
        known = (each.name for each in task_graph.predecessors(context, task))
        _store(context, task, {"AFTER": (*known, *names)})

    return act


def _remove_after(parser: Parser) -> Act:
    names = _parse_tasks(parser)

    def act(context: Context, task: CatalogObject) -> None:
        _store(context, task, {"AFTER": task_graph.without(context, task, names)})

    return act


def _suspend(_parser: Parser) -> Act:
    def act(context: Context, task: CatalogObject) -> None:
        if not task_graph.is_root(context, task):
            task_graph.check_suspended(context, task)
        context.catalog.update(task, task_graph.suspended(context, task, "USER_SUSPENDED"))

    return act


def _resume(_parser: Parser) -> Act:
    def act(context: Context, task: CatalogObject) -> None:
        _start(context, task)

    return act


def _start(context: Context, task: CatalogObject) -> None:
    """Resume a task, unless its owner could not run it or it is in a graph that runs or can't run."""
    is_root = task_graph.is_root(context, task)
    if not is_root:
        task_graph.check_suspended(context, task)
    _check_owner(context, task)
    _check_triggered(context, task)
    started = context.catalog.update(task, replace(task, properties={**task.properties, "STATE": task_graph.STARTED}))
    if is_root:
        task_graph.commit(context, started)


def _enable_dependents(context: Context, arguments: Sequence[Cell]) -> Cell:
    """SYSTEM$TASK_DEPENDENTS_ENABLE: start a task and all that depend on it, the task last."""
    parser = Parser(tokenize(str(arguments[0])), source=str(arguments[0]))
    name = parser.name(parts=3)
    parser.end()
    task = context.resolve(TYPE, name, "ALTER")
    for dependent in reversed([task, *task_graph.dependents(context, task)]):
        context.require(OWNERSHIP, dependent)
        _start(context, context.catalog[dependent.id])
    return "true"


def _check_owner(context: Context, task: CatalogObject) -> None:
    """Refuse what the owner could not run."""
    owner = Authority(context.catalog, context.session.role if task.owner is None else task.owner)
    warehouse = task.properties["WAREHOUSE"]
    for privilege in ("EXECUTE TASK", *(["EXECUTE MANAGED TASK"] if warehouse is None else [])):
        if not owner.holds_on_account(privilege):
            raise errors.task_privilege(privilege)
    if isinstance(warehouse, int):
        found = context.catalog[warehouse]
        if not (context.catalog.is_live(found) and owner.holds("USAGE", found)):
            raise errors.task_warehouse(found.name)


def _cloned(_context: Context, task: CatalogObject, _copies: Mapping[int, int]) -> CatalogObject:
    return replace(task, properties={**task.properties, **_fresh()})


def _fresh() -> Given:
    """What no task takes from another."""
    return {"ID": str(uuid.uuid4()), **task_graph.FRESH}


def _owner_changing(context: Context, task: CatalogObject) -> CatalogObject:
    task_graph.check_suspended(context, task)
    task_graph.unlink(context, task, forget=False)
    return task_graph.suspended(context, context.catalog[task.id], "GRANT_OWNERSHIP", always=True)


def _replacing(context: Context, task: CatalogObject) -> None:
    if not task_graph.is_standalone(context, task):
        task_graph.check_suspended(context, task)


def _dropping(context: Context, task: CatalogObject) -> None:
    _replacing(context, task)
    task_graph.unlink(context, task, forget=True)


# --- rules between properties ----------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Check the statement's values, resolve what it names, and keep the rules of serverless tasks and of graphs."""
    old = context.catalog.get(draft.id)
    if old is not None:
        task_graph.check_changeable(context, old)
    _check_values(draft)
    properties = {
        **draft.properties,
        "WAREHOUSE": _warehouse(context, draft.properties["WAREHOUSE"]),
        _USER: _user(context, draft.properties[_USER]),
        **_overlap(draft, given),
    }
    if old is None:
        properties |= _fresh()
    task = replace(draft, properties=properties)
    _check_serverless(task, given)
    task = task_graph.link(context, task)
    _check_root_settings(context, task, given)
    if old is None:
        _check_triggered(context, task)
    elif task_graph.is_root(context, task) and not task_graph.is_root(context, old):
        reason = "CHILD_BECAME_ROOT" if old.properties["FINALIZE"] is None else "FINALIZER_BECAME_ROOT"
        task = task_graph.suspended(context, task, reason)
    return task


def _check_values(task: CatalogObject) -> None:
    schedule, config, interval = (task.properties[name] for name in ("SCHEDULE", "CONFIG", _COMPLETION))
    if schedule is not None:
        check_schedule(str(schedule))
    if config is not None and not _is_json_object(str(config)):
        raise errors.unnumbered("Invalid config. Must be a string representation of a valid JSON Object.", family="")
    if interval is not None and not is_completion_interval(str(interval)):
        raise errors.invalid_parameter_value(str(interval), _COMPLETION)
    if task.parameters.get("AUTOCOMMIT") is False:
        raise errors.unnumbered(
            "The parameter AUTOCOMMIT = false is not supported with Tasks. Remove the parameter and try again.",
            family="",
        )


def _is_json_object(config: str) -> bool:
    try:
        return isinstance(json.loads(config), dict)
    except json.JSONDecodeError:
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
    switch, policy = task.properties[_OVERLAPPING], task.properties[_POLICY]
    if _OVERLAPPING not in given:
        return {_POLICY: policy}
    meant = _CHILD_OVERLAP if switch else _NO_OVERLAP
    if _POLICY in given and policy != meant:
        raise errors.unnumbered(
            f"Cannot specify {_OVERLAPPING} and {_POLICY} to different values in the same command.", family=""
        )
    return {_POLICY: meant, _OVERLAPPING: None}


def _check_serverless(task: CatalogObject, given: frozenset[str]) -> None:
    sizes = [name for name in _SIZES if name in task.parameters]
    if task.properties["WAREHOUSE"] is not None:
        for name in sizes:
            if name in given:
                raise errors.unnumbered(f"Cannot set {name} on a non-serverless task.", family="")
        if task.properties[_COMPLETION] is not None:
            raise errors.not_serverless(_COMPLETION)
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
    if task_graph.is_root(context, task):
        return
    name, path = task.name, context.print_path(task)
    predecessors, policy = task.properties["AFTER"], task.properties[_POLICY]
    if task.properties["SCHEDULE"] is not None:
        both = "both a schedule and a predecessor" if predecessors else "a schedule and be a finalizer task"
        raise errors.unnumbered(f"Task {name} cannot have {both}.", family="")
    if task.properties["CONFIG"] is not None:
        raise errors.unnumbered(f"Task {path} cannot both be a non-root task and have a config.", family="")
    if _POLICY in given or policy != _NO_OVERLAP:
        setting = "allow_overlapping_execution" if _OVERLAPPING in given else "overlap policy"
        raise errors.unnumbered(f"Cannot set {setting} on non-root task {path}.", family="")
    if _RETRIES in task.parameters:
        raise errors.unnumbered(
            f"Cannot set parameter {_RETRIES} on non-root task {name}. Non-root tasks use the parameter setting from "
            "their root task. Please set this on the root task for this task instead.",
            family="",
        )


def _check_triggered(context: Context, task: CatalogObject) -> None:
    """A serverless task that changes in a stream run has to say how long it may take."""
    properties = task.properties
    triggered = "SYSTEM$STREAM_HAS_DATA" in str(properties["WHEN"]).upper() and properties["SCHEDULE"] is None
    serverless = properties["WAREHOUSE"] is None and properties[_COMPLETION] is None
    if triggered and serverless and task_graph.is_root(context, task):
        raise errors.unnumbered(f"{_COMPLETION} is required for serverless triggered tasks.", family="")


# --- SHOW and DESCRIBE -----------------------------------------------------------------------------------------------


def _reference(name: str, absent: Scalar = None) -> Callable[[Context, CatalogObject], Scalar]:
    """The name of what a property refers to by its id."""

    def value(context: Context, task: CatalogObject) -> Scalar:
        referred = task.properties[name]
        return context.catalog[referred].name if isinstance(referred, int) else absent

    return value


def _of_root(value: Callable[[CatalogObject], Scalar], absent: Scalar) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda context, task: value(task) if task_graph.is_root(context, task) else absent


def _integration(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda _, task: str(task.properties[name] or "null")


def _scheduling_mode(_context: Context, task: CatalogObject) -> Scalar:
    if task.properties["WAREHOUSE"] is not None:
        return None
    return "FIXED" if task.properties[_COMPLETION] is None else "FLEXIBLE"


def _describe(context: Context, task: CatalogObject) -> Result:
    if not context.lists(task):
        raise context.insufficient("MONITOR", task)
    return describe_as_shown(_COLUMNS)(context, task)


_COLUMNS = (
    CREATED_ON,
    NAME,
    ShowColumn(text("id"), stored("ID")),
    DATABASE_NAME,
    SCHEMA_NAME,
    OWNER,
    COMMENT,
    ShowColumn(text("warehouse"), _reference("WAREHOUSE")),
    ShowColumn(text("schedule"), stored("SCHEDULE")),
    ShowColumn(text("predecessors"), task_graph.show_predecessors),
    ShowColumn(text("state"), stored("STATE")),
    ShowColumn(text("definition"), stored("AS")),
    ShowColumn(text("condition"), stored("WHEN")),
    ShowColumn(
        text("allow_overlapping_execution"),
        _of_root(lambda task: str(task.properties[_POLICY] == _CHILD_OVERLAP).lower(), "null"),
    ),
    ShowColumn(text("error_integration"), _integration("ERROR_INTEGRATION")),
    ShowColumn(timestamp("last_committed_on"), stored("LAST_COMMITTED_ON")),
    ShowColumn(timestamp("last_suspended_on"), stored("LAST_SUSPENDED_ON")),
    OWNER_ROLE_TYPE,
    ShowColumn(text("config"), stored("CONFIG")),
    ShowColumn(text("budget"), lambda *_: None),
    ShowColumn(text("task_relations"), task_graph.show_relations),
    ShowColumn(text("last_suspended_reason"), stored("LAST_SUSPENDED_REASON")),
    ShowColumn(text("success_integration"), _integration("SUCCESS_INTEGRATION")),
    ShowColumn(text("scheduling_mode"), _scheduling_mode),
    ShowColumn(text("target_completion_interval"), stored(_COMPLETION)),
    ShowColumn(text("execute_as_user"), _reference(_USER)),
    ShowColumn(text("overlap_policy"), _of_root(lambda task: str(task.properties[_POLICY]), None)),
)
_TERSE = (
    *_COLUMNS[:2],
    ShowColumn(text("kind"), lambda *_: None),
    *_COLUMNS[3:5],
    ShowColumn(text("schedule"), stored("SCHEDULE")),
)

# --- the declaration -------------------------------------------------------------------------------------------------

TYPE = ObjectType(
    kind="TASK",
    plural="TASKS",
    container="SCHEMA",
    clauses=(
        Part("AFTER", partial(_parse_tail, "AFTER"), unsaid={"AFTER": ()}),
        Part(_USER, partial(_parse_tail, _USER), unsaid={_USER: None}),
        Part("WHEN", partial(_parse_tail, "WHEN"), unsaid={"WHEN": None}),
        Part("AS", partial(_parse_tail, "AS")),
        Part("WITH CONTACT", partial(_unsupported, "CONTACT")),
    ),
    required=("AS",),
    properties=(
        Property("WAREHOUSE", Names()),
        Property("SCHEDULE", Text()),
        Property("CONFIG", Text()),
        Property(_OVERLAPPING, Boolean()),
        Property(_POLICY, choice(_NO_OVERLAP, _CHILD_OVERLAP, "ALLOW_ALL_OVERLAP"), _NO_OVERLAP, unset=_NO_OVERLAP),
        Property("ERROR_INTEGRATION", Reference("INTEGRATION")),
        Property("SUCCESS_INTEGRATION", Reference("INTEGRATION")),
        Property("COMMENT", Text(), default="", unset=""),
        Property("FINALIZE", Names()),
        Property(_COMPLETION, Text()),
    ),
    parameters=(
        *SESSION_PARAMETERS,
        *STORED_SESSION_PARAMETERS,
        *_SIZES,
        "LOG_EVENT_LEVEL",
        "SUSPEND_TASK_AFTER_NUM_FAILURES",
        _RETRIES,
        "USER_TASK_MINIMUM_TRIGGER_INTERVAL_IN_SECONDS",
        "USER_TASK_TIMEOUT_MS",
    ),
    rights=Rights(
        grantable=frozenset({"MONITOR", "OPERATE", "APPLYBUDGET"}),
        describe=None,
        visible_with=("MONITOR EXECUTION",),
        shown_to=frozenset({"MONITOR", "OPERATE"}),
    ),
    actions=(
        Action("RESUME", _resume, "OPERATE"),
        Action("SUSPEND", _suspend, "OPERATE"),
        Action("ADD AFTER", _add_after),
        Action("REMOVE AFTER", _remove_after),
        Action("MODIFY AS", partial(_changing, "AS")),
        Action("MODIFY WHEN", partial(_changing, "WHEN")),
        Action("REMOVE WHEN", partial(_removing, "WHEN")),
        Action(f"SET {_USER}", partial(_changing, _USER)),
        Action(f"UNSET {_USER}", partial(_removing, _USER)),
        Action("SET CONTACT", partial(_unsupported, "CONTACT")),
        Action("UNSET CONTACT", partial(_unsupported, "CONTACT")),
        Action("UNSET DCM PROJECT", partial(_unsupported, "DCM PROJECT")),
    ),
    show=Show(
        _COLUMNS,
        terse=_TERSE,
        starts_with=True,
        limit=True,
        named=True,
        options=(("ROOT ONLY", lambda context, task: not task_graph.predecessors(context, task)),),
    ),
    describe=_describe,
    or_alter=True,
    renames=False,
    copying=Copying(
        clone=OWNERSHIP,
        cloned=_cloned,
    ),
    lifecycle=Lifecycle(
        settle=_settle,
        dropping=_dropping,
        replacing=_replacing,
        owner_changing=_owner_changing,
    ),
)

register(Function("SYSTEM$TASK_DEPENDENTS_ENABLE", data_type("VARCHAR"), _enable_dependents, least=1, most=1))
