"""The reflector under every fault that a list or watch may show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from freehold.kinds.resource import GroupResource
from freehold.kube.backoff import Backoff
from freehold.kube.client import Kube
from freehold.kube.errors import ApiError
from freehold.kube.objects import SECRETS, Object
from freehold.kube.reflector import Reflector
from tests.unit.kube.script import Answer, Script, client_of, cut, listed, refuse, reply, secret, until, watched

GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


class Seen:
    """What a reflector tells of."""

    def __init__(self) -> None:
        self.changes: list[str] = []
        self.failures: list[int | None] = []

    def change(self, before: Object | None, after: Object | None) -> None:
        there = after or before
        assert there is not None
        word = "added" if before is None else "deleted" if after is None else "modified"
        self.changes.append(f"{word} {there.name}")

    def failure(self, error: ApiError | None) -> None:
        self.failures.append(error.status if error else None)


@asynccontextmanager
async def running(kube: Kube, seen: Seen | None = None, **options: Any) -> AsyncIterator[Reflector]:
    seen = seen or Seen()
    backoff = Backoff(first=0.001, most=0.002)
    reflector = Reflector(kube, SECRETS, on_change=seen.change, on_failure=seen.failure, backoff=backoff, **options)
    task = asyncio.create_task(reflector.run())
    try:
        yield reflector
    finally:
        task.cancel()
        await asyncio.wait({task})


def names(reflector: Reflector) -> list[str]:
    return sorted(name for _, name in reflector.store)


async def test_list_and_watch_become_one_store(kube: Kube, script: Script) -> None:
    script.then(
        listed(secret("a", "1"), version="3", more="token"),
        listed(secret("b", "2"), secret("c", "3"), version="3"),
        watched(("MODIFIED", secret("a", "4")), ("DELETED", secret("b", "5")), ("ADDED", secret("d", "6")), hold=True),
    )
    seen = Seen()
    async with running(kube, seen) as reflector:
        await until(lambda: "added d" in seen.changes)
        assert names(reflector) == ["a", "c", "d"]
        assert reflector.synced.is_set()
    assert seen.changes == ["added a", "added b", "added c", "modified a", "deleted b", "added d"]


async def test_a_watch_that_ends_goes_on_from_the_latest_version(kube: Kube, script: Script) -> None:
    script.then(
        listed(version="1"),
        watched(("ADDED", secret("a", "2"))),
        watched(("BOOKMARK", secret("", "7"))),
    )
    async with running(kube):
        await until(lambda: len(script.requests) == 4)
    assert script.asked == ["LIST", "WATCH", "WATCH", "WATCH"]
    assert [each.query["resourceVersion"] for each in script.requests[1:]] == ["1", "2", "7"]


async def test_what_is_selected_is_selected_by_list_and_watch(kube: Kube, script: Script) -> None:
    script.then(listed(version="1"))
    async with running(kube, label_selector="!turn", field_selector="metadata.name=a"):
        await until(lambda: len(script.requests) == 2)
    selected = [(each.query["labelSelector"], each.query["fieldSelector"]) for each in script.requests]
    assert selected == [("!turn", "metadata.name=a")] * 2


@pytest.mark.parametrize(
    "expired",
    [watched(("ERROR", GONE)), refuse(410, "Expired")],
    ids=["ERROR event without metadata", "HTTP 410"],
)
async def test_an_expired_version_leads_to_a_list_whose_differences_are_told(
    kube: Kube, script: Script, expired: Answer
) -> None:
    script.then(
        listed(secret("kept", "1"), secret("changed", "2"), secret("lost", "3"), version="3"),
        expired,
        listed(secret("kept", "1"), secret("changed", "8"), secret("new", "9"), version="9"),
    )
    seen = Seen()
    async with running(kube, seen) as reflector:
        await until(lambda: "deleted lost" in seen.changes)
        assert names(reflector) == ["changed", "kept", "new"]
        assert reflector.failure is None
    assert seen.changes[3:] == ["modified changed", "added new", "deleted lost"]


@pytest.mark.parametrize(
    "broken",
    [watched(tail=b'{"type": "ADDED", "obj'), watched(hold=True), cut, refuse(500, "InternalError")],
    ids=["torn line", "silence", "cut", "500"],
)
async def test_a_broken_watch_is_resumed_without_a_list(kube: Kube, script: Script, broken: Answer) -> None:
    script.then(listed(version="1"), broken, watched(("ADDED", secret("a", "2")), hold=True))
    async with running(kube, silence=0.2) as reflector:
        await until(lambda: names(reflector) == ["a"])
        await until(lambda: reflector.failure is None)
    assert script.asked.count("LIST") == 1


async def test_an_unknown_type_of_event_changes_nothing(kube: Kube, script: Script) -> None:
    script.then(listed(version="1"), watched(("NOVELTY", secret("x", "2")), ("ADDED", secret("a", "3")), hold=True))
    async with running(kube) as reflector:
        await until(lambda: names(reflector) == ["a"])


@pytest.mark.parametrize("status", [403, 404])
async def test_a_refusal_is_told_once_and_its_end_too(kube: Kube, script: Script, status: int) -> None:
    script.then(*[refuse(status, "No")] * 3, listed(secret("a", "1"), version="1"))
    seen = Seen()
    async with running(kube, seen) as reflector:
        await until(lambda: seen.failures != [])
        assert not reflector.synced.is_set()
        await until(reflector.synced.is_set)
        assert reflector.failure is None
    assert seen.failures == [status, None]
    assert script.asked[:4] == ["LIST"] * 4


async def test_a_refused_watch_ends_with_an_answer_to_a_list(kube: Kube, script: Script) -> None:
    script.then(listed(version="1"), refuse(403, "Forbidden"), listed(secret("a", "2"), version="2"))
    seen = Seen()
    async with running(kube, seen) as reflector:
        await until(lambda: names(reflector) == ["a"])
    assert seen.failures == [403, None]


async def test_a_server_that_ends_each_watch_at_once_is_not_flooded(kube: Kube, script: Script) -> None:
    asked: list[int] = []

    def delays(_: Backoff, failures: int) -> float:
        asked.append(failures)
        return 0.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backoff, "delay", delays)
        script.then(listed(version="1"), watched(), watched(), watched(("BOOKMARK", secret("", "2"))), watched())
        async with running(kube):
            await until(lambda: len(asked) == 3)
    assert asked == [1, 2, 1]


async def test_a_bug_in_a_listener_doesnt_stop_the_copy(
    kube: Kube, script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_before: Object | None, _after: Object | None) -> None:
        raise ZeroDivisionError

    script.then(listed(secret("a", "1"), secret("b", "2"), version="2"))
    reflector = Reflector(kube, SECRETS, on_change=broken)
    task = asyncio.create_task(reflector.run())
    await until(reflector.synced.is_set)
    task.cancel()
    assert names(reflector) == ["a", "b"]
    assert "handling a change of Secret n/a failed" in caplog.text


async def test_what_nobody_reads_is_not_kept(kube: Kube, script: Script) -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "kept": "yes"}
    script.then(listed(secret("a", "1", managedFields=[{"manager": "x"}], annotations=annotations), version="1"))
    async with running(kube) as reflector:
        await until(reflector.synced.is_set)
        kept = reflector.store["n", "a"]
    assert kept.annotations == {"kept": "yes"}
    assert "managedFields" not in kept.metadata
    assert kept.kind == "Secret"


async def test_whoever_watches_says_what_is_kept(kube: Kube, script: Script) -> None:
    script.then(listed(secret("a", "1", annotations={"x": "y"}), version="1"))

    def names_alone(received: Object) -> Object:
        return Object({"metadata": {key: received.metadata[key] for key in ("name", "namespace", "resourceVersion")}})

    async with running(kube, keep=names_alone) as reflector:
        await until(reflector.synced.is_set)
        assert reflector.store["n", "a"].raw == {"metadata": {"name": "a", "namespace": "n", "resourceVersion": "1"}}


async def test_one_named_object_is_asked_for_by_field(kube: Kube, script: Script) -> None:
    script.then(listed(version="1"))
    async with running(kube, namespace="n", field_selector="metadata.name=a"):
        await until(lambda: len(script.requests) == 2)
    assert {each.query["fieldSelector"] for each in script.requests} == {"metadata.name=a"}
    assert {each.path for each in script.requests} == {"/api/v1/namespaces/n/secrets"}


async def test_a_server_that_throttles_the_start_is_asked_little_at_a_time_and_all_types_sync() -> None:
    together = most = requests = 0

    async def busy(request: web.Request) -> web.StreamResponse:
        nonlocal together, most, requests
        if "watch" in request.query:
            return await watched(hold=True)(request)
        together, requests = together + 1, requests + 1
        most = max(most, together)
        await asyncio.sleep(0.001)
        together -= 1
        throttled = {0: refuse(429, "TooManyRequests"), 1: refuse(503, "ServiceUnavailable")}
        return await throttled.get(requests % 5, listed(version="1"))(request)

    async with client_of(busy) as kube:
        kinds = [GroupResource("g.dev", "v1", f"things{number}", "Thing") for number in range(80)]
        reflectors = [Reflector(kube, kind) for kind in kinds]
        tasks = [asyncio.create_task(each.run()) for each in reflectors]
        await until(lambda: all(each.synced.is_set() for each in reflectors), within=60)
        for task in tasks:
            task.cancel()
    assert most <= 8


async def test_who_hears_that_a_failure_may_be_over_has_it_tried_again_at_once(kube: Kube, script: Script) -> None:
    script.then(reply("404 page not found", 404), listed(secret("a", "1"), version="1"), watched(hold=True))
    reflector = Reflector(kube, SECRETS, backoff=Backoff(first=3600.0, most=3600.0))
    task = asyncio.create_task(reflector.run())
    await until(reflector.attempted.is_set)
    reflector.hurry()
    await until(lambda: names(reflector) == ["a"])
    task.cancel()
    await asyncio.wait({task})
