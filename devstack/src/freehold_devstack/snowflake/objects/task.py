"""TASK: https://docs.snowflake.com/en/sql-reference/sql/create-task and the pages beside it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import data_type
from freehold_devstack.snowflake.functions import Function, register
from freehold_devstack.snowflake.grammar import Action, Part, Property, uncovered
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.parameters import SESSION_PARAMETERS, STORED_SESSION_PARAMETERS
from freehold_devstack.snowflake.results import Result, text, timestamp
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
from freehold_devstack.snowflake.tasks import graph
from freehold_devstack.snowflake.tasks.clauses import (
    add_after,
    changing,
    parse_tail,
    remove_after,
    removing,
)
from freehold_devstack.snowflake.tasks.rules import (
    CHILD_OVERLAP,
    COMPLETION,
    NO_OVERLAP,
    OVERLAPPING,
    POLICY,
    RETRIES,
    SIZE_PARAMETERS,
    USER,
    fresh,
    settle,
)
from freehold_devstack.snowflake.tasks.states import enable_dependents, resume, suspend
from freehold_devstack.snowflake.values import Boolean, Names, Reference, Text, choice

# --- what else happens -----------------------------------------------------------------------------------------------


def _cloned(_context: Context, task: CatalogObject, _copies: Mapping[int, int]) -> CatalogObject:
    return replace(task, properties={**task.properties, **fresh()})


def _owner_changing(context: Context, task: CatalogObject) -> CatalogObject:
    graph.check_suspended(context, task)
    graph.unlink(context, task, forget=False)
    return graph.suspended(context, context.catalog[task.id], "GRANT_OWNERSHIP", always=True)


def _replacing(context: Context, task: CatalogObject) -> None:
    if not graph.is_standalone(context, task):
        graph.check_suspended(context, task)


def _dropping(context: Context, task: CatalogObject) -> None:
    _replacing(context, task)
    graph.unlink(context, task, forget=True)


# --- SHOW and DESCRIBE -----------------------------------------------------------------------------------------------


def _reference(name: str, absent: Scalar = None) -> Callable[[Context, CatalogObject], Scalar]:
    """The name of what a property refers to by its id."""

    def value(context: Context, task: CatalogObject) -> Scalar:
        referred = task.properties[name]
        return context.catalog[referred].name if isinstance(referred, int) else absent

    return value


def _of_root(value: Callable[[CatalogObject], Scalar], absent: Scalar) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda context, task: value(task) if graph.is_root(context, task) else absent


def _integration(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda _, task: str(task.properties[name] or "null")


def _scheduling_mode(_context: Context, task: CatalogObject) -> Scalar:
    if task.properties["WAREHOUSE"] is not None:
        return None
    return "FIXED" if task.properties[COMPLETION] is None else "FLEXIBLE"


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
    ShowColumn(text("predecessors"), graph.show_predecessors),
    ShowColumn(text("state"), stored("STATE")),
    ShowColumn(text("definition"), stored("AS")),
    ShowColumn(text("condition"), stored("WHEN")),
    ShowColumn(
        text("allow_overlapping_execution"),
        _of_root(lambda task: str(task.properties[POLICY] == CHILD_OVERLAP).lower(), "null"),
    ),
    ShowColumn(text("error_integration"), _integration("ERROR_INTEGRATION")),
    ShowColumn(timestamp("last_committed_on"), stored("LAST_COMMITTED_ON")),
    ShowColumn(timestamp("last_suspended_on"), stored("LAST_SUSPENDED_ON")),
    OWNER_ROLE_TYPE,
    ShowColumn(text("config"), stored("CONFIG")),
    ShowColumn(text("budget"), lambda *_: None),
    ShowColumn(text("task_relations"), graph.show_relations),
    ShowColumn(text("last_suspended_reason"), stored("LAST_SUSPENDED_REASON")),
    ShowColumn(text("success_integration"), _integration("SUCCESS_INTEGRATION")),
    ShowColumn(text("scheduling_mode"), _scheduling_mode),
    ShowColumn(text("target_completion_interval"), stored(COMPLETION)),
    ShowColumn(text("execute_as_user"), _reference(USER)),
    ShowColumn(text("overlap_policy"), _of_root(lambda task: str(task.properties[POLICY]), None)),
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
        Part("AFTER", partial(parse_tail, "AFTER"), unsaid={"AFTER": ()}),
        Part(USER, partial(parse_tail, USER), unsaid={USER: None}),
        Part("WHEN", partial(parse_tail, "WHEN"), unsaid={"WHEN": None}),
        Part("AS", partial(parse_tail, "AS")),
        Part("WITH CONTACT", uncovered("TASK CONTACT")),
    ),
    required=("AS",),
    properties=(
        Property("WAREHOUSE", Names()),
        Property("SCHEDULE", Text()),
        Property("CONFIG", Text()),
        Property(OVERLAPPING, Boolean()),
        Property(POLICY, choice(NO_OVERLAP, CHILD_OVERLAP, "ALLOW_ALL_OVERLAP"), NO_OVERLAP, unset=NO_OVERLAP),
        Property("ERROR_INTEGRATION", Reference("INTEGRATION")),
        Property("SUCCESS_INTEGRATION", Reference("INTEGRATION")),
        Property("COMMENT", Text(), default="", unset=""),
        Property("FINALIZE", Names()),
        Property(COMPLETION, Text()),
    ),
    parameters=(
        *SESSION_PARAMETERS,
        *STORED_SESSION_PARAMETERS,
        *SIZE_PARAMETERS,
        "LOG_EVENT_LEVEL",
        "SUSPEND_TASK_AFTER_NUM_FAILURES",
        RETRIES,
        "USER_TASK_MINIMUM_TRIGGER_INTERVAL_IN_SECONDS",
        "USER_TASK_TIMEOUT_MS",
    ),
    listed=frozenset({*SESSION_PARAMETERS, *STORED_SESSION_PARAMETERS}),
    rights=Rights(
        grantable=frozenset({"MONITOR", "OPERATE", "APPLYBUDGET"}),
        describe=None,
        visible_with=("MONITOR EXECUTION",),
        shown_to=frozenset({"MONITOR", "OPERATE"}),
    ),
    actions=(
        Action("RESUME", resume, "OPERATE"),
        Action("SUSPEND", suspend, "OPERATE"),
        Action("ADD AFTER", add_after),
        Action("REMOVE AFTER", remove_after),
        Action("MODIFY AS", partial(changing, "AS")),
        Action("MODIFY WHEN", partial(changing, "WHEN")),
        Action("REMOVE WHEN", partial(removing, "WHEN")),
        Action(f"SET {USER}", partial(changing, USER)),
        Action(f"UNSET {USER}", partial(removing, USER)),
        Action("SET CONTACT", uncovered("TASK CONTACT")),
        Action("UNSET CONTACT", uncovered("TASK CONTACT")),
        Action("UNSET DCM PROJECT", uncovered("TASK DCM PROJECT")),
    ),
    show=Show(
        _COLUMNS,
        terse=_TERSE,
        starts_with=True,
        limit=True,
        named=True,
        options=(("ROOT ONLY", lambda context, task: not graph.predecessors(context, task)),),
    ),
    describe=_describe,
    or_alter=True,
    renames=False,
    copying=Copying(
        clone=OWNERSHIP,
        cloned=_cloned,
    ),
    lifecycle=Lifecycle(
        settle=settle,
        dropping=_dropping,
        replacing=_replacing,
        owner_changing=_owner_changing,
    ),
)

register(Function("SYSTEM$TASK_DEPENDENTS_ENABLE", data_type("VARCHAR"), enable_dependents, least=1, most=1, acts=True))
