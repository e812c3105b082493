"""Work: take keys from the queue, let each be reconciled, and give it back with what comes next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from prometheus_client import Counter, Histogram

from freehold import logs, tracing, urgency
from freehold.kube.backoff import jittered, stretched
from freehold.kube.errors import ApiError, Conflict
from freehold.kube.objects import Key
from freehold.metrics import REGISTRY
from freehold_controllers.runtime.member import NotActive
from freehold_controllers.runtime.queue import Closed, Queue, Turn

LONGEST = timedelta(minutes=10)
"""A reconcile that takes longer is cancelled and counts as failed: whatever hangs, its worker is needed."""

_HEAD_START = 6
"""Failures that what isn't to be hurried counts as having had: its delay begins at half a minute."""

_RECONCILES = Counter(
    "freehold_reconciles",
    "Reconciles by kind and result (done, hold, forget, failed).",
    ["kind", "result"],
    registry=REGISTRY,
)
_DURATION = Histogram(
    "freehold_reconcile_duration_seconds",
    "Duration of a reconcile.",
    ["kind"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing is to be done before the next change or resync.

    Attributes:
        every: interval of resyncs, where it isn't the process's.
        resync: least interval until this one, where it is to be rarer; at most it is twice as long.
    """

    every: timedelta | None = None
    resync: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """What the resource works with is out of order, and so for all others of its group.

    Attributes:
        retry_in: when one of them is to try again.
    """

    retry_in: timedelta


@dataclass(frozen=True, slots=True)
class Forget:
    """The resource is gone: nothing is to be done before there is one of its name again."""


class Unfinished(Exception):
    """The resource isn't as it should be, for a cause that may go by itself; it is tried again, ever later.

    Attributes:
        slowly: whether the first try, too, is to wait.
    """

    def __init__(self, message: str, *, slowly: bool = False) -> None:
        super().__init__(message)
        self.slowly = slowly


@dataclass(frozen=True, slots=True)
class _Failed:
    """The reconcile failed.

    Attributes:
        earlier: failures that it counts as having had before.
    """

    earlier: int = 0


Result = Done | Hold | Forget

Reconcile = Callable[[Key, float], Awaitable[Result]]
"""Works on one resource, not content with what was seen before an instant (monotonic time, `Turn.not_before`); an
exception means: try again after a growing delay."""


async def work(queue: Queue, reconcile: Reconcile, resync: timedelta) -> None:
    """Reconcile keys, each in a task of its own, until the queue is closed and what was begun has ended.

    Args:
        queue: where keys come from, no more than there are workers.
        reconcile: works on one of them.
        resync: interval for what is done and hasn't its own.
    """
    async with asyncio.TaskGroup() as workers:
        with suppress(Closed):
            while True:
                workers.create_task(_take_turn(await queue.get(), queue, reconcile, resync))


async def _take_turn(turn: Turn, queue: Queue, reconcile: Reconcile, resync: timedelta) -> None:
    key = turn.key
    with (
        logs.about(kind=key.kind, namespace=key.namespace, resource=key.name),
        urgency.ranked(turn.priority),
        tracing.span("reconcile", _about(key)) as span,
        _DURATION.labels(key.kind).time(),
    ):
        result = await _attempt(turn, reconcile)
        outcome = type(result).__name__.lower().strip("_")
        span.set_attribute("freehold.result", outcome)
    _RECONCILES.labels(key.kind, outcome).inc()
    match result:
        case Done():
            every = result.every or resync
            queue.done(key, again=stretched(result.resync) if result.resync else jittered(every))
        case Hold():
            queue.hold(key, result.retry_in.total_seconds())
        case Forget():
            queue.done(key)
        case _Failed():
            queue.failed(key, earlier=result.earlier)


def _about(key: Key) -> Mapping[str, str]:
    return {"freehold.kind": key.kind, "k8s.namespace.name": key.namespace, "freehold.name": key.name}


async def _attempt(turn: Turn, reconcile: Reconcile) -> Result | _Failed:
    try:
        async with asyncio.timeout(LONGEST.total_seconds()):
            return await reconcile(turn.key, turn.not_before)
    except Unfinished as error:
        # Its condition and Event tell of it once; here it would be told at each try.
        _log.debug("to be tried again: %s", error)
        return _Failed(_HEAD_START if error.slowly else 0)
    except Conflict as error:
        _log.info("somebody else wrote at the same time, it begins anew: %s", error)
    except (ApiError, NotActive) as error:
        _log.warning("the reconcile ended early: %s", error)
    except Exception:
        _log.exception("the reconcile failed")
    return _Failed()
