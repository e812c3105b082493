"""The life of objects: made, changed, mended, dropped, on a real API server and over the real protocol."""

from __future__ import annotations

from dataclasses import replace

from freehold_devstack.processes import until
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant


def test_declared_objects_appear_in_snowflake_and_are_ready(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name, "warehouseSize": "XSMALL", "autoSuspend": 60})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}, "comment": "ours"})
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours", "dataRetentionTimeInDays": 1})
    tenant.ready("warehouse", "wh")
    tenant.ready("database", "db")
    tenant.ready("schema", "s")
    for text in (f'CREATE WAREHOUSE "{name}"', f'CREATE DATABASE "{name}"', f'CREATE SCHEMA "{name}"."S"'):
        assert [each.outcome for each in tenant.endpoint.statements(text)] == ["ok"]
    found = tenant.get("database", "db")
    assert found is not None
    assert found["status"]["fullyQualifiedName"] == f'"{name}"'
    assert found["status"]["account"] == "FREEHOLD.DEVSTACK"
    assert ("Created", f'database "{name}" was created') in tenant.events("db")


def test_a_change_of_the_manifest_is_altered_and_a_removed_field_reset(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name, "autoSuspend": 60, "comment": "old"})
    tenant.ready("warehouse", "wh")
    tenant.apply("Warehouse", "wh", spec={"name": name, "comment": "new"})
    tenant.ready("warehouse", "wh")
    (row,) = [each for each in tenant.endpoint.sql("SHOW WAREHOUSES") if each["name"] == name]
    assert (row["comment"], str(row["auto_suspend"])) == ("new", "600")


def test_drift_is_repaired(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours"})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f"ALTER DATABASE \"{name}\" SET COMMENT = 'theirs'")
    until(lambda: comment_of(tenant, name) == "ours", DEADLINE, "the comment to be mended")
    until(lambda: any(each[0] == "DriftCorrected" for each in tenant.events("db")), DEADLINE, "an Event to tell of it")


def test_drift_is_only_told_when_asked_to(tenant: Tenant, name: str) -> None:
    policies = {"driftPolicy": "detect-only"}
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours", "managementPolicies": policies})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f"ALTER DATABASE \"{name}\" SET COMMENT = 'theirs'")
    (message,) = tenant.reaches("database", "db", "DriftDetected", "DriftDetected")
    assert '"theirs"' in message
    assert '"ours"' in message
    assert comment_of(tenant, name) == "theirs"


def test_deletion_drops_exactly_what_is_owned(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    tenant.ready("schema", "s")
    before = tenant.endpoint.sequence
    tenant.delete("database", "db")
    tenant.reaches("database", "db", "DeleteBlocked")
    assert not tenant.endpoint.statements(f'DROP .*"{name}"', since=before)
    tenant.delete("schema", "s")
    tenant.gone("schema", "s")
    tenant.gone("database", "db")
    drops = [each.text for each in tenant.endpoint.statements(f'DROP .*"{name}"', since=before)]
    assert drops == [f'DROP SCHEMA "{name}"."S"', f'DROP DATABASE "{name}"']
    assert not tenant.endpoint.exists("DATABASE", name)


def test_a_drop_whose_answer_is_lost_is_waited_for_and_not_repeated(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    tenant.endpoint.fault(f'^DROP WAREHOUSE "{name}"', "drop-after")
    tenant.delete("warehouse", "wh")

    def waits() -> bool:
        return "a DROP of" in tenant.conditions("warehouse", "wh").get("Ready", {}).get("message", "")

    until(waits, DEADLINE, "the DROP to be waited for", tenant.describe)
    assert [each.outcome for each in tenant.endpoint.statements(f'DROP WAREHOUSE "{name}"')] == ["ok"]


def test_an_observed_object_is_only_looked_at(tenant: Tenant, name: str) -> None:
    tenant.endpoint.sql(f"CREATE DATABASE \"{name}\" COMMENT = 'theirs'", role="SYSADMIN")
    before = tenant.endpoint.sequence
    policies = {"observeOnly": True}
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours", "managementPolicies": policies})
    tenant.ready("database", "db")
    tenant.delete("database", "db")
    tenant.gone("database", "db")
    sent = [each.text for each in tenant.endpoint.statements(f"\"{name}\"|'{name}'", since=before)]
    assert {text.split()[0] for text in sent} == {"SHOW"}


def test_the_public_schema_is_dropped_at_birth_when_asked_for(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "dropPublicSchemaOnCreation": True})
    tenant.ready("database", "db")
    schemas = tenant.endpoint.sql(f'SHOW SCHEMAS IN DATABASE "{name}"')
    assert {row["name"] for row in schemas} == {"INFORMATION_SCHEMA"}


def test_undeclared_content_keeps_a_database_until_it_is_forced(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f'CREATE SCHEMA "{name}".THEIRS')
    tenant.delete("database", "db")
    (message,) = tenant.reaches("database", "db", "DeleteBlocked")
    assert '"THEIRS"' in message
    assert tenant.endpoint.exists("DATABASE", name)
    tenant.kubectl("annotate", "database", "db", "freehold.dev/force-destroy=true")
    tenant.gone("database", "db")
    assert not tenant.endpoint.exists("DATABASE", name)


def test_a_paused_resource_is_not_dropped(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    tenant.apply("Warehouse", "wh", spec={"name": name, "paused": True})
    tenant.reaches("warehouse", "wh", "ReconcilePaused", "Synced")
    tenant.delete("warehouse", "wh")
    tenant.reaches("warehouse", "wh", "DeleteBlocked")
    assert tenant.endpoint.exists("WAREHOUSE", name)
    tenant.kubectl("patch", "warehouse", "wh", "--type=merge", "--patch", '{"spec":{"paused":false}}')
    tenant.gone("warehouse", "wh")
    assert not tenant.endpoint.exists("WAREHOUSE", name)


def test_an_abandoned_resource_leaves_its_object(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name}, annotations={"freehold.dev/abandon-on-delete": "true"})
    tenant.ready("database", "db")
    tenant.delete("database", "db")
    tenant.gone("database", "db")
    assert tenant.endpoint.exists("DATABASE", name)


def test_a_provider_config_stays_while_it_is_in_use(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    tenant.delete("providerconfig", "default")
    (message,) = tenant.reaches("providerconfig", "default", "InUse", "InUse")
    assert message.startswith("1 resource")
    tenant.delete("warehouse", "wh")
    tenant.gone("warehouse", "wh")
    tenant.gone("providerconfig", "default")
    assert not tenant.endpoint.exists("WAREHOUSE", name)


def test_a_deleted_namespace_goes_with_all_that_is_in_it(tenant: Tenant, name: str) -> None:
    doomed = replace(tenant, namespace=f"{tenant.namespace}-doomed")
    kubectl = tenant.control_plane.kubectl
    kubectl("create", "namespace", doomed.namespace)
    doomed.provide("ANNA", PASSWORD)
    doomed.apply("Database", "db", spec={"name": name})
    doomed.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    doomed.ready("schema", "s")
    kubectl("delete", "namespace", doomed.namespace, "--wait=false")
    until(
        lambda: not kubectl("get", "namespace", doomed.namespace, "--ignore-not-found").stdout,
        DEADLINE,
        "the namespace to be gone",
        doomed.describe,
    )
    assert not tenant.endpoint.exists("DATABASE", name)


def comment_of(tenant: Tenant, database: str) -> object:
    (row,) = [each for each in tenant.endpoint.sql("SHOW DATABASES") if each["name"] == database]
    return row["comment"]
