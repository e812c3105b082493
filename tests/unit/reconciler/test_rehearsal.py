"""Mode ReadOnly: all is looked at, planned and told; nothing but statuses is written, whatever there is to do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from freehold.metrics import REGISTRY
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import LONGEST, Fuse, World

ADOPT: dict[str, Any] = {"managementPolicies": {"adoptionPolicy": "adopt"}}


def planned(kind: str, verb: str) -> float:
    return REGISTRY.get_sample_value("freehold_planned_statements", {"kind": kind, "verb": verb}) or 0.0


async def watched(world: World) -> list[str]:
    """Reconcile once in mode ReadOnly; returns the verbs of what is written to the API server, statuses apart."""
    world.read_only = True
    written: list[str] = []

    def note(verb: str, plural: str, _name: str) -> None:
        if verb not in ("get", "list", "apply"):
            written.append(f"{verb} {plural}")

    world.kube.before = note
    with suppress(Unfinished):
        await world.process()(world.key)
    return written


def changed(world: World) -> None:
    world.edit(comment="new")


def dropped(world: World) -> None:
    world.snowflake.rows.clear()


def recreated(world: World) -> None:
    world.annotate(force_new=world.edit(transient=True))


@pytest.mark.parametrize(
    ("change", "kind", "plan"),
    [
        (changed, "Database", ["ALTER DATABASE \"W\" SET COMMENT = 'new'"]),
        (dropped, "Warehouse", ["CREATE WAREHOUSE \"W\" COMMENT = 'ours'"]),
        (recreated, "Database", ['DROP DATABASE "W"', "CREATE TRANSIENT DATABASE \"W\" COMMENT = 'ours'"]),
    ],
)
async def test_what_would_be_sent_is_told_and_not_sent(
    change: Callable[[World], None], kind: str, plan: list[str]
) -> None:
    world = World(Fuse(0, done=False), kind)
    await world.settle()
    change(world)
    sent = world.written
    assert await watched(world) == []
    assert world.written == sent
    assert world.status["plan"] == plan
    assert world.conditions["Synced"]["reason"] == "ReadOnly"
    assert planned(kind, plan[-1].split()[0]) == 1
    world.read_only = False
    await world.settle()
    assert "plan" not in world.status


@pytest.mark.parametrize("there", [False, True])
async def test_what_is_new_gets_neither_claim_nor_finalizer_nor_object(there: bool) -> None:
    world = World(Fuse(0, done=False), "Database", ADOPT)
    if there:
        world.snowflake.make("W", "theirs")
    assert await watched(world) == []
    verb = "ALTER" if there else "CREATE"
    assert [statement.split()[0] for statement in world.status["plan"]] == [verb]
    assert not world.claims
    assert not world.snowflake.sent


async def test_what_is_as_declared_is_ready() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    assert await watched(world) == []
    assert world.reason == "Available"
    assert world.conditions["Synced"]["status"] == "True"


async def test_a_refusal_is_told_as_ever() -> None:
    world = World(Fuse(0, done=False))
    world.snowflake.make("W", "theirs")
    assert await watched(world) == []
    assert world.reason == "ResourceAlreadyExists"


async def test_a_resource_whose_object_is_ours_stays_and_its_drop_is_told() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.delete()
    assert await watched(world) == []
    assert world.alive
    assert world.status["plan"] == ['DROP WAREHOUSE "W"']
    assert "W" in world.snowflake.rows


async def test_an_update_as_a_whole_is_told_as_one() -> None:
    world = World(Fuse(0, done=False), "Database", {"managementPolicies": {"createOrAlter": True}})
    await world.settle()
    changed(world)
    await watched(world)
    assert world.status["plan"] == ["CREATE OR ALTER DATABASE \"W\" COMMENT = 'new'"]


async def test_what_follows_the_creation_is_told_with_it() -> None:
    world = World(Fuse(0, done=False), "Database", {"dropPublicSchemaOnCreation": True})
    await watched(world)
    assert [statement.split(" COMMENT")[0] for statement in world.status["plan"]] == [
        'CREATE DATABASE "W"',
        'DROP SCHEMA "W"."PUBLIC"',
    ]


@pytest.mark.parametrize("going", [False, True], ids=["recreation", "deletion"])
async def test_a_drop_that_something_is_in_the_way_of_is_not_planned(going: bool) -> None:
    world = World(Fuse(0, done=False), "Database")
    await world.settle()
    world.delete() if going else recreated(world)
    world.snowflake.content = ({"name": "S"},)
    assert await watched(world) == []
    assert "plan" not in world.status
    assert world.reason == "DeleteBlocked"
    assert 'holds "S"' in world.message


async def test_what_stays_on_purpose_is_neither_let_go_nor_planned_to_be_dropped() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.annotate(abandon_on_delete="true")
    world.delete()
    assert await watched(world) == []
    assert world.alive
    assert world.claims
    assert "plan" not in world.status
    assert "the resource isn't let go" in world.message


async def test_no_way_out_of_a_deletion_is_told_that_does_nothing() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.delete()
    await watched(world)
    assert world.reason == "ReadOnly"
    assert world.conditions["DeleteBlocked"]["status"] == "True"
    assert "abandon-on-delete" not in world.message


async def test_an_intent_that_was_never_carried_out_is_nothing_to_tell() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    (claim,) = world.claims
    claim["intent"] = {"statement": "DROP", "createdOn": claim["evidence"]["createdOn"]}
    world.monotonic = -LONGEST
    world.read_only = True
    process = world.process()
    with pytest.raises(Unfinished, match="a DROP of"):
        await process(world.key)
    world.monotonic = 0.0
    await process(world.key)
    assert world.reason == "Available"


async def test_a_resource_that_never_had_an_object_keeps_its_finalizer_and_says_why() -> None:
    world = World(Fuse(0, done=False))
    world.snowflake.make("W", "theirs")
    await world.settle()
    world.delete()
    await watched(world)
    assert world.alive
    assert "nothing is let go before they run in ReadWrite" in world.message
    world.read_only = False
    await world.settle()
    assert not world.alive


async def test_the_metric_forgets_what_is_not_planned_any_more() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.edit(comment="new")
    world.read_only = True
    process = world.process()
    before = planned("Warehouse", "ALTER")
    await process(world.key)
    assert planned("Warehouse", "ALTER") == before + 1
    world.edit(comment="ours")
    await process(world.key)
    assert planned("Warehouse", "ALTER") == before
