"""Tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import orjson

from freehold import bodies, schedules, sql
from freehold.kinds import texts
from freehold.kinds.common import Name, Reference
from freehold.kinds.containers import LogLevel
from freehold.kinds.fields import comment, custom, parameter, prop, ref
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import column
from freehold.kinds.parameters import SESSION_PARAMETERS, known, parameters
from freehold.kinds.property import Target, set_to
from freehold.kinds.resource import Rule, exclusive, only_when
from freehold.kinds.sizes import SIZE, Size
from freehold.kinds.task_fields import Predecessor, finalized_root, predecessors, suspended
from freehold.kinds.task_graphs import GRAPH, around_alter, around_drop, neighbours, resume
from freehold.kinds.values import Codec, Identifier, Word
from freehold.sql import Sql


class _Schedule(Codec):
    """An interval or a cron expression, in any of its spellings."""

    def matches(self, desired: Any, observed: Any) -> bool:
        try:
            return observed is not None and schedules.parse(desired) == schedules.parse(observed)
        except schedules.InvalidSchedule:
            return bool(desired == observed)


class _Config(Codec):
    """A JSON object, compared by its values."""

    def render(self, value: Any) -> Sql:
        return sql.dollar_quoted(str(value))

    def matches(self, desired: Any, observed: Any) -> bool:
        try:
            return observed is not None and bool(orjson.loads(desired) == orjson.loads(observed))
        except orjson.JSONDecodeError:
            return bool(desired == observed)


def _json_object(text: str) -> None:
    if "$$" in text:
        raise ValueError(r"it is put between $$, so it can't hold that: write one as \u0024")
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError("a JSON object is needed")  # noqa: TRY004 - as every check


_PARAMETERS = {
    name: codec
    for name, codec in SESSION_PARAMETERS.items()
    # The first two have fields of their own; no task takes the third.
    if name not in ("LOG_LEVEL", "TRACE_LEVEL", "SEARCH_PATH")
}


def _execute_as(target: Target, desired: str | None, _observed: object) -> Sequence[Sql]:
    if desired is None:
        return (target.alter(sql.words("UNSET EXECUTE AS USER")),)
    return (target.alter(sql.sql("SET EXECUTE AS USER {user}", user=sql.identifier(desired))),)


class TaskSpec(InSchemaSpec):
    """A statement that Snowflake runs by a schedule, after other tasks, or when a stream has data."""

    warehouse_name: Name | None = prop("WAREHOUSE", show="warehouse", codec=Identifier(absent="null"))
    """Warehouse that runs it. Without one, Snowflake's own compute does (serverless)."""
    warehouse_ref: Reference | None = ref("Warehouse", instead_of="warehouse_name")
    """The Warehouse, in place of its name."""
    user_task_managed_initial_warehouse_size: Size | None = parameter(
        "USER_TASK_MANAGED_INITIAL_WAREHOUSE_SIZE", codec=SIZE
    )
    """Compute of the first runs of a serverless task; afterwards Snowflake chooses."""
    schedule: str | None = prop(
        "SCHEDULE", show="schedule", codec=_Schedule(), check=schedules.parse, min_length=1, max_length=256
    )
    """When it runs: an interval such as 10 MINUTES, or USING CRON 0 9 * * MON Europe/Berlin."""
    config: str | None = prop(
        "CONFIG", show="config", codec=_Config(), check=_json_object, secret=True, min_length=1, max_length=100_000
    )
    """A JSON object that the tasks of the graph can read. Of a root only."""
    allow_overlapping_execution: bool | None = prop("ALLOW_OVERLAPPING_EXECUTION", show="allow_overlapping_execution")
    """The older form of overlapPolicy: true is ALLOW_CHILD_OVERLAP. Of a root only."""
    overlap_policy: Literal["NO_OVERLAP", "ALLOW_CHILD_OVERLAP", "ALLOW_ALL_OVERLAP"] | None = prop(
        "OVERLAP_POLICY", show="overlap_policy", codec=Word(quoted=False), reset=set_to("NO_OVERLAP")
    )
    """Whether runs of the graph may overlap. Of a root only."""
    session_parameters: dict[str, str] | None = parameters(_PARAMETERS, level="TASK", separator=", ")
    """Parameters of the session that it runs in, by name in upper case."""
    user_task_timeout_ms: int | None = parameter("USER_TASK_TIMEOUT_MS", ge=0, le=604_800_000)
    """Milliseconds after which a run is stopped; 0 means never."""
    suspend_task_after_num_failures: int | None = parameter("SUSPEND_TASK_AFTER_NUM_FAILURES", ge=0)
    """Failed runs in a row after which Snowflake suspends it; 0 turns that off. Takes effect on a root."""
    error_integration_name: Name | None = prop(
        "ERROR_INTEGRATION", show="error_integration", codec=Identifier(absent="null")
    )
    """Notification integration that is told of failures."""
    error_integration_ref: Reference | None = ref("QueueNotificationIntegration", instead_of="error_integration_name")
    """The notification integration, in place of its name."""
    success_integration_name: Name | None = prop(
        "SUCCESS_INTEGRATION", show="success_integration", codec=Identifier(absent="null")
    )
    """Notification integration that is told of successes."""
    success_integration_ref: Reference | None = ref(
        "QueueNotificationIntegration", instead_of="success_integration_name"
    )
    """The notification integration, in place of its name."""
    log_level: LogLevel | None = parameter("LOG_LEVEL")
    """Severity from which log messages are kept."""
    log_event_level: LogLevel | None = parameter("LOG_EVENT_LEVEL")
    """Severity from which events are logged."""
    trace_level: Literal["ALWAYS", "ON_EVENT", "PROPAGATE", "OFF"] | None = parameter("TRACE_LEVEL")
    """When spans are traced."""
    comment: str | None = comment()
    """A note for people."""
    finalize_name: Name | None = finalized_root()
    """The root task after whose graph it runs, whatever came of that."""
    finalize_ref: Reference | None = ref("Task", instead_of="finalize_name", beside=True)
    """The root Task, in place of its name. It lies in the same schema."""
    task_auto_retry_attempts: int | None = parameter("TASK_AUTO_RETRY_ATTEMPTS", ge=0, le=30)
    """How often a graph that failed is tried again by itself. Of a root only."""
    user_task_minimum_trigger_interval_in_seconds: int | None = parameter(
        "USER_TASK_MINIMUM_TRIGGER_INTERVAL_IN_SECONDS", ge=10, le=604_800
    )
    """Seconds between runs of a task that a stream triggers."""
    target_completion_interval: str | None = prop(
        "TARGET_COMPLETION_INTERVAL",
        show="target_completion_interval",
        codec=_Schedule(),
        check=schedules.parse,
        min_length=1,
        max_length=64,
    )
    """Within which a serverless task should be done, such as 10 MINUTES."""
    serverless_task_min_statement_size: Size | None = parameter("SERVERLESS_TASK_MIN_STATEMENT_SIZE", codec=SIZE)
    """Least compute of a serverless task."""
    serverless_task_max_statement_size: Size | None = parameter("SERVERLESS_TASK_MAX_STATEMENT_SIZE", codec=SIZE)
    """Most compute of a serverless task."""
    after: list[Predecessor] | None = predecessors()
    """The tasks that it runs after, once all of them have succeeded."""
    execute_as_user: Name | None = custom(
        alter=_execute_as,
        observe=column("execute_as_user"),
        source="show.execute_as_user",
        codec=Identifier(absent="null"),
        clause=lambda user: sql.sql("EXECUTE AS USER {user}", user=sql.identifier(user)),
    )
    """User on whose behalf it runs, who must have granted that to the task's owner. By default a user of the system."""
    execute_as_user_ref: Reference | None = ref("User", instead_of="execute_as_user")
    """The User, in place of its name."""
    when: str | None = texts.text(
        "WHEN",
        check=bodies.expression,
        observe=column("condition"),
        source="show.condition",
        alter="MODIFY WHEN",
        remove="REMOVE WHEN",
        max_length=100_000,
    )
    """Condition of a run, such as SYSTEM$STREAM_HAS_DATA('DB.SCHEMA.STREAM')."""
    sql_statement: str = texts.text(
        "AS",
        check=bodies.statement,
        observe=column("definition"),
        source="show.definition",
        alter="MODIFY AS",
        details=(GRAPH,),
        required=True,
        secret=True,
    )
    """The statement that it runs, or one block BEGIN ... END."""
    suspend: bool | None = suspended()
    """Whether it is suspended. A new task is, and runs only once this is false. While a task of its graph is changed, a
    root that runs is suspended for a moment."""


_ROOT_ONLY = ("config", "allowOverlappingExecution", "overlapPolicy", "taskAutoRetryAttempts")
_IS_ROOT = "!has(self.after) && !has(self.finalizeName) && !has(self.finalizeRef)"


def _faults(spec: TaskSpec) -> tuple[str, ...]:
    given = (spec.session_parameters or {}).get("AUTOCOMMIT", "true")
    return () if given.lower() == "true" else ("spec.sessionParameters: AUTOCOMMIT of a task can only be true",)


def _advice(spec: TaskSpec) -> tuple[str, ...]:
    child = bool(spec.after or spec.finalize_name or spec.finalize_ref)
    found = []
    if child and spec.suspend_task_after_num_failures is not None:
        found.append("suspendTaskAfterNumFailures takes effect on the root of a graph only")
    if spec.suspend is False and not (child or spec.schedule or spec.when):
        found.append("the task has neither schedule, when nor after: it runs only by EXECUTE TASK")
    warehouse = spec.warehouse_name
    if warehouse and warehouse != warehouse.upper():
        found.append(f"warehouseName {warehouse!r}: tasks can't use a warehouse whose name has lower-case letters")
    return tuple(found)


TASK = Kind(
    spec=TaskSpec,
    domain=Domain.SCHEMA,
    object_type="TASK",
    level=Level.SCHEMA,
    holds_data=False,
    parameters=True,
    privileges={
        "EXECUTE TASK": "suspend",
        "EXECUTE MANAGED TASK": "suspend",
        "MODIFY LOG LEVEL": "logLevel, logEventLevel",
        "MODIFY TRACE LEVEL": "traceLevel",
    },
    details={GRAPH: neighbours},
    surroundings=GRAPH,
    volatile=frozenset({"last_committed_on", "last_suspended_on", "last_suspended_reason", "state", "budget"}),
    rules=(
        *IN_SCHEMA_RULES,
        exclusive("warehouseName", "warehouseRef", "userTaskManagedInitialWarehouseSize"),
        exclusive("finalizeName", "finalizeRef"),
        exclusive("errorIntegrationName", "errorIntegrationRef"),
        exclusive("successIntegrationName", "successIntegrationRef"),
        exclusive("executeAsUser", "executeAsUserRef"),
        exclusive("allowOverlappingExecution", "overlapPolicy"),
        known("sessionParameters", _PARAMETERS),
        only_when(("schedule",), _IS_ROOT, "only a root has a schedule: leave it out, or after and finalize"),
        only_when(
            ("after",), "!has(self.finalizeName) && !has(self.finalizeRef)", "a finalizer runs after no other task"
        ),
        only_when(_ROOT_ONLY, _IS_ROOT, f"{', '.join(_ROOT_ONLY)}: of the root of a graph only"),
        only_when(
            ("serverlessTaskMinStatementSize", "serverlessTaskMaxStatementSize", "targetCompletionInterval"),
            "!has(self.warehouseName) && !has(self.warehouseRef)",
            "sizes and completion interval are of tasks without a warehouse",
        ),
        Rule(
            "!has(self.after) || self.after.all(each, !has(each.name) || self.after.exists_one(other, "
            "has(other.name) && other.name == each.name))",
            "a task runs after another one once: after names one twice",
            "after",
        ),
        Rule(
            "!has(self.after) || self.after.all(each, !has(each.name) || each.name != self.name)",
            "a task can't run after itself",
            "after",
        ),
        Rule(
            "!has(self.finalizeName) || self.finalizeName != self.name", "a task can't finalize itself", "finalizeName"
        ),
    ),
    around_alter=around_alter,
    around_drop=around_drop,
    resume=resume,
    faults=_faults,
    advice=_advice,
)
