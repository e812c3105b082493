"""Metrics of a process that talks to Snowflake."""

from __future__ import annotations

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import DEADLINE
from tests.integration.telemetry.conftest import PASSWORD, World


def test_a_provider_is_told_of_as_long_as_it_is_there(world: World) -> None:
    tenant, account = world.tenant, world.controllers[0]
    tenant.secret("second", PASSWORD)
    tenant.provider("ANNA", "second")
    tenant.ready("providerconfig", "second")

    name = f'provider="{tenant.namespace}/second"'
    told = account.metrics()
    assert f"freehold_snowflake_breaker_state{{{name}}} 0.0" in told
    assert f"freehold_snowflake_sessions{{{name}," in told
    assert 'freehold_snowflake_logins_total{result="ok"}' in told
    assert 'freehold_resources{kind="ProviderConfig",ready="True",reason="Available"}' in told
    tenant.delete("providerconfig", "second")
    tenant.gone("providerconfig", "second")
    until(lambda: name not in account.metrics(), DEADLINE, "nothing to be told of it any more", account.metrics)
