"""How long to wait before the next attempt: exponential, with a cap and jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from secrets import SystemRandom

_RANDOM = SystemRandom().random


@dataclass(frozen=True, slots=True)
class Backoff:
    """A series of growing delays.

    Attributes:
        first: upper bound of the first delay, in seconds; it doubles with each failure.
        most: upper bound of all delays, in seconds.
        random: a number in [0, 1); delays lie between half the bound and the bound.
    """

    first: float
    most: float
    random: Callable[[], float] = _RANDOM

    def delay(self, failures: int) -> float:
        """Seconds to wait.

        Args:
            failures: consecutive failures so far, from 1.
        """
        bound = min(self.most, self.first * 2.0 ** min(failures - 1, 64))
        return bound * (0.5 + self.random() / 2)


def jittered(interval: timedelta, random: Callable[[], float] = _RANDOM) -> float:
    """Seconds of an interval, spread by a tenth to both sides so that what began together drifts apart."""
    return interval.total_seconds() * (0.9 + random() / 5)


def stretched(interval: timedelta, random: Callable[[], float] = _RANDOM) -> float:
    """Seconds between an interval and twice of it: for what is rare, so that it doesn't come all at once."""
    return interval.total_seconds() * (1 + random())
