"""The one way of every statement to Snowflake: what may hold it back, in order, and what is learnt from its end.

1. The budget: a token for each statement. First, for the wait may be long, and all that follows is to be fresh; where
   the breaker wouldn't let it pass, it takes none.
2. The breaker, before the log-in, which it holds back as well and learns from.
3. The session, which may have to be opened.
4. The caller's own condition, right before the statement goes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from freehold.observation import Row
from freehold.snowflake import metrics
from freehold.snowflake.breaker import Breakers
from freehold.snowflake.driver import Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.pool import Pool
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql


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

    def __init__(self, pool: Pool, installation: str, *, breakers: Breakers, budget: Budget | None = None) -> None:
        """
        Args:
            pool: where sessions come from.
            installation: id of this installation, part of every query tag.
            breakers: what keep statements from where nothing answers.
            budget: what holds statements back; none by default.
        """
        self._pool = pool
        self._installation = installation
        self._breakers = breakers
        self._budget = budget or Unlimited()

    async def send(
        self,
        settings: ConnectionSettings,
        statement: Sql,
        tag: QueryTag | None,
        *,
        require: Callable[[], None] = lambda: None,
    ) -> Result:
        """Send a statement, once: whether repeating it is harmless, only the caller knows.

        Args:
            settings: the log-in.
            statement: what is sent.
            tag: the resource that it serves; None when it serves the session itself.
            require: raises when the statement must not go out.

        Raises:
            LoginFailed: nothing was sent; as CircuitOpen, not even a log-in.
            OutcomeUnknown: the statement may have run.
            SnowflakeError: the server refused it.
        """
        breaker = self._breakers.of(settings)
        breaker.require()
        with metrics.BUDGET_WAIT.time():
            await self._budget.take(settings)
        with breaker.passing():
            async with self._pool.session(settings) as session:
                require()
                text = tag.text(self._installation, settings.query_tag) if tag else None
                with metrics.sending(statement, tag):
                    return await session.connection.execute(statement, text)

    async def read(self, settings: ConnectionSettings, query: Sql, tag: QueryTag | None) -> tuple[Row, ...]:
        """The rows of a statement that changes nothing; sent once more when the session has ended meanwhile."""
        try:
            return (await self.send(settings, query, tag)).rows
        except SnowflakeError as error:
            if error.error_class is not ErrorClass.SESSION:
                raise
        return (await self.send(settings, query, tag)).rows
