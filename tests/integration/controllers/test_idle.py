"""Nothing to do: resources are looked at again and again, and nobody writes anything because of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import Tenant

EACH = 6
"""Resources of each kind."""

LOOKS = 3
"""Times that each object is looked at meanwhile."""

DEADLINE = 120.0

WRITING = {"APPLY", "DELETE", "DELETECOLLECTION", "PATCH", "POST", "PUT"}

GROUPS = {"snowflake.freehold.dev", "freehold.dev", "events.k8s.io", "rbac.authorization.k8s.io"}
"""API groups of all that our controllers write."""


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


def writes(tenant: Tenant) -> dict[tuple[str, ...], float]:
    """The API server's count of requests that write what a controller might write, Leases apart."""
    metrics = tenant.kubectl("get", "--raw=/metrics").stdout
    (requests,) = [each for each in text_string_to_metric_families(metrics) if each.name == "apiserver_request"]
    return {
        tuple(sample.labels.values()): sample.value
        for sample in requests.samples
        if sample.labels["verb"] in WRITING and sample.labels["group"] in GROUPS
    }


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
        """By itself, or together with what lies beside it: databases, warehouses and roles are in one place."""
        texts = [each.text for each in tenant.endpoint.since(mark)]
        return all(
            sum(bool(re.match(rf"SHOW {shown}( LIMIT .*| LIKE '{name}_{number}'.*)?$", text)) for text in texts)
            >= times
            for shown in ("DATABASES", "SCHEMAS", "WAREHOUSES", "ROLES", "TABLES")
            for number in range(EACH)
        )

    # The last of what became ready writes what it has to say; who shares a look may take it last.
    until(lambda: looked_at(LOOKS), DEADLINE, "each object to be looked at")
    before, mark = writes(tenant), tenant.endpoint.sequence
    until(lambda: looked_at(LOOKS), DEADLINE, "each object to be looked at again")
    assert writes(tenant) == before
    statements = [each for each in tenant.endpoint.since(mark) if each.kind == "statement"]
    assert [each.text for each in statements if not each.reads] == []
    shown = [each.text for each in statements if re.match("SHOW (DATABASES|WAREHOUSES|ROLES)", each.text)]
    alone = [text for text in shown if " LIKE " in text]
    assert 2 * len(alone) < len(shown)
