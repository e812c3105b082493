"""Which CREATE may still be under way at the server after its answer was lost."""

from __future__ import annotations

import time
from collections.abc import Callable

from freehold.kube.objects import Key

LONGEST = 65.0
"""Seconds that a statement may run (60) and take to get there."""


class Attempts:
    """Attempts of unknown outcome, ours or another process's: each counts as sent when it is heard of first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: monotonic seconds.
        """
        self._clock = clock
        self._heard: dict[Key, tuple[int, float]] = {}

    def under_way(self, key: Key, attempt: int) -> bool:
        """Whether an attempt may still have an effect.

        Args:
            key: the resource.
            attempt: its number, as the mark has it.
        """
        latest, since = self._heard.get(key, (None, 0.0))
        if latest != attempt:
            since = self._clock()
            self._heard[key] = attempt, since
        return self._clock() - since < LONGEST

    def forget(self, key: Key) -> None:
        self._heard.pop(key, None)
