"""One thing after another that somebody does, each to a place that it fits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.soak.population import Place


@dataclass(frozen=True)
class Deed:
    """Something that somebody may do.

    Attributes:
        name: for people.
        weight: how often it is done, compared with others.
        fits: whether it may be done to a place.
        act: does it, and answers whether the place was really fit for it.
    """

    name: str
    weight: int
    fits: Callable[[Place], bool]
    act: Callable[[Place], Awaitable[bool]]


class Deeds:
    """All that is done.

    Attributes:
        counts: how often each was.
    """

    def __init__(self, deeds: Sequence[Deed], places: Sequence[Place], random: Random) -> None:
        self.counts: Counter[str] = Counter()
        self._deeds = deeds
        self._places = places
        self._random = random

    async def next(self) -> None:
        """Let somebody do something."""
        (deed,) = self._random.choices(self._deeds, [each.weight for each in self._deeds])
        fitting = [each for each in self._places if deed.fits(each)]
        if not fitting:
            return
        place = self._random.choice(fitting)
        if await deed.act(place):
            place.touched = asyncio.get_running_loop().time()
            self.counts[deed.name] += 1
