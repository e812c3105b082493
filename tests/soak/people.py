"""What users do with their resources; they try again while the API server doesn't answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, TypeVar

from freehold.kube.client import Kube
from freehold.kube.conditions import conditions_of
from freehold.kube.errors import ApiError, NotFound, TooManyRequests, Unavailable
from freehold.kube.objects import Object
from tests.soak.deeds import Deed
from tests.soak.population import NAMESPACES, Place

_MANAGER = "people"
_TRY_AGAIN_SECONDS = 0.5
_AT_ONCE = 8

T = TypeVar("T")


class People:
    """Everybody who may write resources.

    Attributes:
        wronged: what was refused although nothing is wrong with it.
        doubted: thefts that were admitted, as they are while no webhook answers.
    """

    def __init__(self, kube: Kube, places: Sequence[Place], random: Random) -> None:
        self.wronged: list[str] = []
        self.doubted = 0
        self._kube = kube
        self._places = places
        self._random = random

    @property
    def deeds(self) -> tuple[Deed, ...]:
        return (
            Deed("edit", 40, lambda it: it.sound, self.edit),
            Deed("remove", 16, lambda it: it.leaf and it.spec is not None, self.remove),
            Deed("add", 20, lambda it: it.spec is None and it.roomy, self.add),
            Deed("raze", 1, self._may_go_with_all_in_it, self.raze),
            Deed("hand over", 4, lambda it: it.leaf and it.sound, self.hand_over),
            Deed("steal", 4, lambda it: it.sound, self.steal),
        )

    async def begin(self) -> None:
        """Declare everything."""
        room = asyncio.Semaphore(_AT_ONCE)

        async def add(place: Place) -> None:
            async with room:
                await self.add(place)

        await asyncio.gather(*map(add, self._places))

    async def add(self, place: Place) -> bool:
        if await self.get(place) is not None:
            return False
        place.made += 1
        return await self.edit(place)

    async def edit(self, place: Place) -> bool:
        return await self.apply(place, **place.draw(self._random))

    async def apply(self, place: Place, **spec: Any) -> bool:
        """Declare it as something."""
        place.spec = spec
        return await self._allowed("apply", place, lambda: self._apply(place, place.namespace, place.name))

    async def remove(self, place: Place) -> bool:
        place.spec, place.vanished = None, False
        place.removed += 1
        await self._delete(place, place.namespace, place.name)
        return True

    async def raze(self, place: Place) -> bool:
        """Remove it with all that lies in it."""
        for each in (place, *self._in(place)):
            if each.spec is not None:
                await self.remove(each)
                each.touched = asyncio.get_running_loop().time()
        return True

    async def hand_over(self, place: Place) -> bool:
        """Give the resource another name, and let the object stay."""
        # Whoever waits for it himself can't hand it over yet.
        if not await self.is_ready(place):
            return False
        heir = f"{place.name.partition('--')[0]}--{self._random.randrange(10**6)}"
        annotation = {"metadata": {"annotations": {"freehold.dev/hand-over-to": f"{place.namespace}/{heir}"}}}
        former, path = place.name, place.kind.resource.path
        await _insist(lambda: self._kube.patch(path, former, place.namespace, annotation))
        if await self._allowed("hand over", place, lambda: self._apply(place, place.namespace, heir)):
            place.name = heir
            await self._delete(place, place.namespace, former)
        return True

    async def steal(self, place: Place) -> bool:
        """Declare the same object elsewhere, which is to be refused."""
        if not await self.is_ready(place):
            return False
        namespace = self._random.choice([each for each in NAMESPACES if each != place.namespace])
        thief = f"thief-{self._random.randrange(10**6)}"
        try:
            await _insist(lambda: self._apply(place, namespace, thief, **place.parents_from_elsewhere))
        except ApiError:
            return True
        self.doubted += 1
        await self._delete(place, namespace, thief)
        return True

    async def ask_again(self, place: Place) -> None:
        """Ask for another try of what waits for somebody."""
        body = {"metadata": {"annotations": {"freehold.dev/reconcile-now": str(self._random.randrange(10**6))}}}
        with suppress(NotFound):
            await _insist(lambda: self._kube.patch(place.kind.resource.path, place.name, place.namespace, body))

    async def get(self, place: Place) -> Object | None:
        try:
            return await _insist(lambda: self._kube.get(place.kind.resource.path, place.name, place.namespace))
        except NotFound:
            return None

    async def is_ready(self, place: Place) -> bool:
        found = await self.get(place)
        return found is not None and told(found)[0] == "Available"

    def _in(self, place: Place) -> list[Place]:
        return [each for each in self._places if place in each.within]

    def _may_go_with_all_in_it(self, place: Place) -> bool:
        inside = self._in(place)
        return place.kind.name == "Schema" and place.sound and all(each.theirs is None for each in inside)

    async def _allowed(self, deed: str, place: Place, ask: Callable[[], Awaitable[object]]) -> bool:
        try:
            await _insist(ask)
        except ApiError as refusal:
            self.wronged.append(f"{deed} {place} was refused: {refusal}")
            return False
        return True

    async def _apply(self, place: Place, namespace: str, name: str, **other: Any) -> None:
        path = place.kind.resource.path
        head = {"apiVersion": path.api_version, "kind": path.kind, "metadata": {"name": name, "namespace": namespace}}
        await self._kube.apply(
            path, name, namespace, {**head, "spec": {**(place.spec or {}), **other}}, field_manager=_MANAGER
        )

    async def _delete(self, place: Place, namespace: str, name: str) -> None:
        with suppress(NotFound):
            await _insist(lambda: self._kube.delete(place.kind.resource.path, name, namespace))


def told(resource: Object) -> tuple[str, str]:
    """Reason and message of the condition Ready for the present generation; nothing where there is none."""
    for each in conditions_of(resource):
        if each.type == "Ready" and each.observed_generation == resource.generation:
            return each.reason, each.message
    return "", ""


async def _insist(ask: Callable[[], Awaitable[T]]) -> T:
    while True:
        try:
            return await ask()
        except (TooManyRequests, Unavailable):
            await asyncio.sleep(_TRY_AGAIN_SECONDS)
