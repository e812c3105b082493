"""Which statements may still be under way at the server after their answer was lost."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Literal

from freehold_controllers.runtime.work import LONGEST

ARRIVAL = timedelta(seconds=5)
"""How long a statement may take to get to the server."""

Attempt = int | Literal["DROP", "CREATE OR ALTER"]
"""Number of a CREATE, as the mark has it; the DROP that the claim intends; or an update that would make an object of a
name that has none. The claim tells of no update, so that each process fears one of its predecessor."""


class Attempts:
    """Attempts of unknown outcome, ours or another process's: each counts as sent when it is heard of first."""

    def __init__(self, statement_timeout: timedelta, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            statement_timeout: how long a statement may run.
            clock: monotonic seconds.
        """
        self._statement_timeout = statement_timeout
        self._clock = clock
        self._heard: defaultdict[str, dict[Attempt, float]] = defaultdict(dict)

    def within(self, limit: timedelta | None = None) -> timedelta:
        """How long after its mark a CREATE may still have an effect: it waits for its turn at most as long as a pass
        may take.

        Args:
            limit: as `Kind.statement_limit` has it.
        """
        return LONGEST + self._lasting(limit)

    def under_way(self, claim: str, attempt: Attempt, limit: timedelta | None = None) -> bool:
        """Whether an attempt of unknown outcome may still have an effect.

        Args:
            claim: uid of the claim, which no other object's claim ever has.
            attempt: which of its statements.
            limit: as `Kind.statement_limit` has it.
        """
        now = self._clock()
        return now - self._heard[claim].setdefault(attempt, now) < self._lasting(limit).total_seconds()

    def _lasting(self, limit: timedelta | None) -> timedelta:
        return max(self._statement_timeout, limit or self._statement_timeout) + ARRIVAL

    def over(self, claim: str, attempt: Attempt) -> None:
        """It was answered: whatever its claim still says, it has no further effect."""
        self._heard[claim][attempt] = -math.inf

    def begin(self, claim: str, attempt: Attempt) -> None:
        """It is about to be sent, and counts as sent when it is heard of next."""
        self._heard[claim].pop(attempt, None)

    def forget(self, claim: str) -> None:
        """The claim is gone."""
        self._heard.pop(claim, None)
