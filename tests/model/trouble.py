"""What goes wrong at the requests of a pass, whether the API server's or Snowflake's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from freehold.kube.errors import Conflict, Unavailable
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError, Unreachable
from tests.unit.reconciler.world import Died, Fuse


class What(StrEnum):
    """What happens; a request is carried out before, after or long after the process hears, or doesn't hear, of it."""

    DEATH_BEFORE = "death before"
    DEATH_AFTER = "death after"
    DEATH_THEN_LATE = "death, and it arrives late"
    SILENCE_BEFORE = "no answer, and it never arrives"
    SILENCE_AFTER = "no answer after it"
    SILENCE_THEN_LATE = "no answer, and it arrives late"
    REFUSAL = "refusal"
    NO_LOGIN = "no log-in"
    STRANGER = "stranger before"


_DEATHS = frozenset({What.DEATH_BEFORE, What.DEATH_AFTER, What.DEATH_THEN_LATE})
_LATE = frozenset({What.DEATH_THEN_LATE, What.SILENCE_THEN_LATE})
_AFTER = frozenset({What.DEATH_AFTER, What.SILENCE_AFTER})


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        at: number of the request, from 1; if it is negative, of the statement that writes. Strangers then come after so
            many writes to either server.
        what: how.
        stranger: what a stranger does right before the request.
    """

    at: int
    what: What
    stranger: Callable[[], None] = lambda: None


class Trouble(Fuse):
    """All that goes wrong in one pass.

    Attributes:
        struck: whether an answer was other than it should be, or none.
    """

    def __init__(self, *faults: Fault) -> None:
        super().__init__(at=0, done=False)
        self.struck = False
        self._strangers = [each for each in faults if each.what is What.STRANGER]
        self._faults = [each for each in faults if each.what is not What.STRANGER]
        self._written = self._sent = 0
        self._now: What | None = None

    # --- requests to the API server, as `Api` makes them

    def before(self) -> None:
        self._begin(writes=False)
        match self._now:
            case What.SILENCE_BEFORE | What.SILENCE_THEN_LATE | What.NO_LOGIN:
                raise Unavailable(0, "", "no answer")
            case What.REFUSAL:
                raise Conflict(409, "Conflict", "it has been modified")
            case What.DEATH_BEFORE | What.DEATH_THEN_LATE:
                raise Died

    def after(self) -> None:
        self._written += 1
        if self._now is What.DEATH_AFTER:
            raise Died
        if self._now is What.SILENCE_AFTER:
            raise Unavailable(0, "", "no answer")

    # --- statements

    def before_statement(self, *, writes: bool) -> bool:
        """Count a statement.

        Returns:
            Whether it is to be carried out late, in answer to which `silence` is raised.
        """
        self._begin(writes=writes)
        match self._now:
            case What.REFUSAL:
                raise SnowflakeError("insufficient privileges", number=3001, sqlstate="42501")
            case What.NO_LOGIN:
                raise Unreachable("no log-in", error_class=ErrorClass.TRANSIENT)
        if self._now in _LATE and writes:
            return True
        if self._now is not None and self._now not in _AFTER:
            self.silence()
        return False

    def after_statement(self, *, writes: bool) -> None:
        self._written += writes
        if self._now in _AFTER:
            self.silence()

    def silence(self) -> None:
        """Let nobody hear an answer."""
        if self._now in _DEATHS:
            raise Died
        raise OutcomeUnknown("no answer", error_class=ErrorClass.TRANSIENT)

    def _begin(self, *, writes: bool) -> None:
        self.count += 1
        self._sent += writes
        # Between our last look and the statement that follows it, nothing can keep strangers apart from us.
        for each in [] if writes else [each for each in self._strangers if self._has_come(each)]:
            self._strangers.remove(each)
            each.stranger()
        number = {self.count, -self._sent} if writes else {self.count}
        due = next((each for each in self._faults if each.at in number), None)
        self._now = due.what if due else None
        if due:
            self._faults.remove(due)
            self.struck = True

    def _has_come(self, stranger: Fault) -> bool:
        return 0 < stranger.at <= self.count or 0 < -stranger.at <= self._written
