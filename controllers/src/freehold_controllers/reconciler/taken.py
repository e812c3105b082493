"""Names that something invisible has. Only CREATE tells that there is such a thing, so that its answer is remembered:
each further one costs two writes of the claim."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from datetime import timedelta

VALIDITY = timedelta(hours=6)
"""How long an answer holds; nobody tells us when the name is free."""


class Taken:
    """The answers of this process's CREATEs."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: monotonic seconds.
        """
        self._clock = clock
        self._answers: dict[str, tuple[Hashable, float]] = {}

    def note(self, claim: str, asked: Hashable) -> None:
        """A CREATE was refused, and SHOW has no row.

        Args:
            claim: uid of the object's claim.
            asked: in which circumstances; the answer says nothing of others.
        """
        now = self._clock()
        self._answers = {each: answer for each, answer in self._answers.items() if now < answer[1]}
        self._answers[claim] = asked, now + VALIDITY.total_seconds()

    def holds(self, claim: str, asked: Hashable) -> bool:
        """Whether the same question was answered not long ago."""
        before, until = self._answers.get(claim, (None, 0.0))
        return before == asked and self._clock() < until
