"""Accounts that don't answer: nobody else waits for them, and they are left alone for a while."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count

from prometheus_client.parser import text_string_to_metric_families

from freehold_devstack.processes import until
from tests.harness.controllers import Controller
from tests.integration.controllers.conftest import PASSWORD, SILENT
from tests.integration.controllers.tenant import API, DEADLINE, Tenant

SECRET = {"name": "default", "key": "password"}
WATCH = {"managementPolicies": {"observeOnly": True}}


def apply_all(tenant: Tenant, specs: Mapping[str, Mapping[str, object]]) -> None:
    """Apply warehouses by name, all at once."""
    items = [
        {"apiVersion": API, "kind": "Warehouse", "metadata": {"name": name}, "spec": spec}
        for name, spec in specs.items()
    ]
    tenant.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def waiting(controller: Controller) -> float:
    """How many keys wait for a worker."""
    families = text_string_to_metric_families(controller.metrics())
    return sum(sample.value for each in families if each.name == "freehold_queue_ready" for sample in each.samples)


def test_nineteen_providers_that_hang_hold_up_no_other(
    tenant: Tenant, controllers: dict[str, Controller], name: str
) -> None:
    hanging = [f"silent{number}" for number in range(19)]
    for each in hanging:
        tenant.provider("SAM", each, account=f"FREEHOLD-{SILENT}", credentials={"secretRef": SECRET})
    tenant.ready("providerconfig", *hanging)
    tenant.endpoint.control.freeze(SILENT)
    apply_all(
        tenant,
        {
            f"{each}-{number}": {"name": f"{name}{number}", "providerRef": {"name": each}, **WATCH}
            for each in hanging
            for number in range(10)
        },
    )
    until(lambda: waiting(controllers["account"]) > 0, DEADLINE, "what hangs to have all the workers that it may")
    for number in range(5):
        tenant.apply("Warehouse", f"well{number}", spec={"name": f"{name}{number}"})
        tenant.ready("warehouse", f"well{number}")


def test_an_account_that_cannot_be_reached_is_left_alone_until_something_is_changed(newcomer: Tenant) -> None:
    newcomer.endpoint.fault("^LOGIN SUE$", "http", times=None)
    silent = f"FREEHOLD-{SILENT}"
    newcomer.provide("SUE", PASSWORD, account=silent)
    newcomer.reaches("providerconfig", "default", "PingFailed")

    tries = count()

    def is_open() -> bool:
        """Ask for another try, which forgets about delays."""
        again = f"freehold.dev/reconcile-now={next(tries)}"
        newcomer.kubectl("annotate", "--overwrite", "providerconfig/default", again)
        return "CircuitOpen" in newcomer.conditions("providerconfig", "default")

    until(is_open, DEADLINE, "the circuit to be open", newcomer.describe)
    told = newcomer.conditions("providerconfig", "default")
    assert "the latest attempts failed: no log-in to" in told["CircuitOpen"]["message"]
    assert told["Ready"]["reason"] == "PingFailed"

    newcomer.endpoint.clear_faults()
    before = newcomer.endpoint.logins("SUE")
    assert is_open()
    assert is_open()
    assert newcomer.endpoint.logins("SUE") == before
    newcomer.provider("SUE", account=silent, loginTimeoutSeconds=30)
    newcomer.ready("providerconfig", "default")
    assert "CircuitOpen" not in newcomer.conditions("providerconfig", "default")
