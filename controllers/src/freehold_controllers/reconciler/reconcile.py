"""The reconciler: from a key to an object that is as declared, one step after the other.

Any step may be the last one before a crash. What it leaves is found again by the next pass in the claim, in the
finalizer and in Snowflake; what is only in memory costs a few statements when it is lost.
"""

from __future__ import annotations

import logging
import math
import time
from datetime import timedelta

from freehold.identifiers import InvalidName
from freehold.kinds.registry import KINDS
from freehold.kube.errors import NotFound
from freehold.kube.objects import Key, Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import OBSERVED, PASSING, Reason
from freehold.observation import Depth
from freehold.snowflake.errors import CircuitOpen, ConfigurationError, SnowflakeError
from freehold_controllers.reconciler.managed import asked_now, foreign_provider, provider_of, status_of
from freehold_controllers.reconciler.outcome import Stopped, deletion_stop_for, stop_for, undeletable
from freehold_controllers.reconciler.provider import Intervals
from freehold_controllers.reconciler.rehearsal import Plans
from freehold_controllers.reconciler.run import Run
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.status import well
from freehold_controllers.runtime.work import Done, Forget, Hold, Result, Unfinished

SLOW = timedelta(minutes=30)
"""Least interval until what somebody has to change is looked at again, unless it changes."""

DEEP = timedelta(hours=6)
"""Interval at which parameters and further queries are read without a reason."""


_log = logging.getLogger(__name__)


class Reconciler:
    """Reconciles the resources of Snowflake kinds."""

    def __init__(self, services: Services) -> None:
        """
        Args:
            services: the outside world.
        """
        self._services = services
        self._deep_at: dict[Key, float] = {}
        self._stuck: dict[Key, str] = {}
        self._plans = Plans()

    async def __call__(self, key: Key, not_before: float = math.inf) -> Result:
        """Work on one resource.

        Args:
            key: the resource.
            not_before: what was seen of its object before this instant (monotonic time) doesn't count; whatever others
                see, by default.

        Raises:
            Unfinished: it isn't as it should be, for a cause that may go by itself; its status says so.
            ApiError: the API server doesn't let us.
        """
        # Whatever this pass looks at, it follows anew.
        self._services.following.forget(key)
        try:
            # Live: the live copy may lack the status that the latest pass has written.
            found = await self._services.kube.get(KINDS[key.kind].resource.path, key.name, key.namespace)
        except NotFound:
            self._forget(key)
            return Forget()
        run = Run(self._services, found, depth=self._depth(found), not_before=not_before, stuck=self._stuck.get(key))
        hold = None
        try:
            await run.delete() if found.deleting else await run.reconcile()
        except Stopped as stopped:
            stop = stopped.stop
        except InvalidName as error:
            stop = Stop(Reason.VALIDATION_FAILED, f"the manifest can't be used: {error}")
        except (SnowflakeError, ConfigurationError) as error:
            _log.debug("%s: %s %s", run.report, error, error.trace if isinstance(error, SnowflakeError) else "")
            stop = (deletion_stop_for if found.deleting else stop_for)(error, run.report, foreign_provider(found))
            hold = Hold(timedelta(seconds=error.retry_in)) if isinstance(error, CircuitOpen) else None
        else:
            self._succeeded(key, run)
            return Done(every=self._intervals(found).resync)
        if found.deleting:
            stop = undeletable(stop, read_only=self._services.read_only)
        if stop.reason is Reason.NOT_CONVERGING:
            self._stuck[key] = run.report.applied_hash
        await run.report.stopped(stop)
        self._plans.note(key, stop.plan)
        if hold:
            return hold
        if stop.soon or stop.reason in PASSING:
            raise Unfinished(stop.message, slowly=stop.slowly)
        # What is seen of the object may change without a word to us: looked at as often as if all were well.
        return Done(every=self._intervals(found).resync) if stop.reason in OBSERVED else Done(resync=SLOW)

    def _succeeded(self, key: Key, run: Run) -> None:
        self._stuck.pop(key, None)
        self._plans.note(key, ())
        if run.looked_deep:
            self._deep_at[key] = time.monotonic()

    def _depth(self, found: Object) -> Depth:
        """How much to read of an object whose spec hasn't changed: all while not all is well, on request, and now and
        then."""
        place = hash(found.key) % 1000 / 1000
        deep = (self._intervals(found).deep or DEEP).total_seconds()
        # As if it had been looked at while we weren't there; and each in its own rhythm, so that none keep together.
        looked = self._deep_at.setdefault(found.key, time.monotonic() - place * deep)
        due = looked + deep * (0.9 + place / 5)
        asked = asked_now(found) != status_of(found).last_handled_reconcile_now
        return "shallow" if well(found) and not asked and time.monotonic() < due else "deep"

    def _intervals(self, found: Object) -> Intervals:
        return self._services.providers.intervals(*provider_of(found))

    def _forget(self, key: Key) -> None:
        self._deep_at.pop(key, None)
        self._stuck.pop(key, None)
        self._plans.note(key, ())
