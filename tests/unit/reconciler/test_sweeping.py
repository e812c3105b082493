"""Which claims are removed, which are looked at and which are counted."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from freehold.claim_rules import GRACE
from freehold.claims import CLAIM
from freehold.kube.errors import Unavailable
from freehold.kube.objects import Object
from freehold.metrics import REGISTRY
from freehold_controllers.reconciler.sweeping import Census, census, go_round, sweeping
from tests.unit.reconciler.world import Fuse, World

NONE = timedelta(0)
UNKNOWN = {"attempt": 1, "since": "2026-11-30T12:00:00Z", "outcome": "sent"}
EVIDENCE = {"how": "created", "createdOn": "2026-11-30T12:00:00Z", "role": "R", "time": "2026-11-30T12:00:00Z"}
INTENT = {"statement": "DROP", "createdOn": "2026-11-30T12:00:00Z"}


async def held(**parts: Any) -> World:
    """A world in which a resource holds a claim to what exists already; with further parts of the claim."""
    world = World(Fuse(0, done=False))
    world.snowflake.make("W", "theirs")
    await world.settle()
    (claim,) = world.claims
    for name, part in parts.items():
        claim[name] = part
    return world


async def sweep(world: World) -> list[str]:
    """One round over the claims there are; answers with the claims that were read."""
    process = world.process()
    world.learn()
    read: list[str] = []
    meddle = world.kube.before

    def before(verb: str, plural: str, name: str) -> None:
        read.extend([name] if (verb, plural) == ("get", "claims") else [])
        meddle(verb, plural, name)

    world.kube.before = before
    await go_round(process._services, NONE, pace=NONE)
    world.kube.before = meddle
    return read


async def test_a_claim_that_binds_nobody_is_removed_after_the_grace() -> None:
    world = await held()
    world.kube.remove(world.path, "x", "n")
    await sweep(world)
    assert world.claims
    world.kube.advance(GRACE)
    await sweep(world)
    assert not world.claims


async def test_a_claim_whose_resource_asks_for_the_object_stays() -> None:
    world = await held()
    world.kube.advance(GRACE)
    assert await sweep(world)
    assert world.claims


@pytest.mark.parametrize("change", [{"name": "OTHER"}, {"managementPolicies": {"observeOnly": True}}])
async def test_a_claim_whose_resource_does_not_ask_for_the_object_is_removed(change: dict[str, Any]) -> None:
    world = await held()
    world.kube.objects[world.place]["spec"] |= change
    world.kube.advance(GRACE)
    await sweep(world)
    assert not world.claims


@pytest.mark.parametrize("part", [{"evidence": EVIDENCE}, {"mark": UNKNOWN}, {"intent": INTENT}])
async def test_a_claim_that_tells_of_an_object_is_not_even_looked_at(part: dict[str, Any]) -> None:
    world = await held(**part)
    world.kube.remove(world.path, "x", "n")
    world.kube.advance(GRACE)
    assert await sweep(world) == []
    assert world.claims


async def test_a_claim_that_tells_of_an_object_since_it_was_listed_stays() -> None:
    world = await held()
    world.kube.remove(world.path, "x", "n")
    world.kube.advance(GRACE)
    (claim,) = world.claims
    world.kube.before = lambda verb, plural, _name: (
        claim.update(evidence=EVIDENCE) if (verb, plural) == ("get", "claims") else None
    )
    await sweep(world)
    assert world.claims


async def test_a_claim_that_is_taken_meanwhile_stays() -> None:
    world = await held()
    world.kube.remove(world.path, "x", "n")
    world.kube.advance(GRACE)
    (place,) = [place for place in world.kube.objects if place[0] == "claims"]

    def taken(verb: str, plural: str, _name: str) -> None:
        if (verb, plural) == ("delete", "claims"):
            stored = world.kube.objects[place]
            spec = {**stored["spec"], "holder": {**stored["spec"]["holder"], "name": "y"}}
            world.kube.put(CLAIM.path, place[2], metadata=stored["metadata"], spec=spec)

    world.kube.before = taken
    await sweep(world)
    assert [each["holder"]["name"] for each in world.claims] == ["y"]


async def test_a_claim_whose_holder_cannot_be_read_stays() -> None:
    world = await held()
    world.kube.remove(world.path, "x", "n")
    world.kube.advance(GRACE)

    def fail(_verb: str, plural: str, _name: str) -> None:
        if plural == world.path.plural:
            raise Unavailable(503, "ServiceUnavailable", "no answer")

    world.kube.before = fail
    assert await sweep(world)
    assert world.claims


async def test_a_claim_that_cannot_be_read_holds_up_no_other() -> None:
    world = await held()
    world.kube.remove(world.path, "x", "n")
    world.kube.advance(GRACE)
    first = min(place[2] for place in world.kube.objects if place[0] == "claims")
    body = world.kube.objects[CLAIM.path.plural, "", first]
    world.kube.put(CLAIM.path, "zzz", metadata={"labels": body["metadata"]["labels"]}, spec=body["spec"])

    def fail(verb: str, plural: str, name: str) -> None:
        if (verb, plural, name) == ("get", CLAIM.path.plural, first):
            raise Unavailable(503, "ServiceUnavailable", "no answer")

    world.kube.before = fail
    world.kube.advance(GRACE)
    await sweep(world)
    assert [place[2] for place in world.kube.objects if place[0] == "claims"] == [first]


async def test_nothing_is_removed_before_the_claims_are_listed() -> None:
    world = await held()
    world.kube.remove(world.path, "x", "n")
    world.kube.advance(GRACE)
    process = world.process()
    world.learn()
    world.reflectors[CLAIM.kind].synced.clear()
    await go_round(process._services, NONE, pace=NONE)
    assert world.claims


def resource(name: str, **spec: Any) -> Object:
    return Object({"kind": "Warehouse", "metadata": {"name": name, "namespace": "n"}, "spec": spec})


async def test_who_holds_nothing_and_what_is_held_by_nobody_is_counted_by_kind() -> None:
    world = await held(evidence=EVIDENCE)
    world.process()
    world.learn()
    watching = resource("watching", managementPolicies={"observeOnly": True})
    going = Object({"metadata": {"name": "going", "namespace": "n", "deletionTimestamp": "2026-11-30T13:00:00Z"}})
    there = census(world.inventory, {"Warehouse": [resource("x"), watching, going], "Database": []})
    assert there == Census({"Warehouse": 0, "Database": 0}, {"Warehouse": 0, "Database": 0}, [])
    gone = census(world.inventory, {"Warehouse": [resource("y"), resource("z")]})
    assert gone == Census({"Warehouse": 2}, {"Warehouse": 1}, [])


async def test_what_another_release_works_on_is_neither_counted_nor_removed() -> None:
    world = await held()
    process = world.process()
    world.learn()
    world.kube.remove(world.path, "x", "n")
    resources = {"Warehouse": [resource("y")]}
    assert census(world.inventory, resources, lambda namespace: namespace != "n") == Census(
        {"Warehouse": 0}, {"Warehouse": 0}, []
    )
    world.kube.advance(GRACE)
    await go_round(process._services, NONE, lambda namespace: namespace != "n", NONE)
    assert world.claims


async def test_a_kind_that_is_not_listed_yet_counts_nothing_as_absent() -> None:
    world = await held(evidence=EVIDENCE)
    world.process()
    world.learn()
    assert census(world.inventory, {"Database": []}) == Census({"Database": 0}, {"Database": 0}, [])


async def test_the_counts_are_told_while_this_process_sweeps() -> None:
    world = await held(evidence=EVIDENCE)
    process = world.process()
    world.learn()
    sweeper = asyncio.create_task(sweeping(process._services, NONE))
    await asyncio.sleep(0)
    told = ("freehold_claims_without_holder", {"kind": "Warehouse"})
    assert REGISTRY.get_sample_value(*told) == 1
    sweeper.cancel()
    await asyncio.gather(sweeper, return_exceptions=True)
    assert REGISTRY.get_sample_value(*told) is None
