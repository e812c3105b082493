"""Circuit breakers: where connection or service fail again and again, nothing is sent for a while, whoever asks.

Closed, everything is sent. After some failures in a row it opens, and nothing is. When its pause is over it is
half-open: one statement goes ahead as the probe, whose end closes it, or opens it again for twice as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from secrets import SystemRandom

from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CircuitOpen, CredentialsRefused, NotTried, SnowflakeError
from freehold.snowflake.settings import ConnectionSettings

FAILURES = 5
"""Failures in a row that open a breaker."""
FIRST = 60.0
"""Seconds of the first pause; each probe that fails doubles it."""
MOST = 900.0
"""Seconds of the longest pause."""
SPREAD = 0.2
"""Part of a pause by which it is longer or shorter, so that what broke together isn't probed together."""

_OUTAGES = frozenset({None, 603, 630})
"""Numbers of transient failures that tell of the service: no answer, an internal error, a statement that took too long.
One statement may have them to itself, but then others succeed in between. Any other answer tells of a service that is
there, also that it throttles: who is throttled waits by itself, for a warehouse or user that others may not share."""


_RANDOM = SystemRandom().random


class State(IntEnum):
    """Whether statements pass."""

    CLOSED = 0
    OPEN = 1
    HALF_OPEN = 2


class Breaker:
    """The breaker of one log-in, for all its roles."""

    def __init__(self, moved: Callable[[], None], clock: Callable[[], float], random: Callable[[], float]) -> None:
        """
        Args:
            moved: called when it has left the state closed, and when it is back there.
            clock: monotonic seconds.
            random: a number in [0, 1).
        """
        self._moved = moved
        self._clock = clock
        self._random = random
        self._failures = 0
        self._latest: SnowflakeError | None = None
        self._pause = 0.0
        self._until = 0.0
        self._probing = False
        # Statements that began in an earlier phase tell nothing of this one.
        self._phase = 0

    @property
    def state(self) -> State:
        if not self._pause:
            return State.CLOSED
        return State.OPEN if self._clock() < self._until else State.HALF_OPEN

    @property
    def cause(self) -> str | None:
        """Why it isn't closed, for people; None when it is."""
        if not self._pause:
            return None
        return (
            f"nothing is sent to Snowflake for now, since the latest attempts failed: {self._latest}. Freehold tries "
            "again by itself, after a minute at first, every 15 minutes in the end, and at once when the "
            "ProviderConfig or its Secret is changed"
        )

    def require(self) -> None:
        """Make sure that a statement would pass now.

        Raises:
            CircuitOpen: it wouldn't.
        """
        wait = self._until - self._clock()
        if self.cause and (wait > 0 or self._probing):
            raise CircuitOpen(self.cause, retry_in=wait if wait > 0 else FIRST)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Let a statement pass, and learn from its end. What is given up before its end tells nothing, nor does a
        credential: that it is refused, or that no log-in was tried with it.

        Raises:
            CircuitOpen: it must not.
        """
        self.require()
        phase, self._probing = self._phase, self.state is State.HALF_OPEN
        settle: Callable[[], None] = self._given_up
        try:
            yield
            settle = self._answered
        except (CredentialsRefused, NotTried):
            raise
        except SnowflakeError as error:
            outage = error.error_class is ErrorClass.TRANSIENT and error.number in _OUTAGES
            settle = partial(self._failed, error) if outage else self._answered
            raise
        finally:
            if phase == self._phase:
                settle()

    def _given_up(self) -> None:
        self._probing = False

    def _answered(self) -> None:
        self._failures, self._latest = 0, None
        if self._pause:
            self._pause = self._until = 0.0
            self._turn()
            self._moved()

    def _failed(self, failure: SnowflakeError) -> None:
        # One log-in fails everybody who waits for it, and is one failure.
        self._failures += failure is not self._latest
        self._latest = failure
        if self._pause or self._failures >= FAILURES:
            opens = not self._pause
            self._pause = min(MOST, 2 * self._pause) if self._pause else FIRST
            spread = 1 + SPREAD * (2 * self._random() - 1)
            self._until = self._clock() + min(MOST, self._pause * spread)
            self._turn()
            if opens:
                self._moved()

    def _turn(self) -> None:
        self._phase += 1
        self._probing = False


@dataclass(slots=True)
class _Known:
    """The breaker of a ProviderConfig.

    Attributes:
        login: what it is for, whatever role acts.
        as_of: of the latest settings of this log-in.
        breaker: the breaker.
    """

    login: ConnectionSettings
    as_of: float
    breaker: Breaker


class Breakers:
    """The breakers of a process, by ProviderConfig."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, random: Callable[[], float] = _RANDOM) -> None:
        """
        Args:
            clock: monotonic seconds.
            random: a number in [0, 1).
        """
        self._clock = clock
        self._random = random
        self._known: dict[str, _Known] = {}
        self._listeners: list[Callable[[str], None]] = []

    def listen(self, told: Callable[[str], None]) -> None:
        """Have the name of a ProviderConfig told when its breaker has opened, and when it has closed."""
        self._listeners.append(told)

    def of(self, settings: ConnectionSettings) -> Breaker:
        """The breaker of a log-in: a new one where anything but the role has changed, for that may be the cure.

        Whoever began before the change still comes with the log-in before: that has a breaker which nobody else is
        told of, for it must not bring back what was cured.
        """
        login = settings.without_role()
        known = self._known.get(login.provider)
        if known is not None and known.login == login:
            known.as_of = max(known.as_of, login.as_of)
            return known.breaker
        if known is not None and login.as_of < known.as_of:
            return Breaker(lambda: None, self._clock, self._random)
        new = Breaker(partial(self._tell, login.provider), self._clock, self._random)
        self._known[login.provider] = _Known(login, login.as_of, new)
        if known is not None and known.breaker.cause:
            self._tell(login.provider)
        return new

    def cause(self, provider: str) -> str | None:
        """Why the breaker of a ProviderConfig isn't closed; None when it is."""
        known = self._known.get(provider)
        return known.breaker.cause if known else None

    def forget(self, provider: str) -> None:
        """The ProviderConfig is gone."""
        self._known.pop(provider, None)

    @property
    def states(self) -> Mapping[str, State]:
        """The states of all breakers, by ProviderConfig."""
        return {provider: known.breaker.state for provider, known in self._known.items()}

    def _tell(self, provider: str) -> None:
        for told in self._listeners:
            told(provider)
