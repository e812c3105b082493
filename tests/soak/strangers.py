"""What others do in the account, with objects that nothing is under way to: as little as ours, a race is theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from random import Random

from freehold.kinds.kind import Kind
from freehold_devstack.snowflake.control_client import RefusedError
from tests.chaos import samples
from tests.chaos.account import STRANGER, Parts, Row, rows, send
from tests.chaos.world import ROLE
from tests.harness.endpoint import Endpoint
from tests.soak.deeds import Deed
from tests.soak.people import People
from tests.soak.population import Place

CALM_SECONDS = 10.0
"""After any deed, when even a statement that went astray has arrived."""


class Strangers:
    """Everybody else in the account.

    Attributes:
        beside: objects that may be taken for ours, by kind and name: they are nobody's business.
    """

    def __init__(self, endpoint: Endpoint, people: People, random: Random) -> None:
        self.beside: dict[tuple[str, Parts], Row] = {}
        self._endpoint = endpoint
        self._people = people
        self._random = random

    @property
    def deeds(self) -> tuple[Deed, ...]:
        return (
            Deed("change", 10, lambda it: it.sound, self.change),
            Deed("drop", 3, lambda it: it.leaf and it.sound, self.drop),
            Deed("undrop", 2, lambda it: it.vanished, self.undrop),
            Deed("replace", 1, lambda it: it.leaf and it.sound, self.replace),
            Deed("squat", 1, lambda it: it.leaf and it.spec is None and it.theirs is None and it.roomy, self.squat),
        )

    async def look_alike(self, place: Place) -> None:
        """Make another object that differs from a place's by case alone, and one that LIKE finds as well."""
        *container, name = place.parts
        for each in ((*container, name.lower()), (*container, name.replace("_", "X"))):
            await send(self._endpoint, samples.create(place.kind, each))
            self.beside[place.kind.name, each] = await self._row(place.kind, each)

    async def change(self, place: Place) -> bool:
        note = f"theirs {self._random.randrange(10**6)}"
        return await self._is_calm(place) and await self._can(f"ALTER {place.object} SET COMMENT = '{note}'")

    async def drop(self, place: Place) -> bool:
        if not await self._is_calm(place) or not await self._can(f"DROP {place.object}"):
            return False
        place.lost += 1
        place.vanished = place.kind.holds_data
        return True

    async def undrop(self, place: Place) -> bool:
        if not await self._can(f"UNDROP {place.object}"):
            return False
        place.vanished = False
        return True

    async def replace(self, place: Place) -> bool:
        return await self._is_calm(place) and await self._make(place, "CREATE OR REPLACE")

    async def squat(self, place: Place) -> bool:
        """Be there before us."""
        return self._is_old(place) and await self._people.get(place) is None and await self._make(place, "CREATE")

    async def leave(self, place: Place) -> None:
        """Take away what was made in a place of ours."""
        await self._can(f"DROP {place.object}")
        place.theirs = None

    async def _make(self, place: Place, verb: str) -> bool:
        create = samples.create(place.kind, place.parts).replace("CREATE", verb, 1)
        if not await self._can(create, self._random.choice((STRANGER, ROLE))):
            return False
        place.theirs = await self._row(place.kind, place.parts)
        return True

    async def _can(self, statement: str, role: str = STRANGER) -> bool:
        try:
            await send(self._endpoint, statement, role)
        except RefusedError:
            return False
        return True

    async def _is_calm(self, place: Place) -> bool:
        return self._is_old(place) and await self._people.is_ready(place)

    @staticmethod
    def _is_old(place: Place) -> bool:
        return asyncio.get_running_loop().time() - place.touched > CALM_SECONDS

    async def _row(self, kind: Kind, parts: Parts) -> Row:
        found: Mapping[Parts, Row] = await rows(self._endpoint, kind, parts[-1])
        return found[parts]
