"""Membership: of all processes of a domain one is active, by a Lease; the others are idle and ready to take over.

Never two: an active member stops when its Lease could soon be another's by that one's clock, whether or not the API
server can be asked, and what doesn't stop in time is ended with the process. A member that ends on purpose gives the
Lease up, so that the next one is active at once. Nor is a member active where another release works (`rivals`).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from prometheus_client import Gauge

from freehold.kube.backoff import jittered
from freehold.kube.errors import ApiError
from freehold.kube.lease import Lease
from freehold.metrics import REGISTRY

_ACTIVE = Gauge("freehold_active", "Whether this process is the active one of its domain.", registry=REGISTRY)

_log = logging.getLogger(__name__)

Lead = Callable[[asyncio.Event], Awaitable[None]]
"""The work of the active member: runs until its argument is set, then ends what it has begun and returns. On loss of
the Lease it is cancelled."""


class NotActive(Exception):
    """Another process may be the active one: nothing may be sent any more."""


async def _none() -> None:
    """Nobody else."""


class Member:
    """This process among those of its domain.

    Attributes:
        hindrance: why it can't be the active one even if the Lease is free; None where nothing is known.
    """

    def __init__(
        self,
        lease: Lease,
        *,
        rival: Callable[[], Awaitable[str | None]] = _none,
        end: Callable[[int], object] = os._exit,
    ) -> None:
        """
        Args:
            lease: the domain's.
            rival: why we must not be active even with the Lease, None when we may; raises ApiError when it can't tell.
            end: ends the process when work can't be stopped in time.
        """
        self.hindrance: str | None = "not known yet whether other releases work here"
        self._lease = lease
        self._rival = rival
        self._end = end
        duration = lease.duration.total_seconds()
        self._interval = duration / 5
        # A third of the Lease's time is kept for stopping.
        self._reserve = duration / 3

    @property
    def valid_until(self) -> float:
        """When work must have stopped, by the Lease's clock; the past for an idle member."""
        return self._lease.expires - self._reserve

    @property
    def active(self) -> bool:
        return self._lease.clock() < self.valid_until

    def require_active(self) -> None:
        """To be called right before anything is sent that writes.

        Raises:
            NotActive: another process may be the active one.
        """
        if not self.active:
            raise NotActive("the Lease was lost or could not be renewed in time; another process takes over")

    async def run(self, lead: Lead, stop: asyncio.Event) -> None:
        """Take the Lease whenever it is free and lead while it is ours, until `stop` is set."""
        while not stop.is_set():
            if (self.hindrance is None or await self._unhindered()) and await self._renew():
                # Asked once more: whoever asked before we had the Lease may have found nobody, as we did.
                if await self._unhindered():
                    await self._term(lead, stop)
                    continue
                await self._release()
            await _either(stop, jittered(timedelta(seconds=self._interval / 2)))

    async def _unhindered(self) -> bool:
        before = self.hindrance
        try:
            async with asyncio.timeout(self._interval):
                self.hindrance = await self._rival()
        except (ApiError, TimeoutError) as error:
            self.hindrance = f"it can't be told whether other releases work here: {error or 'no answer in time'}"
        if self.hindrance and self.hindrance != before:
            _log.warning("this process can't work: %s", self.hindrance)
        return self.hindrance is None

    async def _term(self, lead: Lead, stop: asyncio.Event) -> None:
        """Lead until asked to stop or the Lease is lost."""
        _log.info("this process is the active one now")
        _ACTIVE.set(1)
        leading = asyncio.ensure_future(lead(stop))
        try:
            while self.active:
                await asyncio.wait({leading}, timeout=min(self._interval, self._remaining))
                if leading.done():
                    return leading.result()
                await self._renew()
            _log.warning("the Lease was lost or could not be renewed in time; this process stops working")
        finally:
            await self._stop(leading)
            _ACTIVE.set(0)
            await self._release()

    async def _renew(self) -> bool:
        """One attempt to take or renew the Lease; answers whether this member is active."""
        patience = min(self._interval, self._remaining) if self.active else self._interval
        try:
            async with asyncio.timeout(patience):
                await self._lease.acquire()
        except (ApiError, TimeoutError) as error:
            _log.warning("the Lease could not be renewed: %s", str(error) or "no answer in time")
        return self.active

    @property
    def _remaining(self) -> float:
        return max(self.valid_until - self._lease.clock(), 0.0)

    async def _stop(self, leading: asyncio.Future[None]) -> None:
        """Cancel the work; end the process if that takes longer than the Lease lasts, or a moment when it is lost."""
        if leading.done():
            return
        leading.cancel()
        await asyncio.wait({leading}, timeout=max(self._lease.expires - self._lease.clock(), 1.0))
        if not leading.done():
            _log.critical("work goes on although the Lease is lost; this process ends at once")
            self._end(70)

    async def _release(self) -> None:
        """Let others take over now that nothing is being done; if that fails the Lease ends by itself."""
        with suppress(ApiError, TimeoutError):
            async with asyncio.timeout(self._interval):
                await self._lease.release()


async def _either(event: asyncio.Event, timeout: float) -> None:
    """Wait for an event, but no longer than so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await event.wait()
