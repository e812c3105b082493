"""A whole Freehold on a control plane of its own: endpoint, two webhooks behind a Service, both controllers, teams."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from freehold.kube.client import Kube
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.pki import Authority
from tests.chaos.waiting import eventually
from tests.harness.chart import NAMESPACE, install_without_pods, register_webhook
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.conftest import PASSWORD, SEED
from tests.integration.controllers.tenant import Tenant
from tests.integration.webhook.harness import Site, WebhookProcess
from tests.integration.webhook.service import Service
from tests.soak.processes import Processes

USERS = ("ANNA", "CARL")
"""Whom the teams' ProviderConfigs log in as, by turns; both have the same role."""

STATEMENT_SECONDS = 5
"""Time limit of statements, so that those that hang don't take up the whole soak."""

_DOMAINS = ("account", "schema")
_WEBHOOKS = 2
_READY_SECONDS = 60.0


class Webhook(WebhookProcess):
    """A process of the webhook that is told the same things as a controller."""

    @property
    def pid(self) -> int:
        return self.process.pid

    def begin(self) -> None:
        self.start()

    async def listens(self) -> bool:
        return (await self.probe("/healthz"))[0] > 0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.terminate()
        return self.process.wait()


class Installation:
    """An asynchronous context manager: everything runs inside, and ends with it.

    Attributes:
        control_plane: where it is.
        endpoint: Snowflake.
        kube: client of an administrator.
        processes: ours.
    """

    control_plane: ControlPlane
    endpoint: Endpoint
    kube: Kube
    processes: Processes

    def __init__(self, namespaces: Sequence[str], *options: str) -> None:
        """
        Args:
            namespaces: of the teams.
            options: of the controllers, beside the usual ones.
        """
        self._namespaces = namespaces
        self._options = options
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with self._open:
            await self._begin()
            self._open = self._open.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def _begin(self) -> None:
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        self.control_plane = plane = self._open.enter_context(ControlPlane())
        install_without_pods(plane)
        self.endpoint = Endpoint(folder, SEED)
        self._open.callback(self.endpoint.stop)
        self.kube = await self._open.enter_async_context(Kube.from_kubeconfig(plane.kubeconfig))
        certificates = folder / "certificates"
        certificates.mkdir()
        site = Site(plane, "freehold", Authority(), certificates)
        site.mount(site.issue())
        kubeconfig = plane.kubeconfig_for(NAMESPACE, "freehold-webhook")
        webhooks = [Webhook(plane, site.name, certificates, kubeconfig) for _ in range(_WEBHOOKS)]
        hosts = f"--allowed-hosts={self.endpoint.host}:{self.endpoint.port}"
        options = (hosts, f"--statement-timeout={STATEMENT_SECONDS}", "--resync-interval=30", *self._options)
        self.processes = Processes(
            {f"webhook {number}": each for number, each in enumerate(webhooks, 1)}
            | {f"{each} controller": Controller(plane, each, folder, *options) for each in _DOMAINS}
        )
        for name, program in self.processes.programs.items():
            self.processes.begin(name)
            self._open.callback(program.kill)
        for webhook in webhooks:
            await eventually(webhook.listens, _READY_SECONDS, "a webhook to listen")
        service = await self._open.enter_async_context(Service(*webhooks))
        await asyncio.to_thread(register_webhook, plane, service.url, site.authority.pair.certificate)
        for webhook in webhooks:
            await eventually(webhook.ready, _READY_SECONDS, "a webhook to be ready")
        for number, namespace in enumerate(self._namespaces):
            plane.kubectl("create", "namespace", namespace)
            user = USERS[number % len(USERS)]
            Tenant(plane, self.endpoint, namespace).provide(user, PASSWORD)
