"""One object in Snowflake, as a pass works on it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from freehold import fingerprint
from freehold.kinds.steps import Step
from freehold.lifecycle.decision import Absence, Stop
from freehold.lifecycle.reasons import Reason
from freehold.observation import Observation
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.sight import Sight
from freehold.sql import Sql
from freehold_controllers.reconciler.outcome import Stopped

SETTLING = timedelta(seconds=60)
"""How long a step may take to show its effect."""

_LOOK_AGAIN = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remote(Sight):
    """An object in an account, which its role owns and changes.

    Attributes:
        require_active: raises when another process may be working on the same object.
        user: stored name of the user that logs in.
    """

    require_active: Callable[[], None] = field(kw_only=True)
    user: str = field(default="", kw_only=True)

    async def send(self, statement: Sql) -> None:
        """Send a statement that writes."""
        limit = self.kind.statement_limit
        await self.snowflake.execute(self.settings, statement, self.tag, limit=limit, require=self.require_active)

    @contextmanager
    def as_owner(self, seen: Observation) -> Iterator[None]:
        """Where what is sent takes the ownership of an object, a refusal tells who has that by now."""
        try:
            yield
        except SnowflakeError as error:
            if error.error_class is ErrorClass.PERMISSION and seen.owner not in (None, self.role):
                error.remedy = (
                    f"{self.target} belongs to role {seen.owner} by now: grant that role to {self.role}, set useRole "
                    "to it, or have the ownership transferred back."
                )
            raise

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
            if failure is not None and not step.resumes:
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
