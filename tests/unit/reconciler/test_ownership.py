"""Whose an object is, over the lives of resources: handed over to another one, given up, never owned by two."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from freehold import slots
from freehold.claim_rules import GRACE
from freehold.claim_store import ClaimStore
from freehold.claims import Evidence, Holder, new_claim
from freehold.identity import Identity, Name, Slot
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Object
from freehold.lifecycle.reasons import Reason
from freehold_controllers.reconciler.finalizer import FINALIZER
from freehold_controllers.reconciler.following import Following
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.ownership import require_recorded
from freehold_controllers.reconciler.sweeping import go_round
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import BEGIN, LONGEST, Fuse, World, deleted_with_a_lost_answer, each_death

UNSETTLED = {"attempt": 1, "since": "2026-11-30T12:00:00Z", "outcome": "sent"}


TABLE = Identity("R.A", "TABLE", Name(("D", "S", "T")))


@pytest.mark.parametrize(
    ("slot", "recorded", "waits"),
    [
        (slots.ownership(slots.of("TABLE", "D", "S", "T")), False, True),
        (slots.ownership(slots.of("VIEW", "D", "S", "T")), False, True),
        (slots.ownership(slots.of("TABLE", "D", "S", "T")), True, False),
        (slots.ownership(slots.of("TABLE", "D", "S", "OTHER")), False, False),
        (slots.ownership(slots.future_in("TABLES", slots.of("SCHEMA", "D", "S"))), False, False),
    ],
)
async def test_ownership_is_moved_once_it_is_recorded_whose_an_object_is(
    slot: Slot, *, recorded: bool, waits: bool
) -> None:
    world = quiet()
    holder = Holder(group="g", kind="Table", namespace="n", name="t", uid="u")
    claim = new_claim(TABLE, "O.A", holder)
    if recorded:
        evidence = Evidence(how="created", created_on=BEGIN, role="R", time=BEGIN)
        claim = replace(claim, spec=claim.spec.model_copy(update={"evidence": evidence}))
    store = ClaimStore(world.kube)
    await store.create(claim)
    services: Any = SimpleNamespace(store=store, following=Following())
    manifest = {"objectType": "TABLE", "objectName": "D.S.T", "accountRole": "X"}
    metadata = {"name": "x", "namespace": "n"}
    managed = Managed.read(
        Object({"kind": "GrantOwnership", "metadata": metadata, "spec": manifest}), KINDS["GrantOwnership"]
    )
    moving = require_recorded(services, managed, Identity("R.A", "GRANT", slot))
    if not waits:
        await moving
        return
    with pytest.raises(Stopped) as stopped:
        await moving
    assert stopped.value.stop.reason is Reason.DEPENDENCY_NOT_READY
    assert "is declared by Table n/t, which hasn't made it yet" in stopped.value.stop.message


def quiet() -> World:
    """A world in which nobody dies."""
    return World(Fuse(0, done=False))


async def test_an_object_that_is_handed_over_is_only_looked_at() -> None:
    world = quiet()
    await world.settle()
    before = list(world.snowflake.sent)
    evidence = world.claims[0]["evidence"]
    world.annotate(hand_over_to="m/y")
    heir, process = world.join(), world.process()
    await process(heir)
    assert world.reason_of(heir) == "AwaitingHandOver"
    world.delete()
    await process(world.key)
    assert not world.alive
    await process(heir)
    assert world.reason_of(heir) == "Available"
    (claim,) = world.claims
    assert (claim["holder"]["namespace"], claim["holder"]["name"], claim["evidence"]) == ("m", "y", evidence)
    assert claim["holder"]["uid"] == world.kube.objects[world.path.plural, "m", "y"]["metadata"]["uid"]
    assert [sent for sent in world.snowflake.sent[len(before) :] if not sent[0].startswith("SHOW")] == []


async def test_an_heir_that_is_deleted_before_it_was_worked_on_takes_the_object_along() -> None:
    world = quiet()
    await world.settle()
    world.annotate(hand_over_to="m/y")
    heir, process = world.join(), world.process()
    world.delete()
    await process(world.key)
    metadata = world.kube.objects[world.path.plural, heir.namespace, heir.name]["metadata"]
    assert metadata["finalizers"] == [FINALIZER]
    metadata["deletionTimestamp"] = "2026-11-30T13:00:00Z"
    await process(heir)
    assert world.answers("DROP") == ["ok"]
    assert not world.claims


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_while_handing_over_loses_neither_object_nor_evidence(done: bool) -> None:
    async def story(world: World) -> None:
        await world.settle()
        evidence = [claim["evidence"] for claim in world.claims]
        world.annotate(hand_over_to="m/y")
        world.join()
        world.delete()
        await world.settle()
        assert [(each["holder"]["name"], each["evidence"]) for each in world.claims] == [("y", *evidence)]
        assert world.snowflake.rows
        assert not world.answers("DROP")
        assert not world.alive

    assert await each_death(story, done=done) > 15


async def test_the_holder_stays_until_its_heir_has_come() -> None:
    world = quiet()
    await world.settle()
    world.annotate(hand_over_to="m/y")
    world.delete()
    process = world.process()
    with pytest.raises(Unfinished, match="isn't there"):
        await process(world.key)
    heir = world.join()
    await process(world.key)
    assert not world.alive
    await process(heir)
    assert world.reason_of(heir) == "Available"
    assert not world.answers("DROP")


@pytest.mark.parametrize("spec", [{"name": "OTHER"}, {"managementPolicies": {"observeOnly": True}}])
async def test_nobody_is_given_an_object_that_he_does_not_ask_for(spec: dict[str, object]) -> None:
    world = quiet()
    await world.settle()
    world.annotate(hand_over_to="m/y")
    world.join(**spec)
    world.delete()
    with pytest.raises(Unfinished, match="doesn't stand for"):
        await world.process()(world.key)
    assert [claim["holder"]["name"] for claim in world.claims] == ["x"]


async def test_without_the_annotation_the_deletion_policy_decides_again() -> None:
    world = quiet()
    await world.settle()
    world.annotate(hand_over_to="m/y")
    world.delete()
    with suppress(Unfinished):
        await world.process()(world.key)
    world.annotate()
    await world.settle()
    assert world.answers("DROP") == ["ok"]
    assert not world.alive


@pytest.mark.parametrize(
    "wish",
    [
        *({"hand_over_to": value} for value in ("", "y", "m/y ", "m/Y", "m/y/z", "n/x")),
        *({"abandon_on_delete": value} for value in ("", "True", " true", "yes")),
    ],
)
async def test_an_object_is_not_dropped_for_a_slip_in_the_annotation_that_spares_it(wish: dict[str, str]) -> None:
    world = quiet()
    await world.settle()
    world.annotate(**wish)
    world.delete()
    await world.settle()
    assert (world.reason_of(world.key), world.answers("DROP")) == ("DeleteBlocked", [])
    world.annotate()
    await world.settle()
    assert not world.alive


async def test_nothing_is_handed_over_while_a_drop_may_be_under_way() -> None:
    world = await deleted_with_a_lost_answer()
    world.annotate(hand_over_to="m/y")
    world.join()
    process = world.process()
    with pytest.raises(Unfinished, match="a DROP of"):
        await process(world.key)
    world.monotonic += LONGEST
    await process(world.key)
    assert [claim["holder"]["name"] for claim in world.claims] == ["y"]


async def test_a_claim_without_an_object_is_free_for_the_heir_to_ask_for() -> None:
    world = quiet()
    world.snowflake.make("W", "theirs")
    await world.settle()
    world.annotate(hand_over_to="m/y")
    world.delete()
    heir, process = world.join(), world.process()
    await process(world.key)
    assert not world.claims
    await process(heir)
    assert [claim["holder"]["name"] for claim in world.claims] == ["y"]
    assert world.reason_of(heir) == "ResourceAlreadyExists"


async def test_who_only_observes_owns_nothing_and_starts_anew_afterwards() -> None:
    world = quiet()
    await world.settle()
    process, spec = world.process(), world.kube.objects[world.place]["spec"]
    world.learn()
    spec["managementPolicies"] = {"observeOnly": True}
    await process(world.key)
    assert world.reason == "Available"
    assert not world.claims
    assert not world.kube.objects[world.place]["metadata"]["finalizers"]
    spec["managementPolicies"] = {}
    process = world.process()
    await process(world.key)
    assert world.reason == "ResourceAlreadyExists"
    spec["managementPolicies"] = {"adoptionPolicy": "adopt"}
    await process(world.key)
    assert world.claims[0]["evidence"]["how"] == "adopted"
    assert not world.answers("DROP")


async def test_who_only_observes_gives_up_a_claim_that_the_live_index_does_not_know_yet() -> None:
    world = quiet()
    await world.settle()
    world.kube.objects[world.place]["spec"]["managementPolicies"] = {"observeOnly": True}
    await world.process()(world.key)
    assert not world.claims
    assert not world.kube.objects[world.place]["metadata"]["finalizers"]


async def test_what_is_unknown_of_an_object_is_not_forgotten_by_who_observes_it() -> None:
    world = quiet()
    await world.settle()
    process = world.process()
    world.learn()
    (claim,) = world.claims
    claim["mark"] = UNSETTLED
    world.kube.objects[world.place]["spec"]["managementPolicies"] = {"observeOnly": True}
    await process(world.key)
    assert world.claims == [claim]
    assert world.kube.objects[world.place]["metadata"]["finalizers"] == ["freehold.dev/claim"]


async def test_the_second_of_two_waits_and_makes_the_object_anew_once_the_first_is_gone() -> None:
    world = quiet()
    await world.settle()
    second, process = world.join(), world.process()
    for _ in range(2):
        with suppress(Unfinished):
            await process(second)
        assert world.reason_of(second) == "ConflictDetected"
        world.kube.advance(GRACE)
    world.delete()
    await process(world.key)
    await process(second)
    assert world.reason_of(second) == "Available"
    assert world.answers("CREATE") == ["ok", "ok"]


async def test_who_was_refused_an_object_takes_nothing_along_when_it_goes() -> None:
    world = quiet()
    await world.settle()
    second, process = world.join(comment="theirs"), world.process()
    with suppress(Unfinished):
        await process(second)
    assert world.reason_of(second) == "ConflictDetected"
    place = (world.path.plural, "m", "y")
    world.kube.objects[place]["metadata"]["deletionTimestamp"] = "2026-11-30T13:00:00Z"
    await process(second)
    assert place not in world.kube.objects
    assert [claim["holder"]["name"] for claim in world.claims] == ["x"]
    assert world.snowflake.sent == [("CREATE", "ok")]


def shuffled(seed: int) -> World:
    """A world in which requests of tasks that run at once arrive in an order of their own for each seed."""
    world, chance = quiet(), Random(seed)  # noqa: S311  # to be repeated, not a secret
    world.kube.turns = lambda: chance.choice((0, 1, 2, 5, 20))
    return world


@pytest.mark.parametrize("seed", range(50))
async def test_two_that_come_at_once_never_both_own_an_object(seed: int) -> None:
    world = shuffled(seed)
    other = world.join()
    # Processes of their own, as those of two releases are.
    await asyncio.gather(world.process()(world.key), world.process()(other), return_exceptions=True)
    reasons = {key.name: world.reason_of(key) for key in (world.key, other)}
    assert sorted(reasons.values()) == ["Available", "ConflictDetected"]
    (claim,) = world.claims
    assert reasons[claim["holder"]["name"]] == "Available"
    assert world.answers("CREATE") == ["ok"]


@pytest.mark.parametrize("seed", range(50))
async def test_who_goes_while_another_one_comes_takes_nothing_along(seed: int) -> None:
    world = shuffled(seed)
    await world.settle()
    world.delete()
    other = world.join()
    await asyncio.gather(world.process()(world.key), world.process()(other), return_exceptions=True)
    with suppress(Unfinished):
        await world.process()(other)
    assert not world.alive
    assert world.reason_of(other) == "Available"
    assert world.snowflake.sent[-1] == ("CREATE", "ok")
    assert world.answers("DROP") == ["ok"]


@pytest.mark.parametrize("seed", range(50))
async def test_an_heir_that_comes_while_the_holder_goes_has_the_object(seed: int) -> None:
    world = shuffled(seed)
    await world.settle()
    world.annotate(hand_over_to="m/y")
    world.delete()
    heir = world.join()
    await asyncio.gather(world.process()(world.key), world.process()(heir), return_exceptions=True)
    await world.process()(heir)
    assert not world.alive
    assert world.reason_of(heir) == "Available"
    assert [sent for sent in world.snowflake.sent if not sent[0].startswith("SHOW")] == [("CREATE", "ok")]


@pytest.mark.parametrize("seed", range(50))
async def test_a_claim_that_is_taken_while_it_is_swept_is_not_missing_to_its_owner(seed: int) -> None:
    world = shuffled(seed)
    world.snowflake.make("W", "theirs")
    await world.settle()
    other = world.join()
    world.snowflake.rows.clear()
    world.kube.remove(world.path, "x", "n")
    world.kube.advance(GRACE)
    sweeper, process = world.process(), world.process()
    world.learn()
    sweeper._services.inventory.note(None, next(world.stored_claims))
    sweep = go_round(sweeper._services, timedelta(0), pace=timedelta(0))
    await asyncio.gather(sweep, process(other), return_exceptions=True)
    with suppress(Unfinished):
        await process(other)
    assert world.reason_of(other) == "Available"
    assert [claim["holder"]["name"] for claim in world.claims] == ["y"]


async def test_a_resource_that_is_deleted_before_its_first_reconcile_gets_no_finalizer_and_gives_up_its_claim() -> None:
    world = quiet()
    metadata = world.kube.objects[world.place]["metadata"]
    metadata["finalizers"] = ["example.com/another"]
    world.delete()
    holder = Holder(group=world.path.group, kind=world.kind, namespace="n", name="x", uid=metadata["uid"])
    # As admission leaves it.
    await ClaimStore(world.kube).create(new_claim(Identity("R.A", "WAREHOUSE", Name(("W",))), "O.A", holder))
    await world.process()(world.key)
    assert world.kube.objects[world.place]["metadata"]["finalizers"] == ["example.com/another"]
    assert not world.claims
    assert not world.snowflake.sent
