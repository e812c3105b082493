"""The journal: every statement and log-in that the endpoint received, with what came of it."""

import asyncio
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from freehold_devstack.snowflake.catalog import Change
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.parser import Name

OK = "ok"

SEVERAL = Form("SEVERAL STATEMENTS")
"""Form of a request with several statements, each of which has an entry of its own."""

_READS = frozenset({"DESC", "DESCRIBE", "LIST", "SELECT", "SHOW", "USE", SEVERAL.verb})
"""Verbs of statements that change nothing in the account."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement or log-in.

    Attributes:
        sequence: From 1, without gaps.
        time: Milliseconds since 1970, when it was received.
        text: As sent, but for what it gives to secret properties.
        form: What it was understood as; None where it was not.
        outcome: "ok", the six digits of an error, or None while it runs.
        detail: What was really wrong with a refused log-in, which the client isn't told.
        changes: The records that it changed.
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
    form: Form | None = None
    outcome: str | None = None
    detail: str = ""
    changes: tuple[Change, ...] = ()

    def is_a(self, verb: str, kind: str = "") -> bool:
        """Whether it is a statement of this verb, about this object type where one is given."""
        if self.form is not None:
            return self.form.verb == verb and kind in {"", self.form.kind}
        return " ".join(self.text.upper().split()[:4]).startswith(f"{verb} {kind}".rstrip())

    @property
    def reads(self) -> bool:
        """Whether it is of a kind that changes nothing in the account."""
        if self.form is not None and self.form.acts:
            return False
        return self.is_a("ALTER", "SESSION") or any(map(self.is_a, _READS))

    def __str__(self) -> str:
        who = f"{self.user or 'nobody'} as {self.role}"
        return f"#{self.sequence} {self.account}, {who}: {self.text} [{self.outcome or 'running'}]"


_FACTS = tuple(each.name for each in fields(Entry) if each.name != "changes")


def entry_facts(entry: Entry) -> dict[str, object]:
    """An entry without its changes, for JSON."""
    return {name: getattr(entry, name) for name in _FACTS}


def read_entry(facts: Mapping[str, Any]) -> Entry:
    """An entry from what `entry_facts` has become in JSON."""
    form = facts["form"]
    read = None if form is None else Form(**{**form, "name": tuple(form["name"])})
    return Entry(**{**facts, "form": read})


class Records(ABC):
    """Entries in the order of their arrival, and what tests ask of them."""

    @abstractmethod
    def since(self, sequence: int = 0) -> list[Entry]:
        """The entries after a sequence number."""

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

    def no(self, verb: str, kind: str = "", *, since: int = 0) -> None:
        """There was no statement of this verb, whatever came of it.

        Args:
            kind: Only those about this object type.

        Raises:
            AssertionError: There was; it names them.
        """
        found = (entry for entry in self.statements(since=since) if entry.is_a(verb, kind))
        _refuse(f"no {verb} {kind}".rstrip(), found)

    def each_once(self, verb: str, kind: str = "", *, since: int = 0) -> None:
        """No two statements of this verb succeeded for the same object; the arguments are those of `no`.

        Raises:
            AssertionError: Some did; it names them.
        """
        done = [entry for entry in self.statements(since=since, outcome=OK) if entry.is_a(verb, kind)]
        counts = Counter(map(_about, done))
        _refuse(f"each {verb} {kind}".rstrip() + " once", (entry for entry in done if counts[_about(entry)] > 1))

    def only_reads(self, *, since: int = 0) -> None:
        """Nothing but statements that change nothing.

        Raises:
            AssertionError: There were others; it names them.
        """
        others = (entry for entry in self.statements(since=since) if not entry.reads)
        _refuse("only reads", others)


def _about(entry: Entry) -> tuple[str, str, Name]:
    return ("", "", ()) if entry.form is None else (entry.account, entry.form.kind, entry.form.name)


def _refuse(wanted: str, offenders: Iterable[Entry]) -> None:
    if found := list(offenders):
        raise AssertionError("\n".join([f"{wanted}, but there were:", *map(str, found)]))


class Journal(Records):
    """The entries of one endpoint."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._changed = asyncio.Event()

    @property
    def next_sequence(self) -> int:
        return len(self._entries) + 1

    def restore(self, entry: Entry, changes: tuple[Change, ...]) -> None:
        """Take over an entry of an earlier process. Those that it never finished are lost, so they are counted anew."""
        self._entries.append(replace(entry, sequence=self.next_sequence, changes=changes))

    def begin(self, entry: Entry) -> Entry:
        self._entries.append(entry)
        self._wake()
        return entry

    def finish(
        self,
        entry: Entry,
        outcome: str,
        *,
        form: Form | None = None,
        detail: str = "",
        changes: tuple[Change, ...] = (),
    ) -> Entry:
        finished = replace(entry, outcome=outcome, form=form, detail=detail, changes=changes)
        self._entries[entry.sequence - 1] = finished
        self._wake()
        return finished

    def since(self, sequence: int = 0) -> list[Entry]:
        return self._entries[sequence:]

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
