"""What others have seen of an object: enough to leave it alone, and to nothing else."""

from __future__ import annotations

from copy import deepcopy

import pytest

from tests.unit.reconciler.world import Fuse, World


@pytest.fixture
async def world() -> World:
    """A warehouse that is as declared, and in a snapshot."""
    world = World(Fuse(0, done=False))
    await world.settle()
    world.snowflake.snapshot = deepcopy(world.snowflake.rows)
    world.snowflake.sent.clear()
    world.snowflake.looks = 0
    return world


async def resync(world: World) -> None:
    await world.process()(world.key, 0.0)


async def test_an_object_that_others_have_seen_as_declared_isnt_looked_at(world: World) -> None:
    await resync(world)
    assert (world.snowflake.looks, world.snowflake.sent) == (0, [])


async def test_what_was_mended_since_others_have_seen_it_is_left_alone(world: World) -> None:
    world.snowflake.snapshot["W"]["comment"] = "theirs"
    before = deepcopy(world.status)
    await resync(world)
    assert (world.snowflake.looks, world.snowflake.sent) == (1, [])
    assert world.status == before


async def test_what_others_have_seen_changed_and_still_is_gets_mended(world: World) -> None:
    for rows in (world.snowflake.rows, world.snowflake.snapshot):
        rows["W"]["comment"] = "theirs"
    await resync(world)
    assert world.snowflake.rows["W"]["comment"] == "ours"


async def test_another_object_of_the_name_that_others_have_seen_is_gone_again(world: World) -> None:
    world.snowflake.make("OTHER")
    world.snowflake.snapshot["W"]["created_on"] = world.snowflake.rows["OTHER"]["created_on"]
    await resync(world)
    assert (world.reason, world.snowflake.sent) == ("Available", [])


async def test_what_others_havent_seen_is_looked_at_before_it_counts_as_gone(world: World) -> None:
    world.snowflake.snapshot.clear()
    await resync(world)
    assert (world.snowflake.looks, world.snowflake.sent) == (1, [])


async def test_a_resource_that_only_watches_is_content_with_what_others_have_seen() -> None:
    world = World(Fuse(0, done=False), spec={"managementPolicies": {"observeOnly": True}})
    world.snowflake.make("W")
    world.snowflake.snapshot = deepcopy(world.snowflake.rows)
    await resync(world)
    assert (world.reason, world.snowflake.looks) == ("Available", 0)


async def test_a_deletion_looks_for_itself(world: World) -> None:
    del world.snowflake.rows["W"]
    world.delete()
    await resync(world)
    assert not world.alive
    assert world.snowflake.sent == []
