"""The page about metrics: what each process registers when it is loaded, asked of a fresh interpreter each.

`python -m freehold.generate.metrics MODULE` prints what is registered once a module is imported, as JSON.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from prometheus_client.metrics import MetricWrapperBase

from freehold.metrics import REGISTRY, LiveGauge

_PREFACE = """# Metrics

Every process serves them at `/metrics` of its port 8080, in the text form of Prometheus; beside these the usual
`process_*` and `python_*`. What is told apart by provider, `<namespace>/<name>` of a ProviderConfig, is a gauge whose
series go with it. No label holds the name of another resource, SQL, or a message.

| metric | type | labels | means | process |
| --- | --- | --- | --- | --- |
"""

_PREFIX = "freehold-"
"""What the commands of all processes begin with."""


class Declared(NamedTuple):
    """A metric.

    Attributes:
        name: as it is scraped.
        type: counter, gauge or histogram.
        labels: their names.
        documentation: what it tells.
    """

    name: str
    type: str
    labels: tuple[str, ...]
    documentation: str


def declared() -> Iterator[Declared]:
    """The metrics of our own that have been registered in this process."""
    for collector in REGISTRY.collectors:
        if isinstance(collector, LiveGauge):
            labels = tuple(collector.labels)
        elif isinstance(collector, MetricWrapperBase):
            labels = tuple(collector._labelnames)  # noqa: SLF001  # the library tells them nowhere else
        else:
            continue
        for family in collector.describe():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            yield Declared(name, family.type, labels, family.documentation)


def page() -> str:
    """The page, in Markdown."""
    processes = sorted(each for each in entry_points(group="console_scripts") if each.name.startswith(_PREFIX))
    found: dict[Declared, list[str]] = {}
    with ThreadPoolExecutor() as threads:
        for process, registered in zip(processes, threads.map(_registered, processes), strict=True):
            for each in registered:
                found.setdefault(each, []).append(process.name.removeprefix(_PREFIX))
    return _PREFACE + "".join(_row(each, found[each], len(processes)) for each in sorted(found))


def _registered(process: EntryPoint) -> list[Declared]:
    told = subprocess.run([sys.executable, "-m", __name__, process.module], check=True, stdout=subprocess.PIPE).stdout  # noqa: S603
    return [Declared(name, type_, tuple(labels), about) for name, type_, labels, about in json.loads(told)]


def _row(metric: Declared, processes: list[str], of: int) -> str:
    labels = ", ".join(f"`{each}`" for each in metric.labels)
    where = "all" if len(processes) == of else ", ".join(processes)
    return f"| `{metric.name}` | {metric.type} | {labels} | {metric.documentation} | {where} |\n"


if __name__ == "__main__":
    importlib.import_module(sys.argv[1])
    json.dump(list(declared()), sys.stdout)
