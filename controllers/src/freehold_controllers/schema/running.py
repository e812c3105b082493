"""Running the statements of one SQLStatement: each once, with a mark before it that no crash can lose."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

from freehold import script
from freehold.claims import Progress
from freehold.kinds.utility.sqlstatement import Expectation, SQLStatementSpec, limit_of
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold.observation import Row
from freehold.script import Statement
from freehold.snowflake.errors import INVISIBLE, LoginFailed, SnowflakeError, advice
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.outcome import Stopped, stop_for
from freehold_controllers.reconciler.services import Services
from freehold_controllers.schema.statement_decision import Effect, Purpose, done_of, text_of

MOST_ROWS = 10_000
"""Rows of `observe` that are looked at."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the statements of a resource in an account.

    Attributes:
        services: the outside world.
        settings: the log-in, in the role and context of the resource.
        tag: of every statement.
    """

    services: Services
    settings: ConnectionSettings
    tag: QueryTag

    async def observe(self, spec: SQLStatementSpec) -> Effect | None:
        """What `observe` shows; None where there is none.

        Raises:
            Stopped: it can't be told.
        """
        if spec.observe is None:
            return None
        (query,) = script.statements(spec.observe)
        try:
            rows = await self.services.snowflake.query(self.settings, query.sql, self.tag)
        except LoginFailed:
            raise
        except SnowflakeError as error:
            if error.number in INVISIBLE:
                return Effect(0, False)
            raise Stopped(_refused(error, f"spec.observe ({query.verb})")) from error
        matched = any(_matches(row, spec.observe_expect or []) for row in rows)
        if not matched and len(rows) >= MOST_ROWS:
            message = f"spec.observe has {MOST_ROWS} rows or more, of which no more are looked at: have it find fewer"
            raise Stopped(Stop(Reason.VALIDATION_FAILED, message))
        return Effect(len(rows), matched)

    async def run(self, holding: Holding, spec: SQLStatementSpec, purpose: Purpose, effect: Effect | None) -> None:
        """Run what of a text hasn't run yet. Afterwards all are marked as run, until what follows from that is written.

        Args:
            holding: the claim.
            spec: of the resource.
            purpose: which of its texts.
            effect: what was seen right before.

        Raises:
            Stopped: a statement was refused, or its answer lost.
        """
        found, earlier = script.statements(text_of(spec, purpose)), holding.spec.progress
        done = done_of(earlier, purpose, tuple(each.hash for each in found))
        telling = effect is not None and effect.matched is (purpose == "revert")
        for number, each in enumerate(found[len(done) :], len(done) + 1):
            mark = Progress(purpose=purpose, done=done, sent=each.hash, since=self.services.now, telling=telling)
            # Without the mark, a statement that ran before a crash would be sent again.
            await holding.progress(mark)
            self.services.attempts.begin(holding.uid, number)
            what = f"statement {number} of {len(found)} of spec.{purpose} ({each.verb})"
            # While nothing of this text has run, what is known of another still tells what there is.
            before = Progress(purpose=purpose, done=done) if done else earlier
            await self._send(holding, each, before, what, limit_of(spec))
            done, telling = (*done, each.hash), False
        await holding.progress(Progress(purpose=purpose, done=done))

    async def _send(
        self, holding: Holding, statement: Statement, before: Progress | None, what: str, limit: timedelta | None
    ) -> None:
        try:
            await self.services.snowflake.execute(
                self.settings, statement.sql, self.tag, limit=limit, require=self.services.require_active
            )
        except SnowflakeError as error:
            if not error.outcome_known:
                message = f"{what} was sent, and its answer was lost"
                raise Stopped(Stop(Reason.RECONCILE_ERROR, message, soon=True, trace=error.trace)) from error
            await holding.progress(before)
            if isinstance(error, LoginFailed):
                raise
            raise Stopped(_refused(error, what)) from error
        _log.info("%s has run", what)


def _refused(error: SnowflakeError, what: str) -> Stop:
    """A refusal without the server's words, which may quote what was sent."""
    number = "" if error.number is None else f" with error {error.number:06d}"
    state = f" ({error.sqlstate})" if error.sqlstate else ""
    hint = advice(error.number)
    message = f"{what} was refused{number}{state}: the query history has its text{f'. {hint}' if hint else ''}"
    return replace(stop_for(error, what), message=message)


def _matches(row: Row, expected: list[Expectation]) -> bool:
    """Whether a row holds all that is expected."""
    cells = {name.upper(): value for name, value in row.items()}
    return all(
        each.column.upper() in cells and _text(cells[each.column.upper()]) == each.value.casefold() for each in expected
    )


def _text(value: object) -> str:
    """A cell as it is compared: NULL as the empty text, which nothing else but that is equal to."""
    return "" if value is None else str(value).casefold()
