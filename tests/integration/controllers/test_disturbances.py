"""What disturbs a resource's life: strangers in between, lost status, broken input, a provider on its way out."""

from __future__ import annotations

import json

from freehold_devstack.processes import until
from tests.harness.controllers import Controller
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant


def replace_by_stranger(tenant: Tenant, kind: str, name: str, more: str = "") -> None:
    """A stranger who acts in the same role, such as a Terraform run."""
    tenant.endpoint.sql(f'DROP {kind} "{name}"')
    tenant.endpoint.sql(f"CREATE {kind} \"{name}\" COMMENT = 'theirs' {more}", role="FREEHOLD")


def test_an_object_replaced_during_a_deep_look_is_not_altered(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours"})
    tenant.ready("database", "db")
    before = tenant.endpoint.sequence
    parameters = f'^SHOW PARAMETERS IN DATABASE "{name}"'
    tenant.endpoint.fault(parameters, "delay", seconds=4)
    tenant.apply("Database", "db", spec={"name": name, "comment": "changed"})
    until(lambda: bool(tenant.endpoint.statements(parameters, since=before)), DEADLINE, "the deep look")
    replace_by_stranger(tenant, "DATABASE", name)
    tenant.reaches("database", "db", "Replaced")
    assert not tenant.endpoint.statements(f'^ALTER DATABASE "{name}"', since=before)


def test_a_warehouse_replaced_while_it_is_suspended_is_not_altered(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name, "warehouseSize": "MEDIUM"})
    tenant.ready("warehouse", "wh")
    before = tenant.endpoint.sequence
    suspend = f'^ALTER WAREHOUSE "{name}" SUSPEND'
    tenant.endpoint.fault(suspend, "delay", seconds=4)
    tenant.apply(
        "Warehouse", "wh", spec={"name": name, "warehouseSize": "MEDIUM", "warehouseType": "SNOWPARK-OPTIMIZED"}
    )
    until(lambda: bool(tenant.endpoint.statements(suspend, since=before)), DEADLINE, "the SUSPEND")
    replace_by_stranger(tenant, "WAREHOUSE", name, "INITIALLY_SUSPENDED = TRUE")
    tenant.reaches("warehouse", "wh", "Replaced")
    assert not tenant.endpoint.statements(f'^ALTER WAREHOUSE "{name}" SET', since=before)


def test_a_mended_secret_is_taken_up_while_the_provider_config_is_being_deleted(
    tenant: Tenant, controllers: dict[str, Controller], name: str
) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    tenant.secret("default", "wrong")
    tenant.reaches("providerconfig", "default", "CredentialsError")
    tenant.delete("providerconfig", "default")
    tenant.reaches("providerconfig", "default", "InUse", "InUse")
    controllers["account"].kill()
    controllers["account"].start()
    tenant.secret("default", PASSWORD)
    tenant.delete("warehouse", "wh")
    tenant.gone("warehouse", "wh")


def test_the_longest_comment_gets_a_status(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "x" * 1_000_000})
    tenant.ready("database", "db")


def test_a_password_that_is_no_text_is_told(newcomer: Tenant, controllers: dict[str, Controller]) -> None:
    newcomer.let_secrets_be_read()
    newcomer.apply("Secret", "default", api="v1", data={"password": "//4Aeg=="})
    newcomer.provider("ANNA")
    until(lambda: "Ready" in newcomer.conditions("providerconfig", "default"), DEADLINE, "a condition")
    assert "UnicodeDecodeError" not in controllers["account"].log.read_text()


def test_a_table_name_that_is_none_is_told_and_no_attempt_is_marked(
    tenant: Tenant, controllers: dict[str, Controller], name: str
) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name, "warehouseType": "INTERACTIVE", "tables": ["a..b"]})
    try:
        until(lambda: "Ready" in tenant.conditions("warehouse", "wh"), DEADLINE, "a condition")
    finally:
        listed = json.loads(tenant.kubectl("get", "claims", "--output=json").stdout)["items"]
        marks = [each["spec"].get("mark") for each in listed if name in each["spec"]["identity"]["fqn"]]
        tenant.kubectl("delete", "warehouse", "wh", "--wait=false")
    assert marks == [None]
    told = controllers["account"].log.read_text().splitlines()
    assert not [line for line in told if tenant.namespace in line and "the reconcile failed" in line]


def test_an_object_that_is_brought_back_is_seen_soon(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f'ALTER DATABASE "{name}" RENAME TO "{name}_AWAY"')
    tenant.reaches("database", "db", "Vanished")
    tenant.endpoint.sql(f'ALTER DATABASE "{name}_AWAY" RENAME TO "{name}"')
    tenant.ready("database", "db")


def test_a_provider_config_that_is_being_deleted_takes_no_new_work(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "one", spec={"name": f"{name}1"})
    tenant.ready("warehouse", "one")
    tenant.delete("providerconfig", "default")
    tenant.reaches("providerconfig", "default", "InUse", "InUse")
    tenant.apply("Warehouse", "two", spec={"name": f"{name}2"})
    until(lambda: "Synced" in tenant.conditions("warehouse", "two"), DEADLINE, "a condition")
    assert tenant.conditions("warehouse", "two")["Synced"]["reason"] == "DependencyNotReady"


def test_detect_only_holds_without_a_status(tenant: Tenant, name: str) -> None:
    policies = {"driftPolicy": "detect-only"}
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours", "managementPolicies": policies})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f"ALTER DATABASE \"{name}\" SET COMMENT = 'theirs'")
    tenant.reaches("database", "db", "DriftDetected", "DriftDetected")
    before = tenant.endpoint.sequence
    remove = '[{"op": "remove", "path": "/status"}]'
    tenant.kubectl("patch", "database", "db", "--subresource=status", "--type=json", "--patch", remove)
    until(lambda: "Ready" in tenant.conditions("database", "db"), DEADLINE, "a condition")
    assert not tenant.endpoint.statements(f'^ALTER DATABASE "{name}"', since=before)


def test_a_resource_applied_anew_is_not_told_what_was_done_for_the_one_before(tenant: Tenant, name: str) -> None:
    before = tenant.endpoint.sequence
    create = f'^CREATE WAREHOUSE "{name}"'
    tenant.endpoint.fault(create, "delay", seconds=4)
    tenant.apply("Warehouse", "wh", spec={"name": name, "comment": "the first one's"})
    until(lambda: bool(tenant.endpoint.statements(create, since=before)), DEADLINE, "the CREATE")
    tenant.delete("warehouse", "wh")
    tenant.kubectl("patch", "warehouse", "wh", "--type=merge", "--patch", '{"metadata": {"finalizers": null}}')
    tenant.apply("Warehouse", "wh", spec={"name": name, "paused": True})
    tenant.reaches("warehouse", "wh", "ReconcilePaused")
    status = (tenant.get("warehouse", "wh") or {})["status"]
    assert "trackedParameters" not in status
