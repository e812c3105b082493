"""The keyed queue: what is to be reconciled, when, and in which order.

The life of a key: it is *added*, waits until it is *ready* (at once, or after a delay), and is handed to one worker.
While that worker has it, it is handed to no other; whatever is added meanwhile is remembered and makes it ready again
when the worker is *done*. A key that waits is in the queue once, at the highest priority and the earliest time asked
for.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum

from prometheus_client import Gauge, Histogram

from freehold.kube.backoff import Backoff
from freehold.kube.objects import Key
from freehold.metrics import REGISTRY

_READY = Gauge("freehold_queue_ready", "Keys that wait for a worker.", ["priority"], registry=REGISTRY)
_WAIT = Histogram(
    "freehold_queue_wait_seconds",
    "Time from ready to a worker.",
    ["priority"],
    buckets=(0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)


class Priority(IntEnum):
    """What goes first."""

    CHANGE = 0
    """Somebody has just applied it."""
    DELETION = 1
    RETRY = 2
    RESYNC = 3


_NOT_READY = len(Priority)

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
    """

    key: Key
    not_before: float


class Closed(Exception):
    """The queue hands out no more keys."""


class Queue:
    """Keys to be worked on."""

    def __init__(self, backoff: Backoff, *, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            backoff: delays after consecutive failures of a key.
            clock: monotonic seconds.
        """
        self._backoff = backoff
        self._clock = clock
        # Dicts keep order like lists, and let go of any key at once.
        self._ready: dict[Priority, dict[Key, float]] = {priority: {} for priority in Priority}
        self._priority: dict[Key, Priority] = {}
        self._due: dict[Key, tuple[float, Priority]] = {}
        self._heap: list[tuple[float, Priority, Key]] = []
        self._working: dict[Key, Priority | None] = {}
        self._not_before: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._stirred = asyncio.Event()
        self._closed = False
        for priority, line in self._ready.items():
            _READY.labels(priority.name.lower()).set_function(line.__len__)

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
        """The next key, which is the caller's until `done` or `failed`.

        Raises:
            Closed: there are no more.
        """
        while not self._closed:
            next_due = self._promote()
            for priority, line in self._ready.items():
                if line:
                    return self._hand_out(next(iter(line)), priority)
            self._stirred.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(next_due):
                    await self._stirred.wait()
        raise Closed

    def done(self, key: Key, *, again: float | None = None, priority: Priority = Priority.RESYNC) -> None:
        """Give a key back after success.

        Args:
            key: the key.
            again: seconds until it is ready again by itself; None for never.
            priority: its priority then.
        """
        self._failures.pop(key, None)
        self._give_back(key, again, priority)

    def failed(self, key: Key, *, earlier: int = 0) -> None:
        """Give a key back after a failure; it is ready again after a growing delay.

        Args:
            key: the key.
            earlier: failures in a row that it counts as having had at least.
        """
        self._failures[key] = max(self._failures.get(key, 0), earlier) + 1
        self._give_back(key, self._backoff.delay(self._failures[key]), Priority.RETRY)

    def close(self) -> None:
        """Hand out no more keys."""
        self._closed = True
        self._stirred.set()

    def _give_back(self, key: Key, again: float | None, priority: Priority) -> None:
        added = self._working.pop(key)
        if added is not None:
            self.add(key, added)
        elif again is not None:
            self.add(key, priority, after=again)

    def _make_ready(self, key: Key, priority: Priority) -> None:
        if key in self._working:
            self._working[key] = _first(priority, self._working[key])
        elif priority < self._priority.get(key, _NOT_READY):
            self._line_up(key, priority)

    def _line_up(self, key: Key, priority: Priority) -> None:
        since = self._leave(key)
        self._priority[key] = priority
        self._ready[priority][key] = self._clock() if since is None else since
        self._stirred.set()

    def _leave(self, key: Key) -> float | None:
        """Take a waiting key out; answers with the time since when it was ready."""
        self._due.pop(key, None)
        priority = self._priority.pop(key, None)
        return None if priority is None else self._ready[priority].pop(key)

    def _hand_out(self, key: Key, priority: Priority) -> Turn:
        since = self._leave(key)
        _WAIT.labels(priority.name.lower()).observe(self._clock() - (since or 0.0))
        self._working[key] = None
        return Turn(key, self._not_before.pop(key))

    def _delay(self, key: Key, priority: Priority, after: float) -> None:
        if key in self._priority:
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
