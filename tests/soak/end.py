"""The end of a soak: it settles, people follow the advice of conditions, and finally everything is deleted."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress

from freehold.claims import CLAIM, ClaimSpec
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import NAMESPACES as NAMESPACE_PATH
from freehold.kube.objects import Object
from freehold.lifecycle.reasons import PASSING
from tests.chaos.account import Parts, rows, send
from tests.chaos.waiting import TimedOut, eventually
from tests.soak import rules
from tests.soak.installation import USERS, Installation
from tests.soak.people import People
from tests.soak.population import NAMESPACES, PREFIX, Place
from tests.soak.strangers import Strangers

_SECONDS = 600.0
"""How long anything may take, such as a breaker that has just opened again, or the sweeping of a claim."""

_LOOK_AGAIN_SECONDS = 2.0

Wrong = Callable[[], Awaitable[list[str]]]
"""Says what is wrong."""


class End:
    """Its steps, in order; each answers with what is wrong."""

    def __init__(
        self,
        installation: Installation,
        people: People,
        strangers: Strangers,
        places: Sequence[Place],
        since: int,
        show: Callable[[str], None],
    ) -> None:
        """
        Args:
            installation: where it is.
            people: who delete and mend what is theirs.
            strangers: who have made objects, too.
            places: all there are.
            since: number of the journal's latest entry before it all.
            show: is told how far it is.
        """
        self._installation = installation
        self._people = people
        self._strangers = strangers
        self._places = places
        self._kinds = {place.kind.name: place.kind for place in places}.values()
        self._since = since
        self._show = show

    async def settle(self) -> list[str]:
        """Wait until each resource is as declared, or says rightly why not. What waits for people is asked once more:
        they know that it was a fault."""
        asked: set[Place] = set()

        async def wrong() -> list[str]:
            found = {each.key: each for kind in self._kinds async for each in self._all(kind.resource.path)}
            left = list(rules.unsettled(self._places, found))
            for each in left:
                if each.place and each.place not in asked and each.reason and each.reason not in PASSING:
                    asked.add(each.place)
                    await self._people.ask_again(each.place)
            return [each.text for each in left]

        return await self._in_time("resources", wrong)

    async def follow_advice(self) -> list[str]:
        """Have made again what has vanished, and give up what strangers have taken, until all is as declared."""
        for each in self._places:
            if each.spec is not None and each.theirs is not None:
                await self._people.remove(each)
            elif each.spec is not None and each.vanished:
                each.vanished = False
                await self._people.apply(each, **each.spec, vanishedPolicy="Recreate")
        return await self.settle() or await self._judge()

    async def leave(self) -> list[str]:
        """Delete everything. What strangers have made inside of it, they take away, and what lies beside it stays."""
        for each in self._places:
            if each.theirs is not None and each.within:
                await self._strangers.leave(each)
        for each in self._places:
            if each.spec is not None:
                await self._people.remove(each)
        found = await self.settle() or await self._judge()
        for namespace in NAMESPACES:
            await self._installation.kube.delete(NAMESPACE_PATH, namespace)
        return found + await self._in_time("namespaces", self._held)

    async def _judge(self) -> list[str]:
        # What a stranger has changed just now may not be noticed before the next resync.
        wrong = await self._in_time("objects", self._wrong_objects) + await self._in_time("claims", self._wrong_claims)
        sent = await asyncio.to_thread(self._installation.endpoint.since, self._since)
        return wrong + list(rules.uncalled_for(self._places, [each for each in sent if each.user in USERS]))

    async def _wrong_objects(self) -> list[str]:
        # Nothing is ever left in a database that was dropped.
        databases = [each.parts[0] for each in self._places if not each.leaf and not each.within and each.sound]
        shown = {
            (kind.name, parts): row
            for kind in self._kinds
            for parts, row in (await rows(self._installation.endpoint, kind, f"{PREFIX}%", databases)).items()
        }
        return [
            *rules.wrong_objects(self._places, shown, self._strangers.beside),
            *rules.wrong_columns(self._places, await self._columns()),
        ]

    async def _columns(self) -> dict[Parts, list[str]]:
        """Columns of all tables, by name of the table."""
        found: defaultdict[Parts, list[str]] = defaultdict(list)
        for row in await send(self._installation.endpoint, "SHOW COLUMNS IN ACCOUNT"):
            found[row["database_name"], row["schema_name"], row["table_name"]].append(row["column_name"])
        return found

    async def _wrong_claims(self) -> list[str]:
        claims = [ClaimSpec.model_validate(each.spec) async for each in self._all(CLAIM.path)]
        return list(rules.wrong_claims(self._places, claims))

    async def _held(self) -> list[str]:
        left = {each.name async for each in self._all(NAMESPACE_PATH)}
        return [f"namespace {each} doesn't end" for each in NAMESPACES if each in left]

    async def _all(self, path: GroupResource) -> AsyncIterator[Object]:
        async for page in self._installation.kube.list(path):
            for each in page.objects:
                yield each

    async def _in_time(self, what: str, wrong: Wrong) -> list[str]:
        """Wait until nothing is wrong any more, and answer with what is still."""
        found: list[str] = []

        async def right() -> bool:
            found[:] = await wrong()
            self._show(f"{what}: {len(found)} to wait for")
            return not found or bool(self._installation.processes.died)

        with suppress(TimedOut):
            await eventually(right, _SECONDS, what, every=_LOOK_AGAIN_SECONDS)
        return found
