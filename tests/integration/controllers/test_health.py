"""What kstatus and Argo CD make of the statuses that are really written, from the first moment to the last."""

from __future__ import annotations

import json
from typing import Any

from tests.harness.health import argo, kstatus
from tests.integration.controllers.tenant import API, Tenant


def judged(resource: dict[str, Any], expected: str, health: str) -> None:
    assert kstatus(resource) == expected
    assert argo(resource)[0] == health


def kubectl(tenant: Tenant, *arguments: str, manifest: dict[str, Any] | None = None) -> dict[str, Any]:
    """The resource as the API server answers a change, before any controller can have seen it."""
    found = tenant.kubectl(*arguments, "--output=json", input=json.dumps(manifest) if manifest else None).stdout
    resource: dict[str, Any] = json.loads(found)
    return resource


def patch(tenant: Tenant, **spec: Any) -> dict[str, Any]:
    return kubectl(tenant, "patch", "database", "db", "--type=merge", f"--patch={json.dumps({'spec': spec})}")


def now(tenant: Tenant) -> dict[str, Any]:
    return tenant.get("database", "db") or {}


def test_each_state_of_a_resource_is_taken_for_what_it_is(tenant: Tenant, name: str) -> None:
    tenant.ready("providerconfig", "default")
    tenant.endpoint.sql(f'CREATE DATABASE "{name}"', role="FREEHOLD")
    manifest = {"apiVersion": API, "kind": "Database", "metadata": {"name": "db"}, "spec": {"name": name}}
    judged(kubectl(tenant, "create", "-f", "-", manifest=manifest), "InProgress", "Progressing")
    tenant.reaches("database", "db", "ResourceAlreadyExists", "Stalled")
    judged(now(tenant), "Failed", "Degraded")
    adopt = {"managementPolicies": {"adoptionPolicy": "adopt"}, "deletionPolicy": "Delete"}
    judged(patch(tenant, **adopt), "InProgress", "Progressing")
    tenant.ready("database", "db")
    assert "Stalled" not in tenant.conditions("database", "db")
    judged(now(tenant), "Current", "Healthy")
    judged(patch(tenant, paused=True), "InProgress", "Suspended")
    tenant.reaches("database", "db", "ReconcilePaused", "Synced")
    judged(now(tenant), "Current", "Suspended")
    tenant.delete("database", "db")
    tenant.reaches("database", "db", "DeleteBlocked", "DeleteBlocked")
    judged(now(tenant), "Terminating", "Progressing")
    patch(tenant, paused=False)
    tenant.gone("database", "db")
