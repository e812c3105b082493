"""The journal: every statement and log-in that the endpoint received, with what came of it."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

OK = "ok"


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement or log-in.

    Attributes:
        sequence: From 1, without gaps.
        time: Milliseconds since 1970, when it was received.
        outcome: "ok", the six digits of an error, or None while it runs.
        detail: What was really wrong with a refused log-in, which the client isn't told.
    """

    sequence: int
    kind: Literal["statement", "login"]
    time: int
    account: str
    session: int
    user: str | None
    role: str | None
    query_tag: str
    request_id: str
    query_id: str
    text: str
    outcome: str | None = None
    detail: str = ""


class Journal:
    """Entries in the order of their arrival."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._changed = asyncio.Event()

    @property
    def next_sequence(self) -> int:
        return len(self._entries) + 1

    def restore(self, entry: Entry) -> None:
        """Take over an entry of an earlier process. Those that it never finished are lost, so they are counted anew."""
        self._entries.append(replace(entry, sequence=self.next_sequence))

    def begin(self, entry: Entry) -> Entry:
        self._entries.append(entry)
        self._wake()
        return entry

    def finish(self, entry: Entry, outcome: str, detail: str = "") -> Entry:
        finished = replace(entry, outcome=outcome, detail=detail)
        self._entries[entry.sequence - 1] = finished
        self._wake()
        return finished

    def since(self, sequence: int = 0) -> list[Entry]:
        """The entries after a sequence number."""
        return self._entries[sequence:]

    def statements(self, pattern: str = "", *, since: int = 0, outcome: str | None = None) -> list[Entry]:
        """The statements whose text a regular expression finds, regardless of case.

        Args:
            outcome: Only those that ended in this.
        """
        search = re.compile(pattern, re.IGNORECASE).search
        return [
            entry
            for entry in self.since(since)
            if entry.kind == "statement" and search(entry.text) and outcome in {None, entry.outcome}
        ]

    async def wait_for(self, condition: Callable[["Journal"], bool], *, seconds: float = 10) -> None:
        """Wait until the journal satisfies a condition.

        Raises:
            TimeoutError: It did not in time.
        """
        async with asyncio.timeout(seconds):
            while not condition(self):
                await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
