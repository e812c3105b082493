"""What goes wrong at one of the requests of a pass, whether the API server's or Snowflake's."""

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


@dataclass
class Trouble(Fuse):
    """One request goes wrong: number `at`, or if that is 0 the first statement that writes.

    Attributes:
        what: how.
        stranger: what a stranger does right before the request.
    """

    done: bool = False
    what: What | None = None
    stranger: Callable[[], None] = lambda: None

    # --- requests to the API server, as `Api` makes them

    def before(self) -> None:
        if not self._due(writes=False):
            return
        match self.what:
            case What.SILENCE_BEFORE | What.SILENCE_THEN_LATE | What.NO_LOGIN:
                raise Unavailable(0, "", "no answer")
            case What.REFUSAL:
                raise Conflict(409, "Conflict", "it has been modified")
            case What.DEATH_BEFORE | What.DEATH_THEN_LATE:
                raise Died

    def after(self) -> None:
        if self.count == self.at and self.what is What.DEATH_AFTER:
            raise Died
        if self.count == self.at and self.what is What.SILENCE_AFTER:
            raise Unavailable(0, "", "no answer")

    # --- statements

    def before_statement(self, *, writes: bool) -> bool:
        """Count a statement.

        Returns:
            Whether it is to be carried out late, in answer to which `silence` is raised.
        """
        if not self._due(writes=writes):
            return False
        match self.what:
            case What.REFUSAL:
                raise SnowflakeError("insufficient privileges", number=3001, sqlstate="42501")
            case What.NO_LOGIN:
                raise Unreachable("no log-in", error_class=ErrorClass.TRANSIENT)
        if self.what in _LATE and writes:
            return True
        if self.what not in _AFTER:
            self.silence()
        return False

    def after_statement(self) -> None:
        if self.count == self.at and self.what in _AFTER:
            self.silence()

    def silence(self) -> None:
        """Let nobody hear an answer."""
        if self.what in _DEATHS:
            raise Died
        raise OutcomeUnknown("no answer", error_class=ErrorClass.TRANSIENT)

    def _due(self, *, writes: bool) -> bool:
        self.count += 1
        if self.what is What.STRANGER:
            # Between our last look and the statement that follows it, nothing can keep strangers apart from us.
            if self.count >= self.at and not writes:
                self.stranger()
                self.what = None
            return False
        if self.at == 0 and writes:
            self.at = self.count
        return self.count == self.at and self.what is not None
