"""A user orders that an object be dropped and created again: only then, as guarded as any DROP, whatever dies."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import Died, Fuse, World, each_death


async def ordered(world: World) -> str:
    """A permanent database that is to become transient."""
    await world.settle()
    order = world.edit(transient=True)
    world.annotate(force_new=order)
    return order


@pytest.fixture
def world() -> World:
    return World(Fuse(0, done=False), "Database")


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_while_recreating_ends_with_one_new_object(done: bool) -> None:
    async def story(world: World) -> None:
        order = await ordered(world)
        await world.settle()
        assert world.reason == "Available"
        assert world.snowflake.rows["W"]["options"] == "TRANSIENT"
        assert world.answers("DROP").count("ok") == 1
        assert world.answers("CREATE").count("ok") == 2
        (claim,) = world.claims
        assert claim["evidence"]["forceNew"] == order
        assert "intent" not in claim

    assert await each_death(story, done=done, kind="Database") > 20


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_an_order_that_is_taken_back_in_the_middle_never_leaves_nothing(done: bool) -> None:
    async def story(world: World) -> None:
        await ordered(world)
        with suppress(Died):
            await world.process()(world.key)
        world.annotate()
        world.edit(transient=False)
        with suppress(Unfinished, Died):
            await world.settle()
        assert "W" in world.snowflake.rows
        (claim,) = world.claims
        assert "intent" not in claim

    assert await each_death(story, done=done, kind="Database") > 20


async def test_without_an_order_nothing_is_dropped_and_the_order_is_told(world: World) -> None:
    await world.settle()
    order = world.edit(transient=True)
    await world.settle()
    assert world.reason == "ImmutableField"
    assert not world.answers("DROP")
    assert f"freehold.dev/force-new: {order}" in world.message


async def test_a_drop_whose_answer_was_lost_never_hits_the_new_object(world: World) -> None:
    await ordered(world)
    lost = iter([True])

    def lose(text: str) -> None:
        if text.startswith("DROP") and next(lost, False):
            raise OutcomeUnknown("no answer", error_class=ErrorClass.TRANSIENT)

    world.snowflake.before = lose
    process = world.process()
    with suppress(Unfinished):
        await process(world.key)
    # It arrives while we wait.
    with pytest.raises(Unfinished, match="a DROP of"):
        await process(world.key)
    del world.snowflake.rows["W"]
    with pytest.raises(Unfinished, match="a DROP of"):
        await process(world.key)
    assert world.answers("CREATE") == ["ok"]
    await world.settle()
    assert world.answers("CREATE") == ["ok", "ok"]
    assert world.reason == "Available"


async def test_a_drop_that_is_refused_is_no_intent_any_more(world: World) -> None:
    await ordered(world)
    world.snowflake.refuse("DROP", SnowflakeError("insufficient privileges", number=3001, sqlstate="42501"))
    with suppress(Unfinished):
        await world.process()(world.key)
    assert "intent" not in world.claims[0]
    assert world.snowflake.rows["W"]["options"] == ""


@pytest.mark.parametrize("at", ["before the intent is written", "right before the DROP"])
async def test_an_object_that_another_one_drops_first_is_made_anew_as_ordered(world: World, at: str) -> None:
    await ordered(world)
    rows = world.snowflake.rows

    def gone(verb: str, plural: str, _name: str) -> None:
        if (verb, plural) == ("replace", "claims") and "intent" not in world.claims[0]:
            rows.pop("W", None)

    def gone_now(text: str) -> None:
        if text.startswith("DROP"):
            rows.pop("W", None)

    if at == "right before the DROP":
        world.snowflake.before = gone_now
    else:
        world.kube.before = gone
    process = world.process()
    await process(world.key)
    assert world.reason == "Available"
    assert rows["W"]["options"] == "TRANSIENT"
    assert "intent" not in world.claims[0]


async def test_a_drop_of_what_is_seen_but_said_not_to_exist_is_sent_once_and_told(world: World) -> None:
    await ordered(world)
    asked: list[str] = []

    def refuse(text: str) -> None:
        if text.startswith("DROP"):
            asked.append(text)
            raise SnowflakeError("does not exist or not authorized", number=2003, sqlstate="02000")

    world.snowflake.before = refuse
    with suppress(Unfinished):
        await world.process()(world.key)
    assert len(asked) == 1
    assert "not authorized" in world.message
    assert "intent" not in world.claims[0]


async def test_a_creation_that_is_refused_after_the_drop_is_told_and_tried_again_at_once(world: World) -> None:
    await ordered(world)
    world.snowflake.refuse("CREATE", SnowflakeError("insufficient privileges", number=3001, sqlstate="42501"))
    process = world.process()
    for _ in range(2):
        with suppress(Unfinished):
            await process(world.key)
        assert "insufficient privileges" in world.message
    world.snowflake.before = lambda _text: None
    await process(world.key)
    assert world.reason == "Available"


async def test_what_nobody_declares_is_not_dropped_along(world: World) -> None:
    await ordered(world)
    world.snowflake.content = ({"name": "S"},)
    with suppress(Unfinished):
        await world.process()(world.key)
    assert world.reason == "DeleteBlocked"
    assert "not dropped and created anew yet" in world.message
    assert not world.answers("DROP")


@pytest.mark.parametrize(
    "wish", [{"deletion": {"default": "Orphan"}}, {"annotations": {"freehold.dev/abandon-dependents": "true"}}]
)
async def test_what_the_provider_config_has_stay_is_not_recreated(world: World, wish: dict[str, Any]) -> None:
    await ordered(world)
    process = world.process()
    world.provide(**wish)
    with suppress(Unfinished):
        await process(world.key)
    assert world.reason == "DeleteBlocked"
    assert "stays: " in world.message
    assert not world.answers("DROP")


async def test_nothing_is_recreated_while_the_kind_is_being_deleted(world: World) -> None:
    await ordered(world)
    (definition,) = (body for place, body in world.kube.objects.items() if place[0] == "customresourcedefinitions")
    definition["metadata"]["deletionTimestamp"] = "2026-11-30T13:00:00Z"
    with suppress(Unfinished):
        await world.process()(world.key)
    assert not world.answers("DROP")


async def test_an_order_that_stays_in_the_manifest_costs_nothing_when_the_object_drifts(world: World) -> None:
    await ordered(world)
    await world.settle()
    world.snowflake.rows["W"]["options"] = ""
    await world.settle()
    assert world.answers("DROP") == ["ok"]
    assert world.conditions["DriftDetected"]["status"] == "True"
    assert "transient is false, should be true" in world.conditions["DriftDetected"]["message"]


async def test_an_order_that_was_carried_out_does_not_cost_what_is_adopted_in_place_of_the_object(world: World) -> None:
    await ordered(world)
    await world.settle()
    world.snowflake.make("W", "theirs")
    spec = world.kube.objects[world.place]["spec"]
    spec |= {"deletionPolicy": "Delete", "managementPolicies": {"adoptionPolicy": "adopt"}}
    await world.settle()
    assert world.claims[0]["evidence"]["how"] == "adopted"
    assert world.answers("DROP") == ["ok"]
    assert world.reason == "ImmutableField"
    assert "has had its effect" in world.message
