"""The keyed queue: what is to be reconciled, when, and in which order.

The life of a key: it is *added*, waits until it is *ready* (at once, or after a delay), and is handed to one worker.
While that worker has it, it is handed to no other; whatever is added meanwhile is remembered and makes it ready again
when the worker is *done*. A key that waits is in the queue once, at the highest priority and the earliest time asked
for.

A key whose group can't go on is *held* instead: one key of the group tries again, and the others follow when it could.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from prometheus_client import Gauge, Histogram

from freehold.kube.backoff import Backoff
from freehold.kube.objects import Key
from freehold.metrics import REGISTRY
from freehold_controllers.runtime.held import Held
from freehold_controllers.runtime.lines import Lines, Place, Priority

_READY = Gauge("freehold_queue_ready", "Keys that wait for a worker.", ["priority"], registry=REGISTRY)
_WAIT = Histogram(
    "freehold_queue_wait_seconds",
    "Time from ready to a worker.",
    ["priority"],
    buckets=(0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)


LATELY = 0.6
"""Part of the time until a resync within which what was seen is recent enough for it.

Whoever shares what was seen looks twice an interval at most, as intervals are spread by a tenth; and an object is seen
as it was less than two intervals ago, whoever looked.
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """A key in the hands of a worker.

    Attributes:
        key: the key.
        not_before: monotonic time; what was seen earlier tells nothing of what woke the key, or of what the turn before
            has written.
        priority: how urgent it is.
    """

    key: Key
    not_before: float
    priority: Priority


class Closed(Exception):
    """The queue hands out no more keys."""


class Queue:
    """Keys to be worked on."""

    def __init__(
        self,
        backoff: Backoff,
        lines: Lines,
        *,
        group: Callable[[Key], str] = lambda _: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            backoff: delays after consecutive failures of a key.
            lines: where the ready wait.
            group: what a key works with.
            clock: monotonic seconds.
        """
        self._backoff = backoff
        self._lines = lines
        self._group = group
        self._clock = clock
        self._due: dict[Key, tuple[float, Priority]] = {}
        self._heap: list[tuple[float, Priority, Key]] = []
        self._working: dict[Key, str] = {}
        self._added: dict[Key, Priority] = {}
        self._not_before: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._held = Held()
        self._stirred = asyncio.Event()
        self._closed = False
        for priority in Priority:
            _READY.labels(priority.name.lower()).set_function(partial(lines.length, priority))

    def add(self, key: Key, priority: Priority = Priority.CHANGE, *, after: float = 0.0) -> None:
        """Ask for a key to be worked on.

        Args:
            key: whose turn it is to be.
            priority: its place among the ready; a CHANGE makes earlier failures forgotten.
            after: seconds to wait.
        """
        if priority is Priority.CHANGE:
            self._failures.pop(key, None)
        if after > 0:
            self._delay(key, priority, after)
        else:
            self._not_before[key] = self._clock()
            self._make_ready(key, priority)

    async def get(self) -> Turn:
        """The next key, which is the caller's until `done`, `failed` or `hold`.

        Raises:
            Closed: there are no more.
        """
        while not self._closed:
            next_due = self._promote()
            if taken := self._lines.take():
                return self._hand_out(*taken)
            self._stirred.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(next_due):
                    await self._stirred.wait()
        raise Closed

    def done(self, key: Key, *, again: float | None = None) -> None:
        """Give a key back after success.

        Args:
            key: the key.
            again: seconds until it is ready again by itself; None for never.
        """
        self._failures.pop(key, None)
        self._went_on(key)
        self._give_back(key, again, Priority.RESYNC)

    def failed(self, key: Key, *, earlier: int = 0) -> None:
        """Give a key back after a failure; it is ready again after a growing delay.

        Args:
            key: the key.
            earlier: failures in a row that it counts as having had at least.
        """
        self._failures[key] = max(self._failures.get(key, 0), earlier) + 1
        self._went_on(key)
        self._give_back(key, self._backoff.delay(self._failures[key]), Priority.RETRY)

    def hold(self, key: Key, retry_in: float) -> None:
        """Give a key back that can't go on before its group can: it is ready again when another key of the group could,
        or at `release`. For as long as nobody knows, the first that was held tries again.

        Args:
            key: the key.
            retry_in: seconds until that makes sense.
        """
        group = self._working[key]
        if self._held.group(key) != group:
            self._went_on(key)
        tries = self._held.add(key, group)
        self._give_back(key, retry_in if tries else None, Priority.RETRY)

    def release(self, group: str) -> None:
        """A group can go on: all that was held is ready again, and what is being worked on is so afterwards, since it
        may be about to be held."""
        working = [key for key, other in self._working.items() if other == group]
        for key in [*self._held.release(group), *working]:
            self.add(key, Priority.RETRY)

    def close(self) -> None:
        """Hand out no more keys."""
        self._closed = True
        self._stirred.set()

    def _went_on(self, key: Key) -> None:
        """Whatever it ended in, what it works with didn't keep it from that."""
        if tries := self._held.remove(key):
            self.add(tries, Priority.RETRY)

    def _give_back(self, key: Key, again: float | None, priority: Priority) -> None:
        self._lines.back(self._working.pop(key))
        self._stirred.set()
        added = self._added.pop(key, None)
        if added is not None:
            self.add(key, added)
        elif again is not None:
            self.add(key, priority, after=again)

    def _make_ready(self, key: Key, priority: Priority) -> None:
        if key in self._working:
            self._added[key] = _first(priority, self._added.get(key))
        elif (place := self._lines.place(key)) is None or priority < place.priority:
            self._due.pop(key, None)
            self._lines.add(key, Place(priority, self._group(key), place.since if place else self._clock()))
            self._stirred.set()

    def _hand_out(self, key: Key, place: Place) -> Turn:
        _WAIT.labels(place.priority.name.lower()).observe(self._clock() - place.since)
        self._working[key] = place.group
        return Turn(key, self._not_before.pop(key), place.priority)

    def _delay(self, key: Key, priority: Priority, after: float) -> None:
        if self._lines.place(key):
            return
        due = self._clock() + after
        not_before = due - LATELY * after if priority is Priority.RESYNC else due
        self._not_before[key] = max(not_before, self._not_before.get(key, not_before))
        if key in self._due:
            earlier, other = self._due[key]
            due, priority = min(due, earlier), _first(priority, other)
        self._due[key] = (due, priority)
        heapq.heappush(self._heap, (due, priority, key))
        self._stirred.set()

    def _promote(self) -> float | None:
        """Make ready what is due; answers with the seconds until the next is, None when nothing waits."""
        now = self._clock()
        while self._heap:
            due, priority, key = self._heap[0]
            if self._due.get(key) == (due, priority):
                if due > now:
                    return due - now
                del self._due[key]
                self._make_ready(key, priority)
            heapq.heappop(self._heap)
        return None


def _first(priority: Priority, other: Priority | None) -> Priority:
    return priority if other is None else min(priority, other)
