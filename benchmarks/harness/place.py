"""An API server with a webhook in front of it, and as many warehouses and claims as a benchmark wants.

Reviews go straight to the handlers over connections that stay open, as an API server sends them.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from rich.progress import Progress

from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM, Claim, Holder, new_claim
from freehold.identity import Identity, Name
from freehold.kinds.account.warehouse import WAREHOUSE
from freehold.kinds.resources import RESOURCES
from freehold.kube.client import Kube
from freehold.kube.errors import NotFound
from freehold.kube.objects import Object
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.pki import Authority
from tests.harness.apiserver import requests
from tests.harness.chart import install_without_pods
from tests.integration.webhook.harness import Account, Site, eventually, manifest

SEEDERS = 32
"""Objects that are stored at a time."""

NAMESPACE = "benchmark"
"""Of the stored objects; the API server asks no webhook about it."""
HASH_LABEL = "benchmark.freehold.dev/name-hash"
"""What a webhook that lists does so by."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Stored objects are as large as real ones: with this, and with the managedFields that the API server adds."""

_PATH = WAREHOUSE.resource.path
_PLURALS = frozenset(resource.path.plural for resource in RESOURCES)


class Handler:
    """An admission webhook as an API server calls it."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url

    async def admits(self, review: bytes) -> bool:
        """Whether it admits a request.

        Raises:
            RuntimeError: it answers with reservations, so the figures would be of something else.
        """
        headers = {"Content-Type": "application/json"}
        async with self._http.post(self._url, data=review, headers=headers) as http:
            answer = orjson.loads(await http.read())["response"]
        if answer.get("warnings"):
            raise RuntimeError(f"{self._url}: {answer['warnings']}")
        return bool(answer["allowed"])

    async def answers(self) -> bool:
        """Whether there is somebody who answers."""
        with suppress(aiohttp.ClientConnectionError):
            async with self._http.get(self._url):
                return True
        return False

    async def seconds(self, reviews: Iterable[bytes], *, at_once: int = 1) -> list[float]:
        """How long each of these takes; all must be admitted.

        Args:
            reviews: in the order of asking.
            at_once: how many are asked about at a time.
        """
        waiting, times = iter(reviews), list[float]()

        async def ask() -> None:
            for review in waiting:
                started = time.perf_counter()
                if not await self.admits(review):
                    raise RuntimeError(f"{self._url} refuses what nobody owns")
                times.append(time.perf_counter() - started)

        await asyncio.gather(*(ask() for _ in range(at_once)))
        return times


class Place:
    """An API server with a webhook, and as many warehouses and claims as are wanted.

    Attributes:
        control_plane: the API server.
        webhook: the process.
        ours: the webhook, to be asked.
        http: connections to it, and to others with the same certificate.
    """

    def __init__(self, control_plane: ControlPlane, kube: Kube, account: Account, http: aiohttp.ClientSession) -> None:
        self.control_plane = control_plane
        self.webhook = account.site.replicas[0]
        self.http = http
        self.ours = Handler(http, self.webhook.url)
        self._kube = kube
        self._account = account
        self._size = 0
        self._serial = itertools.count()

    @classmethod
    @asynccontextmanager
    async def open(cls, control_plane: ControlPlane, folder: Path) -> AsyncIterator[Place]:
        """Install what the webhook needs, start it, and verify an account.

        Args:
            control_plane: a new one.
            folder: for the webhook's certificate and log.
        """
        install_without_pods(control_plane)
        control_plane.kubectl("create", "namespace", NAMESPACE)
        site = Site(control_plane, "freehold", Authority(), folder)
        site.prepare()
        trust = ssl.create_default_context(cadata=site.authority.pair.certificate.decode())
        async with AsyncExitStack() as stack:
            stack.callback(site.close)
            site.register(site.replica().url)
            http = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)))
            kube = await stack.enter_async_context(Kube.from_kubeconfig(control_plane.kubeconfig))
            controller = await stack.enter_async_context(site.as_component("account"))
            await eventually(site.replicas[0].ready, "the webhook to be ready")
            account = Account(kube, controller, site, "region.benchmark")
            await account.verify()
            yield cls(control_plane, kube, account, http)

    async def grow(self, size: int, progress: Progress) -> None:
        """Store more warehouses with their claims."""
        numbers = iter(progress.track(range(self._size, size), description=f"{size:,} objects and claims"))
        self._size = size
        async with self._account.site.as_component("webhook") as kube:
            store = ClaimStore(kube)

            async def work() -> None:
                for number in numbers:
                    stored = await self._kube.create(_PATH, self._warehouse(f"stored-{number}"), NAMESPACE)
                    await store.create(self._claim(stored))

            await asyncio.gather(*(work() for _ in range(SEEDERS)))

    @asynccontextmanager
    async def created(self, count: int) -> AsyncIterator[list[bytes]]:
        """Reviews of the creation of warehouses that there aren't; the claims they may end in are removed."""
        bodies = [self._warehouse(f"new-{next(self._serial)}") for _ in range(count)]
        yield [_review("CREATE", body) for body in bodies]
        for body in bodies:
            with suppress(NotFound):
                await self._kube.delete(CLAIM.path, self._claim(Object(body)).name)

    def taken(self) -> bytes:
        """A review of the creation of one whose name in Snowflake another one has."""
        body = self._warehouse("stored-0")
        return _review("CREATE", {**body, "metadata": {**body["metadata"], "name": "second"}})

    async def updated(self) -> bytes:
        """A review of a change to what is stored that leaves its identity."""
        old = (await self._kube.get(_PATH, "stored-0", NAMESPACE)).raw
        return _review("UPDATE", {**old, "spec": {**old["spec"], "autoSuspend": 120}}, old)

    def requests(self) -> int:
        """What the API server was asked about Freehold's resources so far; watches don't count."""
        counted = requests(self.control_plane, _PLURALS)
        return counted.total() - counted["WATCH"]

    def _warehouse(self, name: str) -> dict[str, Any]:
        spec = {
            "name": name.upper().replace("-", "_"),
            "providerRef": self._account.provider,
            "warehouseSize": "SMALL",
            "autoSuspend": 60,
            "initiallySuspended": True,
            "comment": "for the nightly loads",
        }
        body = manifest(_PATH.kind, NAMESPACE, name, spec, replica=0)
        quoted = f'"{spec["name"]}"'
        metadata = body["metadata"]
        metadata["labels"][HASH_LABEL] = hashlib.sha256(quoted.encode()).hexdigest()[:16]
        metadata["annotations"] = {LAST_APPLIED: orjson.dumps(body).decode()}
        return body

    def _claim(self, warehouse: Object) -> Claim:
        identity = Identity(self._account.key.upper(), WAREHOUSE.object_class, Name((warehouse.spec["name"],)))
        holder = Holder(group=_PATH.group, kind=_PATH.kind, namespace=NAMESPACE, name=warehouse.name, uid=warehouse.uid)
        return new_claim(identity, "ACME.PROD", holder)


def _review(operation: str, new: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> bytes:
    """An AdmissionReview as an API server sends it."""
    request = {
        "uid": "7d0c1a5e-0f5b-4a1c-9a56-0f6f0c1b2a3d",
        "kind": {"group": _PATH.group, "version": _PATH.version, "kind": _PATH.kind},
        "resource": {"group": _PATH.group, "version": _PATH.version, "resource": _PATH.plural},
        "name": new["metadata"]["name"],
        "namespace": NAMESPACE,
        "operation": operation,
        "userInfo": {"username": "benchmark", "groups": ["system:authenticated"]},
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": f"{operation.title()}Options"},
    }
    return orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
