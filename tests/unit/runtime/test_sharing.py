"""Shares of budgets go with Leases: used once they can be seen, free once their holder has surely come to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from freehold.kube.lease import Lease
from freehold.kube.objects import LEASES, Object
from freehold.snowflake.shares import WHOLE, Announcement
from freehold_controllers.sharing import SHARES_ANNOTATION, Sharing
from tests.harness.memory import MemoryKube

DURATION = timedelta(seconds=15)
EQUAL_OF_TWO = WHOLE // 3


class World:
    """An API server, and members with Leases and one clock."""

    def __init__(self) -> None:
        self.kube = MemoryKube()
        self.now = 1000.0

    def member(self, name: str) -> Member:
        return Member(self, name)

    async def held(self, name: str) -> Member:
        """A member whose Lease is its own, and seen by itself."""
        self.kube.put(LEASES, name, "freehold", spec={"holderIdentity": ""})
        member = self.member(name)
        await member.renew()
        await member.look()
        return member


class Member:
    """A process that shares budgets."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self.sharing = Sharing(clock=lambda: world.now)
        self.lease = Lease(
            *(world.kube, "freehold", name, f"{name}-1", DURATION),
            annotations=self.sharing.tell,
            clock=lambda: world.now,
        )

    async def renew(self) -> None:
        assert await self.lease.acquire()

    async def look(self) -> None:
        """Have the live copy catch up."""
        async for page in self._world.kube.list(LEASES, "freehold"):
            for each in page.objects:
                self.sharing.note(None, each)
        await asyncio.sleep(0)

    @property
    def share(self) -> int:
        return self.sharing.budgets.share("account")

    @property
    def told(self) -> Announcement:
        lease = Object(self._world.kube.objects[LEASES.plural, "freehold", self.lease.name])
        return Announcement.model_validate_json(lease.annotations[SHARES_ANNOTATION])


async def test_nothing_is_used_before_the_others_can_see_it() -> None:
    world = World()
    world.kube.put(LEASES, "a", "freehold", spec={"holderIdentity": ""})
    member = world.member("a")
    assert member.share == 0
    await member.renew()
    assert member.share == 0
    await member.look()
    assert member.share == WHOLE // 2


async def test_who_joins_finds_room_and_the_others_make_more() -> None:
    world = World()
    first = await world.held("a")
    second = await world.held("b")
    assert second.share == EQUAL_OF_TWO
    await first.look()
    assert first.share == EQUAL_OF_TWO


async def test_a_renewal_tells_nothing_new_while_nothing_changes() -> None:
    world = World()
    members = [await world.held(name) for name in "ab"]
    for member in members * 2:
        await member.look()
        await member.renew()
    before = [member.told for member in members]
    for member in members:
        await member.look()
        await member.renew()
    assert [member.told for member in members] == before


async def after_the_end_of_another(end: Callable[[World], Awaitable[None]]) -> tuple[World, Member]:
    world = World()
    first = await world.held("a")
    await world.held("b")
    for _ in range(2):
        await first.renew()
        await first.look()
    assert first.share == EQUAL_OF_TWO
    await end(world)
    return world, first


async def test_a_lost_members_share_is_free_after_the_time_of_its_lease() -> None:
    async def lost(_: World) -> None:
        """Nobody hears of it."""

    world, first = await after_the_end_of_another(lost)
    world.now += 14
    for _ in range(3):
        await first.renew()
        await first.look()
    assert first.share == EQUAL_OF_TWO
    world.now += 2
    for _ in range(3):
        await first.renew()
        await first.look()
    assert first.share == WHOLE // 2


async def test_no_member_counts_as_lost_while_the_live_copy_is_behind() -> None:
    async def lost(_: World) -> None:
        """Nobody hears of it."""

    world, first = await after_the_end_of_another(lost)
    for _ in range(4):
        world.now += 10
        await first.renew()
    assert first.told.equal == EQUAL_OF_TWO


async def test_a_deleted_lease_frees_nothing_at_once() -> None:
    async def delete(world: World) -> None:
        world.kube.remove(LEASES, "b", "freehold")

    _, first = await after_the_end_of_another(delete)
    for _ in range(3):
        await first.renew()
        await first.look()
    assert first.share == EQUAL_OF_TWO


async def test_whoever_says_good_bye_leaves_the_share_at_once() -> None:
    async def release(world: World) -> None:
        lease = await world.kube.get(LEASES, "b", "freehold")
        await world.kube.replace(LEASES, {**lease.raw, "spec": {**lease.spec, "holderIdentity": ""}})

    _, first = await after_the_end_of_another(release)
    for _ in range(2):
        await first.look()
        await first.renew()
    await first.look()
    assert first.share == WHOLE // 2


async def test_a_lease_that_was_lost_is_begun_anew_with_nothing() -> None:
    world = World()
    member = await world.held("a")
    world.now += 20
    await member.renew()
    assert member.share == 0
    await member.look()
    assert member.share == WHOLE // 2


async def test_leases_that_tell_nothing_of_budgets_are_nobodys() -> None:
    world = World()
    member = await world.held("a")
    for name, told in (("turn", {}), ("odd", {SHARES_ANNOTATION: "?"})):
        world.kube.put(LEASES, name, "freehold", metadata={"annotations": told}, spec={"holderIdentity": "them"})
    for _ in range(2):
        await member.look()
        await member.renew()
    assert member.told.equal == WHOLE // 2
