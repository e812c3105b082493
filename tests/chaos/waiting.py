"""Waiting for what is to come, as long as a deadline allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

_LOOK_AGAIN = 0.1


class TimedOut(Exception):
    """What was waited for didn't come."""


async def eventually(
    condition: Callable[[], Awaitable[bool]], seconds: float, what: str, *, every: float = _LOOK_AGAIN
) -> None:
    """Wait for a condition.

    Args:
        condition: asked again and again until it holds.
        seconds: the deadline.
        what: what is waited for.
        every: seconds between two looks.

    Raises:
        TimedOut: the deadline has passed.
    """
    try:
        async with asyncio.timeout(seconds):
            while not await condition():  # noqa: ASYNC110  # of other processes, which set no events here
                await asyncio.sleep(every)
    except TimeoutError:
        raise TimedOut(f"waited {seconds:g} s in vain for {what}") from None
