"""Which privileges can be granted on which type of object.

Rules: "Access control privileges" and "GRANT <privileges>" in Snowflake's SQL reference. Privileges are added all the
time: one that isn't known may be newer than this release, but one that is known can't be granted on just anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_POLICIES = (
    "AGGREGATION", "AUTHENTICATION", "JOIN", "MASKING", "PASSWORD", "PRIVACY", "PROJECTION", "ROW ACCESS", "SESSION",
    "STORAGE LIFECYCLE",
)  # fmt: skip
_ON_TABLES = (
    "APPLYBUDGET", "DELETE", "DELETE ERROR TABLE", "EVOLVE SCHEMA", "INSERT", "REBUILD", "REFERENCES", "SELECT",
    "SELECT ERROR TABLE", "TRUNCATE", "UPDATE",
)  # fmt: skip

_GRANTABLE: Mapping[str, Iterable[str]] = {
    "ACCOUNT": (
        "APPLY PACKAGES POLICY", "APPLY TAG", "ATTACH POLICY", "AUDIT", "BIND SERVICE ENDPOINT", "CANCEL QUERY",
        "EXECUTE ALERT", "EXECUTE DATA METRIC FUNCTION", "EXECUTE MANAGED ALERT", "EXECUTE MANAGED TASK",
        "EXECUTE TASK", "IMPERSONATE", "IMPORT LISTING", "IMPORT SHARE", "MANAGE ACCOUNT SUPPORT CASES",
        "MANAGE ACCOUNTS", "MANAGE CALLER GRANTS", "MANAGE EVENT SHARING", "MANAGE GRANTS",
        "MANAGE LISTING AUTO FULFILLMENT", "MANAGE ORGANIZATION SUPPORT CASES", "MANAGE POLARIS CONNECTIONS",
        "MANAGE SHARE TARGET", "MANAGE USER SUPPORT CASES", "MANAGE VISIBILITY", "MANAGE WAREHOUSES",
        "MODIFY LOG LEVEL", "MODIFY METRIC LEVEL", "MODIFY SESSION LOG LEVEL", "MODIFY SESSION TRACE LEVEL",
        "MODIFY TRACE LEVEL", "MONITOR", "MONITOR EXECUTION", "MONITOR ROLE", "MONITOR SECURITY", "MONITOR USAGE",
        "MONITOR USER", "OVERRIDE SHARE RESTRICTIONS", "PURCHASE DATA EXCHANGE LISTING", "READ SESSION", "REPLICATE",
        "RESOLVE ALL", "VIEW LINEAGE", *(f"APPLY {each} POLICY" for each in _POLICIES),
    ),
    "ALERT": ("MONITOR", "OPERATE"),
    "COMPUTE POOL": ("MODIFY", "MONITOR", "OPERATE", "USAGE"),
    "CONNECTION": ("FAILOVER",),
    "CORTEX SEARCH SERVICE": ("MONITOR", "OPERATE", "USAGE"),
    "DATABASE": (
        "APPLYBUDGET", "EXECUTE AUTO CLASSIFICATION", "IMPORTED PRIVILEGES", "MANAGE GRANTS", "MODIFY", "MONITOR",
        "REFERENCE_USAGE", "USAGE",
    ),
    "DYNAMIC TABLE": ("MONITOR", "OPERATE", "SELECT"),
    "EVENT TABLE": ("APPLYBUDGET", "DELETE", "INGEST TELEMETRY", "INSERT", "REFERENCES", "SELECT", "TRUNCATE"),
    "EXTERNAL TABLE": ("REFERENCES", "SELECT"),
    "EXTERNAL VOLUME": ("USAGE",),
    "FAILOVER GROUP": ("FAILOVER", "MODIFY", "MONITOR", "REPLICATE"),
    "FILE FORMAT": ("USAGE",),
    "FUNCTION": ("MONITOR", "USAGE"),
    "GIT REPOSITORY": ("READ", "WRITE"),
    "HYBRID TABLE": _ON_TABLES,
    "ICEBERG TABLE": _ON_TABLES,
    "IMAGE REPOSITORY": ("READ", "WRITE"),
    "INTEGRATION": ("USAGE", "USE_ANY_ROLE"),
    "MATERIALIZED VIEW": _ON_TABLES,
    "MODEL": ("USAGE",),
    "NETWORK POLICY": ("USAGE",),
    "NETWORK RULE": ("USAGE",),
    "NOTEBOOK": ("USAGE",),
    "PACKAGES POLICY": ("USAGE",),
    "PIPE": ("APPLYBUDGET", "MONITOR", "OPERATE"),
    "PROCEDURE": ("USAGE",),
    "REPLICATION GROUP": ("MODIFY", "MONITOR", "REPLICATE"),
    "RESOURCE MONITOR": ("MODIFY", "MONITOR"),
    "SCHEMA": (
        "ADD SEARCH OPTIMIZATION", "APPLYBUDGET", "EXECUTE AUTO CLASSIFICATION", "MANAGE GRANTS", "MODIFY", "MONITOR",
        "USAGE",
    ),
    "SECRET": ("MODIFY", "READ", "USAGE"),
    "SEMANTIC VIEW": ("MONITOR", "REFERENCES", "SELECT"),
    "SEQUENCE": ("USAGE",),
    "SERVICE": ("DROP", "MONITOR", "OPERATE", "USAGE"),
    "SHARE": (),
    "STAGE": ("READ", "USAGE", "WRITE"),
    "STREAM": ("SELECT",),
    "STREAMLIT": ("EMBED", "USAGE"),
    "TABLE": _ON_TABLES,
    "TAG": ("APPLY", "APPLYBUDGET", "MODIFY", "MONITOR", "READ"),
    "TASK": ("APPLYBUDGET", "MONITOR", "OPERATE"),
    "USER": ("IMPERSONATE", "MODIFY", "MODIFY PROGRAMMATIC AUTHENTICATION METHODS", "MONITOR"),
    "VIEW": _ON_TABLES,
    "WAREHOUSE": ("APPLYBUDGET", "MANAGE ATTACHED TABLES", "MODIFY", "MONITOR", "OPERATE", "USAGE"),
    **{f"{each} POLICY": ("APPLY",) for each in _POLICIES},
}  # fmt: skip
"""Privileges by type of object, without CREATE. On views those of tables are accepted as well, and do nothing."""

_ACCOUNTADMINS = frozenset({
    "BIND SERVICE ENDPOINT", "CREATE ACCOUNT", "CREATE API INTEGRATION", "CREATE APPLICATION",
    "CREATE APPLICATION PACKAGE", "CREATE COMPUTE POOL", "CREATE DATA CONNECTIVITY PROXY", "CREATE DATABASE",
    "CREATE FAILOVER GROUP", "CREATE INTEGRATION", "CREATE LISTING", "CREATE NOTIFICATION INTEGRATION",
    "CREATE PREVIEW APPLICATION", "CREATE REPLICATION GROUP", "CREATE SHARE", "CREATE STORAGE INTEGRATION",
    "CREATE WAREHOUSE", "EXECUTE ALERT", "EXECUTE AUTO CLASSIFICATION", "EXECUTE MANAGED TASK", "EXECUTE TASK",
    "IMPORT ORGANIZATION USER GROUPS", "IMPORT SHARE", "MANAGE LISTING AUTO FULFILLMENT", "MANAGE WAREHOUSES",
    "MONITOR EXECUTION", "MONITOR USAGE", "OVERRIDE SHARE RESTRICTIONS",
})  # fmt: skip
"""Privileges on the account that MANAGE GRANTS doesn't let a role grant: "must be granted by the ACCOUNTADMIN role"."""

_KNOWN = frozenset(privilege for privileges in _GRANTABLE.values() for privilege in privileges)
_ANYWHERE = frozenset({"ALL", "ALL PRIVILEGES"})
_CONTAINERS = frozenset({"ACCOUNT", "DATABASE", "SCHEMA"})


class InvalidPrivilege(ValueError):
    """A privilege that can't be granted on a type of object."""


def check(privilege: str, object_type: str) -> None:
    """Refuse a privilege that can't be granted on an object of this type.

    Args:
        privilege: its words, in any case.
        object_type: SQL words of the type, in any case.

    Raises:
        InvalidPrivilege: it can't.
    """
    granted, securable = _words(privilege), _words(object_type)
    if granted == "OWNERSHIP":
        raise InvalidPrivilege("OWNERSHIP is transferred and not granted: declare who owns the object instead")
    possible = _GRANTABLE.get(securable)
    if possible is None or granted in _ANYWHERE or granted in possible:
        return
    if granted.startswith("CREATE "):
        if securable not in _CONTAINERS:
            raise InvalidPrivilege(f"{granted} is granted on an account, a database or a schema, not on {securable}")
    elif granted in _KNOWN:
        can = f"what can be granted on it is {', '.join(sorted(possible))}" if possible else "nothing can"
        raise InvalidPrivilege(f"{granted} can't be granted on {securable}: {can}")


def only_accountadmin_grants(privilege: str, object_type: str) -> bool:
    """Whether a privilege on an object of this type is one that only ACCOUNTADMIN can grant; the arguments are those of
    `check`."""
    return _words(object_type) == "ACCOUNT" and _words(privilege) in _ACCOUNTADMINS


def advice(privilege: str, object_type: str) -> tuple[str, ...]:
    """What to know about a privilege that passes `check`, for people.

    Args:
        privilege: its words, in any case.
        object_type: SQL words of the type, in any case.
    """
    granted = _words(privilege)
    if granted in _KNOWN | _ANYWHERE or granted.startswith("CREATE "):
        return ()
    return (f"{granted} on {_words(object_type)} isn't a privilege that this release knows: is it spelt right?",)


def _words(text: str) -> str:
    return " ".join(text.upper().split())
