"""Budgets: how many statements a second go to an account, by this process and by the installation.

A statement takes a token of two buckets at once: that of this process for the account, and this process's share of the
account's. Of those that wait for one account the most urgent go first, in the order in which they came, and now and
then whatever has waited longest. Who gives up waiting has taken nothing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from freehold import urgency
from freehold.kinds.account.providerconfig import PER_ACCOUNT, PER_CONTROLLER, Bucket, Budget
from freehold.snowflake import metrics
from freehold.snowflake.settings import ConnectionSettings
from freehold.snowflake.shares import WHOLE

_HEADROOM = 1.25
"""What is wanted for each statement a second that is sent, so that there is room for a few more."""

_FAIR = 4
"""Of so many statements one is the oldest that waits, however urgent others are: nothing waits for ever."""

_WINDOW = 1.0
"""Least seconds over which demand is measured."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many statements may go to an account.

    Attributes:
        per_controller: by this process.
        per_account: by the installation.
    """

    per_controller: Bucket = PER_CONTROLLER
    per_account: Bucket = PER_ACCOUNT


def strictest(budgets: Iterable[Budget | None]) -> Limits:
    """The limits of an account: of all its ProviderConfigs, the smallest of each number holds."""
    given = [each for each in budgets if each is not None]
    return Limits(
        _smallest([each.per_controller for each in given if each.per_controller] or [PER_CONTROLLER]),
        _smallest([each.per_account for each in given if each.per_account] or [PER_ACCOUNT]),
    )


def _smallest(buckets: list[Bucket]) -> Bucket:
    return Bucket(rate=min(each.rate for each in buckets), burst=min(each.burst for each in buckets))


class TokenBucket:
    """Tokens that come at a rate and are kept up to a number."""

    def __init__(self, tokens: float, now: float) -> None:
        """
        Args:
            tokens: to begin with, as far as the first `resize` leaves them.
            now: monotonic seconds, as everywhere.
        """
        self._tokens = tokens
        self._at = now
        self._rate = 0.0
        self._burst = tokens

    def resize(self, rate: float, burst: float, now: float) -> None:
        """Let tokens come at another rate from now on. No others come of it: who had them may have used them.

        Args:
            rate: tokens a second.
            burst: most tokens that are kept.
            now: monotonic seconds.
        """
        self._tokens, self._at = self._settled(now), now
        self._rate, self._burst = rate, burst

    def wait(self, now: float) -> float:
        """Seconds until there is a token; infinite when none comes."""
        lacking = 1.0 - self._settled(now)
        if lacking <= 0:
            return 0.0
        return lacking / self._rate if self._rate else math.inf

    def take(self, now: float) -> None:
        """Take a token that there is."""
        self._tokens, self._at = self._settled(now) - 1.0, now

    def _settled(self, now: float) -> float:
        return min(self._burst, self._tokens + (now - self._at) * self._rate)


class _Waiter:
    """Somebody in a line.

    Attributes:
        urgency: how urgent it is; more may wait for it later.
        stirred: whether it is to look whether it may go.
    """

    def __init__(self) -> None:
        self.urgency = urgency.present()
        self.stirred = asyncio.Event()


class _Line:
    """Those who want to send to one account.

    Attributes:
        wanted: what `demand` has answered last.
    """

    def __init__(self, limits: Limits, share: int, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._limits = limits
        # A dict keeps order like a list, and lets go of anybody at once.
        self._waiting: dict[_Waiter, None] = {}
        # A new process may not know what the one before it has sent to the account a moment ago.
        self._own, self._shared = TokenBucket(limits.per_controller.burst, clock()), TokenBucket(0, clock())
        self._measured_at = clock()
        self._served = 0
        self._sent = 0
        self._starved = False
        self.wanted = 0
        self.resize(limits, share)

    def resize(self, limits: Limits, share: int) -> None:
        """Go on with other limits, or another share of the account's."""
        own, account, now = limits.per_controller, limits.per_account, self._clock()
        self._limits = limits
        self._own.resize(own.rate, own.burst, now)
        part = share / WHOLE
        # The smallest share, too, is to be worth a statement at a time.
        self._shared.resize(account.rate * part, max(account.burst * part, 1.0) if share else 0.0, now)
        self._stir()

    async def take(self) -> None:
        """Wait for a token of each bucket, after those who go first."""
        me = _Waiter()
        self._waiting[me] = None
        try:
            while wait := self._wait_of(me):
                me.stirred.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait if math.isfinite(wait) else None):
                        await me.stirred.wait()
            now = self._clock()
            self._own.take(now)
            self._shared.take(now)
            self._sent += 1
            self._served += 1
        finally:
            del self._waiting[me]
            self._stir()

    def demand(self) -> int:
        """What this process has wanted of the account's budget lately; all of it, when that held anybody up."""
        elapsed = self._clock() - self._measured_at
        if elapsed >= _WINDOW:
            used = self._sent / elapsed / self._limits.per_account.rate
            starved = self._starved or (bool(self._waiting) and self._is_starved())
            self.wanted = WHOLE if starved else min(WHOLE, round(used * _HEADROOM * WHOLE))
            self._sent, self._starved, self._measured_at = 0, False, self._clock()
        return self.wanted

    def _first(self) -> _Waiter | None:
        """Who is to go next."""
        oldest = next(iter(self._waiting), None)
        if self._served % _FAIR == 0:
            return oldest
        return min(self._waiting, key=lambda each: each.urgency.rank, default=None)

    def _stir(self) -> None:
        if first := self._first():
            first.stirred.set()

    def _wait_of(self, waiter: _Waiter) -> float:
        """Seconds until somebody may go, as things are; infinite as long as others go first."""
        if self._first() is waiter:
            return self._wait()
        # Who goes first may not know yet: it may be more urgent than it was.
        self._stir()
        return math.inf

    def _wait(self) -> float:
        now = self._clock()
        self._starved = self._starved or self._is_starved()
        return max(self._own.wait(now), self._shared.wait(now))

    def _is_starved(self) -> bool:
        """Whether it is the account's budget that there is no more of."""
        now = self._clock()
        return self._shared.wait(now) > self._own.wait(now)


class Budgets:
    """The budgets of all accounts.

    Attributes:
        share: what this process may use of an account's budget, by account key.
    """

    def __init__(
        self, share: Callable[[str], int] = lambda _: WHOLE, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """
        Args:
            share: as the attribute; `resize` is called when it changes.
            clock: monotonic seconds.
        """
        self.share = share
        self._clock = clock
        self._limits: dict[str, Limits] = {}
        self._lines: dict[str, _Line] = {}
        metrics.BUDGET_DEMAND.read_from(lambda: [((key,), line.wanted / WHOLE) for key, line in self._lines.items()])
        metrics.BUDGET_SHARE.read_from(lambda: [((key,), self.share(key) / WHOLE) for key in self._lines])

    async def take(self, settings: ConnectionSettings) -> None:
        """Wait until one more statement may be sent; as long as no account is proven, nothing but that is asked."""
        if account := settings.account_key:
            if account not in self._lines:
                self._lines[account] = _Line(self.limits(account), self.share(account), self._clock)
            await self._lines[account].take()

    def limits(self, account: str) -> Limits:
        """The limits of an account."""
        return self._limits.get(account, Limits())

    def limit(self, account: str, limits: Limits | None) -> None:
        """Set the limits of an account; None where no ProviderConfig is left."""
        if limits is None:
            self._limits.pop(account, None)
            self._lines.pop(account, None)
            return
        self._limits[account] = limits
        if line := self._lines.get(account):
            line.resize(limits, self.share(account))

    def resize(self) -> None:
        """Go by the shares as they are now."""
        for account, line in self._lines.items():
            line.resize(self.limits(account), self.share(account))

    def demands(self) -> dict[str, int]:
        """What this process wants of accounts' budgets, as `shares.announce` has it."""
        return {account: line.demand() for account, line in self._lines.items()}
