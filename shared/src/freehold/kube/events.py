"""Events (events.k8s.io/v1) about resources: what happened, for `kubectl describe` and `kubectl get events`.

What repeats is counted up in the Event that told of it first, and only now and then. Recording never blocks and never
fails: an Event that can't be written is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NoReturn
from uuid import uuid4

from prometheus_client import Counter

from freehold.kube.client import Kube
from freehold.kube.errors import ApiError, NotFound
from freehold.kube.objects import EVENTS, Object
from freehold.kube.text import micro_time, shortened
from freehold.metrics import REGISTRY

NOTE_LIMIT = 1024
"""Bytes of a note (the API server's limit)."""

QUIET = timedelta(minutes=2)
"""A repetition is written no sooner than this after the latest write about the same."""

SERIES_LIMIT = timedelta(minutes=6)
"""After so long without a repetition the next one is an Event of its own."""

DISTINCT = 5
"""Events of one object, type and reason with different notes in that time; further notes are only counted, since an
error that carries an id or a time is new each time."""

_REMEMBERED = 4096
_WAITING = 1000

_DROPPED = Counter("freehold_events_dropped", "Events that could not be written.", registry=REGISTRY)

_log = logging.getLogger(__name__)

Type = Literal["Normal", "Warning"]
Series = tuple[str, str, str]
"""(uid of the object, type, reason): what makes two happenings similar; the note makes them the same."""


@dataclass(slots=True)
class _Told:
    """The Event of a series.

    Attributes:
        body: as it was created.
        count: happenings so far, those not written yet included.
        last: the latest of them.
        written: when it was last to be written.
        created: whether the API server has it.
    """

    body: Mapping[str, Any]
    count: int
    last: datetime
    written: datetime
    created: bool = False


class Recorder:
    """Records Events in the background while `run` runs."""

    def __init__(
        self, kube: Kube, controller: str, instance: str, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """
        Args:
            kube: client.
            controller: who reports, for example `freehold-schema`.
            instance: the process, for example the pod's name.
            clock: the time.
        """
        self._kube = kube
        self._controller = controller
        self._instance = instance
        self._clock = clock
        self._told: OrderedDict[Series, list[_Told]] = OrderedDict()
        self._waiting: asyncio.Queue[_Told] = asyncio.Queue(_WAITING)

    def record(self, about: Object, type: Type, reason: str, note: str, *, action: str = "Reconcile") -> None:  # noqa: A002
        """Say that something happened to a resource, in the log, too, unless it was said just before.

        Args:
            about: the resource.
            type: Normal or Warning.
            reason: CamelCase word for programs.
            note: for people; shortened when it is too long.
            action: what was being done.
        """
        now = self._clock()
        note = shortened(note, NOTE_LIMIT)
        similar = self._similar((about.uid, type, reason), now)
        told = next((each for each in similar if each.body["note"] == note), None)
        if told is None and len(similar) < DISTINCT:
            similar.append(told := _Told(self._body(about, type, reason, note, action, now), 1, now, now))
            self._enqueue(told)
            about_it = {"kind": about.kind, "namespace": about.namespace, "resource": about.name, "reason": reason}
            _log.log(logging.INFO if type == "Normal" else logging.WARNING, "%s", note, extra=about_it)
            return
        told = told or similar[-1]
        told.count, told.last = told.count + 1, now
        if now - told.written >= QUIET:
            told.written = now
            self._enqueue(told)

    async def run(self) -> NoReturn:
        """Write what is recorded, until cancelled."""
        while True:
            told = await self._waiting.get()
            try:
                await self._write(told)
            except ApiError as error:
                _DROPPED.inc()
                _log.log(_gravity(error), "an event could not be written: %s", error)
            finally:
                self._waiting.task_done()

    async def flush(self, timeout: timedelta) -> None:
        """Wait until all that was recorded is written, but no longer than `timeout`; needs `run`."""
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                await self._waiting.join()
        except TimeoutError:
            _DROPPED.inc(self._waiting.qsize())

    async def _write(self, told: _Told) -> None:
        metadata = told.body["metadata"]
        series = {"count": told.count, "lastObservedTime": micro_time(told.last)}
        if told.created:
            # Events expire after an hour; then this one begins anew.
            with suppress(NotFound):
                await self._kube.patch(EVENTS, metadata["name"], metadata["namespace"], {"series": series})
                return
        body = {**told.body, "series": series} if told.count > 1 else told.body
        await self._kube.create(EVENTS, body, metadata["namespace"])
        told.created = True

    def _similar(self, series: Series, now: datetime) -> list[_Told]:
        """What was told lately of the same object, type and reason; additions are remembered."""
        similar = [each for each in self._told.get(series, ()) if now - each.last <= SERIES_LIMIT]
        self._told[series] = similar
        self._told.move_to_end(series)
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return similar

    def _enqueue(self, told: _Told) -> None:
        try:
            self._waiting.put_nowait(told)
        except asyncio.QueueFull:
            _DROPPED.inc()

    def _body(self, about: Object, type: Type, reason: str, note: str, action: str, now: datetime) -> Mapping[str, Any]:  # noqa: A002
        return {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            # Events about cluster-scoped objects live in `default`.
            "metadata": {"name": f"{about.name[:200]}.{uuid4().hex[:16]}", "namespace": about.namespace or "default"},
            "eventTime": micro_time(now),
            "type": type,
            "reason": reason,
            "action": action,
            "note": note,
            "regarding": {
                "apiVersion": about.raw["apiVersion"],
                "kind": about.kind,
                "namespace": about.namespace,
                "name": about.name,
                "uid": about.uid,
                "resourceVersion": about.resource_version,
            },
            "reportingController": self._controller,
            "reportingInstance": self._instance,
        }


def _gravity(error: ApiError) -> int:
    """Level to log a failure at: a namespace that is on its way out takes no Events, which is nobody's fault."""
    causes = error.details.get("causes") or ()
    ending = any(each.get("reason") == "NamespaceTerminating" for each in causes)
    return logging.DEBUG if ending else logging.WARNING
