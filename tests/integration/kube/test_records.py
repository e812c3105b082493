"""Events, Leases and reflectors against a real API server, whose own validation and RBAC they must pass."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from freehold.kube.client import Kube
from freehold.kube.events import Recorder
from freehold.kube.lease import Lease
from freehold.kube.objects import EVENTS, NAMESPACES, SECRETS, Object
from freehold.kube.reflector import Reflector
from freehold_devstack.controlplane import ControlPlane
from tests.unit.kube.script import until

DEADLINE = 30.0


async def test_events_and_their_series_are_accepted(kube: Kube, namespace: str) -> None:
    about = await kube.create(SECRETS, {"metadata": {"name": "s"}}, namespace)
    now = [datetime.now(UTC)]
    recorder = Recorder(kube, "freehold-test", "pod-1", clock=lambda: now[0])
    writing = asyncio.create_task(recorder.run())
    for _ in range(3):
        recorder.record(about, "Warning", "Failed", "x" * 5000)
        now[0] += timedelta(minutes=3)
    await recorder.flush(timedelta(seconds=10))
    writing.cancel()
    events = [each async for page in kube.list(EVENTS, namespace) for each in page.objects]
    assert [(each.raw["reason"], each.raw["series"]["count"]) for each in events] == [("Failed", 3)]
    assert events[0].raw["regarding"]["uid"] == about.uid


async def test_a_lease_is_handed_over_by_release(kube: Kube, namespace: str) -> None:
    clock = [0.0]
    first, second = (
        Lease(kube, namespace, "domain", each, timedelta(seconds=15), clock=lambda: clock[0]) for each in "ab"
    )
    assert not await first.acquire()
    clock[0] += 15
    assert await first.acquire()
    assert not await second.acquire()
    await first.release()
    assert await second.acquire()
    assert not await first.acquire()


async def test_fifty_takers_of_a_free_lease_and_one_winner(kube: Kube, namespace: str) -> None:
    clock = [0.0]
    first = Lease(kube, namespace, "domain", "first", timedelta(seconds=15), clock=lambda: clock[0])
    await first.acquire()
    await first.release()
    takers = [
        Lease(kube, namespace, "domain", str(n), timedelta(seconds=15), clock=lambda: clock[0]) for n in range(50)
    ]
    assert sum(await asyncio.gather(*(each.acquire() for each in takers))) == 1


async def test_a_named_secret_is_watched_from_the_moment_that_it_may_be_read(
    kube: Kube, namespace: str, control_plane: ControlPlane
) -> None:
    control_plane.kubectl("create", "serviceaccount", "reader", "-n", namespace)
    await kube.create(SECRETS, {"metadata": {"name": "other"}}, namespace)
    await kube.create(SECRETS, {"metadata": {"name": "mine"}}, namespace)
    async with Kube.from_kubeconfig(control_plane.kubeconfig_for(namespace, "reader")) as reader:
        reflector = Reflector(reader, SECRETS, namespace=namespace, field_selector="metadata.name=mine")
        running = asyncio.create_task(reflector.run())
        await until(lambda: reflector.failure is not None, DEADLINE)
        assert reflector.failure is not None
        assert reflector.failure.status == 403
        rights = ("--verb=get,list,watch", "--resource=secrets", "--resource-name=mine")
        control_plane.kubectl("create", "role", "reader", "-n", namespace, *rights)
        account = f"--serviceaccount={namespace}:reader"
        control_plane.kubectl("create", "rolebinding", "reader", "-n", namespace, "--role=reader", account)
        await until(lambda: reflector.failure is None, DEADLINE)
        assert [name for _, name in reflector.store] == ["mine"]
        await kube.delete(SECRETS, "mine", namespace)
        await until(lambda: not reflector.store, DEADLINE)
        running.cancel()


async def test_an_outage_of_the_api_server_loses_no_change() -> None:
    changes: list[str] = []

    def note(before: Object | None, after: Object | None) -> None:
        there = after or before
        assert there is not None
        if "test" in there.labels:
            changes.append(f"{'+' if before is None else '-' if after is None else '~'}{there.name}")

    with ControlPlane(f"outage-{secrets.token_hex(3)}") as control_plane:
        async with Kube.from_kubeconfig(Path(control_plane.kubeconfig)) as kube:
            reflector = Reflector(kube, NAMESPACES, on_change=note)
            running = asyncio.create_task(reflector.run())
            await create(kube, "before")
            await until(lambda: changes == ["+before"], DEADLINE)
            await asyncio.to_thread(control_plane.stop_apiserver)
            await until(lambda: reflector.failure is not None, DEADLINE)
            await asyncio.to_thread(control_plane.start_apiserver)
            await create(kube, "after")
            await until(lambda: changes == ["+before", "+after"], DEADLINE)
            assert reflector.failure is None
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def create(kube: Kube, name: str) -> None:
    await kube.create(NAMESPACES, {"metadata": {"name": name, "labels": {"test": ""}}})
