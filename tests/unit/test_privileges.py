"""Which privileges can be granted on what."""

from __future__ import annotations

import pytest

from freehold.privileges import InvalidPrivilege, advice, check

GRANTABLE = [
    ("SELECT", "TABLE"), ("select", "table"), ("INSERT", "VIEW"), ("SELECT", "DYNAMIC TABLE"), ("READ", "STAGE"),
    ("USAGE", "WAREHOUSE"), ("OPERATE", "TASK"), ("MANAGE GRANTS", "ACCOUNT"), ("MANAGE  GRANTS", "SCHEMA"),
    ("CREATE TABLE", "SCHEMA"), ("CREATE SCHEMA", "DATABASE"), ("CREATE DATABASE", "ACCOUNT"), ("APPLY", "TAG"),
    ("CREATE SNOWFLAKE.ML.FORECAST", "SCHEMA"), ("ALL PRIVILEGES", "SHARE"), ("ALL", "TABLE"),
    ("APPLY", "ROW ACCESS POLICY"), ("APPLY MASKING POLICY", "ACCOUNT"), ("USAGE", "PROCEDURE"),
    ("REFERENCE_USAGE", "DATABASE"), ("TELEPORT", "TABLE"), ("SELECT", "SPACESHIP"),
]  # fmt: skip
NOT_GRANTABLE = [
    ("SELECT", "WAREHOUSE"), ("USAGE", "TABLE"), ("SELECT", "SCHEMA"), ("INSERT", "STREAM"), ("OPERATE", "DATABASE"),
    ("CREATE TABLE", "TABLE"), ("MONITOR USAGE", "WAREHOUSE"), ("APPLY MASKING POLICY", "MASKING POLICY"),
    ("USAGE", "SHARE"), ("WRITE", "FILE FORMAT"), ("OWNERSHIP", "TABLE"), ("ownership", "SPACESHIP"),
]  # fmt: skip


@pytest.mark.parametrize(("privilege", "object_type"), GRANTABLE)
def test_a_privilege_that_may_be_granted_passes(privilege: str, object_type: str) -> None:
    check(privilege, object_type)


@pytest.mark.parametrize(("privilege", "object_type"), NOT_GRANTABLE)
def test_a_privilege_of_other_objects_is_refused(privilege: str, object_type: str) -> None:
    with pytest.raises(InvalidPrivilege):
        check(privilege, object_type)


def test_a_refusal_names_what_could_be_granted() -> None:
    with pytest.raises(InvalidPrivilege, match=r"SELECT can't be granted on TASK: .* APPLYBUDGET, MONITOR, OPERATE"):
        check("SELECT", "TASK")


def test_only_what_this_release_has_never_heard_of_is_wondered_about() -> None:
    assert "TELEPORT on TABLE" in advice("teleport", "table")[0]
    assert not any(advice(privilege, "SCHEMA") for privilege in ("USAGE", "CREATE SPACESHIP", "ALL"))
