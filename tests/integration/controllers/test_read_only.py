"""Mode ReadOnly: a controller plans what one of mode ReadWrite then does, and writes nothing but statuses meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client.parser import text_string_to_metric_families

from freehold_devstack.processes import until
from tests.harness.controllers import Controller
from tests.integration.controllers.tenant import DEADLINE, Tenant

WRITES = "^(CREATE|ALTER|DROP|GRANT|REVOKE) "


@contextmanager
def planner(acting: Controller) -> Iterator[Controller]:
    """A controller of mode ReadOnly, in place of the one that acts."""
    acting.stop()
    planning = acting.again("--mode=ReadOnly")
    planning.start()
    try:
        yield planning
    finally:
        planning.stop()
        acting.start()


def plan(tenant: Tenant, name: str) -> list[str]:
    status = (tenant.get("warehouse", name) or {}).get("status", {})
    return list(status.get("plan", ()))


def planned(controller: Controller) -> dict[str, float]:
    """Warehouses' planned statements by verb, as the metric has them."""
    families = text_string_to_metric_families(controller.metrics())
    (found,) = [each for each in families if each.name == "freehold_planned_statements"]
    return {each.labels["verb"]: each.value for each in found.samples if each.labels["kind"] == "Warehouse"}


def test_what_is_planned_is_what_is_done_later(tenant: Tenant, name: str, controllers: dict[str, Controller]) -> None:
    for resource in ("drifted", "going"):
        tenant.apply("Warehouse", resource, spec={"name": f"{name}_{resource}", "comment": "ours"})
    tenant.ready("warehouse", "drifted", "going")
    since = tenant.endpoint.sequence
    expected = {
        "drifted": f"ALTER WAREHOUSE \"{name}_drifted\" SET COMMENT = 'ours'",
        "going": f'DROP WAREHOUSE "{name}_going"',
        "new": f"CREATE WAREHOUSE \"{name}_new\" COMMENT = 'ours'",
    }

    def sent() -> list[str]:
        found = tenant.endpoint.statements(WRITES, since=since)
        return sorted(each.text for each in found if each.role == "FREEHOLD" and f'"{name}_' in each.text)

    with planner(controllers["account"]) as planning:
        tenant.endpoint.sql(f"ALTER WAREHOUSE \"{name}_drifted\" SET COMMENT = 'theirs'")
        tenant.delete("warehouse", "going")
        tenant.apply("Warehouse", "new", spec={"name": f"{name}_new", "comment": "ours"})
        for resource, statement in expected.items():
            until(lambda r=resource, s=statement: plan(tenant, r) == [s], DEADLINE, statement, tenant.describe)  # type: ignore[misc]
        tenant.reaches("warehouse", ("drifted", "new"), "ReadOnly", "Synced")
        until(lambda: planned(planning) == {"ALTER": 1, "CREATE": 1, "DROP": 1}, DEADLINE, "the metric")
        new = tenant.get("warehouse", "new")
        assert new is not None
        assert "finalizers" not in new["metadata"]
        assert not tenant.claims(f"{name}_new")
        assert "intent" not in tenant.claims(f"{name}_going")[0]
        assert not sent()
    tenant.ready("warehouse", "drifted", "new")
    tenant.gone("warehouse", "going")
    assert sent() == sorted(expected.values())
