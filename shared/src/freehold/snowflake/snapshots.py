"""Snapshots: scopes as they were at an instant, read once for all who ask.

A snapshot is good for those alone who log in alike (`ConnectionSettings`), in the same role: what others see is none of
their business, and a log-in that is refused is its own affair. What a role doesn't see, or what a page has missed while
names changed, is missing from it: whoever doesn't find an object in a snapshot asks for that object itself.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from freehold import urgency
from freehold.observation import Row
from freehold.snowflake import metrics
from freehold.snowflake.errors import OutcomeUnknown
from freehold.snowflake.scopes import Scope, worth_it
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql

Read = Callable[[ConnectionSettings, Sql], Awaitable[Sequence[Row]]]
"""Sends a query."""

LARGEST = 50_000
"""Rows of a scope beyond which it isn't read to its end."""
_CAPACITY = 100_000
"""Rows that are kept at most, of all scopes."""
_MOST_SCOPES = 4_096
"""Scopes, of all log-ins, that anything is remembered of."""
_MOST_ASKERS = 128
"""Askers of a scope that are remembered: enough to make the largest worth it."""
_OLDEST = 900.0
"""Seconds after which a snapshot is let go: hardly anybody is content with it any more."""

_log = logging.getLogger(__name__)

_Values = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows of a scope.

    Attributes:
        begun: monotonic time at which they were asked for; they are as they were then or later.
        size: how many there are.
    """

    begun: float
    size: int
    _columns: tuple[str, ...]
    _rows: Mapping[str, tuple[_Values, ...]]

    def named(self, name: str) -> tuple[Row, ...]:
        """The rows of an exact name."""
        return tuple(dict(zip(self._columns, values, strict=True)) for values in self._rows.get(name, ()))


class _Pages:
    """Rows as they come in, packed: values alone, and equal texts once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._texts: dict[object, object] = {}
        self._columns: tuple[str, ...] = ()
        self._rows: dict[str, tuple[_Values, ...]] = {}
        self.size = 0
        self.unreadable = False
        self.last: str | None = None

    def add(self, page: Sequence[Row]) -> bool:
        """Take a page; answers whether it brought a new name."""
        last, names = self.last, len(self._rows)
        for row in page:
            name = row.get(self._scope.named_by)
            if not isinstance(name, str):
                self.unreadable = True
                continue
            self._columns = self._columns or tuple(row)
            values = tuple(self._once(row[column]) for column in self._columns)
            known = self._rows.get(name, ())
            # FROM leads past the first of several rows of one name only: the others come again.
            if name != last or values not in known:
                self._rows[name] = (*known, values)
                self.size += 1
            self.last = name
        return len(self._rows) > names

    def snapshot(self, begun: float) -> Snapshot:
        return Snapshot(begun, self.size, self._columns, self._rows)

    def _once(self, value: object) -> object:
        return self._texts.setdefault(value, value) if isinstance(value, str) else value


class _Flight:
    """A scope that is being read, for as long as anybody waits for it.

    Attributes:
        begun: monotonic time at which it was begun.
        abandoned: whether nobody waits any more, so that it is ending.
    """

    def __init__(self, begun: float, read: Coroutine[None, None, Snapshot], ended: Callable[[], None]) -> None:
        """
        Args:
            begun: now.
            read: reads the scope.
            ended: called when it has ended in any way, before those who wait go on.
        """
        self.begun = begun
        self.abandoned = False
        self._waiting = 0
        self._ended = ended
        # Nobody's own: it serves all who wait, in logs and traces, too.
        self._urgency, context = urgency.shared()
        self._task = asyncio.create_task(read, context=context)
        self._task.add_done_callback(self._end)

    async def join(self) -> Snapshot:
        """Wait for what it brings, or for why it fails."""
        self._waiting += 1
        self._urgency.raise_to(urgency.present())
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1
            if not self._waiting and not self._task.done():
                self.abandoned = True
                self._task.cancel()

    async def over(self) -> None:
        """Wait for its end, whatever that is."""
        await asyncio.wait([self._task])

    def _end(self, task: asyncio.Task[Snapshot]) -> None:
        self._ended()
        if not task.cancelled():
            # Whoever waits is told; where nobody does, asyncio would log it.
            task.exception()


@dataclass(slots=True, eq=False)
class _Known:
    """What is known of a scope to one log-in.

    Attributes:
        snapshot: the latest.
        flight: the one that is under way.
        rows: how many the scope had when it was last read.
        asked: when somebody asked, and for which name, the latest last.
        told: whether a row that couldn't be read was told of.
        unreadable_until: monotonic time until which it isn't asked for as a whole, which the server couldn't tell.
    """

    snapshot: Snapshot | None = None
    flight: _Flight | None = None
    rows: int | None = None
    asked: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=_MOST_ASKERS))
    told: bool = False
    unreadable_until: float = -math.inf


class Snapshots:
    """The snapshots of a process."""

    def __init__(self, read: Read, clock: Callable[[], float], *, capacity: int = _CAPACITY) -> None:
        """
        Args:
            read: sends a query.
            clock: monotonic seconds.
            capacity: rows that are kept at most; the longest unused snapshots go first.
        """
        self._read = read
        self._clock = clock
        self._capacity = capacity
        self._known: OrderedDict[tuple[ConnectionSettings, Scope], _Known] = OrderedDict()
        metrics.SNAPSHOT_ROWS.read_from(lambda: [((), self._size)])

    async def rows(self, settings: ConnectionSettings, scope: Scope, not_before: float) -> Snapshot:
        """The rows of a scope, read once for all who ask meanwhile.

        Args:
            settings: the log-in.
            scope: what is asked for.
            not_before: monotonic time; what was begun to be read earlier won't do. Whoever has written asks for nothing
                older than the end of that.

        Raises:
            SnowflakeError: whatever the reading failed by. All who wait fail by it, and whoever asks next tries anew.
        """
        known = self._of(settings, scope)
        not_before = min(not_before, self._clock())
        while True:
            if known.snapshot is not None and known.snapshot.begun >= not_before:
                metrics.SNAPSHOT_REQUESTS.labels("hit").inc()
                metrics.SNAPSHOT_AGE.observe(self._clock() - known.snapshot.begun)
                return known.snapshot
            found = known.flight
            flight = found or self._begin(settings, scope, known)
            if flight.begun >= not_before and not flight.abandoned:
                metrics.SNAPSHOT_REQUESTS.labels("joined" if found else "read").inc()
                return await flight.join()
            # One after the other: who comes too late for one shares the next with all who do.
            await flight.over()

    async def worth(self, settings: ConnectionSettings, scope: Scope, not_before: float, asker: str) -> Snapshot | None:
        """The same where it is there, or costs less than a SHOW for each who asks; None where it costs more, or the
        server can't tell it.

        Args:
            settings: likewise.
            scope: likewise.
            not_before: likewise.
            asker: name of the object that is looked for.
        """
        known, now = self._of(settings, scope), self._clock()
        since = min(not_before, now)
        known.asked.append((now, asker))
        there = any(each is not None and each.begun >= since for each in (known.snapshot, known.flight))
        # Twice as far back as a snapshot would serve lies the latest resync of all who look at the same interval.
        askers = {each for asked, each in known.asked if asked >= since - (now - since)}
        if there or (now >= known.unreadable_until and worth_it(scope, len(askers), known.rows)):
            try:
                return await self.rows(settings, scope, since)
            except OutcomeUnknown as error:
                # An answer, of a server for which all, or one of them, is too much: the others it can still tell.
                if error.number is None or not scope.divisible:
                    raise
                known.unreadable_until = self._clock() + _OLDEST
        metrics.SNAPSHOT_REQUESTS.labels("single").inc()
        return None

    def forget(self, provider: str) -> None:
        """Keep nothing of a ProviderConfig that is gone, `<namespace>/<name>`."""
        for key in [key for key in self._known if key[0].provider == provider]:
            del self._known[key]

    def _begin(self, settings: ConnectionSettings, scope: Scope, known: _Known) -> _Flight:
        begun = self._clock()
        read = self._whole(settings, scope, known, begun)
        known.flight = _Flight(begun, read, partial(setattr, known, "flight", None))
        return known.flight

    async def _whole(self, settings: ConnectionSettings, scope: Scope, known: _Known, begun: float) -> Snapshot:
        """Read a scope, page after page, and keep it."""
        pages, more = _Pages(scope), True
        while more:
            page = await self._read(settings, scope.page(pages.last))
            more = pages.add(page) and scope.cut(page) and pages.size < LARGEST
        if pages.unreadable and not known.told:
            known.told = True
            _log.warning("%s has rows without %s; they are asked for one by one", scope.query, scope.named_by)
        known.snapshot = snapshot = pages.snapshot(begun)
        known.rows = snapshot.size
        self._make_room()
        return snapshot

    def _of(self, settings: ConnectionSettings, scope: Scope) -> _Known:
        key = settings, scope
        known = self._known.setdefault(key, _Known())
        self._known.move_to_end(key)
        if len(self._known) > _MOST_SCOPES:
            self._known.popitem(last=False)
        return known

    def _make_room(self) -> None:
        """Let go of what is too old, and then of what wasn't used for longest."""
        oldest, room = self._clock() - _OLDEST, self._capacity
        for known in reversed(self._known.values()):
            if known.snapshot is None:
                continue
            if known.snapshot.begun < oldest or known.snapshot.size > room:
                known.snapshot = None
            else:
                room -= known.snapshot.size

    @property
    def _size(self) -> int:
        """Rows that are kept."""
        return sum(known.snapshot.size for known in self._known.values() if known.snapshot)
