"""How objects are kept as declared: by one statement where that is wanted, by another object where that is ordered."""

from __future__ import annotations

import re

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import DEADLINE, Tenant

WHOLE = {"managementPolicies": {"createOrAlter": True}}


def test_an_object_is_recreated_when_its_manifest_orders_that(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours"})
    tenant.ready("database", "db")
    before = tenant.endpoint.sequence
    spec = {"name": name, "comment": "ours", "transient": True}
    tenant.apply("Database", "db", spec=spec)
    (message,) = tenant.reaches("database", "db", "ImmutableField")
    assert not tenant.endpoint.statements(f'DROP .*"{name}"', since=before)
    (order,) = re.findall(r"freehold.dev/force-new: (\w+)", message)
    tenant.apply("Database", "db", spec=spec, annotations={"freehold.dev/force-new": order})
    tenant.ready("database", "db")
    sent = [each.text for each in tenant.endpoint.statements(f'(DROP|CREATE) .*"{name}"', since=before)]
    assert sent == [f'DROP DATABASE "{name}"', f"CREATE TRANSIENT DATABASE \"{name}\" COMMENT = 'ours'"]
    (claim,) = tenant.claims(name)
    assert claim["evidence"]["forceNew"] == order
    assert "intent" not in claim


def test_a_recreation_waits_for_what_is_declared_inside(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    tenant.ready("schema", "s")
    tenant.apply("Database", "db", spec={"name": name, "transient": True})
    (message,) = tenant.reaches("database", "db", "ImmutableField")
    (order,) = re.findall(r"freehold.dev/force-new: (\w+)", message)
    annotations = {"freehold.dev/force-new": order}
    tenant.apply("Database", "db", spec={"name": name, "transient": True}, annotations=annotations)
    (message,) = tenant.reaches("database", "db", "DeleteBlocked")
    assert f"Schema {tenant.namespace}/s" in message
    tenant.delete("schema", "s")
    tenant.ready("database", "db")


def test_objects_are_updated_by_create_or_alter_where_that_is_wanted(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "old", **WHOLE})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}, "comment": "old", **WHOLE})
    tenant.apply("AccountRole", "r", spec={"name": name, "comment": "old", **WHOLE})
    tenant.ready("schema", "s")
    tenant.ready("accountrole", "r")
    before = tenant.endpoint.sequence
    tenant.apply("Database", "db", spec={"name": name, "comment": "new", **WHOLE})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}, "comment": "new", **WHOLE})
    tenant.apply("AccountRole", "r", spec={"name": name, "comment": "new", **WHOLE})
    for kind, resource in (("database", "db"), ("schema", "s"), ("accountrole", "r")):
        tenant.ready(kind, resource)
    sent = {each.text for each in tenant.endpoint.statements(f'(ALTER|CREATE) .*"{name}"', since=before)}
    assert sent == {
        f"CREATE OR ALTER DATABASE \"{name}\" COMMENT = 'new'",
        f'CREATE OR ALTER SCHEMA "{name}"."S" COMMENT = \'new\'',
        f"CREATE OR ALTER ROLE \"{name}\" COMMENT = 'new'",
    }


def test_what_a_stranger_has_set_survives_an_update(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "old", **WHOLE})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f'ALTER DATABASE "{name}" SET DATA_RETENTION_TIME_IN_DAYS = 3')
    tenant.apply("Database", "db", spec={"name": name, "comment": "new", **WHOLE})
    tenant.ready("database", "db")

    def effective() -> object:
        found = tenant.get("database", "db") or {}
        return found.get("status", {}).get("parameters", {}).get("dataRetentionTimeInDays")

    until(lambda: effective() == "3", DEADLINE, "the status to tell what somebody else has set", tenant.describe)
    (row,) = [
        each
        for each in tenant.endpoint.sql(f'SHOW PARAMETERS IN DATABASE "{name}"')
        if each["key"] == "DATA_RETENTION_TIME_IN_DAYS"
    ]
    assert str(row["value"]) == "3"


def test_the_last_field_that_leaves_a_manifest_is_reset_once(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours"})
    tenant.ready("database", "db")
    before = tenant.endpoint.sequence
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("database", "db")
    assert len(tenant.endpoint.statements(f'^ALTER DATABASE "{name}"', since=before)) == 1
