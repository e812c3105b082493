"""One object in Snowflake, as it is looked at: one log-in, one role, one query tag. Nothing here can write."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from freehold import planning
from freehold.claims import Evidence
from freehold.identifiers import InvalidName
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.lifecycle.decision import Absence
from freehold.observation import Depth, Observation, Row
from freehold.snowflake.client import Snowflake
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.history import was_dropped
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql


@dataclass(frozen=True, slots=True)
class Sight:
    """An object in an account, as a role sees it.

    Attributes:
        snowflake: the client.
        settings: the log-in, in the role that looks.
        role: the role that owns and changes the object.
        kind: the object's kind.
        target: the object.
        tag: of every statement.
        details: the kind's further queries that a deep look needs.
        spec: what declares the object; None where nothing of it may be quoted by Snowflake.
    """

    snowflake: Snowflake
    settings: ConnectionSettings
    role: str
    kind: Kind
    target: Target
    tag: QueryTag
    details: frozenset[str] = frozenset()
    spec: SnowflakeSpec | None = None

    async def look(self, depth: Depth, not_before: float | None = None) -> Observation | None:
        """The object as it is now, or was after `not_before`; None when the role doesn't see it."""
        try:
            seen = await self.snowflake.observe(
                self.settings, self.kind, self.target, depth, self.tag, details=self.details, not_before=not_before
            )
        except SnowflakeError as error:
            error.withhold(self._redact)
            raise
        if seen is None or not (seen.unreadable or seen.broken):
            return seen
        return replace(seen, unreadable=self._redact(seen.unreadable), broken=self._redact(seen.broken))

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

    async def sees_all(self) -> bool:
        """Whether the role sees every object of the account, so that what it doesn't see isn't there."""
        return await self.snowflake.sees_all(self.settings, self.tag)

    async def holds_on_account(self, privilege: str) -> bool:
        """Whether the role has a privilege on the account, itself or by a role that it inherits from."""
        return await self.snowflake.holds_on_account(self.settings, frozenset({privilege}), self.tag)

    def _redact(self, message: str) -> str:
        """What Snowflake says of the object without what it quotes of the texts that it was made of."""
        if self.spec is None:
            return message
        # What can't be put into a statement Snowflake never saw.
        with suppress(InvalidName):
            return planning.create(self.kind, self.target, self.spec).redact(message)
        return message

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
