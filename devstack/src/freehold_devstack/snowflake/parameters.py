"""Parameters: what exists, its type and built-in default, and where a value in force comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import available_timezones

from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Scalar
from freehold_devstack.snowflake.values import SIZES, Boolean, Choice, Integer, Reference, ScalarType, Text, choice

_LOG_LEVELS = choice("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF")
_GEO_FORMATS = choice("GeoJSON", "WKT", "WKB", "EWKT", "EWKB")
TASK_SIZE = Choice({word: word for word in ("XSMALL", "SMALL", "MEDIUM", "LARGE", "XLARGE", "XXLARGE", "X2LARGE")})
"""The sizes that a serverless task can run in."""
_TIMESTAMP_FORMAT = "YYYY-MM-DD HH24:MI:SS.FF3 TZHTZM"


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        requires: Privilege on the account that setting it takes, besides the rights on the object.
        standard_high: Its upper bound on Standard edition, where that is lower.
        only_role: System role without which it can't be set.
    """

    name: str
    type: ScalarType
    default: Scalar
    description: str
    requires: str | None = None
    standard_high: int | None = None
    only_role: str | None = None


PARAMETERS: Mapping[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "DATA_RETENTION_TIME_IN_DAYS",
            Integer(0, 90),
            1,
            "days for which dropped and changed data is kept",
            standard_high=1,
        ),
        Parameter("MAX_DATA_EXTENSION_TIME_IN_DAYS", Integer(0, 90), 14, "maximum number of days to extend retention"),
        Parameter("EXTERNAL_VOLUME", Reference("EXTERNAL VOLUME"), "", "default external volume of Iceberg tables"),
        Parameter(
            "CATALOG", Reference("INTEGRATION", frozenset({"SNOWFLAKE"})), "", "default catalog of Iceberg tables"
        ),
        Parameter("REPLACE_INVALID_CHARACTERS", Boolean(), False, "replace invalid UTF-8 characters in Iceberg tables"),
        Parameter("DEFAULT_DDL_COLLATION", Text(), "", "collation used for all new columns"),
        Parameter(
            "DEFAULT_NOTEBOOK_COMPUTE_POOL_CPU",
            Reference("COMPUTE POOL", frozenset({"SYSTEM_COMPUTE_POOL_CPU", "SYSTEM_COMPUTE_POOL_GPU"})),
            "SYSTEM_COMPUTE_POOL_CPU",
            "preferred CPU compute pool for notebooks",
        ),
        Parameter(
            "DEFAULT_NOTEBOOK_COMPUTE_POOL_GPU",
            Reference("COMPUTE POOL", frozenset({"SYSTEM_COMPUTE_POOL_CPU", "SYSTEM_COMPUTE_POOL_GPU"})),
            "SYSTEM_COMPUTE_POOL_GPU",
            "preferred GPU compute pool for notebooks",
        ),
        Parameter(
            "STORAGE_SERIALIZATION_POLICY",
            choice("COMPATIBLE", "OPTIMIZED"),
            "OPTIMIZED",
            "storage serialization policy of Iceberg tables",
        ),
        Parameter("LOG_LEVEL", _LOG_LEVELS, "OFF", "level of log messages kept", requires="MODIFY LOG LEVEL"),
        Parameter("LOG_EVENT_LEVEL", _LOG_LEVELS, "OFF", "level of log events kept", requires="MODIFY LOG LEVEL"),
        Parameter(
            "METRIC_LEVEL", choice("ALL", "NONE"), "NONE", "metrics that are collected", requires="MODIFY METRIC LEVEL"
        ),
        Parameter(
            "TRACE_LEVEL",
            choice("ALWAYS", "ON_EVENT", "PROPAGATE", "OFF"),
            "OFF",
            "trace events that are collected",
            requires="MODIFY TRACE LEVEL",
        ),
        Parameter(
            "AUTO_EVENT_LOGGING",
            choice("LOGGING", "TRACING", "ALL", "OFF"),
            "OFF",
            "log messages and trace events that Snowflake Scripting adds",
        ),
        Parameter("SUSPEND_TASK_AFTER_NUM_FAILURES", Integer(0), 10, "failures in a row that suspend a task"),
        Parameter("TASK_AUTO_RETRY_ATTEMPTS", Integer(0, 30), 0, "automatic retries of a task graph"),
        Parameter(
            "USER_TASK_MANAGED_INITIAL_WAREHOUSE_SIZE", Choice(SIZES), "Medium", "first size of a serverless task"
        ),
        Parameter("USER_TASK_TIMEOUT_MS", Integer(0, 604_800_000), 3_600_000, "time limit of a task run"),
        Parameter(
            "USER_TASK_MINIMUM_TRIGGER_INTERVAL_IN_SECONDS", Integer(10, 604_800), 30, "shortest time between task runs"
        ),
        Parameter("QUOTED_IDENTIFIERS_IGNORE_CASE", Boolean(), False, "ignore the case of quoted identifiers"),
        Parameter("ENABLE_CONSOLE_OUTPUT", Boolean(), False, "write the standard output of procedures to the console"),
        Parameter("PIPE_EXECUTION_PAUSED", Boolean(), False, "pause all pipes"),
        Parameter("MAX_CONCURRENCY_LEVEL", Integer(1), 8, "concurrency level of a warehouse's cluster"),
        Parameter("STATEMENT_QUEUED_TIMEOUT_IN_SECONDS", Integer(0), 0, "time limit of a queued statement"),
        Parameter("STATEMENT_TIMEOUT_IN_SECONDS", Integer(0, 604_800), 172_800, "time limit of a running statement"),
        Parameter("FALLBACK_WAREHOUSE", Reference("WAREHOUSE"), "", "warehouse that takes what times out here"),
        Parameter(
            "NETWORK_POLICY",
            Reference("NETWORK POLICY", privilege=None),
            "",
            "Network policy assigned for the given target.",
        ),
        Parameter("ABORT_DETACHED_QUERY", Boolean(), False, "end queries whose client has gone"),
        Parameter("AUTOCOMMIT", Boolean(), True, "commit each statement"),
        Parameter("CLIENT_SESSION_KEEP_ALIVE", Boolean(), False, "keep the session alive while idle"),
        Parameter(
            "CLIENT_SESSION_KEEP_ALIVE_HEARTBEAT_FREQUENCY", Integer(900, 3600), 3600, "seconds between heartbeats"
        ),
        Parameter("CLIENT_TELEMETRY_ENABLED", Boolean(), False, "let the driver send telemetry"),
        Parameter("DATE_OUTPUT_FORMAT", Text(), "YYYY-MM-DD", "how dates are printed"),
        Parameter("LOCK_TIMEOUT", Integer(0), 43_200, "time limit of waiting for a lock"),
        Parameter("MULTI_STATEMENT_COUNT", Integer(0), 1, "number of statements in a request; 0 is any"),
        Parameter("QUERY_TAG", Text(max_length=2000), "", "text that marks the statements of the session"),
        Parameter("ROWS_PER_RESULTSET", Integer(0), 0, "maximum number of rows in a result"),
        Parameter("TIMESTAMP_LTZ_OUTPUT_FORMAT", Text(), "", "how TIMESTAMP_LTZ is printed"),
        Parameter("TIMESTAMP_NTZ_OUTPUT_FORMAT", Text(), "YYYY-MM-DD HH24:MI:SS.FF3", "how TIMESTAMP_NTZ is printed"),
        Parameter("TIMESTAMP_OUTPUT_FORMAT", Text(), _TIMESTAMP_FORMAT, "how timestamps are printed"),
        Parameter("TIMESTAMP_TZ_OUTPUT_FORMAT", Text(), "", "how TIMESTAMP_TZ is printed"),
        Parameter(
            "TIMEZONE", Text(check=lambda name: name in available_timezones()), "America/Los_Angeles", "time zone"
        ),
        Parameter("USE_CACHED_RESULT", Boolean(), True, "answer repeated queries from cached results"),
        Parameter("WEEK_START", Integer(0, 7), 0, "first day of the week"),
        Parameter("NOORDER_SEQUENCE_AS_DEFAULT", Boolean(), True, "new sequences are NOORDER"),
        Parameter("SERVERLESS_TASK_MAX_STATEMENT_SIZE", TASK_SIZE, "XXLARGE", "largest size of a serverless task"),
        Parameter("SERVERLESS_TASK_MIN_STATEMENT_SIZE", TASK_SIZE, "XSMALL", "smallest size of a serverless task"),
        Parameter("BINARY_INPUT_FORMAT", choice("HEX", "BASE64", "UTF-8", "UTF8"), "HEX", "how binary is read"),
        Parameter("BINARY_OUTPUT_FORMAT", choice("HEX", "BASE64"), "HEX", "how binary is printed"),
        Parameter("CLIENT_MEMORY_LIMIT", Integer(0), 1536, "megabytes that a client uses for results"),
        Parameter(
            "CLIENT_METADATA_REQUEST_USE_CONNECTION_CTX", Boolean(), False, "look for metadata in the current schema"
        ),
        Parameter("CLIENT_PREFETCH_THREADS", Integer(1, 10), 4, "threads of a client that fetch results"),
        Parameter("CLIENT_RESULT_CHUNK_SIZE", Integer(16, 160), 160, "megabytes of a part of a result"),
        Parameter("CLIENT_RESULT_COLUMN_CASE_INSENSITIVE", Boolean(), False, "ignore the case of result columns"),
        Parameter(
            "CLIENT_TIMESTAMP_TYPE_MAPPING",
            choice("TIMESTAMP_LTZ", "TIMESTAMP_NTZ"),
            "TIMESTAMP_LTZ",
            "type of a bound timestamp",
        ),
        Parameter("DATE_INPUT_FORMAT", Text(), "AUTO", "how dates are read"),
        Parameter(
            "ENABLE_UNLOAD_PHYSICAL_TYPE_OPTIMIZATION", Boolean(), True, "narrow the types of unloaded Parquet columns"
        ),
        Parameter("ERROR_ON_NONDETERMINISTIC_MERGE", Boolean(), True, "refuse a MERGE that has no one result"),
        Parameter("ERROR_ON_NONDETERMINISTIC_UPDATE", Boolean(), False, "refuse an UPDATE that has no one result"),
        Parameter("GEOGRAPHY_OUTPUT_FORMAT", _GEO_FORMATS, "GeoJSON", "how GEOGRAPHY is printed"),
        Parameter("GEOMETRY_OUTPUT_FORMAT", _GEO_FORMATS, "GeoJSON", "how GEOMETRY is printed"),
        Parameter("JDBC_TREAT_DECIMAL_AS_INT", Boolean(), True, "JDBC takes whole decimals for integers"),
        Parameter("JDBC_TREAT_TIMESTAMP_NTZ_AS_UTC", Boolean(), False, "JDBC takes TIMESTAMP_NTZ for UTC"),
        Parameter("JDBC_USE_SESSION_TIMEZONE", Boolean(), True, "JDBC uses the time zone of the session"),
        Parameter("JSON_INDENT", Integer(0, 16), 2, "blanks of indentation in printed JSON"),
        Parameter("JS_TREAT_INTEGER_AS_BIGINT", Boolean(), False, "Node.js takes integers for BigInt"),
        Parameter("ODBC_TREAT_DECIMAL_AS_INT", Boolean(), False, "ODBC takes whole decimals for integers"),
        Parameter("S3_STAGE_VPCE_DNS_NAME", Text(), "", "DNS name of the VPC endpoint of S3 stages"),
        Parameter("STRICT_JSON_OUTPUT", Boolean(), False, "print JSON by the standard alone"),
        Parameter("TIMESTAMP_DAY_IS_ALWAYS_24H", Boolean(), False, "a day that is added has 24 hours"),
        Parameter("TIMESTAMP_INPUT_FORMAT", Text(), "AUTO", "how timestamps are read"),
        Parameter(
            "TIMESTAMP_TYPE_MAPPING",
            choice("TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIMESTAMP_TZ"),
            "TIMESTAMP_NTZ",
            "what TIMESTAMP stands for",
        ),
        Parameter("TIME_INPUT_FORMAT", Text(), "AUTO", "how times are read"),
        Parameter("TIME_OUTPUT_FORMAT", Text(), "HH24:MI:SS", "how times are printed"),
        Parameter("TRANSACTION_ABORT_ON_ERROR", Boolean(), False, "a failed statement ends its transaction"),
        Parameter("TRANSACTION_DEFAULT_ISOLATION_LEVEL", choice("READ COMMITTED"), "READ COMMITTED", "isolation level"),
        Parameter("TWO_DIGIT_CENTURY_START", Integer(1900, 2100), 1970, "first year of two digits"),
        Parameter("UNSUPPORTED_DDL_ACTION", choice("IGNORE", "FAIL"), "IGNORE", "what becomes of unsupported DDL"),
        Parameter("WEEK_OF_YEAR_POLICY", Integer(0, 1), 0, "how the weeks of a year are counted"),
        Parameter("SEARCH_PATH", Text(), "$current, $public", "where unqualified names are looked for"),
        Parameter("SIMULATED_DATA_SHARING_CONSUMER", Text(), "", "consumer whose view of shared data is shown"),
        Parameter(
            "ENABLE_UNREDACTED_QUERY_SYNTAX_ERROR", Boolean(), False, "show queries that failed", requires="AUDIT"
        ),
        Parameter(
            "ENABLE_UNREDACTED_SECURE_OBJECT_ERROR", Boolean(), False, "show errors of secure objects", requires="AUDIT"
        ),
        Parameter(
            "PREVENT_UNLOAD_TO_INLINE_URL", Boolean(), False, "forbid unloading to URLs", only_role="ACCOUNTADMIN"
        ),
        Parameter(
            "PREVENT_UNLOAD_TO_INTERNAL_STAGES",
            Boolean(),
            False,
            "forbid unloading to internal stages",
            only_role="ACCOUNTADMIN",
        ),
        Parameter("ALLOW_ID_TOKEN", Boolean(), False, "let clients keep tokens of browser log-ins"),
        Parameter("CLIENT_ENCRYPTION_KEY_SIZE", Choice({"128": "128", "256": "256"}), "128", "bits of clients' keys"),
        Parameter("ENFORCE_NETWORK_RULES_FOR_INTERNAL_STAGES", Boolean(), False, "network policies govern stages"),
        Parameter("PERIODIC_DATA_REKEYING", Boolean(), False, "encrypt old data anew every year"),
        Parameter("SSO_LOGIN_PAGE", Boolean(), False, "redirect log-ins to the identity provider"),
        Parameter("DISABLE_USER_PRIVILEGE_GRANTS", Boolean(), False, "refuse to grant privileges to users"),
    )
}

SESSION_PARAMETERS = (
    "ABORT_DETACHED_QUERY",
    "AUTOCOMMIT",
    "CLIENT_SESSION_KEEP_ALIVE",
    "CLIENT_SESSION_KEEP_ALIVE_HEARTBEAT_FREQUENCY",
    "CLIENT_TELEMETRY_ENABLED",
    "DATE_OUTPUT_FORMAT",
    "ENABLE_CONSOLE_OUTPUT",
    "LOCK_TIMEOUT",
    "LOG_LEVEL",
    "METRIC_LEVEL",
    "MULTI_STATEMENT_COUNT",
    "NOORDER_SEQUENCE_AS_DEFAULT",
    "QUERY_TAG",
    "QUOTED_IDENTIFIERS_IGNORE_CASE",
    "ROWS_PER_RESULTSET",
    "STATEMENT_QUEUED_TIMEOUT_IN_SECONDS",
    "STATEMENT_TIMEOUT_IN_SECONDS",
    "TIMESTAMP_LTZ_OUTPUT_FORMAT",
    "TIMESTAMP_NTZ_OUTPUT_FORMAT",
    "TIMESTAMP_OUTPUT_FORMAT",
    "TIMESTAMP_TZ_OUTPUT_FORMAT",
    "TIMEZONE",
    "TRACE_LEVEL",
    "USE_CACHED_RESULT",
    "WEEK_START",
)
"""What ALTER SESSION and log-ins may set."""

STORED_SESSION_PARAMETERS = (
    "BINARY_INPUT_FORMAT",
    "BINARY_OUTPUT_FORMAT",
    "CLIENT_MEMORY_LIMIT",
    "CLIENT_METADATA_REQUEST_USE_CONNECTION_CTX",
    "CLIENT_PREFETCH_THREADS",
    "CLIENT_RESULT_CHUNK_SIZE",
    "CLIENT_RESULT_COLUMN_CASE_INSENSITIVE",
    "CLIENT_TIMESTAMP_TYPE_MAPPING",
    "DATE_INPUT_FORMAT",
    "ENABLE_UNLOAD_PHYSICAL_TYPE_OPTIMIZATION",
    "ERROR_ON_NONDETERMINISTIC_MERGE",
    "ERROR_ON_NONDETERMINISTIC_UPDATE",
    "GEOGRAPHY_OUTPUT_FORMAT",
    "GEOMETRY_OUTPUT_FORMAT",
    "JDBC_TREAT_DECIMAL_AS_INT",
    "JDBC_TREAT_TIMESTAMP_NTZ_AS_UTC",
    "JDBC_USE_SESSION_TIMEZONE",
    "JSON_INDENT",
    "JS_TREAT_INTEGER_AS_BIGINT",
    "ODBC_TREAT_DECIMAL_AS_INT",
    "S3_STAGE_VPCE_DNS_NAME",
    "STRICT_JSON_OUTPUT",
    "TIMESTAMP_DAY_IS_ALWAYS_24H",
    "TIMESTAMP_INPUT_FORMAT",
    "TIMESTAMP_TYPE_MAPPING",
    "TIME_INPUT_FORMAT",
    "TIME_OUTPUT_FORMAT",
    "TRANSACTION_ABORT_ON_ERROR",
    "TRANSACTION_DEFAULT_ISOLATION_LEVEL",
    "TWO_DIGIT_CENTURY_START",
    "UNSUPPORTED_DDL_ACTION",
    "WEEK_OF_YEAR_POLICY",
)
"""Further session parameters, which users and tasks may hold; no session here would act by them, so none takes them."""

USER_PARAMETERS = (
    *SESSION_PARAMETERS,
    *STORED_SESSION_PARAMETERS,
    "ENABLE_UNREDACTED_QUERY_SYNTAX_ERROR",
    "ENABLE_UNREDACTED_SECURE_OBJECT_ERROR",
    "LOG_EVENT_LEVEL",
    "NETWORK_POLICY",
    "PREVENT_UNLOAD_TO_INLINE_URL",
    "PREVENT_UNLOAD_TO_INTERNAL_STAGES",
    "SEARCH_PATH",
    "SIMULATED_DATA_SHARING_CONSUMER",
)
"""What can be set on users."""

STORAGE_PARAMETERS = (
    "DATA_RETENTION_TIME_IN_DAYS",
    "MAX_DATA_EXTENSION_TIME_IN_DAYS",
    "EXTERNAL_VOLUME",
    "CATALOG",
    "REPLACE_INVALID_CHARACTERS",
    "DEFAULT_DDL_COLLATION",
    "DEFAULT_NOTEBOOK_COMPUTE_POOL_CPU",
    "DEFAULT_NOTEBOOK_COMPUTE_POOL_GPU",
    "STORAGE_SERIALIZATION_POLICY",
    "LOG_LEVEL",
    "LOG_EVENT_LEVEL",
    "METRIC_LEVEL",
    "TRACE_LEVEL",
    "SUSPEND_TASK_AFTER_NUM_FAILURES",
    "TASK_AUTO_RETRY_ATTEMPTS",
    "USER_TASK_MANAGED_INITIAL_WAREHOUSE_SIZE",
    "USER_TASK_TIMEOUT_MS",
    "USER_TASK_MINIMUM_TRIGGER_INTERVAL_IN_SECONDS",
    "SERVERLESS_TASK_MAX_STATEMENT_SIZE",
    "SERVERLESS_TASK_MIN_STATEMENT_SIZE",
    "QUOTED_IDENTIFIERS_IGNORE_CASE",
    "ENABLE_CONSOLE_OUTPUT",
)
"""What databases hand down to schemas."""


@dataclass(frozen=True)
class InForce:
    """A value and the kind of object that it is set on; the level of a built-in default is empty."""

    value: Scalar
    level: str


def in_force(catalog: Catalog, obj: CatalogObject, name: str) -> InForce:
    """The value of a parameter for an object: its own, else that of the nearest container, else the default."""
    for step in catalog.lineage(obj):
        if name in step.parameters:
            return InForce(step.parameters[name], step.kind)
    return InForce(PARAMETERS[name].default, "")
