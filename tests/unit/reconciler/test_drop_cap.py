"""Caps of DROPs: each is counted in the ProviderConfig's status before it is sent, by whoever drops."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.lifecycle.drop_cap import refusal
from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import Fuse, World, each_death

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIRM = "freehold.dev/confirm-deletions-until"


def config(cap: int | None, *ago: float, until: str | None = None) -> Object:
    """A ProviderConfig through which objects were dropped so many minutes ago."""
    drops = [(NOW - timedelta(minutes=each)).isoformat() for each in ago]
    return Object(
        {
            "metadata": {"namespace": "n", "name": "default", "annotations": {CONFIRM: until} if until else {}},
            "spec": {} if cap is None else {"deletion": {"maxPerHour": cap}},
            "status": {"recentDrops": drops},
        }
    )


@pytest.mark.parametrize(
    ("config", "refused"),
    [
        pytest.param(config(None, 1, 2, 3), False, id="no cap"),
        pytest.param(config(2, 1), False, id="room"),
        pytest.param(config(2, 1, 2), True, id="no room"),
        pytest.param(config(2, 1, 60), False, id="room again after an hour"),
        pytest.param(config(0), True, id="none without confirmation"),
        pytest.param(config(0, until="2026-11-30T12:00:01Z"), False, id="confirmed"),
        pytest.param(config(0, until="2026-11-30T13:00:01+01:00"), False, id="confirmed in another zone"),
        pytest.param(config(0, until="2026-11-30T12:00:00Z"), True, id="no longer confirmed"),
        pytest.param(config(0, until="2026-11-30T13:00:00"), True, id="a time without a zone"),
        pytest.param(config(0, until="tomorrow"), True, id="no time"),
    ],
)
def test_room(config: Object, refused: bool) -> None:
    assert (refusal(config, NOW) is not None) == refused


def test_who_waits_is_told_what_to_do_and_what_is_wrong_with_a_confirmation() -> None:
    stop = refusal(config(3, 1, 2, 3, until="tomorrow"), NOW)
    assert stop is not None
    assert stop.soon
    assert "ProviderConfig n/default lets no more than 3 of the objects that hold data" in stop.message
    assert CONFIRM in stop.message
    assert "to a time to come, as 2006-01-02T15:04:05Z (it is 'tomorrow' now)" in stop.message


def test_who_may_drop_nothing_is_not_told_to_wait() -> None:
    stop = refusal(config(0), NOW)
    assert stop is not None
    assert "by itself" not in stop.message
    assert CONFIRM in stop.message


def capped(cap: int, kind: str = "Database", until: str | None = None) -> World:
    world = World(Fuse(0, done=False), kind)
    world.provide({CONFIRM: until} if until else {}, deletion={"maxPerHour": cap})
    return world


async def deleted(world: World) -> World:
    """After a pass over the resource, which is being deleted."""
    await world.settle()
    world.delete()
    with suppress(Unfinished):
        await world.process()(world.key)
    return world


async def test_a_drop_is_counted() -> None:
    world = await deleted(capped(2))
    assert not world.alive
    assert len(world.recent_drops) == 1


@pytest.mark.parametrize("kind", ["Warehouse"])
async def test_what_holds_no_data_is_not_counted(kind: str) -> None:
    world = await deleted(capped(0, kind))
    assert not world.alive
    assert not world.recent_drops


async def test_beyond_the_cap_nothing_is_sent_and_no_intent_is_left() -> None:
    world = await deleted(capped(0))
    assert world.alive
    assert world.reason == "DeleteBlocked"
    assert not world.answers("DROP")
    assert "intent" not in world.claims[0]


async def test_the_status_decides_where_the_live_copy_is_behind() -> None:
    world = capped(1)
    await world.settle()
    world.delete()
    process = world.process()
    now = world.kube.clock.isoformat()
    world.kube.objects["providerconfigs", "n", "default"]["status"] = {"recentDrops": [now]}
    with suppress(Unfinished):
        await process(world.key)
    assert not world.answers("DROP")
    assert world.recent_drops == [now]


async def test_a_confirmation_lets_any_number_through_and_the_list_does_not_grow() -> None:
    world = await deleted(capped(0, until="2026-11-30T12:30:00Z"))
    assert not world.alive
    assert not world.recent_drops


async def test_a_refused_drop_is_given_back() -> None:
    world = capped(1)
    await world.settle()
    world.delete()
    world.snowflake.refuse("DROP", SnowflakeError("no", number=3001, sqlstate="42501"))
    with suppress(Unfinished):
        await world.process()(world.key)
    assert world.alive
    assert not world.recent_drops


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_at_any_time_never_drops_what_was_not_counted(done: bool) -> None:
    async def story(world: World) -> None:
        world.provide(deletion={"maxPerHour": 3})
        await world.settle()
        world.delete()
        await world.settle()
        assert not world.alive
        assert world.answers("DROP").count("ok") == 1
        assert 1 <= len(world.recent_drops) <= 2

    assert await each_death(story, done=done, kind="Database") > 15


async def test_the_provider_config_can_have_objects_stay_whose_resources_do_not_say() -> None:
    for policy, stays in ((None, True), ("Delete", False), ("Orphan", True)):
        world = World(Fuse(0, done=False), "Database", {"deletionPolicy": policy} if policy else {})
        world.provide(deletion={"default": "Orphan"})
        await deleted(world)
        assert not world.alive
        assert ("W" in world.snowflake.rows) == stays


async def test_dependents_that_may_be_meant_to_be_abandoned_are_not_dropped() -> None:
    world = World(Fuse(0, done=False), kind="Warehouse")
    await world.settle()
    world.provide({"freehold.dev/abandon-dependents": "True"})
    world.delete()
    await world.settle()
    assert (world.reason_of(world.key), world.answers("DROP")) == ("DeleteBlocked", [])


@pytest.mark.parametrize(
    "wish",
    [
        {"deletion": {"default": "Orphan"}},
        {"deletion": {"maxPerHour": 0}},
        {"annotations": {"freehold.dev/abandon-dependents": "true"}},
    ],
)
async def test_what_a_provider_config_says_counts_before_the_live_copy_knows_it(wish: dict[str, Any]) -> None:
    world = World(Fuse(0, done=False), "Database")
    await world.settle()
    world.delete()
    process = world.process()
    world.provide(**wish)
    with suppress(Unfinished):
        await process(world.key)
    assert not world.answers("DROP")
    assert "W" in world.snowflake.rows


async def test_dependents_are_abandoned_at_once_without_a_statement() -> None:
    spec: dict[str, Any] = {"paused": True, "deletionPolicy": "Delete"}
    world = World(Fuse(0, done=False), "Database")
    await world.settle()
    sent = list(world.snowflake.sent)
    world.kube.objects[world.place]["spec"] |= spec
    world.provide({"freehold.dev/abandon-dependents": "true"})
    world.delete()
    await world.process()(world.key)
    assert not world.alive
    assert not world.claims
    assert world.snowflake.sent == sent
    assert "W" in world.snowflake.rows
