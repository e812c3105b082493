"""What databases and schemas have in common: the parameters that objects inside inherit."""

from __future__ import annotations

from functools import partial
from typing import Literal

from freehold import sql
from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.content import Content
from freehold.kinds.fields import parameter, ref
from freehold.kinds.property import Target
from freehold.kinds.resource import Rule, exclusive
from freehold.kinds.sizes import SIZE, Size
from freehold.kinds.values import Collation, Identifier, IdentifierText, Word
from freehold.sql import Sql

LogLevel = Literal["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"]


class ContainerSpec(SnowflakeSpec):
    """Parameters of a database or schema. A parameter that isn't set is inherited and left alone."""

    data_retention_time_in_days: int | None = parameter("DATA_RETENTION_TIME_IN_DAYS", ge=0, le=90)
    """Days that Time Travel reaches back: up to 90; up to 1 on Standard edition and for transient objects."""
    max_data_extension_time_in_days: int | None = parameter("MAX_DATA_EXTENSION_TIME_IN_DAYS", ge=0, le=90)
    """Days by which retention may be extended so that streams don't become stale."""
    external_volume: Name | None = parameter("EXTERNAL_VOLUME", codec=Identifier())
    """Default external volume of Iceberg tables."""
    external_volume_ref: Reference | None = ref("ExternalVolume", instead_of="external_volume")
    """ExternalVolume to use as default, in place of its name."""
    catalog: Name | None = parameter("CATALOG", codec=Identifier())
    """Default catalog integration of Iceberg tables; the built-in one is SNOWFLAKE."""
    replace_invalid_characters: bool | None = parameter("REPLACE_INVALID_CHARACTERS")
    """Whether invalid UTF-8 in Iceberg tables of an external catalog is replaced instead of refused."""
    default_ddl_collation: str | None = parameter(
        "DEFAULT_DDL_COLLATION", codec=Collation(), alias="defaultDDLCollation", max_length=256
    )
    """Collation of new columns. An empty text pins "no collation" against an inherited one."""
    default_notebook_compute_pool_cpu: Name | None = parameter(
        "DEFAULT_NOTEBOOK_COMPUTE_POOL_CPU", codec=IdentifierText(), alias="defaultNotebookComputePoolCPU"
    )
    """Compute pool of CPU notebooks."""
    default_notebook_compute_pool_gpu: Name | None = parameter(
        "DEFAULT_NOTEBOOK_COMPUTE_POOL_GPU", codec=IdentifierText(), alias="defaultNotebookComputePoolGPU"
    )
    """Compute pool of GPU notebooks."""
    storage_serialization_policy: Literal["COMPATIBLE", "OPTIMIZED"] | None = parameter(
        "STORAGE_SERIALIZATION_POLICY", codec=Word(quoted=False)
    )
    """Encoding of Iceberg data files."""
    log_level: LogLevel | None = parameter("LOG_LEVEL")
    """Severity from which log messages are kept. Takes effect only with an event table."""
    log_event_level: LogLevel | None = parameter("LOG_EVENT_LEVEL")
    """Severity from which events are logged."""
    metric_level: Literal["ALL", "NONE"] | None = parameter("METRIC_LEVEL", create=False)
    """Whether metrics are collected."""
    trace_level: Literal["ALWAYS", "ON_EVENT", "PROPAGATE", "OFF"] | None = parameter("TRACE_LEVEL")
    """When spans are traced. Takes effect only with an event table."""
    suspend_task_after_num_failures: int | None = parameter("SUSPEND_TASK_AFTER_NUM_FAILURES", ge=0)
    """Consecutive failures after which a task is suspended; 0 turns that off."""
    task_auto_retry_attempts: int | None = parameter("TASK_AUTO_RETRY_ATTEMPTS", ge=0, le=30)
    """How often a task graph is retried by itself."""
    user_task_managed_initial_warehouse_size: Size | None = parameter(
        "USER_TASK_MANAGED_INITIAL_WAREHOUSE_SIZE", codec=Word(quoted=False, spellings=SIZE.spellings)
    )
    """Compute size of a serverless task's first runs."""
    user_task_timeout_ms: int | None = parameter("USER_TASK_TIMEOUT_MS", ge=0, le=604_800_000)
    """Milliseconds after which a task's run is stopped."""
    user_task_minimum_trigger_interval_in_seconds: int | None = parameter(
        "USER_TASK_MINIMUM_TRIGGER_INTERVAL_IN_SECONDS", ge=10
    )
    """Seconds between the runs of a triggered task."""
    quoted_identifiers_ignore_case: bool | None = parameter("QUOTED_IDENTIFIERS_IGNORE_CASE")
    """Whether users' quoted identifiers are folded to upper case. Freehold's own sessions never fold."""
    enable_console_output: bool | None = parameter("ENABLE_CONSOLE_OUTPUT")
    """Whether procedures may write to the console."""


TRANSIENT_RETENTION = Rule(
    "!(has(self.transient) && self.transient) || !has(self.dataRetentionTimeInDays) || "
    "self.dataRetentionTimeInDays <= 1",
    "a transient object keeps at most 1 day of history: set dataRetentionTimeInDays to 0 or 1",
    "dataRetentionTimeInDays",
)

CONTAINER_RULES: tuple[Rule, ...] = (exclusive("externalVolume", "externalVolumeRef"), TRANSIENT_RETENTION)


def telemetry_advice(spec: ContainerSpec) -> tuple[str, ...]:
    """What to know about levels that do nothing by themselves."""
    if spec.log_level in (None, "OFF") and spec.trace_level in (None, "OFF"):
        return ()
    return ("logLevel and traceLevel take effect only in an account or database with an event table",)


_INSIDE = (
    "OBJECTS", "SEMANTIC VIEWS", "STAGES", "FILE FORMATS", "SEQUENCES", "STREAMS", "TASKS", "PIPES", "ALERTS",
    "USER FUNCTIONS", "USER PROCEDURES", "NOTEBOOKS", "STREAMLITS", "MODELS", "SERVICES", "CORTEX SEARCH SERVICES",
    "IMAGE REPOSITORIES", "GIT REPOSITORIES", "SECRETS", "NETWORK RULES", "TAGS", "MASKING POLICIES",
    "ROW ACCESS POLICIES", "AGGREGATION POLICIES", "PROJECTION POLICIES", "AUTHENTICATION POLICIES",
    "PASSWORD POLICIES", "SESSION POLICIES",
)  # fmt: skip
"""What a schema may hold, in the words of SHOW; tables and views of most sorts are OBJECTS."""


CONTAINER_PRIVILEGES = {
    "MODIFY LOG LEVEL": "logLevel, logEventLevel",
    "MODIFY METRIC LEVEL": "metricLevel",
    "MODIFY TRACE LEVEL": "traceLevel",
}
"""Privileges on the account that parameters of databases and schemas take, and those of what lies in them."""


def content_of(container: Literal["DATABASE", "SCHEMA"]) -> tuple[Content, ...]:
    """What a DROP of the container would take along. INFORMATION_SCHEMA is nobody's content."""
    return tuple(
        Content(partial(_show, plural, container), counts=lambda row: row.get("schema_name") != "INFORMATION_SCHEMA")
        for plural in _INSIDE
    )


def _show(plural: str, container: str, target: Target) -> Sql:
    return sql.sql(
        "SHOW {plural} IN {container} {name}",
        plural=sql.words(plural),
        container=sql.words(container),
        name=target.name,
    )
