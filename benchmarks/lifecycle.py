"""What an object costs in each phase of its life: statements at Snowflake, and requests at the API server.

On a real API server, with the real driver, one account and one schema controller. Counts are exact; they don't depend
on how busy the machine is.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import yaml
from rich.console import Console
from rich.table import Table

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until
from tests.harness.apiserver import requests
from tests.harness.chart import install_without_pods
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.conftest import PASSWORD, SEED
from tests.integration.controllers.tenant import API, Tenant

OBJECTS = 20
"""Warehouses, and as many schemas in one database."""

RESYNC_SECONDS = 5.0

_WRITES = ("POST", "PUT", "PATCH", "APPLY", "DELETE")
_RESOURCES = ("claims", "warehouses", "databases", "schemas")


@dataclass(frozen=True)
class Cost:
    """What was counted during one phase.

    Attributes:
        reads: statements that only read.
        changes: statements that change something.
        api_reads: GET requests for our resources; lists and watches don't count.
        api_writes: requests that write our resources, those of this benchmark not counted.
    """

    reads: int
    changes: int
    api_reads: int
    api_writes: int


class Counted:
    """Counts statements and requests of a phase."""

    def __init__(self, control_plane: ControlPlane, endpoint: Endpoint) -> None:
        self._control_plane = control_plane
        self._endpoint = endpoint

    def phase(self, act: Callable[[], None], own_writes: int) -> Cost:
        """Run a phase.

        Args:
            act: makes it happen and waits for its end.
            own_writes: requests of its own that write our resources.
        """
        since, before = self._endpoint.sequence, requests(self._control_plane, _RESOURCES)
        act()
        statements = self._endpoint.statements("", since=since)
        made = requests(self._control_plane, _RESOURCES) - before
        reads = sum(bool(re.match("SHOW|SELECT|DESC|USE", each.text)) for each in statements)
        return Cost(
            reads=reads,
            changes=len(statements) - reads,
            api_reads=made["GET"],
            api_writes=sum(made[verb] for verb in _WRITES) - own_writes,
        )


@contextmanager
def _freehold() -> Iterator[tuple[ControlPlane, Endpoint, Controller]]:
    """A control plane, a Snowflake endpoint and both controllers, of which that of schemas."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        control_plane = stack.enter_context(ControlPlane())
        install_without_pods(control_plane)
        endpoint = Endpoint(folder, SEED)
        stack.callback(endpoint.stop)
        options = (f"--allowed-hosts={endpoint.host}:{endpoint.port}", f"--resync-interval={RESYNC_SECONDS:g}")
        for domain in ("account", "schema"):
            controller = Controller(control_plane, domain, folder, *options)
            controller.start()
            stack.callback(controller.kill)
        yield control_plane, endpoint, controller


def _manifests(size: str) -> str:
    def resource(kind: str, name: str, **spec: object) -> dict[str, object]:
        stored = {"name": name.upper(), **spec}
        return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": stored}

    numbers = range(OBJECTS)
    return yaml.safe_dump_all(
        [
            resource("Database", "bench"),
            *(resource("Warehouse", f"w{n}", warehouseSize=size) for n in numbers),
            *(resource("Schema", f"s{n}", databaseRef={"name": "bench"}, comment=size) for n in numbers),
        ]
    )


def _story(control_plane: ControlPlane, endpoint: Endpoint, schemas: Controller) -> Iterator[tuple[str, int, Cost]]:
    """(phase, number of objects, cost) of each phase."""
    control_plane.kubectl("create", "namespace", "bench")
    tenant = Tenant(control_plane, endpoint, "bench")
    tenant.provide("ANNA", PASSWORD)
    tenant.ready("ProviderConfig", "default")
    counted = Counted(control_plane, endpoint)
    total = 2 * OBJECTS

    def apply(size: str, generation: int) -> None:
        tenant.kubectl("apply", "--server-side", "-f", "-", input=_manifests(size))
        until(lambda: _states(tenant) == [f"{generation}:{generation}:True"] * total, 120, "all to be ready")

    yield "create", total, counted.phase(lambda: apply("SMALL", 1), total + 1)
    yield "change a field", total, counted.phase(lambda: apply("MEDIUM", 2), total + 1)
    yield "resync, nothing changed", total, counted.phase(lambda: _one_resync(schemas), 0)
    yield "delete", total, counted.phase(lambda: _delete(tenant), total + 1)


def _one_resync(schemas: Controller) -> None:
    """Wait until the schemas have been looked at again, once on the average."""
    before = schemas.reconciles("Schema")
    until(
        lambda: schemas.reconciles("Schema") >= before + OBJECTS, 10 * RESYNC_SECONDS, "schemas to be looked at again"
    )


def _delete(tenant: Tenant) -> None:
    tenant.kubectl("delete", "warehouse,schema,database", "--all", "--wait=false")
    until(lambda: not _states(tenant) and not tenant.get("Database", "bench"), 120, "all to be gone")


def _states(tenant: Tenant) -> list[str]:
    """generation:observedGeneration:Ready of all warehouses and schemas, by a request that isn't counted."""
    facts = '{.metadata.generation}:{.status.observedGeneration}:{.status.conditions[?(@.type=="Ready")].status}'
    output = f"--output=jsonpath={{range .items[*]}}{facts} {{end}}"
    return tenant.kubectl("get", "warehouses,schemas", output).stdout.split()


def main() -> None:
    """Run it and print a table, and the same as JSON in the last line."""
    console = Console()
    columns = ("phase", "objects", "reads", "changes", "GETs", "API writes")
    table = Table(*columns, title="Cost an object, by phase of its life")
    figures: dict[str, dict[str, float]] = {}
    started = time.monotonic()
    with _freehold() as (control_plane, endpoint, schemas):
        for phase, objects, cost in _story(control_plane, endpoint, schemas):
            each = {name: round(value / objects, 2) for name, value in vars(cost).items()}
            figures[phase] = each
            table.add_row(phase, str(objects), *(f"{value:.2f}" for value in each.values()))
    console.print(table)
    console.print(f"{time.monotonic() - started:.0f} s in all", highlight=False)
    print(orjson.dumps({"benchmark": "lifecycle", "per_object": figures}).decode())


if __name__ == "__main__":
    main()
