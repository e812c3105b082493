"""Whoever waits goes on at once when what it waits for has come, wherever that is; nothing is polled for it."""

from __future__ import annotations

import re
from collections.abc import Callable

from freehold_devstack.processes import until
from tests.harness.controllers import Controller
from tests.integration.conftest import CRDS
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant

AT_ONCE = 5.0
"""Seconds; mostly it takes a few tenths of one, on a machine that has nothing else to do. What stops for good is looked
at again after half an hour, and what fails again and again only ever later."""


def soon(tenant: Tenant, kind: str, name: str, type_: str = "Ready") -> None:
    """Wait until a condition is true, well before anything would be polled."""

    def true() -> bool:
        return bool(tenant.conditions(kind, name).get(type_, {}).get("status") == "True")

    until(true, AT_ONCE, f"{kind} {name} to be {type_}", tenant.describe)


def failing(controller: Controller, namespace: str, kind: str, name: str) -> Callable[[], bool]:
    """Whether a resource was tried so often that it isn't tried again by itself for a while."""

    def often() -> bool:
        fields = f"kind={kind} namespace={namespace} resource={name}"
        tried = [line for line in controller.log.read_text().splitlines() if "tried again" in line and fields in line]
        return len(tried) >= 5

    return often


def test_a_provider_config_that_allows_more_wakes_who_was_refused(tenant: Tenant, name: str) -> None:
    tenant.provider("ANNA", allowedDatabases=["OTHER"])
    tenant.ready("providerconfig", "default")
    tenant.apply("Database", "db", spec={"name": name})
    tenant.reaches("database", "db", "DatabaseNotAllowed")
    tenant.provider("ANNA", allowedDatabases=["OTHER", name])
    soon(tenant, "database", "db")


def test_a_label_of_a_namespace_wakes_who_was_refused(tenant: Tenant, neighbour: Tenant, name: str) -> None:
    tenant.provider("ANNA", allowedNamespaceSelector={"matchLabels": {"tenant": "yes"}})
    tenant.ready("providerconfig", "default")
    provider = {"name": "default", "namespace": tenant.namespace}
    neighbour.apply("Warehouse", "wh", spec={"name": name, "providerRef": provider})
    neighbour.reaches("warehouse", "wh", "NamespaceNotAllowed")
    neighbour.kubectl("label", "namespace", neighbour.namespace, "tenant=yes")
    soon(neighbour, "warehouse", "wh")


def test_a_mended_secret_wakes_the_provider_config_and_who_uses_it(newcomer: Tenant, name: str) -> None:
    newcomer.let_secrets_be_read()
    newcomer.secret("default", "wrong")
    newcomer.provider("BERT")
    newcomer.apply("Warehouse", "wh", spec={"name": name})
    newcomer.reaches("providerconfig", "default", "CredentialsError")
    newcomer.secret("default", PASSWORD)
    soon(newcomer, "providerconfig", "default")
    soon(newcomer, "warehouse", "wh")


def test_a_target_in_another_namespace_wakes_who_refers_to_it(
    tenant: Tenant, neighbour: Tenant, controllers: dict[str, Controller], name: str
) -> None:
    tenant.provider("ANNA", allowedNamespaces=[neighbour.namespace])
    tenant.ready("providerconfig", "default")
    tenant.endpoint.sql(f'CREATE DATABASE "{name}"')
    tenant.apply("Database", "db", spec={"name": name})
    tenant.reaches("database", "db", "ResourceAlreadyExists")
    spec = {
        "name": "S",
        "databaseRef": {"name": "db", "namespace": tenant.namespace},
        "providerRef": {"name": "default", "namespace": tenant.namespace},
    }
    neighbour.apply("Schema", "s", spec=spec)
    (message,) = neighbour.reaches("schema", "s", "DependencyNotReady", "ReferencesResolved")
    assert f"Database {tenant.namespace}/db in spec.databaseRef isn't ready: ResourceAlreadyExists" in message
    often = failing(controllers["schema"], neighbour.namespace, "Schema", "s")
    until(often, DEADLINE, "the schema to be left in peace", neighbour.describe)
    tenant.endpoint.sql(f'GRANT CREATE SCHEMA, USAGE ON DATABASE "{name}" TO ROLE FREEHOLD')
    tenant.apply("Database", "db", spec={"name": name, "managementPolicies": {"adoptionPolicy": "adopt"}})
    soon(neighbour, "schema", "s")
    soon(neighbour, "schema", "s", "ReferencesResolved")


def test_the_end_of_a_claim_wakes_who_was_in_conflict(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "first", spec={"name": name})
    tenant.ready("warehouse", "first")
    tenant.apply("Warehouse", "second", spec={"name": name})
    tenant.reaches("warehouse", "second", "ConflictDetected")
    tenant.delete("warehouse", "first")
    tenant.gone("warehouse", "first")
    soon(tenant, "warehouse", "second")


def test_reconcile_now_has_all_of_an_object_looked_at_once(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "dataRetentionTimeInDays": 1})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f'ALTER DATABASE "{name}" SET DATA_RETENTION_TIME_IN_DAYS = 0')
    before = tenant.endpoint.sequence
    tenant.kubectl("annotate", "database", "db", "freehold.dev/reconcile-now=1")

    def answered() -> bool:
        found = tenant.get("database", "db") or {}
        return bool(found["status"].get("lastHandledReconcileNow") == "1")

    until(answered, AT_ONCE, "the request to be answered", tenant.describe)
    assert tenant.endpoint.statements(f'^ALTER DATABASE "{name}" SET DATA_RETENTION_TIME_IN_DAYS', since=before)


def test_a_parent_given_by_name_that_is_not_there_is_named_and_costs_no_attempt(tenant: Tenant, name: str) -> None:
    before = tenant.endpoint.sequence
    tenant.apply("Schema", "s", spec={"name": "S", "databaseName": name})
    (message,) = tenant.reaches("schema", "s", "DependencyNotReady")
    assert f'database "{name}" isn\'t there' in message
    assert "spec.databaseRef" in message
    assert not tenant.endpoint.statements("^CREATE", since=before)
    assert [each.get("mark") for each in tenant.claims(f'{name}"."S')] == [None]
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("schema", "s")


def test_a_kind_that_comes_back_is_noticed(tenant: Tenant, controllers: dict[str, Controller], name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("database", "db")
    tenant.kubectl("delete", "crd", "schemas.snowflake.freehold.dev", "--timeout=30s")
    metric = re.compile(r'freehold_watch_failures_total\{resource="schemas",status="404"\} (\S+)')

    def left_in_peace() -> bool:
        told = metric.search(controllers["schema"].metrics())
        return told is not None and float(told[1]) >= 6

    # It is looked for ever more rarely; then hardly at all by itself within the time that is allowed below.
    until(left_in_peace, 2 * DEADLINE, "the kind to be left in peace")
    tenant.kubectl("apply", "--server-side", "-f", str(CRDS / "snowflake.freehold.dev_schemas.yaml"))
    tenant.kubectl("wait", "crd", "schemas.snowflake.freehold.dev", "--for=condition=Established", "--timeout=30s")
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    soon(tenant, "schema", "s")
