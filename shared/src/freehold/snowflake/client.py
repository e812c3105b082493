"""The interface of the client layer: send a statement, observe an object, ask what a role sees and where we are."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Self

from freehold import sql, urgency
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.observation import Depth, Observation, Parameter, Row
from freehold.snowflake import metrics, scopes, visibility
from freehold.snowflake.breaker import Breakers
from freehold.snowflake.driver import STATEMENT_TIMEOUT, Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import INVISIBLE, CredentialsRefused, Incomplete, SnowflakeError
from freehold.snowflake.guard import Guard
from freehold.snowflake.pool import Pool
from freehold.snowflake.query_tag import QueryTag, session_tag
from freehold.snowflake.session import FACTS, AccountFacts, Session, facts_of, statements
from freehold.snowflake.settings import ConnectionSettings
from freehold.snowflake.snapshots import Snapshots
from freehold.snowflake.traffic import Budget, Traffic, Unlimited
from freehold.sql import Sql

_CAPACITY = 64
_IDLE_SECONDS = 600.0


class Snowflake:
    """Snowflake, as a process sees it. Safe to use from any number of tasks.

    Attributes:
        breakers: which ProviderConfigs nothing is sent for.

    Args:
        installation: id of this installation, part of every query tag.
        statement_timeout: how long a statement may run, in whole seconds.
        guard: what lets log-ins begin; by default one that knows of this client's alone.
        budget: what holds statements back; none by default.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        installation: str,
        *,
        statement_timeout: timedelta = STATEMENT_TIMEOUT,
        guard: Guard | None = None,
        budget: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._installation = installation
        self._statement_timeout = statement_timeout
        self._guard = guard or Guard()
        self._budget = budget or Unlimited()
        self._pool = Pool(self._open, capacity=_CAPACITY, idle_seconds=_IDLE_SECONDS, clock=clock)
        self.breakers = Breakers(clock=clock)
        self._traffic = Traffic(self._pool, installation, breakers=self.breakers, budget=self._budget, clock=clock)
        self._snapshots = Snapshots(partial(self._traffic.read, tag=None), clock)
        metrics.SESSIONS.read_from(self._pool.sessions)
        metrics.BREAKER_STATE.read_from(
            lambda: [((provider,), state) for provider, state in self.breakers.states.items()]
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    def forget(self, provider: str) -> None:
        """Log out of a ProviderConfig that is gone, `<namespace>/<name>`, and keep and tell nothing of it any more."""
        self.breakers.forget(provider)
        self._snapshots.forget(provider)
        self._pool.leave(provider)

    async def execute(
        self,
        settings: ConnectionSettings,
        statement: Sql,
        tag: QueryTag,
        *,
        limit: timedelta | None = None,
        require: Callable[[], None] = lambda: None,
    ) -> Result:
        """Send one statement, once: nothing is ever repeated, for nobody but the caller knows whether that is harmless.

        A cancelled call aborts the statement and, like `OutcomeUnknown`, leaves open whether it has run.

        Args:
            settings: the log-in.
            statement: what is sent.
            tag: of the statement.
            limit: how long it may run, in whole seconds, where that is longer than for others.
            require: called right before the statement goes out, after a log-in that may have taken its time; raises
                when it must not.

        Raises:
            LoginFailed: nothing was sent.
            OutcomeUnknown: the statement may have run.
            SnowflakeError: the server refused it.
        """
        longer = self._limit(settings, limit) if limit else None
        return await self._traffic.send(settings, statement, tag, limit=longer, require=require)

    async def query(self, settings: ConnectionSettings, query: Sql, tag: QueryTag) -> tuple[Row, ...]:
        """The rows of a statement that changes nothing; as `execute`, but repeated where that may help at once."""
        return await self._traffic.read(settings, query, tag)

    async def observe(
        self,
        settings: ConnectionSettings,
        kind: Kind,
        target: Target,
        depth: Depth,
        tag: QueryTag,
        *,
        details: Collection[str] = (),
        not_before: float | None = None,
    ) -> Observation | None:
        """Read one object, as it was after this call began, or after another instant.

        Args:
            settings: the log-in.
            kind: the object's kind.
            target: the object.
            depth: shallow is one SHOW; deep adds its parameters and `details`.
            tag: of every statement.
            details: which of the kind's further queries to ask (`planning.details`).
            not_before: monotonic time; a row that was read after it for others will do.

        Returns:
            What is there, with the row alone where the role may read nothing else; None when SHOW has no such row:
            the object is absent, or the role can't see it.

        Raises:
            LoginFailed: no session.
            Incomplete: SHOW was cut off, so that a missing row means nothing.
            SnowflakeError: of class MISSING when what contains the object is absent or invisible.
        """
        shared = None if not_before is None else await self._shared_row(settings, kind, target, not_before)
        # Missing from a snapshot, which is no proof of anything, or not to be shared.
        row = shared or await self._own_row(settings, kind, target, tag)
        if row is None:
            return None
        found = Observation(row, shared=shared is not None)
        if why := kind.unreadable(row):
            return replace(found, unreadable=why)
        if depth == "shallow":
            return found
        try:
            return await self._all_of(settings, kind, target, found, tag, details)
        except SnowflakeError as error:
            if error.number not in INVISIBLE:
                raise
            # RESOLVE ALL shows that an object is there, and nothing of it.
            return replace(found, unreadable=str(error))

    async def _shared_row(
        self, settings: ConnectionSettings, kind: Kind, target: Target, not_before: float
    ) -> Row | None:
        names = kind.printed(target)
        snapshot = await self._snapshots.worth(settings, scopes.around(kind, target), not_before, names[0])
        rows = [row for name in names for row in snapshot.named(name)] if snapshot else []
        return kind.row_of(target, rows)

    async def _own_row(self, settings: ConnectionSettings, kind: Kind, target: Target, tag: QueryTag) -> Row | None:
        rows = await self._traffic.read(settings, kind.show(target), tag)
        row = kind.row_of(target, rows)
        if row is None and len(rows) >= scopes.SHOW_LIMIT:
            raise Incomplete(
                f"SHOW answered with {len(rows)} rows, its limit, and {target.name} wasn't among them",
                error_class=ErrorClass.TERMINAL,
            )
        return row

    async def _all_of(
        self,
        settings: ConnectionSettings,
        kind: Kind,
        target: Target,
        found: Observation,
        tag: QueryTag,
        details: Collection[str],
    ) -> Observation:
        parameters: tuple[Row, ...] = ()
        if kind.parameters:
            parameters = await self._traffic.read(settings, kind.show_parameters(target), tag)
        answers, broken = dict[str, tuple[Row, ...]](), ""
        for name in details:
            try:
                answers[name] = await self._traffic.read(settings, kind.details[name](target), tag)
            except SnowflakeError as error:
                if error.number not in kind.broken_by:
                    raise
                broken = str(error)
        return replace(
            found,
            parameters={str(each["key"]): Parameter(str(each["value"]), str(each["level"])) for each in parameters},
            details=answers,
            broken=broken,
        )

    async def sees_all(self, settings: ConnectionSettings, tag: QueryTag) -> bool:
        """Whether the session's role sees every object, so that a row which SHOW lacks proves absence."""
        return await self.holds_on_account(settings, visibility.SEES_ALL, tag)

    async def holds_on_account(self, settings: ConnectionSettings, privileges: Collection[str], tag: QueryTag) -> bool:
        """Whether the session's role has one of several privileges on the account.

        Follows the role hierarchy down from the session's role, breadth first. Never remembered: a privilege that was
        revoked a moment ago must not prove anything.

        Args:
            settings: the log-in.
            privileges: their words.
            tag: of every statement.
        """
        waiting = [settings.role or (await self._facts(settings)).role]
        seen = set(waiting)
        while waiting:
            query = sql.sql("SHOW GRANTS TO ROLE {role}", role=sql.identifier(waiting.pop(0)))
            grants = await self._traffic.read(settings, query, tag)
            if visibility.holds_on_account(grants, privileges):
                return True
            new = sorted(visibility.inherited_roles(grants) - seen)
            seen.update(new)
            waiting.extend(new)
        return False

    async def verify(self, settings: ConnectionSettings) -> AccountFacts:
        """Log in, unless a session is open, and ask the server who and where we are.

        Raises:
            LoginFailed: one of its subclasses, with a message for people; also when another process was refused.
        """
        try:
            await self._guard.check(settings)
        except CredentialsRefused:
            # An older session may go on working, but proves nothing.
            self._pool.forget(settings)
            raise
        return await self._facts(settings)

    async def clock(self, settings: ConnectionSettings, tag: QueryTag) -> datetime:
        """Snowflake's time, cut to the milliseconds that created_on has."""
        (row,) = await self._traffic.read(settings, sql.words("SELECT CURRENT_TIMESTAMP() AS NOW"), tag)
        now = row["now"]
        if not isinstance(now, datetime):
            raise TypeError(f"CURRENT_TIMESTAMP() is {now!r}, a timestamp was expected")
        return now

    async def _facts(self, settings: ConnectionSettings) -> AccountFacts:
        return facts_of(await self._traffic.read(settings, FACTS, None))

    async def _open(self, settings: ConnectionSettings) -> Session:
        tag = session_tag(self._installation, settings.query_tag)
        # Before the log-in: nobody else of the same user is to wait for this one's budget. As urgent as can be, for who
        # may wait for the session beside whoever has it opened isn't known.
        with urgency.ranked(0):
            for _ in range(statements(settings)):
                await self._budget.take(settings)
        async with self._guard.attempt(settings):
            with metrics.logging_in():
                return await Session.open(settings, tag, self._limit(settings, self._statement_timeout))

    def _limit(self, settings: ConnectionSettings, limit: timedelta) -> timedelta:
        # Who takes over from a lost process waits for as long as a statement of the process may run, and no longer.
        longest = max(limit, self._statement_timeout)
        return min((longest, *filter(None, (settings.statement_timeout, settings.context.statement_timeout))))
