"""What admission costs while objects and their claims become many; beside it, what listing them by label costs.

The comparison, `admission_go`, does what a webhook of controller-runtime does that looks for owners by a label: at each
admission, one list from the API server, as unstructured objects and with a consistent read. It asks as an
administrator, whom the API server never makes wait, and is not rate limited. Both webhooks are asked in turns, run by
run, by the same client about the same new warehouses, in front of the same API server, in two ways: one review at a
time, and APPLIES at a time as when several people or GitOps controllers apply. The latter is what the figures without
`alone` in their name tell: while nothing else happens, an answer of ours takes two requests to the API server, and how
long these take is the API server's affair; but a list of everything keeps a core of it busy, which others wait for.

A second API server stays at the smallest number of objects, so that both extremes are measured in turns, whatever else
the machine does meanwhile.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.endpoint import Usage
from benchmarks.harness import results
from benchmarks.harness.place import Handler, Place
from freehold_devstack import cache, prerequisites
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.supervisor import free_ports
from tests.integration.webhook.harness import WebhookProcess, eventually

APPLIES = 8
"""Reviews at a time, where it isn't one."""
IN_FLIGHT = 32
"""Reviews at a time that keep our webhook's processor busy."""
COMPARISON = Path(__file__).parent / "admission_go"


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Attributes:
        sizes: numbers of objects, and as many claims, in ascending order.
        runs: of everything that is done in turns.
        reviews: of each run and handler.
        updates: decisions without a claim.
        starts: of a further replica.
    """

    sizes: tuple[int, ...]
    runs: int
    reviews: int
    updates: int
    starts: int


FULL = Extent(sizes=(1_000, 10_000, 50_000), runs=5, reviews=64, updates=10_000, starts=3)
QUICK = Extent(sizes=(1_000, 10_000), runs=2, reviews=32, updates=4_000, starts=1)


@dataclass(frozen=True)
class Latency:
    """Seconds that answers took."""

    p50: float
    p99: float

    @classmethod
    def of(cls, times: Sequence[float]) -> Latency:
        return cls(statistics.median(times), statistics.quantiles(times, n=100)[98])


@dataclass(frozen=True)
class Comparison:
    """The same reviews, answered by both webhooks.

    Attributes:
        ours: how long our webhook takes.
        listing: how long the one takes that lists.
    """

    ours: Latency
    listing: Latency

    @property
    def p50_ratio(self) -> float:
        return self.listing.p50 / self.ours.p50

    @property
    def p99_ratio(self) -> float:
        return self.listing.p99 / self.ours.p99


@dataclass(frozen=True)
class Admission:
    """What the admission of a new object costs.

    Attributes:
        calls: requests to the API server that our webhook makes for one.
        alone: one review at a time.
        together: APPLIES at a time.
    """

    calls: float
    alone: Comparison
    together: Comparison


@dataclass(frozen=True)
class Figures:
    """What was measured.

    Attributes:
        admissions: by number of objects, in ascending order.
        growth: median at the largest number by that at the smallest, one review at a time.
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
        fewest, *_, most = self.admissions
        largest = self.admissions[most]
        return {
            "api_calls_per_create": max(each.calls for each in self.admissions.values()),
            f"p50_ratio_{most}_to_{fewest}": round(self.growth, 2),
            "decisions_per_second_core": round(self.decisions),
            f"p50_go_over_ours_{most}": round(largest.together.p50_ratio, 1),
            f"p99_go_over_ours_{most}": round(largest.together.p99_ratio, 1),
            f"p50_go_over_ours_{most}_alone": round(largest.alone.p50_ratio, 1),
            f"p99_go_over_ours_{most}_alone": round(largest.alone.p99_ratio, 1),
            "memory_mib": round(self.mib),
            "start_seconds": round(self.start, 2),
        }


async def _admission(place: Place, listing: Handler, extent: Extent) -> Admission:
    for handler in (place.ours, listing):
        if await handler.admits(place.taken()):
            raise RuntimeError("a handler admits a second owner")
    async with place.created(extent.reviews) as reviews:
        before = place.requests()
        await place.ours.seconds(reviews)
        calls = (place.requests() - before) / extent.reviews
    alone, together = [await _compare(place, listing, extent, at_once) for at_once in (1, APPLIES)]
    return Admission(calls, alone, together)


async def _compare(place: Place, listing: Handler, extent: Extent, at_once: int) -> Comparison:
    """Ask both handlers in turns, run by run: what ours writes must not slow the other's lists."""
    times: dict[Handler, list[float]] = {place.ours: [], listing: []}
    for _ in range(extent.runs):
        for handler, had in times.items():
            async with place.created(extent.reviews) as reviews:
                had.extend(await handler.seconds(reviews, at_once=at_once))
    return Comparison(Latency.of(times[place.ours]), Latency.of(times[listing]))


async def _growth(small: Place, large: Place, extent: Extent) -> float:
    """Median at the large place by that at the small one, both asked by turns; the median of the runs."""
    ratios = []
    for _ in range(extent.runs):
        times: tuple[list[float], list[float]] = [], []
        async with small.created(extent.reviews) as here, large.created(extent.reviews) as there:
            for pair in zip(here, there, strict=True):
                for place, review, had in zip((small, large), pair, times, strict=True):
                    had.extend(await place.ours.seconds([review]))
        few, many = map(statistics.median, times)
        ratios.append(many / few)
    return statistics.median(ratios)


async def _decisions(place: Place, updates: int) -> float:
    """Decisions that claim nothing, by second of the webhook's processor time."""
    reviews = itertools.repeat(await place.updated(), updates)
    before = Usage.of(place.webhook.process.pid).seconds
    await place.ours.seconds(reviews, at_once=IN_FLIGHT)
    return updates / (Usage.of(place.webhook.process.pid).seconds - before)


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


async def _measure(
    control_planes: tuple[ControlPlane, ControlPlane], program: Path, extent: Extent, progress: Progress
) -> Figures:
    async with AsyncExitStack() as stack:
        small, large = [
            await stack.enter_async_context(Place.open(each, Path(stack.enter_context(tempfile.TemporaryDirectory()))))
            for each in control_planes
        ]
        await small.grow(extent.sizes[0], progress)
        listing = await _listing(large, program)
        admissions = {}
        for size in extent.sizes:
            await large.grow(size, progress)
            admissions[size] = await _admission(large, listing, extent)
        return Figures(
            admissions,
            await _growth(small, large, extent),
            await _decisions(large, extent.updates),
            _most_mib(large.webhook.process.pid),
            statistics.median([await _start(large.webhook) for _ in range(extent.starts)]),
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
    columns = ("objects", "at once", "calls", "ours p50", "p99", "list p50", "p99", "x p50", "x p99")
    table = Table(*columns, title="Admission of a new object; milliseconds, and how many times ours listing takes")
    for size, each in figures.admissions.items():
        for at_once, found in ((1, each.alone), (APPLIES, each.together)):
            times = (found.ours.p50, found.ours.p99, found.listing.p50, found.listing.p99)
            ratios = (found.p50_ratio, found.p99_ratio)
            row = (*(f"{1000 * value:.1f}" for value in times), *(f"{value:.1f}" for value in ratios))
            table.add_row(f"{size:,}", str(at_once), f"{each.calls:g}", *row)
    console.print(table)
    fewest, *_, most = figures.admissions
    console.print(
        f"p50 at {most:,} by p50 at {fewest:,}: {figures.growth:.2f}; target 1.2\n"
        f"decisions without a claim by CPU second: {figures.decisions:,.0f}; target 2,000\n"
        f"memory: {figures.mib:.0f} MiB; target 120\n"
        f"ready after {figures.start:.2f} s; target 2",
        highlight=False,
    )


def run(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer objects and runs: some two minutes.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Keep the figures in benchmarks/results.")] = False,
) -> None:
    """Measure, and print a table, and the figures as JSON in the last line. Takes some ten minutes."""
    console = Console()
    with ExitStack() as stack:
        program = stack.enter_context(tempfile.TemporaryDirectory())
        control_planes = stack.enter_context(ControlPlane()), stack.enter_context(ControlPlane())
        progress = stack.enter_context(Progress(console=console, transient=True))
        extent = QUICK if quick else FULL
        figures = asyncio.run(_measure(control_planes, _build(Path(program)), extent, progress))
    _print(figures, console)
    if record:
        results.record("admission", figures.json())
    print(orjson.dumps(figures.json()).decode())


if __name__ == "__main__":
    typer.run(run)
