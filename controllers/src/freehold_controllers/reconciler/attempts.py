"""Which CREATE may still be under way at the server after its answer was lost."""

from __future__ import annotations

import time
from collections.abc import Callable

from freehold.kube.objects import Key

LONGEST = 65.0
"""Seconds that a statement may run (60) and take to get there."""


class Attempts:
    """When attempts were sent; those of an earlier process count as sent right before this one began."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: monotonic seconds.
        """
        self._clock = clock
        self._began = clock()
        self._sent: dict[Key, float] = {}

    def note(self, key: Key) -> None:
        """Take down that an attempt is about to be sent."""
        self._sent[key] = self._clock()

    def under_way(self, key: Key) -> bool:
        """Whether an attempt may still have an effect."""
        return self._clock() - self._sent.get(key, self._began) < LONGEST

    def forget(self, key: Key) -> None:
        self._sent.pop(key, None)
