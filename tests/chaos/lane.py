"""A lane: where one run at a time happens, with a controller of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import aiohttp

from freehold.kinds.kind import Kind
from freehold.kube.client import Kube
from freehold.kube.errors import NotFound
from freehold.kube.objects import LEASES, NAMESPACES
from freehold_devstack.supervisor import free_ports
from tests.chaos.gate import Gate
from tests.chaos.process import Process

_STATEMENT_SECONDS = 1
"""Time limit of statements. By that and a few seconds more, what may be under way is waited for."""


_LAST_LINES = 30


class Lane:
    """A gate, a namespace for resources and one for the Lease, and a controller that works there and nowhere else.

    Attributes:
        name: of the lane, its ProviderConfig and the namespace of its Lease.
        gate: what its controller talks through.
        kube: client of the API server, not by way of the gate.
        log: output of its controllers.
        namespace: of the resources.
    """

    def __init__(
        self,
        name: str,
        gate: Gate,
        kube: Kube,
        log: Path,
        kubeconfigs: Mapping[str, Path],
        gate_port: int,
    ) -> None:
        """
        Args:
            name: see above, as for all that isn't named here.
            kubeconfigs: by domain; they lead to the gate.
            gate_port: where the gate is Snowflake.
        """
        self.name = name
        self.gate = gate
        self.kube = kube
        self.log = log
        self.gate_port = gate_port
        self.namespace = ""
        self._kubeconfigs = kubeconfigs
        (self._health_port,) = free_ports(1)
        self._renewals = 0
        self._process: Process | None = None

    async def renew(self) -> None:
        """Go on in a new namespace, whatever the old one holds."""
        self._renewals += 1
        self.namespace = f"{self.name}-{self._renewals}"
        head = {"apiVersion": NAMESPACES.api_version, "kind": NAMESPACES.kind}
        await self.kube.create(NAMESPACES, {**head, "metadata": {"name": self.namespace}})

    def start(self, kind: Kind) -> None:
        """Start the controller of a kind."""
        domain = kind.domain.value
        options = (
            f"--namespace={self.name}",
            f"--watch-namespaces={self.namespace}",
            f"--health-port={self._health_port}",
            f"--allowed-hosts=127.0.0.1:{self.gate_port}",
            f"--statement-timeout={_STATEMENT_SECONDS}",
            "--log-format=text",
        )
        self._process = Process(domain, options, self._kubeconfigs[domain], self.log)

    def kill(self) -> None:
        """End the controller as a power cut would."""
        if self._process is not None:
            self._process.kill()

    def last_lines(self) -> list[str]:
        """What its controllers have said last."""
        return self.log.read_text().splitlines()[-_LAST_LINES:] if self.log.exists() else []

    async def let_the_lease_end(self, kind: Kind) -> None:
        """What time would do to the Lease of a dead controller; one that died young may have had none."""
        with suppress(NotFound):
            await self.kube.patch(LEASES, f"freehold-{kind.domain.value}", self.name, {"spec": {"holderIdentity": ""}})

    async def has_worked_on(self, kind: Kind) -> bool:
        """Whether the controller has ended a pass over a resource of a kind."""
        counted = rf'^freehold_reconciles_total{{kind="{kind.name}",result="\w+"}} [1-9]'
        try:
            async with aiohttp.request("GET", f"http://127.0.0.1:{self._health_port}/metrics") as answer:
                return re.search(counted, await answer.text(), re.MULTILINE) is not None
        except aiohttp.ClientError:
            return False
