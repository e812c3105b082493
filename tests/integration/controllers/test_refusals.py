"""What Snowflake refuses for good is left alone until something changes."""

from __future__ import annotations

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import DEADLINE, Tenant


def test_what_only_a_change_helps_is_not_sent_again_before_the_provider_changes(tenant: Tenant, name: str) -> None:
    created, seen = f'^CREATE WAREHOUSE "{name}"', f"^SHOW WAREHOUSES LIKE '{name}BESIDE'"
    tenant.ready("providerconfig", "default")
    refusal = {"number": 1008, "sqlstate": "22023", "message": "invalid value [x] for parameter 'Y'", "times": None}
    tenant.endpoint.fault(created, "error", **refusal)
    tenant.apply("Warehouse", "wh", spec={"name": name})
    (message,) = tenant.reaches("warehouse", "wh", "TerminalError")
    assert "001008 (22023): invalid value [x] for parameter 'Y'. If Snowflake documents it" in message
    tenant.apply("Warehouse", "beside", spec={"name": f"{name}BESIDE"})
    tenant.ready("warehouse", "beside")
    sent, resyncs = len(tenant.endpoint.statements(created)), len(tenant.endpoint.statements(seen))
    until(lambda: len(tenant.endpoint.statements(seen)) > resyncs + 2, DEADLINE, "resyncs of what is in order")
    assert len(tenant.endpoint.statements(created)) == sent
    tenant.endpoint.clear_faults()
    tenant.provider("ANNA", allowedNamespaces=[tenant.namespace])
    tenant.ready("warehouse", "wh")
