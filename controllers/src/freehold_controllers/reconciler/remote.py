"""One object in Snowflake, as a pass talks about it: one log-in, one role, one query tag."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from freehold import fingerprint
from freehold.claims import Evidence
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.steps import Step
from freehold.observation import Depth, Observation, Row
from freehold.snowflake.client import Snowflake
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql
from freehold_controllers.reconciler.decision import Absence, Stop
from freehold_controllers.reconciler.history import was_dropped
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.reasons import Reason

SETTLING = timedelta(seconds=60)
"""How long a step may take to show its effect."""

_LOOK_AGAIN = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remote:
    """An object in an account.

    Attributes:
        snowflake: the client.
        settings: the log-in, in the role that owns and changes the object.
        role: that role.
        kind: the object's kind.
        target: the object.
        tag: of every statement.
        require_active: raises when another process may be working on the same object.
        details: the kind's further queries that a deep look needs.
        user: stored name of the user that logs in.
    """

    snowflake: Snowflake
    settings: ConnectionSettings
    role: str
    kind: Kind
    target: Target
    tag: QueryTag
    require_active: Callable[[], None]
    details: frozenset[str] = frozenset()
    user: str = ""

    async def look(self, depth: Depth, not_before: float | None = None) -> Observation | None:
        """The object as it is now, or was after `not_before`; None when the role doesn't see it."""
        return await self.snowflake.observe(
            self.settings, self.kind, self.target, depth, self.tag, details=self.details, not_before=not_before
        )

    async def view(
        self, depth: Depth, evidence: Evidence | None = None, *, not_before: float | None = None
    ) -> Observation | Absence:
        """The object as it is now, or what it means that the role doesn't see it.

        Args:
            depth: how much to read.
            evidence: of the incarnation that is looked for.
            not_before: monotonic time; how others have seen the object after it will do.
        """
        seen = await self.look(depth, not_before)
        if seen is None and self._told_in_full:
            return Absence.PROVED
        return seen or await self._absence(evidence)

    async def view_anyway(self, evidence: Evidence | None = None) -> Observation | Absence:
        """The same, also where what contains the object is absent or invisible."""
        try:
            return await self.view("shallow", evidence)
        except SnowflakeError as error:
            if error.error_class is not ErrorClass.MISSING:
                raise
        return await self._absence(evidence)

    async def now(self) -> datetime:
        """Snowflake's time, in the clock and precision of created_on."""
        return await self.snowflake.clock(self.settings, self.tag)

    async def query(self, query: Sql) -> tuple[Row, ...]:
        """The rows of a query."""
        return await self.snowflake.query(self.settings, query, self.tag)

    async def send(self, statement: Sql) -> None:
        """Send a statement that writes."""
        limit = self.kind.statement_limit
        await self.snowflake.execute(self.settings, statement, self.tag, limit=limit, require=self.require_active)

    def is_same(self, view: Observation | Absence | None, seen: Observation) -> bool:
        """Whether what was seen is still there: this incarnation of an object, or the same in a slot."""
        if not isinstance(view, Observation) or view.created_on != seen.created_on:
            return False
        return fingerprint.held(self.kind, view) == fingerprint.held(self.kind, seen)

    async def take_all(self, steps: Sequence[Step], seen: Observation) -> None:
        """Take the steps of a plan until one fails, and then those that undo what others have done.

        Args:
            steps: the plan.
            seen: the object that it was made for; no other one is sent anything.

        Raises:
            Stopped: the first failure.
            SnowflakeError: likewise.
        """
        failure: Stopped | SnowflakeError | None = None
        sent = False
        for step in steps:
            if failure is not None and not step.after_failure:
                continue
            try:
                # Right before each: what the plan was made from may be minutes old by now.
                await self._require_same(seen, sent=sent)
                if await self.needs(step):
                    sent = True
                    await self.take(step)
            except (Stopped, SnowflakeError) as error:
                failure = failure or error
        if failure is not None:
            raise failure

    async def _require_same(self, seen: Observation, *, sent: bool) -> None:
        now = await self.look("shallow")
        # What was sent already may have changed what is in a slot.
        same = now is not None and now.created_on == seen.created_on if sent else self.is_same(now, seen)
        if not same:
            raise Stopped(Stop(Reason.RECONCILE_ERROR, f"{self.target} was replaced while it was worked on", soon=True))

    async def needs(self, step: Step) -> bool:
        """Whether a step of a plan is to be taken."""
        for query in step.only_if_empty:
            if await self.query(query):
                return False
        return True

    async def take(self, step: Step) -> None:
        """Send a step of a plan, and wait for its effect.

        Raises:
            Stopped: it doesn't show its effect.
            SnowflakeError: it was refused, or may have been.
        """
        try:
            await self.send(step.statement)
        except SnowflakeError as error:
            done = step.done_on
            if done is None or error.number != done.number or done.saying not in error.message:
                raise
            _log.info("%s: taken as done: %s", self.target, error)
        if step.wait_for:
            await self._await(*step.wait_for)

    async def sees_all(self) -> bool:
        """Whether the role sees every object of the account, so that what it doesn't see isn't there."""
        return await self.snowflake.sees_all(self.settings, self.tag)

    async def holds_on_account(self, privilege: str) -> bool:
        """Whether the role has a privilege on the account, itself or by a role that it inherits from."""
        return await self.snowflake.holds_on_account(self.settings, frozenset({privilege}), self.tag)

    @property
    def _told_in_full(self) -> bool:
        """Whether what the role is shown is all there is, unlike SHOW, which leaves out what the role may not see."""
        filling, slot = self.kind.filling, self.target.slot
        return filling is not None and slot is not None and filling.show(slot).complete

    async def _absence(self, evidence: Evidence | None) -> Absence:
        proved = (self.kind.shown_to_all_seeing and await self.sees_all()) or (
            evidence is not None and await was_dropped(self.query, self.kind, self.target, evidence)
        )
        return Absence.PROVED if proved else Absence.UNPROVED

    async def _await(self, column: str, value: str) -> None:
        shown: object = None
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLING.total_seconds()):
                while True:
                    seen = await self.look("shallow")
                    shown = seen and seen.row.get(column)
                    if shown == value:
                        return
                    await asyncio.sleep(_LOOK_AGAIN)
        raise Stopped(
            Stop(
                Reason.RECONCILE_ERROR,
                f"{self.target} shows {column} {shown} and not yet {value} after "
                f"{SETTLING.total_seconds():g} seconds: wait for what keeps it, for example a running query, or end it",
            )
        )
