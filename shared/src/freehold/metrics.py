"""The registry of every metric, and the HTTP endpoints /metrics, /healthz and /readyz that each process serves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector


class Registry(CollectorRegistry):
    """Of everything that a process counts.

    Attributes:
        collectors: what has registered, in this order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        super().register(collector)
        self.collectors.append(collector)


REGISTRY = Registry()
"""Where every metric registers; names begin with `freehold_`."""

ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)

Series = Iterable[tuple[Sequence[str], float]]
"""Values of the labels, each with the gauge's value."""


class LiveGauge(Collector):
    """A gauge whose series are asked for at each scrape: what is gone leaves none behind.

    Attributes:
        labels: their names.
    """

    def __init__(self, name: str, documentation: str, labels: Sequence[str]) -> None:
        """
        Args:
            name: of the metric.
            documentation: what it tells.
            labels: their names.
        """
        self.labels = labels
        self._name = name
        self._documentation = documentation
        self._read: Callable[[], Series] = tuple
        REGISTRY.register(self)

    def read_from(self, read: Callable[[], Series]) -> None:
        """From now on the series are what `read` answers with."""
        self._read = read

    def describe(self) -> Iterable[GaugeMetricFamily]:
        yield GaugeMetricFamily(self._name, self._documentation, labels=self.labels)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for family in self.describe():
            for values, value in self._read():
                family.add_metric(values, value)
            yield family


Check = Callable[[], str | None]
"""None when all is well, else what is wrong, for the person who describes the pod."""


def health_app(*, alive: Check, ready: Check) -> web.Application:
    """The application behind the probes and the scrape.

    Args:
        alive: answers /healthz; a failure means that only a restart helps.
        ready: answers /readyz; a failure means that the process can't serve yet, or no longer.
    """
    app = web.Application()
    app.router.add_get("/metrics", _metrics)
    app.router.add_get("/healthz", _probe(alive))
    app.router.add_get("/readyz", _probe(ready))
    return app


@asynccontextmanager
async def serve_health(port: int, *, alive: Check, ready: Check, host: str | None = None) -> AsyncIterator[int]:
    """Serve the endpoints while the context is open.

    Args:
        port: where to listen; 0 for a free port.
        alive: as in `health_app`.
        ready: as in `health_app`.
        host: address to listen on; None for all.

    Yields:
        The port.
    """
    runner = web.AppRunner(health_app(alive=alive, ready=ready), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _probe(check: Check) -> Handler:
    async def answer(_request: web.Request) -> web.Response:
        wrong = check()
        return web.Response(text="ok\n") if wrong is None else web.Response(status=503, text=f"{wrong}\n")

    return answer


async def _metrics(_request: web.Request) -> web.Response:
    return web.Response(body=generate_latest(REGISTRY), headers={"Content-Type": CONTENT_TYPE_LATEST})
