"""Webhook processes in front of a real API server, and the resources that tests of them apply."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from freehold.claim_store import ClaimStore
from freehold.claims import Claim
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.errors import ApiError
from freehold.kube.objects import Object
from freehold_devstack.instance import Instance
from freehold_devstack.pki import Authority, Key, Pair
from freehold_devstack.supervisor import free_ports
from tests.harness.chart import NAMESPACE

DEADLINE = 30.0
REPLICAS = 3
PROGRAM = Path(sys.executable).parent / "freehold-webhook"
DATABASE, SCHEMA = KINDS["Database"].resource.path, KINDS["Schema"].resource.path


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + DEADLINE
    while not await condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE:g} s in vain for {what}"
        await asyncio.sleep(0.05)


@dataclass
class WebhookProcess:
    """One `freehold-webhook`.

    Attributes:
        instance: the control plane that it talks to.
        configuration: name of its ValidatingWebhookConfiguration.
        folder: of its certificate and its log.
        kubeconfig: with its credentials.
        options: further options.
    """

    instance: Instance
    configuration: str
    folder: Path
    kubeconfig: Path
    options: tuple[str, ...] = ()
    port: int = field(init=False)
    health_port: int = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        self.port, self.health_port = free_ports(2)
        self.process = self.instance.spawn(
            [
                str(PROGRAM),
                f"--port={self.port}",
                f"--health-port={self.health_port}",
                f"--certificate-dir={self.folder}",
                f"--configuration-name={self.configuration}",
                *self.options,
            ],
            env={"KUBECONFIG": str(self.kubeconfig)},
            log=self.log,
        )

    @property
    def log(self) -> Path:
        return self.folder / f"webhook-{self.port}.log"

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/validate"

    async def probe(self, path: str) -> tuple[int, str]:
        """Status and text of /readyz, /healthz or /metrics; status 0 when nothing answers."""
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{self.health_port}{path}") as response,
            ):
                return response.status, await response.text()
        except aiohttp.ClientConnectionError:
            return 0, ""

    async def ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return (await self.probe("/readyz"))[0] == 200

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    async def ended(self) -> int:
        """The exit code."""
        return await asyncio.wait_for(asyncio.to_thread(self.process.wait), DEADLINE)


@dataclass
class Site:
    """Replicas of the webhook, registered for two namespaces.

    Attributes:
        instance: the control plane.
        name: of the configuration, and prefix of the namespaces.
        authority: signs the certificates.
        folder: the mounted Secret, as kubelet lays it out.
        replicas: the processes.
    """

    instance: Instance
    name: str
    authority: Authority
    folder: Path
    replicas: list[WebhookProcess] = field(default_factory=list)

    @property
    def namespaces(self) -> tuple[str, str]:
        return f"{self.name}-a", f"{self.name}-b"

    def prepare(self) -> None:
        """Namespaces and certificate."""
        names = ({"name": each} for each in self.namespaces)
        self.apply(*({"apiVersion": "v1", "kind": "Namespace", "metadata": each} for each in names))
        self.mount(self.issue())

    def as_component(self, component: str) -> Kube:
        """A client with the rights of one of the chart's service accounts: webhook, account or schema."""
        return Kube.from_kubeconfig(self.instance.kubeconfig_for(NAMESPACE, f"freehold-{component}"))

    def issue(
        self,
        *,
        authority: Authority | None = None,
        key: Key | None = None,
        valid: tuple[datetime, datetime] | None = None,
    ) -> Pair:
        """A pair for the processes; the arguments are those of `Authority.issue`."""
        return (authority or self.authority).issue("webhook", names=["127.0.0.1"], key=key, valid=valid)

    def mount(self, pair: Pair) -> None:
        """Put a certificate where the processes look, in one atomic step as kubelet does."""
        serial = len(list(self.folder.glob("..v*")))
        version = self.folder / f"..v{serial}"
        version.mkdir()
        pair.write(version, "tls")
        link = self.folder / "..new"
        link.symlink_to(version.name)
        link.rename(self.folder / "..data")
        for name in ("tls.crt", "tls.key"):
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(f"..data/{name}")

    def replica(self, *options: str, configuration: str | None = None) -> WebhookProcess:
        """A new process, started but perhaps not ready yet."""
        kubeconfig = self.instance.kubeconfig_for(NAMESPACE, "freehold-webhook")
        process = WebhookProcess(self.instance, configuration or self.name, self.folder, kubeconfig, options)
        process.start()
        self.replicas.append(process)
        return process

    def register(self, *urls: str, trusted: Sequence[Authority] | None = None) -> None:
        """Have the API server ask one process about everything, or several each about the objects labelled for it.

        Args:
            urls: of the processes.
            trusted: whom the API server is to trust; by default the one that signed the certificates.
        """
        authorities = [self.authority] if trusted is None else trusted
        bundle = base64.b64encode(b"".join(each.pair.certificate for each in authorities)).decode()
        webhooks = [
            {
                "name": f"replica-{index}.freehold.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "NoneOnDryRun",
                "failurePolicy": "Fail",
                "timeoutSeconds": 30,
                "clientConfig": {"url": url, **({"caBundle": bundle} if bundle else {})},
                "rules": [
                    {
                        "apiGroups": [DATABASE.group],
                        "apiVersions": ["*"],
                        "resources": ["*"],
                        "operations": ["CREATE", "UPDATE"],
                    }
                ],
                "namespaceSelector": _one_of("kubernetes.io/metadata.name", *self.namespaces),
                "objectSelector": _one_of("replica", str(index)) if len(urls) > 1 else {},
            }
            for index, url in enumerate(urls)
        ]
        self.apply(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": self.name},
                "webhooks": webhooks,
            }
        )

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        self.instance.kubectl("apply", "--filename=-", input=yaml.safe_dump_all(manifests))

    def close(self) -> None:
        """End every process, and have the API server forget them."""
        self.instance.kubectl("delete", "validatingwebhookconfiguration", self.name, "--ignore-not-found")
        for process in self.replicas:
            process.process.kill()
            process.process.wait()


def _one_of(label: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": label, "operator": "In", "values": list(values)}]}


@dataclass(frozen=True)
class Account:
    """A Snowflake account of one test, so that tests claim nothing of one another.

    Attributes:
        kube: client of an administrator.
        controller: client of the account controller, who proves accounts and writes evidence.
        site: the webhook.
        key: the account's key, which names its ProviderConfig too.
    """

    kube: Kube
    controller: Kube
    site: Site
    key: str

    async def verify(self) -> None:
        """A ProviderConfig in the first namespace, usable by both, whose account is proven."""
        namespace = self.site.namespaces[0]
        spec = {
            "account": "ACME-PROD",
            "authenticationType": "KeyPair",
            "user": "FREEHOLD",
            "role": "FREEHOLD",
            "credentials": {"secretRef": {"name": "key", "key": "key.pem"}},
            "allowedNamespaces": ["*"],
        }
        body = manifest(PROVIDER_CONFIG.path.kind, namespace, self.key, spec, replica=0)
        await self.kube.create(PROVIDER_CONFIG.path, body, namespace)
        account = {"key": self.key.upper(), "name": "ACME.PROD", "region": "R", "locator": "L"}
        await self.controller.patch(
            PROVIDER_CONFIG.path, self.key, namespace, {"status": {"account": account}}, subresource="status"
        )

    def database(self, namespace: str, name: str, database: str, *, replica: int = 0, **spec: Any) -> dict[str, Any]:
        """Manifest of a Database in this account."""
        return manifest(
            "Database", namespace, name, {"name": database, "providerRef": self.provider, **spec}, replica=replica
        )

    def schema(self, namespace: str, name: str, schema: str, **spec: Any) -> dict[str, Any]:
        """Manifest of a Schema in this account."""
        return manifest("Schema", namespace, name, {"name": schema, "providerRef": self.provider, **spec}, replica=0)

    @property
    def provider(self) -> dict[str, str]:
        return {"name": self.key, "namespace": self.site.namespaces[0]}

    async def claim(self, database: str) -> Claim | None:
        """The claim to a database in this account."""
        return await ClaimStore(self.kube).read(Identity(self.key.upper(), "DATABASE", Name((database,))).hash)

    async def create(self, body: Mapping[str, Any]) -> Object | ApiError:
        """Create a resource; a refusal is the answer, not an error."""
        path = KINDS[body["kind"]].resource.path
        try:
            return await self.kube.create(path, body, body["metadata"]["namespace"])
        except ApiError as error:
            return error


def manifest(kind: str, namespace: str, name: str, spec: Mapping[str, Any], *, replica: int) -> dict[str, Any]:
    """A resource of ours, labelled with the replica that is asked about it."""
    return {
        "apiVersion": DATABASE.api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": {"replica": str(replica)}},
        "spec": dict(spec),
    }


def as_json(body: Mapping[str, Any]) -> str:
    return json.dumps(body)
