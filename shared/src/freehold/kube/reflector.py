"""A reflector: a live copy of all objects of one type, kept by a list and a watch that goes on from it.

Each reflector fails alone: a type that may not be read or isn't served is asked again after a growing delay, and no
other is touched. Whatever happens to a watch, it is resumed where it ended or, when that is too long ago, replaced
by a new list whose differences are reported like events; so no change is lost, only merged with later ones.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from types import MappingProxyType
from typing import NoReturn

from prometheus_client import Counter

from freehold.kinds.resource import GroupResource
from freehold.kube.backoff import Backoff
from freehold.kube.client import SILENCE, Kube
from freehold.kube.errors import ApiError, Gone, TooManyRequests, Unavailable
from freehold.kube.objects import Object
from freehold.metrics import REGISTRY

OnChange = Callable[[Object | None, Object | None], None]
"""(before, after) a change: before is None for a new object, after is None for one that is gone."""

OnFailure = Callable[[ApiError | None], None]
"""Told of a failure whose status differs from the one before, and with None of the end of failing."""

_CLIENT_SIDE_APPLY = "kubectl.kubernetes.io/last-applied-configuration"

_FAILURES = Counter(
    "freehold_watch_failures",
    "Lists and watches that failed, by resource type and status (0: no answer).",
    ["resource", "status"],
    registry=REGISTRY,
)

_log = logging.getLogger(__name__)


def without_bookkeeping(received: Object) -> Object:
    """Without managedFields and client-side apply's copy of the manifest, which are large and never looked at."""
    metadata = {key: value for key, value in received.metadata.items() if key != "managedFields"}
    if _CLIENT_SIDE_APPLY in received.annotations:
        metadata["annotations"] = {k: v for k, v in received.annotations.items() if k != _CLIENT_SIDE_APPLY}
    return Object({**received.raw, "metadata": metadata})


class Reflector:
    """A live copy of the objects of one type.

    Attributes:
        path: resource type.
        store: the objects by (namespace, name), as far as they are kept.
        synced: set once the first list is complete; what the store lacks before then may exist.
        attempted: set once the first list is complete or has failed.
        failure: the latest refusal or failure; None again after the next list or event.
    """

    def __init__(
        self,
        kube: Kube,
        path: GroupResource,
        *,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        keep: Callable[[Object], Object] = without_bookkeeping,
        on_change: OnChange | None = None,
        on_failure: OnFailure | None = None,
        silence: float = SILENCE,
        backoff: Backoff | None = None,
    ) -> None:
        """
        Args:
            kube: client.
            path: resource type.
            namespace: only this one; None for all.
            label_selector: only objects with these labels.
            field_selector: only objects with these fields, for example `metadata.name=X`.
            keep: what is kept of an object; name, namespace and resourceVersion must be.
            on_change: told of each change, after the store has it; must not block.
            on_failure: told when failing begins, changes its status, and ends; must not block.
            silence: seconds without a byte after which a watch counts as dead.
            backoff: delays between attempts that achieve nothing.
        """
        self.path = path
        self.synced = asyncio.Event()
        self.attempted = asyncio.Event()
        self.failure: ApiError | None = None
        self._kube = kube
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._keep = keep
        self._on_change = on_change
        self._on_failure = on_failure
        self._silence = silence
        self._backoff = backoff or Backoff(first=0.5, most=30.0)
        self._objects: dict[tuple[str, str], Object] = {}
        self._version = ""
        self._progress = False
        self._hurried = asyncio.Event()
        self._active_at = time.monotonic()

    @property
    def store(self) -> Mapping[tuple[str, str], Object]:
        return MappingProxyType(self._objects)

    @property
    def idle(self) -> float:
        """Seconds since it last tried or received anything; minutes mean that it hangs."""
        return time.monotonic() - self._active_at

    async def run(self) -> NoReturn:
        """Keep the copy live until cancelled."""
        failures = 0
        while True:
            self._progress = False
            asked_to_wait = await self._attempt()
            failures = 0 if self._progress else failures + 1
            # A watch that ends at once without an event counts as a failure, or a server that does so would be flooded.
            if await self._pause(max(self._backoff.delay(failures), asked_to_wait) if failures else 0):
                failures = 0

    def hurry(self) -> None:
        """Have the next attempt made at once: what failed so far may succeed now."""
        self._hurried.set()

    async def _pause(self, seconds: float) -> bool:
        """Wait; answers with whether that was cut short."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurried.wait()
        hurried = self._hurried.is_set()
        self._hurried.clear()
        return hurried

    async def _attempt(self) -> float:
        """List if need be, then watch until it ends; answers with the seconds that the server asks to wait."""
        self._active_at = time.monotonic()
        try:
            if not self._version:
                await self._list()
            await self._watch()
        except Gone:
            self._version = ""
        except ApiError as error:
            self._fail(error)
            return error.retry_after or 0.0
        except Exception:
            # A bug met in one type's objects must not stop the others.
            _log.exception("the watch of %s failed unexpectedly", self.path.plural)
            self._version = ""
        return 0.0

    async def _list(self) -> None:
        seen = set()
        version = ""
        pages = self._kube.list(
            self.path, self._namespace, label_selector=self._label_selector, field_selector=self._field_selector
        )
        async for page in pages:
            self._active_at = time.monotonic()
            for each in page.objects:
                seen.add((each.namespace, each.name))
                self._put(each)
            version = page.resource_version
        for gone in self._objects.keys() - seen:
            self._remove(gone)
        self._version = version
        self._recover()
        self.synced.set()
        self.attempted.set()

    async def _watch(self) -> None:
        events = self._kube.watch(
            self.path,
            self._namespace,
            resource_version=self._version,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            silence=self._silence,
        )
        async with aclosing(events):
            async for event in events:
                self._active_at = time.monotonic()
                self._progress = True
                self._recover()
                if event.type in ("ADDED", "MODIFIED"):
                    self._put(event.object)
                elif event.type == "DELETED":
                    self._remove((event.object.namespace, event.object.name))
                # Whatever else it is: its version is where the watch goes on.
                self._version = event.object.resource_version or self._version

    def _put(self, received: Object) -> None:
        key = (received.namespace, received.name)
        before = self._objects.get(key)
        if before is not None and before.resource_version == received.resource_version:
            return
        self._objects[key] = after = self._keep(received)
        self._tell(before, after)

    def _remove(self, key: tuple[str, str]) -> None:
        before = self._objects.pop(key, None)
        if before is not None:
            self._tell(before, None)

    def _tell(self, before: Object | None, after: Object | None) -> None:
        if self._on_change is None:
            return
        try:
            self._on_change(before, after)
        except Exception:
            changed = after or before
            _log.exception("handling a change of %s failed", changed.key if changed else self.path.plural)

    def _fail(self, error: ApiError) -> None:
        _FAILURES.labels(self.path.plural, error.status).inc()
        if not isinstance(error, Unavailable | TooManyRequests):
            # The refusal ends with an answer to a list; a resumed watch gives none while nothing changes.
            self._version = ""
        news = self.failure is None or self.failure.status != error.status
        self.failure = error
        self.attempted.set()
        if news:
            _log.warning("%s can't be watched: %s", self.path.plural, error)
            if self._on_failure is not None:
                self._on_failure(error)

    def _recover(self) -> None:
        if self.failure is None:
            return
        self.failure = None
        _log.info("%s can be watched again", self.path.plural)
        if self._on_failure is not None:
            self._on_failure(None)
