"""The interface of the client layer: send a statement, observe an object, ask what a role sees and where we are."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta
from typing import Self, TypeVar

from freehold import sql
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.observation import Depth, Observation, Parameter, Row
from freehold.snowflake import visibility
from freehold.snowflake.driver import STATEMENT_TIMEOUT, Connection, Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import INVISIBLE, Incomplete, SnowflakeError
from freehold.snowflake.pool import Pool
from freehold.snowflake.query_tag import QueryTag, session_tag
from freehold.snowflake.session import AccountFacts, Session, read_facts
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql

Answer = TypeVar("Answer")

SHOW_LIMIT = 10_000
"""Rows that SHOW answers with at most."""

_CAPACITY = 64
_IDLE_SECONDS = 600.0


class Snowflake:
    """Snowflake, as a process sees it. Safe to use from any number of tasks.

    Args:
        installation: id of this installation, part of every query tag.
        statement_timeout: how long a statement may run, in whole seconds.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        installation: str,
        *,
        statement_timeout: timedelta = STATEMENT_TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._installation = installation
        self._statement_timeout = statement_timeout
        self._pool = Pool(self._open, capacity=_CAPACITY, idle_seconds=_IDLE_SECONDS, clock=clock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def execute(
        self,
        settings: ConnectionSettings,
        statement: Sql,
        tag: QueryTag,
        *,
        require: Callable[[], None] = lambda: None,
    ) -> Result:
        """Send one statement, once: nothing is ever repeated, for nobody but the caller knows whether that is harmless.

        A cancelled call aborts the statement and, like `OutcomeUnknown`, leaves open whether it has run.

        Args:
            settings: the log-in.
            statement: what is sent.
            tag: of the statement.
            require: called right before the statement goes out, after a log-in that may have taken its time; raises
                when it must not.

        Raises:
            LoginFailed: nothing was sent.
            OutcomeUnknown: the statement may have run.
            SnowflakeError: the server refused it.
        """
        async with self._pool.session(settings) as session:
            require()
            return await session.connection.execute(statement, self._text(tag, settings))

    async def observe(
        self,
        settings: ConnectionSettings,
        kind: Kind,
        target: Target,
        depth: Depth,
        tag: QueryTag,
        *,
        details: Collection[str] = (),
    ) -> Observation | None:
        """Read one object, as it was after this call began.

        Args:
            settings: the log-in.
            kind: the object's kind.
            target: the object.
            depth: shallow is one SHOW; deep adds its parameters and `details`.
            tag: of every statement.
            details: which of the kind's further queries to ask (`planning.details`).

        Returns:
            What is there, with the row alone where the role may read nothing else; None when SHOW has no such row:
            the object is absent, or the role can't see it.

        Raises:
            LoginFailed: no session.
            Incomplete: SHOW was cut off, so that a missing row means nothing.
            SnowflakeError: of class MISSING when what contains the object is absent or invisible.
        """
        rows = (await self._read(settings, kind.show(target), tag)).rows
        row = next((row for row in rows if kind.is_row_of(target, row)), None)
        if row is None:
            if len(rows) >= SHOW_LIMIT:
                raise Incomplete(
                    f"SHOW answered with {len(rows)} rows, its limit, and {target.name} wasn't among them",
                    error_class=ErrorClass.TERMINAL,
                )
            return None
        if depth == "shallow":
            return Observation(row)
        try:
            return await self._all_of(settings, kind, target, row, tag, details)
        except SnowflakeError as error:
            if error.number not in INVISIBLE:
                raise
            # RESOLVE ALL shows that an object is there, and nothing of it.
            return Observation(row, unreadable=str(error))

    async def _all_of(
        self,
        settings: ConnectionSettings,
        kind: Kind,
        target: Target,
        row: Row,
        tag: QueryTag,
        details: Collection[str],
    ) -> Observation:
        parameters: tuple[Row, ...] = ()
        if kind.parameters:
            parameters = (await self._read(settings, kind.show_parameters(target), tag)).rows
        return Observation(
            row=row,
            parameters={str(each["key"]): Parameter(str(each["value"]), str(each["level"])) for each in parameters},
            details={name: (await self._read(settings, kind.details[name](target), tag)).rows for name in details},
        )

    async def sees_all(self, settings: ConnectionSettings, tag: QueryTag) -> bool:
        """Whether the session's role sees every object, so that a row which SHOW lacks proves absence.

        Follows the role hierarchy down from the session's role, breadth first. Never remembered: a privilege that was
        revoked a moment ago must not prove anything.
        """
        async with self._pool.session(settings) as session:
            waiting = [session.facts.role]
        seen = set(waiting)
        while waiting:
            query = sql.sql("SHOW GRANTS TO ROLE {role}", role=sql.identifier(waiting.pop(0)))
            grants = (await self._read(settings, query, tag)).rows
            if visibility.sees_all(grants):
                return True
            new = sorted(visibility.inherited_roles(grants) - seen)
            seen.update(new)
            waiting.extend(new)
        return False

    async def verify(self, settings: ConnectionSettings) -> AccountFacts:
        """Log in, unless a session is open, and ask the server who and where we are.

        A credential that was refused is tried anew, which is the caller's to do rarely.

        Raises:
            LoginFailed: one of its subclasses, with a message for people.
        """
        self._pool.forgive(settings)
        return await self._repeatable(settings, read_facts)

    async def clock(self, settings: ConnectionSettings, tag: QueryTag) -> datetime:
        """Snowflake's time, cut to the milliseconds that created_on has."""
        (row,) = (await self._read(settings, sql.words("SELECT CURRENT_TIMESTAMP() AS NOW"), tag)).rows
        now = row["now"]
        if not isinstance(now, datetime):
            raise TypeError(f"CURRENT_TIMESTAMP() is {now!r}, a timestamp was expected")
        return now

    async def _open(self, settings: ConnectionSettings) -> Session:
        tag = session_tag(self._installation, settings.query_tag)
        # Who takes over from a lost process waits for as long as a statement of the process may run, and no longer.
        limit = min(self._statement_timeout, settings.statement_timeout or self._statement_timeout)
        return await Session.open(settings, tag, limit)

    def _text(self, tag: QueryTag, settings: ConnectionSettings) -> str:
        return tag.text(self._installation, settings.query_tag)

    async def _read(self, settings: ConnectionSettings, query: Sql, tag: QueryTag) -> Result:
        text = self._text(tag, settings)
        return await self._repeatable(settings, lambda connection: connection.execute(query, text))

    async def _repeatable(
        self, settings: ConnectionSettings, read: Callable[[Connection], Awaitable[Answer]]
    ) -> Answer:
        """Read something, once more over a new session when the pool's has ended meanwhile."""
        try:
            async with self._pool.session(settings) as session:
                return await read(session.connection)
        except SnowflakeError as error:
            if error.error_class is not ErrorClass.SESSION:
                raise
        async with self._pool.session(settings) as session:
            return await read(session.connection)
