"""Urgency: what somebody has just asked for goes ahead of what is looked at without a reason, wherever both wait.

It goes with a task, whoever is called by it. What several tasks wait for is as urgent as the most urgent of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Urgency:
    """How urgent something is.

    Attributes:
        rank: what is lower goes first; 0 is what nothing is known of.
    """

    rank: float = 0

    def raise_to(self, other: Urgency) -> None:
        """Be as urgent as another at least."""
        self.rank = min(self.rank, other.rank)


_UNKNOWN = Urgency()
_present: ContextVar[Urgency] = ContextVar("freehold_urgency")


def present() -> Urgency:
    """The urgency of the present task."""
    return _present.get(_UNKNOWN)


@contextmanager
def ranked(rank: float) -> Iterator[None]:
    """Let what the present task does have a rank while the context is open."""
    token = _present.set(Urgency(rank))
    try:
        yield
    finally:
        _present.reset(token)


def shared() -> tuple[Urgency, Context]:
    """The urgency of what is nobody's own, as long as nobody waits for it, and a context for a task that has it."""
    urgency, context = Urgency(math.inf), Context()
    context.run(_present.set, urgency)
    return urgency, context
