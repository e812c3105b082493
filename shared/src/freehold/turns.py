"""Turns: of all who want to do the same thing one does it at a time, and leaves a note for the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol
from weakref import WeakValueDictionary

Heed = Callable[[str], None]
"""Is told the note whenever it is read; raises when the turn isn't wanted any more."""


@dataclass(slots=True)
class Turn:
    """What one may do alone for a while.

    Attributes:
        note: what the one before has left; what it is in the end is left for the next.
    """

    note: str


class Turns(Protocol):
    """Where turns are taken."""

    @property
    def now(self) -> datetime:
        """The time, the same for all who take turns here."""

    def turn(self, name: str, heed: Heed) -> AbstractAsyncContextManager[Turn]:
        """Wait for a turn and have it.

        Args:
            name: of what is done, in the characters of a DNS label.
            heed: what it raises is raised here, and no turn taken.
        """

    async def note(self, name: str) -> str:
        """The latest note, empty where there is none; nobody is waited for."""


def _local_time() -> datetime:
    return datetime.now(UTC)


class LocalTurns:
    """Turns among the tasks of one process."""

    def __init__(self, clock: Callable[[], datetime] = _local_time) -> None:
        """
        Args:
            clock: the time.
        """
        self._clock = clock
        self._notes: dict[str, str] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def now(self) -> datetime:
        """The time."""
        return self._clock()

    @asynccontextmanager
    async def turn(self, name: str, heed: Heed) -> AsyncIterator[Turn]:
        """As `Turns.turn` has it."""
        async with self._locks.setdefault(name, asyncio.Lock()):
            turn = Turn(await self.note(name))
            heed(turn.note)
            try:
                yield turn
            finally:
                self._notes.pop(name, None)
                if turn.note:
                    self._notes[name] = turn.note

    async def note(self, name: str) -> str:
        """As `Turns.note` has it."""
        return self._notes.get(name, "")
