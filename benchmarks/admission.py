"""What admission costs while objects and their claims become many; beside it, what listing them by label costs.

Warehouses and their claims are stored in a real API server. Reviews of further ones go straight to the handlers over
connections that stay open, as an API server sends them, one at a time. The comparison, `admission_go`, asks the same
API server in the same run. A second API server stays at the smallest number, so that both extremes are measured in
turns, whatever else the machine does meanwhile.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import re
import ssl
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.endpoint import Usage
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM, Claim, Holder, new_claim
from freehold.identity import Identity, Name
from freehold.kinds.account.warehouse import WAREHOUSE
from freehold.kinds.registry import RESOURCES
from freehold.kube.client import Kube
from freehold.kube.errors import NotFound
from freehold.kube.objects import Object
from freehold_devstack import cache, prerequisites
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.pki import Authority
from freehold_devstack.supervisor import free_ports
from tests.harness.apiserver import requests
from tests.harness.chart import install_without_pods
from tests.integration.webhook.harness import Account, Site, WebhookProcess, eventually, manifest

SIZES = (1_000, 10_000, 50_000)
"""Objects, and as many claims."""

RUNS = 5
REVIEWS = 60
"""Of each run and handler."""
UPDATES = 10_000
STARTS = 3
IN_FLIGHT = 32

NAMESPACE = "benchmark"
"""Of the stored objects; the API server asks no webhook about it."""
HASH_LABEL = "benchmark.freehold.dev/name-hash"
"""What the comparison lists by."""
COMPARISON = Path(__file__).parent / "admission_go"

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

    async def seconds(self, reviews: Iterable[bytes]) -> list[float]:
        """How long each of these takes, one after the other; all must be admitted."""
        times = []
        for review in reviews:
            started = time.perf_counter()
            if not await self.admits(review):
                raise RuntimeError(f"{self._url} refuses what nobody owns")
            times.append(time.perf_counter() - started)
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

            await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))

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
        body["metadata"]["labels"][HASH_LABEL] = hashlib.sha256(quoted.encode()).hexdigest()[:16]
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


@dataclass(frozen=True)
class Latency:
    """Seconds that answers took."""

    p50: float
    p99: float

    @classmethod
    def of(cls, times: Sequence[float]) -> Latency:
        return cls(statistics.median(times), statistics.quantiles(times, n=100)[98])


@dataclass(frozen=True)
class Admission:
    """What the admission of a new object costs.

    Attributes:
        calls: requests to the API server that our webhook makes for one.
        ours: how long our webhook takes.
        listing: how long the comparison takes.
    """

    calls: float
    ours: Latency
    listing: Latency

    @property
    def p50_ratio(self) -> float:
        return self.listing.p50 / self.ours.p50

    @property
    def p99_ratio(self) -> float:
        return self.listing.p99 / self.ours.p99


@dataclass(frozen=True)
class Figures:
    """What was measured.

    Attributes:
        admissions: by number of objects.
        growth: median at the largest number by that at the smallest.
        decisions: decisions without a claim by second of processor time.
        mib: most resident memory that our webhook had.
        start: seconds from its start until it is ready.
    """

    admissions: Mapping[int, Admission]
    growth: float
    decisions: float
    mib: float
    start: float

    def json(self) -> dict[str, float]:
        largest = self.admissions[SIZES[-1]]
        return {
            "api_calls_per_create": max(each.calls for each in self.admissions.values()),
            "p50_ratio_50000_to_1000": round(self.growth, 2),
            "decisions_per_second_core": round(self.decisions),
            "p50_go_over_ours_50000": round(largest.p50_ratio, 1),
            "p99_go_over_ours_50000": round(largest.p99_ratio, 1),
            "memory_mib": round(self.mib),
            "start_seconds": round(self.start, 2),
        }


async def _compare(place: Place, listing: Handler) -> Admission:
    """Ask both handlers in turns, run by run: what ours writes must not slow the other's lists."""
    for handler in (place.ours, listing):
        if await handler.admits(place.taken()):
            raise RuntimeError("a handler admits a second owner")
    async with place.created(REVIEWS) as reviews:
        before = place.requests()
        await place.ours.seconds(reviews)
        calls = (place.requests() - before) / REVIEWS
    times: dict[Handler, list[float]] = {place.ours: [], listing: []}
    for _ in range(RUNS):
        for handler, had in times.items():
            async with place.created(REVIEWS) as reviews:
                had.extend(await handler.seconds(reviews))
    return Admission(calls, Latency.of(times[place.ours]), Latency.of(times[listing]))


async def _growth(small: Place, large: Place) -> float:
    """Median at the large place by that at the small one, both asked by turns; the median of the runs."""
    ratios = []
    for _ in range(RUNS):
        times: tuple[list[float], list[float]] = [], []
        async with small.created(REVIEWS) as here, large.created(REVIEWS) as there:
            for pair in zip(here, there, strict=True):
                for place, review, had in zip((small, large), pair, times, strict=True):
                    had.extend(await place.ours.seconds([review]))
        few, many = map(statistics.median, times)
        ratios.append(many / few)
    return statistics.median(ratios)


async def _decisions(place: Place) -> float:
    """Decisions that claim nothing, by second of the webhook's processor time."""
    reviews = itertools.repeat(await place.updated(), UPDATES)
    before = Usage.of(place.webhook.process.pid).seconds
    await asyncio.gather(*(place.ours.seconds(reviews) for _ in range(IN_FLIGHT)))
    return UPDATES / (Usage.of(place.webhook.process.pid).seconds - before)


async def _start(webhook: WebhookProcess) -> float:
    """Seconds until another replica is ready."""
    another = replace(webhook)
    started = time.monotonic()
    another.start()
    try:
        await eventually(another.ready, "another replica to be ready")
        return time.monotonic() - started
    finally:
        another.process.kill()
        another.process.wait()


def _most_mib(pid: int) -> float:
    """The most resident memory that a process had so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


async def _measure(control_planes: tuple[ControlPlane, ControlPlane], program: Path, progress: Progress) -> Figures:
    async with AsyncExitStack() as stack:
        small, large = [
            await stack.enter_async_context(Place.open(each, Path(stack.enter_context(tempfile.TemporaryDirectory()))))
            for each in control_planes
        ]
        await small.grow(SIZES[0], progress)
        listing = await _listing(large, program)
        admissions = {}
        for size in SIZES:
            await large.grow(size, progress)
            admissions[size] = await _compare(large, listing)
        return Figures(
            admissions,
            await _growth(small, large),
            await _decisions(large),
            _most_mib(large.webhook.process.pid),
            statistics.median([await _start(large.webhook) for _ in range(STARTS)]),
        )


async def _listing(place: Place, program: Path) -> Handler:
    """The comparison, started; as an administrator, whom the API server never has wait."""
    (port,) = free_ports(1)
    place.control_plane.spawn(
        [str(program), f"--port={port}", f"--certificate-dir={place.webhook.folder}"],
        env={"KUBECONFIG": str(place.control_plane.kubeconfig)},
        log=place.webhook.folder / "listing.log",
    )
    handler = Handler(place.http, f"https://127.0.0.1:{port}/validate")
    await eventually(handler.answers, "the comparison to listen")
    return handler


def _build(folder: Path) -> Path:
    """The comparison's program."""
    program = folder / "admission"
    environment = cache.of_go() | os.environ | {"CGO_ENABLED": "0", "PATH": prerequisites.SYSTEM_PATH}
    subprocess.run(("go", "build", "-trimpath", "-o", str(program), "."), cwd=COMPARISON, env=environment, check=True)
    return program


def _print(figures: Figures, console: Console) -> None:
    columns = ("objects", "API calls", "ours p50", "p99", "listing p50", "p99", "times p50", "times p99")
    table = Table(*columns, title="Admission of a new object; milliseconds")
    for size, each in figures.admissions.items():
        times = (each.ours.p50, each.ours.p99, each.listing.p50, each.listing.p99)
        ratios = (each.p50_ratio, each.p99_ratio)
        row = (f"{each.calls:g}", *(f"{1000 * value:.1f}" for value in times), *(f"{value:.1f}" for value in ratios))
        table.add_row(f"{size:,}", *row)
    console.print(table)
    console.print(
        f"p50 at {SIZES[-1]:,} by p50 at {SIZES[0]:,}: {figures.growth:.2f}; target 1.2\n"
        f"decisions without a claim by CPU second: {figures.decisions:,.0f}; target 2,000\n"
        f"memory: {figures.mib:.0f} MiB; target 120\n"
        f"ready after {figures.start:.2f} s; target 2",
        highlight=False,
    )


def main() -> None:
    """Run it and print a table, and the figures as JSON in the last line."""
    console = Console()
    with ExitStack() as stack:
        program = stack.enter_context(tempfile.TemporaryDirectory())
        control_planes = stack.enter_context(ControlPlane()), stack.enter_context(ControlPlane())
        progress = stack.enter_context(Progress(console=console, transient=True))
        figures = asyncio.run(_measure(control_planes, _build(Path(program)), progress))
    _print(figures, console)
    print(orjson.dumps(figures.json()).decode())


if __name__ == "__main__":
    main()
