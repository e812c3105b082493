"""Nothing to do: resources are looked at again and again, and nobody writes anything because of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import Tenant

EACH = 6
"""Resources of each kind."""

LOOKS = 3
"""Times that each object is looked at meanwhile."""

DEADLINE = 120.0

LISTED = "databases,schemas,warehouses,accountroles,tables,providerconfigs,claims,events.events.k8s.io"


def declared(name: str) -> list[tuple[str, str, dict[str, Any]]]:
    """(kind, resource, spec) of all resources."""
    resources: list[tuple[str, str, dict[str, Any]]] = []
    for number in range(EACH):
        own = {"name": f"{name}_{number}", "comment": "ours"}
        database, schema = {"databaseRef": {"name": f"d{number}"}}, {"schemaRef": {"name": f"s{number}"}}
        columns = [{"name": "ID", "type": "NUMBER(38,0)"}, {"name": "NOTE", "type": "VARCHAR", "comment": "text"}]
        resources += [
            ("Database", f"d{number}", {**own, "dataRetentionTimeInDays": number % 2}),
            ("Schema", f"s{number}", {**own, **database}),
            ("Warehouse", f"w{number}", {**own, "autoSuspend": 60, "initiallySuspended": True}),
            ("AccountRole", f"r{number}", own),
            ("Table", f"t{number}", {**own, **database, **schema, "columns": columns}),
        ]
    return resources


def versions(tenant: Tenant) -> dict[str, str]:
    """The resourceVersion of everything that a controller might write, Leases apart."""
    found = json.loads(tenant.kubectl("get", LISTED, "--output=json").stdout)["items"]
    return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in found}


def ready(tenant: Tenant, kind: str, resource: str) -> Callable[[], bool]:
    return lambda: tenant.conditions(kind, resource).get("Ready", {}).get("status") == "True"


def test_resources_that_are_as_declared_cost_reads_and_nothing_else(tenant: Tenant, name: str) -> None:
    resources = declared(name)
    for kind, resource, spec in resources:
        tenant.apply(kind, resource, spec=spec)
    for kind, resource, _ in resources:
        until(ready(tenant, kind, resource), DEADLINE, f"{kind} {resource} to be ready", tenant.describe)
    mark = tenant.endpoint.sequence

    def looked_at(times: int) -> bool:
        texts = [each.text for each in tenant.endpoint.since(mark)]
        return all(
            sum(text.startswith(f"SHOW {shown} LIKE '{name}_{number}'") for text in texts) >= times
            for shown in ("DATABASES", "SCHEMAS", "WAREHOUSES", "ROLES", "TABLES")
            for number in range(EACH)
        )

    # The last of what became ready writes what it has to say.
    until(lambda: looked_at(1), DEADLINE, "each object to be looked at")
    before, mark = versions(tenant), tenant.endpoint.sequence
    until(lambda: looked_at(LOOKS), DEADLINE, "each object to be looked at again")
    assert versions(tenant) == before
    assert [each.text for each in tenant.endpoint.since(mark) if each.kind == "statement" and not each.reads] == []
