"""Open sessions, one for each settings that are in use: opened once however many ask, closed when idle or outdated.

One connection carries as many statements at a time as several would, so that a pool needs one for each log-in and role.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings

Open = Callable[[ConnectionSettings], Awaitable[Session]]
"""Logs in; raises `LoginFailed`."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A session with its users.

    Attributes:
        opening: the log-in, finished or not.
        as_of: of the latest settings that it was asked for with.
        users: tasks that use the session or wait for it.
        idle_since: monotonic time at which the last user left.
        closing: whether it is being logged out.
    """

    opening: asyncio.Task[Session]
    as_of: float
    users: int = 0
    idle_since: float = 0.0
    closing: bool = False

    @property
    def session(self) -> Session | None:
        """The session; None while, or because, there is none."""
        failed = not self.opening.done() or self.opening.cancelled() or self.opening.exception() is not None
        return None if failed else self.opening.result()

    @property
    def state(self) -> str:
        if not self.opening.done():
            return "opening"
        return "used" if self.users else "idle"


class Pool:
    """Sessions by settings.

    Args:
        open_session: logs in.
        capacity: sessions kept open at most, unless more are in use at a time.
        idle_seconds: how long an unused session stays open; at most it is twice as long.
        clock: monotonic seconds.
    """

    def __init__(
        self, open_session: Open, *, capacity: int, idle_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_session = open_session
        self._capacity = capacity
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._entries: dict[ConnectionSettings, _Entry] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._tidying: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def session(self, settings: ConnectionSettings) -> AsyncIterator[Session]:
        """The session for these settings, shared with whoever else asks for them.

        Raises:
            LoginFailed: everybody who waits for the same log-in gets its one failure.
        """
        entry = self._entries.get(settings) or self._add(settings)
        entry.as_of = max(entry.as_of, settings.as_of)
        entry.users += 1
        try:
            # Shielded: whoever gives up waiting must not take the log-in away from the others.
            yield await asyncio.shield(entry.opening)
        finally:
            entry.users -= 1
            entry.idle_since = self._clock()
            if entry.session is not None and entry.session.connection.lost:
                self._forget(settings, entry)
            if not entry.users and self._entries.get(settings) is not entry:
                self._log_out(entry)

    def is_open(self, settings: ConnectionSettings) -> bool:
        """Whether there is a session for these settings that nobody has to wait for."""
        entry = self._entries.get(settings)
        return entry is not None and entry.session is not None

    def forget(self, settings: ConnectionSettings) -> None:
        """Have the next one log in who asks for these settings; the session is closed by its last user."""
        if entry := self._entries.get(settings):
            self._forget(settings, entry)

    def leave(self, provider: str) -> None:
        """The same for all sessions of a ProviderConfig."""
        for settings, entry in list(self._entries.items()):
            if settings.provider == provider:
                self._forget(settings, entry)

    def sessions(self) -> Iterable[tuple[tuple[str, str], int]]:
        """How many there are, by provider and state: opening, used or idle."""
        return Counter((settings.provider, entry.state) for settings, entry in self._entries.items()).items()

    async def close(self) -> None:
        """Log out everywhere, at once."""
        if self._tidying is not None:
            self._tidying.cancel()
        for settings, entry in list(self._entries.items()):
            self._forget(settings, entry)
            entry.opening.cancel()
            self._log_out(entry)
        await asyncio.gather(*self._closing)

    def _add(self, settings: ConnectionSettings) -> _Entry:
        self._make_room()
        entry = _Entry(asyncio.create_task(self._open(settings)), settings.as_of, idle_since=self._clock())
        self._entries[settings] = entry
        if self._tidying is None:
            self._tidy_later()

        def forget_failed(_: asyncio.Task[Session]) -> None:
            if entry.session is None:
                self._forget(settings, entry)

        entry.opening.add_done_callback(forget_failed)
        return entry

    async def _open(self, settings: ConnectionSettings) -> Session:
        session = await self._open_session(settings)
        # A session of the credential before would go on working after its key is revoked, and hide that. Who began
        # before the change still logs in with that one, and must not close those of the new one.
        for other, entry in list(self._entries.items()):
            earlier = other.provider == settings.provider and entry.as_of <= settings.as_of
            if earlier and not other.same_login(settings):
                self._forget(other, entry)
        return session

    def _make_room(self) -> None:
        """Close the longest unused sessions, as many as the capacity asks for."""
        unused = [(settings, entry) for settings, entry in self._entries.items() if not entry.users]
        for settings, entry in sorted(unused, key=lambda each: each[1].idle_since):
            if len(self._entries) >= self._capacity:
                self._forget(settings, entry)

    def _tidy(self) -> None:
        """Close what has been unused for too long."""
        for settings, entry in list(self._entries.items()):
            if not entry.users and self._clock() - entry.idle_since >= self._idle_seconds:
                self._forget(settings, entry)
        self._tidying = None
        if self._entries:
            self._tidy_later()

    def _tidy_later(self) -> None:
        self._tidying = asyncio.get_running_loop().call_later(self._idle_seconds, self._tidy)

    def _forget(self, settings: ConnectionSettings, entry: _Entry) -> None:
        """Let nobody else use a session; its last user closes it."""
        if self._entries.get(settings) is entry:
            del self._entries[settings]
        if not entry.users:
            self._log_out(entry)

    def _log_out(self, entry: _Entry) -> None:
        if not entry.closing:
            entry.closing = True
            task = asyncio.create_task(_log_out(entry))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


async def _log_out(entry: _Entry) -> None:
    await asyncio.wait([entry.opening])
    if entry.session is not None:
        await entry.session.connection.close()
