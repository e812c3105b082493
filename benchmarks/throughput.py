"""How much of an account's budget is used while there is always something to send, and what accounts that don't answer
cost the others. Snowflake, which is the endpoint, answers each statement after 50 ms.

In the first part, two processes do nothing but send: both want all, or one of them wants little. They share the budget
by their Leases in a real API server; the endpoint's journal tells what was sent. In the second
part, the account controller has twenty ProviderConfigs; the time from a change of a warehouse to its being ready is
measured at one of them, before and while the other nineteen hang.
"""

from __future__ import annotations

import asyncio
import math
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.harness import results
from benchmarks.harness.sender import Sender
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Object
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until
from freehold_devstack.supervisor import free_ports
from tests.harness.chart import NAMESPACE, install_without_pods
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers import conftest
from tests.integration.controllers.tenant import API, Tenant

LATENCY = 0.05
BUDGET = 40
"""Statements a second that the account is to get; few enough for a machine that is busy."""
SETTLING = 10.0
"""Seconds until shares have followed demand: several renewals of the Leases."""
MEASURED = 20.0

SITUATIONS: dict[str, tuple[int | None, ...]] = {"two that want all": (None, None), "one that wants little": (None, 4)}
"""Statements a second that each process wants; None for as many as it may."""

SENDERS = ("sender-0", "sender-1")

HANGING = 19
WAREHOUSES = 10
"""Of each provider that hangs."""
CHANGES = 31
WAREHOUSE = KINDS["Warehouse"].resource.path

TARGETS = {"share_of_budget": ">= 0.95", "twentieth_provider_p50_ratio": "<= 1.2", "loop_stall_ms": "<= 50"}


class Site:
    """An API server with the chart's objects, and a Snowflake that takes its time."""

    def __init__(self, stack: ExitStack) -> None:
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.control_plane = stack.enter_context(ControlPlane())
        install_without_pods(self.control_plane)
        self.endpoint = Endpoint(self.folder, conftest.SEED)
        stack.callback(self.endpoint.stop)
        self.endpoint.fault(".*", "delay", seconds=LATENCY, times=None)

    # --- senders -----------------------------------------------------------------------------------------------------

    @contextmanager
    def senders(self, rates: Sequence[int | None]) -> Iterator[list[float]]:
        """Processes that send; in the end, the milliseconds for which their loops stood still."""
        stalls: list[float] = []
        processes = [self._sender(name, rate) for name, rate in zip(SENDERS, rates, strict=True)]
        try:
            yield stalls
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
            stalls += [float(process.communicate(timeout=60)[0]) for process in processes]

    def _sender(self, name: str, rate: int | None) -> subprocess.Popen[bytes]:
        (port,) = free_ports(1)
        sender = Sender(
            name=name,
            namespace=NAMESPACE,
            kubeconfig=self.control_plane.kubeconfig,
            host=self.endpoint.host,
            port=self.endpoint.port,
            ca=self.endpoint.ca,
            account="FREEHOLD-DEVSTACK",
            user="ANNA",
            password=conftest.PASSWORD,
            budget=BUDGET,
            rate=rate,
            health_port=port,
        )
        command = [sys.executable, "-m", "benchmarks.harness.sender", sender.model_dump_json()]
        return subprocess.Popen(command, stdout=subprocess.PIPE)

    def share(self, rates: Sequence[int | None]) -> tuple[float, float]:
        """The part of the budget that is used, and the milliseconds for which a loop stood still at most."""
        with self.senders(rates) as stalls:
            before = self.endpoint.sequence
            until(lambda: all(self._sent(before, name) for name in SENDERS), 120, "statements to be sent")
            time.sleep(SETTLING)
            before, begun = self.endpoint.sequence, 1000 * time.time()
            time.sleep(MEASURED)
            sent = self._sent(before, "sender", begun, begun + 1000 * MEASURED)
        return sent / (BUDGET * MEASURED), max(stalls)

    def _sent(self, sequence: int, by: str, begin: float = 0, end: float = math.inf) -> int:
        """Statements whose query tag has a word in it, of a period in milliseconds since 1970."""
        entries = self.endpoint.since(sequence)
        return sum(by in entry.query_tag and begin <= entry.time < end for entry in entries)

    # --- providers ---------------------------------------------------------------------------------------------------

    async def ratio(self) -> tuple[float, float]:
        """Median seconds that a change takes, while everything answers and while nineteen providers hang."""
        controller = Controller(
            *(self.control_plane, "account", self.folder),
            f"--allowed-hosts={self.endpoint.host}:{self.endpoint.port}",
        )
        controller.start()
        try:
            self.control_plane.kubectl("create", "namespace", "bench")
            tenant = Tenant(self.control_plane, self.endpoint, "bench")
            self._declare(tenant)
            async with Kube.from_kubeconfig(self.control_plane.kubeconfig) as kube:
                before = await _change(kube, range(CHANGES))
                self.endpoint.control.freeze(conftest.SILENT)
                self._touch(tenant)
                during = await _change(kube, range(CHANGES, 2 * CHANGES))
        finally:
            controller.kill()
        return before, during

    def _declare(self, tenant: Tenant) -> None:
        """The providers, and warehouses of all of them."""
        tenant.provide("ANNA", conftest.PASSWORD)
        silent = [f"silent{number}" for number in range(HANGING)]
        secret = {"secretRef": {"name": "default", "key": "password"}}
        for each in silent:
            tenant.provider("SAM", each, account=f"FREEHOLD-{conftest.SILENT}", credentials=secret)
        tenant.ready("providerconfig", "default", *silent)
        watch = {"managementPolicies": {"observeOnly": True}}
        items = [
            _warehouse(f"{each}-{number}", name="WELL", providerRef={"name": each}, **watch)
            for each in silent
            for number in range(WAREHOUSES)
        ]
        listed = {"apiVersion": "v1", "kind": "List", "items": [_warehouse("well", name="WELL"), *items]}
        tenant.kubectl("apply", "--server-side", "-f", "-", input=orjson.dumps(listed).decode())
        tenant.ready("warehouse", "well")

    def _touch(self, tenant: Tenant) -> None:
        """Have all of them looked at again."""
        tenant.kubectl("annotate", "warehouses", "--all", "--overwrite", "freehold.dev/reconcile-now=1")
        tenant.ready("warehouse", "well")


def _warehouse(resource: str, **spec: object) -> dict[str, object]:
    return {"apiVersion": API, "kind": "Warehouse", "metadata": {"name": resource}, "spec": spec}


async def _change(kube: Kube, seconds: Sequence[int]) -> float:
    """Change the warehouse of the provider that answers again and again; answers with the median time that it takes."""
    took = []
    for each in seconds:
        begun = time.monotonic()
        changed = await kube.patch(WAREHOUSE, "well", "bench", {"spec": {"autoSuspend": 60 + each}})
        watch = kube.watch(WAREHOUSE, "bench", resource_version=changed.resource_version)
        async with aclosing(watch) as events:
            async for event in events:
                if event.object.name == "well" and _is_ready(event.object, changed.generation):
                    break
        took.append(time.monotonic() - begun)
    return statistics.median(took)


def _is_ready(found: Object, generation: int) -> bool:
    return any(
        each.type == "Ready" and each.status == "True" and each.observed_generation == generation
        for each in conditions_of(found)
    )


def _print(shares: dict[str, float], medians: tuple[float, float], figures: dict[str, float], console: Console) -> None:
    table = Table("situation", "figure", title=f"Statements at {1000 * LATENCY:g} ms, {BUDGET} a second allowed")
    for name, share in shares.items():
        table.add_row(f"{name}: part of the budget that was sent", f"{share:.3f}")
    table.add_row("all providers answer: median of a change", f"{1000 * medians[0]:.0f} ms")
    table.add_row(f"{HANGING} of {HANGING + 1} hang: median of a change", f"{1000 * medians[1]:.0f} ms")
    console.print(table)
    for name, target in TARGETS.items():
        console.print(f"{name}: {figures[name]:g}; target {target}", highlight=False)


def run(
    *, record: Annotated[bool, typer.Option("--record", help="Keep the figures in benchmarks/results.")] = False
) -> None:
    """Measure, and print a table, and the figures as JSON in the last line. Takes some two minutes."""
    console = Console()
    with ExitStack() as stack:
        site = Site(stack)
        found = {name: site.share(rates) for name, rates in SITUATIONS.items()}
        medians = asyncio.run(site.ratio())
    shares = {name: share for name, (share, _) in found.items()}
    figures = {
        "share_of_budget": round(min(shares.values()), 3),
        "twentieth_provider_p50_ratio": round(medians[1] / medians[0], 2),
        "loop_stall_ms": round(max(stall for _, stall in found.values()), 1),
    }
    _print(shares, medians, figures, console)
    if record:
        results.record("throughput", figures)
    print(orjson.dumps(figures).decode())


if __name__ == "__main__":
    typer.run(run)
