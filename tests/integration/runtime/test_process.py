"""Controllers as processes in front of a real API server: one is active, and never two."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.objects import LEASES
from freehold_devstack.controlplane import ControlPlane
from tests.unit.kube.script import until

WAREHOUSES = KINDS["Warehouse"].resource.path
DEADLINE = 60.0
ACTOR = Path(__file__).with_name("actor.py")


@dataclass(frozen=True)
class Line:
    """A line that an actor wrote."""

    actor: str
    time: float
    resource: str
    generation: int


@dataclass
class Actors:
    """Processes that write into one file."""

    kubeconfig: Path
    namespace: str
    folder: Path
    running: dict[str, subprocess.Popen[bytes]]
    ports: dict[str, int]

    def start(self, name: str) -> None:
        with socket.socket() as free:
            free.bind(("", 0))
            self.ports[name] = free.getsockname()[1]
        arguments = (str(self.kubeconfig), self.namespace, name, str(self.ports[name]), str(self.folder / "lines"))
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen([sys.executable, str(ACTOR), *arguments], stderr=log)

    def send(self, name: str, number: signal.Signals) -> None:
        self.running[name].send_signal(number)

    async def exit_code(self, name: str) -> int:
        return await asyncio.to_thread(self.running.pop(name).wait, 30)

    async def ready(self, name: str) -> bool:
        address = f"http://127.0.0.1:{self.ports[name]}/readyz"
        try:
            async with aiohttp.ClientSession() as session, session.get(address) as response:
                return response.status == 200
        except aiohttp.ClientError:
            return False

    @property
    def lines(self) -> list[Line]:
        file = self.folder / "lines"
        text = file.read_text() if file.exists() else ""
        parts = (line.split() for line in text.splitlines())
        return [Line(actor, float(time), resource, int(generation)) for actor, time, resource, generation in parts]

    def wrote(self, name: str) -> int:
        return sum(line.actor == name for line in self.lines)


@pytest.fixture
def actors(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Actors]:
    actors = Actors(control_plane.kubeconfig, namespace, tmp_path, {}, {})
    yield actors
    for process in actors.running.values():
        process.kill()
        process.wait()


@pytest.fixture
async def kube(control_plane: ControlPlane) -> AsyncIterator[Kube]:
    async with Kube.from_kubeconfig(control_plane.kubeconfig) as client:
        yield client


async def until_ready(actors: Actors, *names: str) -> None:
    async with asyncio.timeout(DEADLINE):
        while not all([await actors.ready(name) for name in names]):  # noqa: ASYNC110  # any condition
            await asyncio.sleep(0.05)


async def make_warehouse(kube: Kube, namespace: str, name: str) -> None:
    head = {"apiVersion": WAREHOUSES.api_version, "kind": WAREHOUSES.kind, "metadata": {"name": name}}
    await kube.create(WAREHOUSES, {**head, "spec": {"name": name.upper()}}, namespace)


async def test_a_member_that_stops_hands_over_at_once_and_idle_ones_are_ready(
    actors: Actors, kube: Kube, namespace: str
) -> None:
    await make_warehouse(kube, namespace, "w")
    actors.start("a")
    await until(lambda: actors.wrote("a") > 0, DEADLINE)
    actors.start("b")
    await until_ready(actors, "a", "b")
    assert actors.wrote("b") == 0
    await make_warehouse(kube, namespace, "later")
    await until(lambda: any(line.resource == "later" for line in actors.lines), DEADLINE)
    actors.send("a", signal.SIGTERM)
    assert await actors.exit_code("a") == 0
    last = max(line.time for line in actors.lines if line.actor == "a")
    await until(lambda: actors.wrote("b") > 0, DEADLINE)
    first = min(line.time for line in actors.lines if line.actor == "b")
    assert last < first < last + 3
    actors.send("b", signal.SIGTERM)
    assert await actors.exit_code("b") == 0
    assert (await kube.get(LEASES, "actors", namespace)).spec["holderIdentity"] == ""


async def test_a_member_that_is_frozen_beyond_its_lease_writes_nothing_when_it_wakes(
    actors: Actors, kube: Kube, namespace: str
) -> None:
    await make_warehouse(kube, namespace, "w")
    actors.start("a")
    await until(lambda: actors.wrote("a") > 0, DEADLINE)
    actors.start("b")
    await until_ready(actors, "b")
    actors.send("a", signal.SIGSTOP)
    await until(lambda: actors.wrote("b") > 0, DEADLINE)
    frozen = actors.wrote("a")
    actors.send("a", signal.SIGCONT)
    await until(lambda: b"this process stops working" in (actors.folder / "a.log").read_bytes(), DEADLINE)
    await until_ready(actors, "a")
    assert actors.wrote("a") == frozen
    actors.send("b", signal.SIGTERM)
    assert await actors.exit_code("b") == 0
    await until(lambda: actors.wrote("a") > frozen, DEADLINE)


async def test_a_member_that_is_killed_is_replaced_after_its_lease(actors: Actors, kube: Kube, namespace: str) -> None:
    await make_warehouse(kube, namespace, "w")
    actors.start("a")
    await until(lambda: actors.wrote("a") > 0, DEADLINE)
    actors.start("b")
    await until_ready(actors, "b")
    actors.send("a", signal.SIGKILL)
    await actors.exit_code("a")
    await until(lambda: actors.wrote("b") > 0, DEADLINE)
    lines = actors.lines
    assert max(line.time for line in lines if line.actor == "a") < min(line.time for line in lines if line.actor == "b")
