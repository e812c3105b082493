"""The world of a shard: one API server, one Snowflake account, and lanes in which runs happen side by side."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.objects import NAMESPACES, ROLE_BINDINGS, Object
from freehold.role_script import Absence, grants
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.supervisor import free_ports
from tests.chaos.account import STRANGER
from tests.chaos.gate import Gate, Upstream
from tests.chaos.lane import Lane
from tests.chaos.process import Process
from tests.chaos.samples import OTHERS, killed_kinds, made, referred_kinds, sample
from tests.chaos.waiting import eventually
from tests.harness.chart import NAMESPACE, install_without_pods
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.conftest import PASSWORD, SEED
from tests.integration.controllers.tenant import Tenant

PLATFORM = "platform"
"""Namespace of the ProviderConfigs, one for each lane, and of the samples that others refer to."""

USER, ROLE = "ANNA", "FREEHOLD"
"""Whom the controllers log in as."""

BLIND_USER, BLIND_ROLE = "BERT", "SHORTSIGHTED"
"""Whom they log in as where the role is not to see everything."""

_DOMAINS = frozenset(kind.domain.value for kind in KINDS.values())
_ROLES = GroupResource("rbac.authorization.k8s.io", "v1", "roles", "Role")
_LEASES = "freehold-leases"
_FURNISHED_SECONDS = 180.0


class World:
    """An asynchronous context manager: everything runs inside, and ends with it.

    Attributes:
        endpoint: Snowflake.
        kube: client of the API server.
        lanes: the lanes.
    """

    endpoint: Endpoint
    kube: Kube
    lanes: list[Lane]

    def __init__(self, lanes: int) -> None:
        """
        Args:
            lanes: how many runs happen at a time.
        """
        self._count = lanes
        self._open = AsyncExitStack()
        self._control_plane: ControlPlane
        self._folder: Path
        self._kubeconfigs: Mapping[str, Path]

    async def __aenter__(self) -> Self:
        async with self._open:
            await self._begin()
            # What was begun stays open only where all of it could be.
            self._open = self._open.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def _begin(self) -> None:
        self._folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="chaos-")))
        self._control_plane = plane = self._open.enter_context(ControlPlane())
        install_without_pods(plane)
        self._kubeconfigs = {each: plane.kubeconfig_for(NAMESPACE, f"freehold-{each}") for each in _DOMAINS}
        self.endpoint = Endpoint(self._folder, SEED)
        self._open.callback(self.endpoint.stop)
        self.kube = await self._open.enter_async_context(Kube.from_kubeconfig(plane.kubeconfig))
        await self._namespace(PLATFORM)
        Tenant(plane, self.endpoint, PLATFORM).provide(USER, PASSWORD, allowedNamespaces=["*"])
        self.lanes = [await self._lane(f"lane-{number}") for number in range(self._count)]
        await self._furnish()

    async def _lane(self, name: str) -> Lane:
        kube_port, snowflake_port = free_ports(2)
        endpoint, server = self.endpoint, self._control_plane.server
        kube = Upstream(server, ssl.create_default_context(cafile=self._control_plane.ca))
        snowflake = Upstream(f"https://{endpoint.host}:{endpoint.port}", ssl.create_default_context(cadata=endpoint.ca))
        certificate = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        certificate.load_cert_chain(self._folder / "tls/server.crt", self._folder / "tls/server.key")
        gate = await Gate(kube, snowflake).listen(kube_port, snowflake_port, certificate)
        self._open.push_async_callback(gate.close)
        kubeconfigs = {domain: self._folder / f"{name}.{domain}.kubeconfig" for domain in _DOMAINS}
        for domain, path in kubeconfigs.items():
            path.write_text(self._kubeconfigs[domain].read_text().replace(server, f"http://127.0.0.1:{kube_port}"))
        await self._installation(name)
        provider = await self.kube.get(PROVIDER_CONFIG.path, "default", PLATFORM)
        through_gate = {**provider.spec, "port": snowflake_port}
        await self._make(PROVIDER_CONFIG.path, name, PLATFORM, spec=through_gate)
        await self._make(PROVIDER_CONFIG.path, f"{name}-blind", PLATFORM, spec={**through_gate, "user": BLIND_USER})
        log = self._folder / f"{name}.log"
        lane = Lane(name, gate, self.kube, log, kubeconfigs, snowflake_port)
        self._open.callback(lane.kill)
        await lane.renew()
        return lane

    async def _installation(self, name: str) -> None:
        """Give a namespace the rights to Leases that the release's has: each lane is like another installation."""
        await self._namespace(name)
        for path in (_ROLES, ROLE_BINDINGS):
            found = await self.kube.get(path, _LEASES, NAMESPACE)
            kept = {key: value for key, value in found.raw.items() if key in ("rules", "roleRef", "subjects")}
            await self._make(path, _LEASES, name, **kept)

    async def _furnish(self) -> None:
        """Have the ProviderConfigs verified, and the samples made, by controllers that nobody kills."""
        ports = (self.endpoint.port, *(lane.gate_port for lane in self.lanes))
        hosts = ",".join(f"{self.endpoint.host}:{port}" for port in ports)
        options = (f"--namespace={NAMESPACE}", f"--watch-namespaces={PLATFORM}", f"--allowed-hosts={hosts}")
        awaited = [(PROVIDER_CONFIG.path, name) for lane in self.lanes for name in (lane.name, f"{lane.name}-blind")]
        for kind in referred_kinds():
            manifest = sample(kind.name)
            await self._make(kind.resource.path, manifest["metadata"]["name"], PLATFORM, spec=manifest["spec"])
            awaited.append((kind.resource.path, manifest["metadata"]["name"]))

        async def ready() -> bool:
            return all([_is_ready(await self.kube.get(path, name, PLATFORM)) for path, name in awaited])

        log = self._folder / "furnishing.log"
        processes = [
            Process(domain, (*options, f"--health-port={port}"), self._kubeconfigs[domain], log)
            for domain, port in zip(_DOMAINS, free_ports(len(_DOMAINS)), strict=True)
        ]
        try:
            await eventually(ready, _FURNISHED_SECONDS, "the samples to be ready")
        finally:
            for process in processes:
                process.kill()
        for statement in (*_blind_grants(), f"CREATE DATABASE {OTHERS}", f"CREATE SCHEMA {OTHERS}.{OTHERS}"):
            self.endpoint.sql(statement, role=STRANGER)

    async def _namespace(self, name: str) -> None:
        await self._make(NAMESPACES, name, None)

    async def _make(self, path: GroupResource, name: str, namespace: str | None, **parts: Any) -> None:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        head = {"apiVersion": path.api_version, "kind": path.kind, "metadata": metadata}
        await self.kube.create(path, {**head, **parts}, namespace)


def _blind_grants() -> list[str]:
    """What the role that is not to see everything needs to make the like of the samples, in those that are there."""
    on_account = [each.statement.text for each in grants(killed_kinds(), BLIND_ROLE, Absence.NONE)]
    return [*on_account, *(f"GRANT ALL ON {made(each)} TO ROLE {BLIND_ROLE}" for each in referred_kinds())]


def _is_ready(found: Object) -> bool:
    told = found.status.get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in told)
