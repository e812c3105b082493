"""A process from the inside: what wakes what, and what a type that can't be read does to the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import aiohttp
import pytest
from aiohttp import web

from freehold.kinds.resource import GroupResource
from freehold.kube.objects import SECRETS, Key, Object
from freehold_controllers.runtime.lines import Priority, Workers
from freehold_controllers.runtime.process import Process, Settings
from freehold_controllers.runtime.watches import Wake, Watch
from freehold_controllers.runtime.work import Done
from tests.unit.kube.script import Answer, Store, client_of, listed, refuse, reply, secret, until, watched

THINGS = GroupResource("g.dev", "v1", "things", "Thing")
SETTINGS = Settings(
    "freehold-test", "ns", "pod", health_port=0, lease_duration=timedelta(seconds=1), workers=Workers(own=2, pool=0)
)


class Server:
    """Leases for real, and one answer to the list and the watch of each other type."""

    def __init__(self, **types: tuple[Answer, Answer]) -> None:
        self.leases = Store()
        self.types = types

    async def handle(self, request: web.Request) -> web.StreamResponse:
        plural = request.path.split("/")[-1]
        if request.path == "/apis/coordination.k8s.io/v1/leases":
            return await listed(version="1")(request)
        if plural in self.types:
            return await self.types[plural]["watch" in request.query](request)
        return await self.leases.handle(request)


class Reconciled:
    """Keys in the order of their reconciles."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def __call__(self, key: Key, _not_before: float) -> Done:
        self.keys.append(str(key))
        return Done()


def things(*names: str) -> Answer:
    items = ({**secret(each, "1"), "apiVersion": "g.dev/v1", "kind": "Thing"} for each in names)
    return listed(*items, version="1")


async def test_a_type_that_may_not_be_read_holds_up_no_other_and_is_named_by_readiness(unused_tcp_port: int) -> None:
    settings = Settings("freehold-test", "ns", "pod", unused_tcp_port, lease_duration=timedelta(seconds=1))
    server = Server(things=(things("a"), watched(hold=True)), secrets=(refuse(403, "Forbidden"), watched(hold=True)))
    done = Reconciled()
    async with client_of(server.handle) as kube:
        process = Process(kube, settings, [Watch(THINGS, reconciled=True), Watch(SECRETS)])
        running = asyncio.create_task(process.run(done))
        await until(lambda: done.keys == ["Thing n/a"])
        address = f"http://127.0.0.1:{unused_tcp_port}/readyz"
        async with aiohttp.ClientSession() as session, session.get(address) as response:
            assert response.status == 503
            text = await response.text()
        assert text.startswith("not listed yet: secrets (refused: Forbidden")
        process.stop()
        await running


async def test_what_is_watched_wakes_what_depends_on_it(unused_tcp_port: int) -> None:
    settings = Settings("freehold-test", "ns", "pod", unused_tcp_port, lease_duration=timedelta(seconds=1))
    changed = asyncio.Event()

    async def later(request: web.Request) -> web.StreamResponse:
        await changed.wait()
        return await watched(("MODIFIED", secret("s", "2")), hold=True)(request)

    def wakes(_before: Object | None, after: Object | None) -> list[Wake]:
        return [(Key("Thing", "n", f"of-{after.name}"), Priority.RETRY)] if after else []

    server = Server(things=(things("a"), watched(hold=True)), secrets=(listed(secret("s", "1"), version="1"), later))
    done = Reconciled()
    async with client_of(server.handle) as kube:
        process = Process(kube, settings, [Watch(THINGS, reconciled=True)])
        running = asyncio.create_task(process.run(done))
        await until(lambda: done.keys == ["Thing n/a"])
        reflector = process.watch(Watch(SECRETS, wakes=wakes))
        await until(lambda: done.keys == ["Thing n/a", "Thing n/of-s"])
        changed.set()
        await until(lambda: len(done.keys) == 3)
        process.unwatch(reflector)
        process.stop()
        await running
    assert done.keys[2] == "Thing n/of-s"


async def test_what_is_deleted_is_reconciled_once_more_so_that_it_is_forgotten(unused_tcp_port: int) -> None:
    settings = Settings("freehold-test", "ns", "pod", unused_tcp_port, lease_duration=timedelta(seconds=1))
    deleted = asyncio.Event()

    async def later(request: web.Request) -> web.StreamResponse:
        await deleted.wait()
        gone = {**secret("a", "2"), "apiVersion": "g.dev/v1", "kind": "Thing"}
        return await watched(("DELETED", gone), hold=True)(request)

    server = Server(things=(things("a"), later))
    done = Reconciled()
    async with client_of(server.handle) as kube:
        process = Process(kube, settings, [Watch(THINGS, reconciled=True)])
        running = asyncio.create_task(process.run(done))
        await until(lambda: done.keys == ["Thing n/a"])
        deleted.set()
        await until(lambda: done.keys == ["Thing n/a"] * 2)
        process.stop()
        await running


async def test_what_was_begun_may_end_and_nothing_more_is_begun_after_stop() -> None:
    server = Server(things=(things("a", "b", "c"), watched(hold=True)))
    begun: list[str] = []
    ended: list[str] = []
    go_on = asyncio.Event()

    async def slow(key: Key, _not_before: float) -> Done:
        begun.append(key.name)
        await go_on.wait()
        ended.append(key.name)
        return Done()

    async with client_of(server.handle) as kube:
        process = Process(kube, SETTINGS, [Watch(THINGS, reconciled=True)])
        running = asyncio.create_task(process.run(slow))
        await until(lambda: len(begun) == 2)
        process.stop()
        await asyncio.sleep(0)
        go_on.set()
        await running
    assert sorted(ended) == sorted(begun) == ["a", "b"]
    assert server.leases.objects["freehold-test"]["spec"]["holderIdentity"] == ""


async def test_nothing_is_watched_before_the_process_runs() -> None:
    async with client_of(Server().handle) as kube:
        with pytest.raises(RuntimeError):
            Process(kube, SETTINGS, []).watch(Watch(SECRETS))


async def test_a_process_works_in_its_own_namespaces(unused_tcp_port: int) -> None:
    settings = replace(SETTINGS, health_port=unused_tcp_port, works_in=frozenset({"n"}))
    foreign = {**secret("b", "1"), "apiVersion": "g.dev/v1", "kind": "Thing"}
    foreign["metadata"] = {**foreign["metadata"], "namespace": "other"}
    mine = {**secret("a", "1"), "apiVersion": "g.dev/v1", "kind": "Thing"}
    server = Server(things=(listed(foreign, mine, version="1"), watched(hold=True)))
    done = Reconciled()
    async with client_of(server.handle) as kube:
        process = Process(kube, settings, [Watch(THINGS, reconciled=True)])
        running = asyncio.create_task(process.run(done))
        await until(lambda: bool(done.keys))
        assert len(process.reflectors["Thing"].store) == 2
        process.stop()
        await running
    assert done.keys == ["Thing n/a"]


async def test_what_is_done_beside_the_queue_ends_with_the_work(unused_tcp_port: int) -> None:
    settings = Settings("freehold-test", "ns", "pod", unused_tcp_port, lease_duration=timedelta(seconds=1))
    server = Server(things=(things("a"), watched(hold=True)))
    done, begun, ended = Reconciled(), asyncio.Event(), asyncio.Event()

    async def beside() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with client_of(server.handle) as kube:
        process = Process(kube, settings, [Watch(THINGS, reconciled=True)])
        running = asyncio.create_task(process.run(done, beside))
        await until(begun.is_set)
        assert not ended.is_set()
        process.stop()
        await running
    assert ended.is_set()


async def test_a_type_that_comes_back_is_noticed_by_its_definition(unused_tcp_port: int) -> None:
    settings = Settings("freehold-test", "ns", "pod", unused_tcp_port, lease_duration=timedelta(seconds=1))
    back = asyncio.Event()
    asked: list[str] = []

    async def served(request: web.Request) -> web.StreamResponse:
        return await (things("a") if back.is_set() else reply("404 page not found", 404))(request)

    async def applied(request: web.Request) -> web.StreamResponse:
        asked.append(request.query["fieldSelector"])
        await back.wait()
        return await watched(("ADDED", secret("things.g.dev", "2")), hold=True)(request)

    server = Server(things=(served, watched(hold=True)), customresourcedefinitions=(listed(version="1"), applied))
    done = Reconciled()
    async with client_of(server.handle) as kube:
        process = Process(kube, settings, [Watch(THINGS, reconciled=True)])
        running = asyncio.create_task(process.run(done))
        await until(lambda: asked == ["metadata.name=things.g.dev"])
        back.set()
        await until(lambda: done.keys == ["Thing n/a"])
        await until(lambda: not process._missing)
        process.stop()
        await running
