"""Which statements may still be under way at the server after their answer was lost."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Literal

LONGEST = 65.0
"""Seconds that a statement may run (60) and take to get there."""

Attempt = int | Literal["DROP"]
"""Number of a CREATE, as the mark has it, or the DROP that the claim intends."""


class Attempts:
    """Attempts of unknown outcome, ours or another process's: each counts as sent when it is heard of first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: monotonic seconds.
        """
        self._clock = clock
        self._heard: defaultdict[str, dict[Attempt, float]] = defaultdict(dict)

    def under_way(self, claim: str, attempt: Attempt) -> bool:
        """Whether an attempt of unknown outcome may still have an effect.

        Args:
            claim: uid of the claim, which no other object's claim ever has.
            attempt: which of its statements.
        """
        now = self._clock()
        return now - self._heard[claim].setdefault(attempt, now) < LONGEST

    def forget(self, claim: str) -> None:
        """The claim is gone, or its statement is about to be sent anew."""
        self._heard.pop(claim, None)
