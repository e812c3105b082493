"""Events: bounded in size and number, and never in the way."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold.kube.client import Kube
from freehold.kube.events import DISTINCT, NOTE_LIMIT, Recorder
from freehold.kube.objects import Object
from tests.unit.kube.script import Script, refuse, reply

RESOURCE = Object(
    {
        "apiVersion": "g.dev/v1",
        "kind": "Thing",
        "metadata": {"name": "t", "namespace": "n", "uid": "u", "resourceVersion": "5"},
    }
)


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@asynccontextmanager
async def recording(kube: Kube, clock: Clock) -> AsyncIterator[Recorder]:
    recorder = Recorder(kube, "freehold-test", "pod-1", clock=clock)
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
        await recorder.flush(timedelta(seconds=10))
    finally:
        task.cancel()


async def bodies(script: Script) -> list[dict[str, Any]]:
    return [json.loads(await each.text()) for each in script.requests]


async def test_an_event_says_who_did_what_to_what(kube: Kube, script: Script) -> None:
    script.then(reply({}, 201))
    async with recording(kube, Clock()) as recorder:
        recorder.record(RESOURCE, "Normal", "Created", "made it")
    [body] = await bodies(script)
    assert script.requests[0].path == "/apis/events.k8s.io/v1/namespaces/n/events"
    assert (body["reason"], body["type"], body["note"], body["action"]) == ("Created", "Normal", "made it", "Reconcile")
    assert (body["reportingController"], body["reportingInstance"]) == ("freehold-test", "pod-1")
    assert body["regarding"]["uid"] == "u"
    assert body["eventTime"] == "2030-01-01T00:00:00.000000Z"


async def test_an_event_about_a_cluster_scoped_object_lives_in_default(kube: Kube, script: Script) -> None:
    script.then(reply({}, 201))
    async with recording(kube, Clock()) as recorder:
        recorder.record(Object({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}}), "Normal", "Seen", "")
    assert script.requests[0].path == "/apis/events.k8s.io/v1/namespaces/default/events"


async def test_repetitions_are_counted_up_now_and_then(kube: Kube, script: Script) -> None:
    clock = Clock()
    script.then(reply({}, 201), reply({}))
    async with recording(kube, clock) as recorder:
        for _ in range(11):
            recorder.record(RESOURCE, "Warning", "Failed", "no such role")
            clock.now += timedelta(seconds=13)
    assert script.asked == ["POST", "PATCH"]
    series = (await bodies(script))[1]["series"]
    assert series == {"count": 11, "lastObservedTime": "2030-01-01T00:02:10.000000Z"}


async def test_a_hundred_retries_of_a_long_error_make_few_short_events(kube: Kube, script: Script) -> None:
    script.then(*[reply({}, 201)] * 100)
    async with recording(kube, Clock()) as recorder:
        for attempt in range(100):
            recorder.record(RESOURCE, "Warning", "Failed", f"SQL compilation error {'x' * 5000} (query {attempt:04})")
    written = await bodies(script)
    assert len(written) == DISTINCT
    assert all(len(each["note"].encode()) <= NOTE_LIMIT for each in written)
    assert written[0]["note"].startswith("SQL compilation error")
    assert written[0]["note"].endswith("(query 0000)")


async def test_after_a_quiet_time_the_same_is_news_again(kube: Kube, script: Script) -> None:
    clock = Clock()
    script.then(*[reply({}, 201)] * 2)
    async with recording(kube, clock) as recorder:
        recorder.record(RESOURCE, "Warning", "Failed", "no")
        clock.now += timedelta(minutes=10)
        recorder.record(RESOURCE, "Warning", "Failed", "no")
    assert script.asked == ["POST", "POST"]


async def test_a_series_whose_event_has_expired_is_written_anew(kube: Kube, script: Script) -> None:
    clock = Clock()
    script.then(reply({}, 201), refuse(404, "NotFound"), reply({}, 201))
    async with recording(kube, clock) as recorder:
        recorder.record(RESOURCE, "Warning", "Failed", "no")
        clock.now += timedelta(minutes=3)
        recorder.record(RESOURCE, "Warning", "Failed", "no")
    assert script.asked == ["POST", "PATCH", "POST"]
    assert (await bodies(script))[2]["series"]["count"] == 2


async def test_refused_events_are_dropped(kube: Kube, script: Script) -> None:
    script.then(refuse(403, "Forbidden"), reply({}, 201))
    async with recording(kube, Clock()) as recorder:
        recorder.record(RESOURCE, "Warning", "Failed", "no")
        recorder.record(RESOURCE, "Normal", "Created", "yes")
    assert script.asked == ["POST", "POST"]


async def test_what_is_told_is_logged_once_with_what_it_is_about(
    kube: Kube, script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        script.then(reply({}, 201))
    clock = Clock()
    with caplog.at_level(logging.INFO, "freehold.kube.events"):
        async with recording(kube, clock) as recorder:
            for _ in range(3):
                recorder.record(RESOURCE, "Normal", "Created", "made it")
            recorder.record(RESOURCE, "Warning", "Lost", "where is it?")
    logged = [(each.levelname, each.getMessage()) for each in caplog.records]
    assert logged == [("INFO", "made it"), ("WARNING", "where is it?")]
    about = {"kind": "Thing", "namespace": "n", "resource": "t", "reason": "Created"}
    assert about.items() <= vars(caplog.records[0]).items()


@pytest.mark.parametrize(("cause", "levels"), [("NamespaceTerminating", []), ("Other", ["WARNING"])])
async def test_an_event_that_a_namespace_does_not_take_any_more_is_no_trouble(
    kube: Kube, script: Script, caplog: pytest.LogCaptureFixture, cause: str, levels: list[str]
) -> None:
    status = {"kind": "Status", "reason": "Forbidden", "message": "no", "details": {"causes": [{"reason": cause}]}}
    script.then(reply(status, 403))
    with caplog.at_level(logging.INFO, "freehold.kube.events"):
        async with recording(kube, Clock()) as recorder:
            recorder.record(RESOURCE, "Normal", "Created", "made it")
    assert [each.levelname for each in caplog.records][1:] == levels
