"""The one way of every statement to Snowflake: what may hold it back, in order, and what is learnt from its end.

1. A session, where there is none yet, once the budget has a token for each statement that sets it up: those who wait
   for it would otherwise have their tokens already, and all go out at once.
2. The budget: a token for each statement. Before the rest, for the wait may be long, and all that follows is to be
   fresh; where the breaker wouldn't let it pass, it takes none.
3. The breaker, before each log-in, which it holds back as well and learns from.
4. The session again, which may have ended meanwhile.
5. The caller's own condition, right before the statement goes out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from freehold.kube.backoff import Backoff
from freehold.observation import Row
from freehold.snowflake import metrics
from freehold.snowflake.breaker import Breakers
from freehold.snowflake.driver import Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import LoginFailed, SnowflakeError
from freehold.snowflake.pool import Pool
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql

ATTEMPTS = 3
"""How often a read is sent at most."""
PAUSES = Backoff(first=0.4, most=2.0)
"""Between two of these."""
QUICK = 5.0
"""Seconds after which a read that gets no answer isn't tried again at once: who waits for it has waited enough."""


class Budget(Protocol):
    """How many statements may be sent."""

    async def take(self, settings: ConnectionSettings) -> None:
        """Wait until one more may be sent over this log-in."""


class Unlimited:
    """The budget of who sends little, such as the command line."""

    async def take(self, settings: ConnectionSettings) -> None:
        """Wait for nothing."""


class Traffic:
    """Sends statements."""

    def __init__(
        self,
        pool: Pool,
        installation: str,
        *,
        breakers: Breakers,
        budget: Budget,
        clock: Callable[[], float] = time.monotonic,
        pauses: Backoff = PAUSES,
    ) -> None:
        """
        Args:
            pool: where sessions come from.
            installation: id of this installation, part of every query tag.
            breakers: what keep statements from where nothing answers.
            budget: what holds statements back.
            clock: monotonic seconds.
            pauses: between the attempts to read something.
        """
        self._pool = pool
        self._installation = installation
        self._breakers = breakers
        self._budget = budget
        self._clock = clock
        self._pauses = pauses

    async def send(
        self,
        settings: ConnectionSettings,
        statement: Sql,
        tag: QueryTag | None,
        *,
        limit: timedelta | None = None,
        require: Callable[[], None] = lambda: None,
    ) -> Result:
        """Send a statement, once: whether repeating it is harmless, only the caller knows.

        Args:
            settings: the log-in.
            statement: what is sent.
            tag: the resource that it serves; None when it serves the session itself.
            limit: how long it may run; None for as long as the session's statements may.
            require: raises when the statement must not go out.

        Raises:
            LoginFailed: nothing was sent; as CircuitOpen, not even a log-in.
            OutcomeUnknown: the statement may have run.
            SnowflakeError: the server refused it.
        """
        breaker = self._breakers.of(settings)
        breaker.require()
        if not self._pool.is_open(settings):
            with breaker.passing():
                async with self._pool.session(settings):
                    pass
        with metrics.BUDGET_WAIT.time():
            await self._budget.take(settings)
        with breaker.passing():
            async with self._pool.session(settings) as session:
                require()
                text = tag.text(self._installation, settings.query_tag) if tag else None
                with metrics.sending(statement, tag):
                    return await session.connection.execute(statement, text, limit)

    async def read(self, settings: ConnectionSettings, query: Sql, tag: QueryTag | None) -> tuple[Row, ...]:
        """The rows of a statement that changes nothing; a failure that may be over in a moment is tried again.

        Raises:
            CircuitOpen: nothing is sent any more, be it by reason of this very failure.
            SnowflakeError: as `send`.
        """
        begun, failures = self._clock(), 0
        while True:
            try:
                return (await self.send(settings, query, tag)).rows
            except SnowflakeError as error:
                failures += 1
                pause = self._pause(error, failures, self._clock() - begun)
                if pause is None:
                    # Whoever opens the breaker, as a probe that fails does, learns what all others are told.
                    self._breakers.of(settings).require()
                    raise
            await asyncio.sleep(pause)

    def _pause(self, error: SnowflakeError, failures: int, seconds: float) -> float | None:
        """Seconds until a read that took `seconds` is worth another try; None where it isn't, or others see to that."""
        if failures == ATTEMPTS or isinstance(error, LoginFailed):
            return None
        if error.error_class is ErrorClass.SESSION:
            # It is opened anew, and may have ended while the read waited for its budget.
            return 0.0
        passing = error.error_class is ErrorClass.TRANSIENT and seconds <= QUICK
        return self._pauses.delay(failures) if passing else None
