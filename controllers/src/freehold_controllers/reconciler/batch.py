"""Work on all that a resource stands for, one thing after the other, and how that ends where some of it fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from freehold.lifecycle.reasons import Reason
from freehold.snowflake.errors import LoginFailed, OutcomeUnknown, SnowflakeError
from freehold_controllers.reconciler.outcome import Stopped

T = TypeVar("T")


async def all_of(works: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Do one after the other, whatever becomes of some: a slot that can't be filled, or emptied, keeps none from
    another, which may be what it waits for.

    Raises:
        Stopped, SnowflakeError: the first that was met; no work follows where no answer came.
    """
    done: list[T] = []
    failures: list[Stopped | SnowflakeError] = []
    for work in works:
        try:
            done.append(await work())
        except (LoginFailed, OutcomeUnknown):
            raise
        except (Stopped, SnowflakeError) as error:
            failures.append(error)
    if failures:
        raise as_one(failures)
    return done


def as_one(failures: Sequence[Stopped | SnowflakeError]) -> Stopped | SnowflakeError:
    """The failure to tell of: the first, unless that only says what mode ReadOnly keeps from being sent; with all that
    is so planned. Pure."""
    first = min(failures, key=_weight)
    plan = tuple(each for failure in failures if isinstance(failure, Stopped) for each in failure.stop.plan)
    return Stopped(replace(first.stop, plan=plan)) if isinstance(first, Stopped) else first


def _weight(failure: Stopped | SnowflakeError) -> int:
    if not isinstance(failure, Stopped) or failure.stop.reason is not Reason.READ_ONLY:
        return 0
    return 1 if failure.stop.plan else 2
