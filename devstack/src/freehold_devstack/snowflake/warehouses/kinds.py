"""The types of warehouses, and what each has and takes."""

from collections.abc import Mapping

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar

STANDARD, SNOWPARK, ADAPTIVE, INTERACTIVE = "STANDARD", "SNOWPARK-OPTIMIZED", "ADAPTIVE", "INTERACTIVE"

ADAPTIVE_STATES = ("ENABLED", "DISABLED")
WORKING = ("STARTED", "ENABLED")
"""The states in which a warehouse takes statements."""

GENERATIONS = ("STANDARD_GEN_1", "STANDARD_GEN_2")
TIMEOUT = "STATEMENT_TIMEOUT_IN_SECONDS"

ATTACH = "MANAGE ATTACHED TABLES"

MULTI_CLUSTER = "MULTI_CLUSTER_WAREHOUSES"
ACCELERATION = "QUERY_ACCELERATION"

_RESUMABLE = ("WAREHOUSE_SIZE", "MAX_CLUSTER_COUNT", "MIN_CLUSTER_COUNT", "AUTO_SUSPEND", "AUTO_RESUME")
TABLES = "TABLES"
_STANDARD_ONLY = ("SCALING_POLICY", "ENABLE_QUERY_ACCELERATION", "QUERY_ACCELERATION_MAX_SCALE_FACTOR")
_ADAPTIVE_ONLY = ("MAX_QUERY_PERFORMANCE_LEVEL", "QUERY_THROUGHPUT_MULTIPLIER")
_INTERACTIVE_ONLY = ("FALLBACK_WAREHOUSE", TABLES)

FOREIGN: Mapping[str, frozenset[str]] = {
    STANDARD: frozenset({"RESOURCE_CONSTRAINT", *_ADAPTIVE_ONLY, *_INTERACTIVE_ONLY}),
    SNOWPARK: frozenset({"GENERATION", "ENABLE_QUERY_ACCELERATION", *_ADAPTIVE_ONLY, *_INTERACTIVE_ONLY}),
    ADAPTIVE: frozenset(
        {*_RESUMABLE, *_STANDARD_ONLY, "INITIALLY_SUSPENDED", "RESOURCE_CONSTRAINT", "GENERATION"}
        | {"MAX_CONCURRENCY_LEVEL", *_INTERACTIVE_ONLY}
    ),
    INTERACTIVE: frozenset({*_STANDARD_ONLY, "RESOURCE_CONSTRAINT", "GENERATION", *_ADAPTIVE_ONLY}),
}
"""Settings that a warehouse of each type does not take."""

CONSTRAINT_SIZES: Mapping[str, tuple[str, str]] = {
    "MEMORY_1X": ("X-Small", "4X-Large"),
    "MEMORY_1X_x86": ("X-Small", "4X-Large"),
    "MEMORY_16X": ("Medium", "6X-Large"),
    "MEMORY_16X_x86": ("Medium", "4X-Large"),
    "MEMORY_64X": ("Large", "4X-Large"),
    "MEMORY_64X_x86": ("Large", "4X-Large"),
}
"""The smallest and the largest size of each resource constraint."""

MAX_CLUSTERS: Mapping[str, int] = {
    **dict.fromkeys(("X-Small", "Small", "Medium"), 300),
    "Large": 160,
    "X-Large": 80,
    "2X-Large": 40,
    "3X-Large": 20,
    **dict.fromkeys(("4X-Large", "5X-Large", "6X-Large"), 10),
}
"""The most clusters of each size: https://docs.snowflake.com/en/user-guide/warehouses-multicluster"""

# https://docs.snowflake.com/en/sql-reference/sql/create-interactive-warehouse
INTERACTIVE_MAX_CLUSTERS = 10
INTERACTIVE_MIN_AUTO_SUSPEND = 86_400
INTERACTIVE_MAX_TIMEOUT = 5
INTERACTIVE_DEFAULTS: Mapping[str, Scalar] = {"AUTO_SUSPEND": None, "AUTO_RESUME": False}

# https://docs.snowflake.com/en/user-guide/warehouses-adaptive
LEVEL, MULTIPLIER = "MAX_QUERY_PERFORMANCE_LEVEL", "QUERY_THROUGHPUT_MULTIPLIER"
ADAPTIVE_LEVEL, ADAPTIVE_MULTIPLIER = "X-Large", 2
ACCELERATED_FACTOR = 2
"""The scale factor of warehouses for which Snowflake itself turns query acceleration on."""

REGAINED: Mapping[str, Scalar] = {
    "MAX_CLUSTER_COUNT": 1,
    "MIN_CLUSTER_COUNT": 1,
    "SCALING_POLICY": "STANDARD",
    "AUTO_SUSPEND": 600,
    "AUTO_RESUME": True,
    "ENABLE_QUERY_ACCELERATION": False,
    "QUERY_ACCELERATION_MAX_SCALE_FACTOR": 8,
}
"""What a warehouse that was adaptive has again as a standard one."""

ABSENT: Mapping[str, Scalar] = {
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


def require_type(warehouse: CatalogObject, kind: str, clause: str) -> None:
    """Refuse with 999999 a clause that is for warehouses of another type."""
    if warehouse.properties["WAREHOUSE_TYPE"] != kind:
        raise errors.unnumbered(f"{clause} applies to {kind.lower()} warehouses only.")
