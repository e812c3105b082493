"""What goes wrong between the controllers and Snowflake: a random fault after another, at the endpoint."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

from tests.harness.endpoint import Endpoint

ACCOUNT = "DEVSTACK"

_STATEMENTS = ("^(CREATE|ALTER|DROP)", "^(SHOW|DESC)", "^(?!LOGIN)")
_LOGIN = ("^LOGIN",)

_OUTAGE_SECONDS = 12.0

FAULTS: Mapping[str, tuple[tuple[str, ...], str, Mapping[str, Any]]] = {
    "lost before": (_STATEMENTS, "drop-before", {}),
    "lost after": (_STATEMENTS, "drop-after", {}),
    "lost, done late": (_STATEMENTS, "drop-during", {"seconds": 1}),
    "hanging": (_STATEMENTS, "hang", {}),
    "slow": (_STATEMENTS, "delay", {"seconds": 1, "distribution": "exponential"}),
    "throttled": (_STATEMENTS, "http", {"status": 429, "retry_after": 1}),
    "unavailable": (_STATEMENTS, "http", {"status": 503}),
    "token expired": (_STATEMENTS, "expire-token", {}),
    "session ended": (_STATEMENTS, "lose-session", {}),
    "refused": (_STATEMENTS, "error", {"number": 3001, "sqlstate": "42501", "message": "Insufficient privileges."}),
    "internal error": (_STATEMENTS, "error", {"number": 603, "sqlstate": "XX000", "message": "Internal error."}),
    "log-in lost": (_LOGIN, "drop-before", {}),
    "log-in unavailable": (_LOGIN, "http", {"status": 503}),
    "log-in slow": (_LOGIN, "delay", {"seconds": 2}),
}
"""Patterns of what they hit, action and facts, by what people would say."""


class Faults:
    """The faults of a soak.

    Attributes:
        counts: how many there were, by name.
    """

    def __init__(self, endpoint: Endpoint, random: Random) -> None:
        self.counts: Counter[str] = Counter()
        self._endpoint = endpoint
        self._random = random
        self._silent = False

    async def strike(self) -> None:
        """Let something go wrong with the next statements, or log-ins; what has hit nobody until now hits nobody."""
        if self._silent:
            return
        name = self._random.choice(list(FAULTS))
        patterns, action, facts = FAULTS[name]
        times = self._random.randint(1, 2)
        pattern = self._random.choice(patterns)
        # Log-ins are rare: their faults would gather, and all hit one after the other what comes back at last.
        await asyncio.to_thread(self._endpoint.clear_faults)
        await asyncio.to_thread(lambda: self._endpoint.fault(pattern, action, times=times, **facts))
        self.counts[name] += 1

    async def outage(self) -> None:
        """Let nothing be answered, until all have noticed."""
        self._silent = True
        await asyncio.to_thread(self._endpoint.control.freeze, ACCOUNT)
        await asyncio.sleep(_OUTAGE_SECONDS)
        await asyncio.to_thread(self._endpoint.control.thaw, ACCOUNT)
        self._silent = False
        self.counts["outage"] += 1

    async def end(self) -> None:
        """Let nothing go wrong any more."""
        await asyncio.to_thread(self._endpoint.clear_faults)
