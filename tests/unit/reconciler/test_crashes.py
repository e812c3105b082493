"""A process that dies before or after any of its requests: the next one ends where an undisturbed one would have."""

from __future__ import annotations

import copy
import itertools
from contextlib import suppress
from datetime import datetime

import pytest

from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM, Holder, new_claim
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kube.objects import Object
from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.runtime.work import Forget, Unfinished
from tests.unit.reconciler.world import KEY, LONGEST, Died, Fuse, World, deleted_with_a_lost_answer, each_death


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_while_creating_leaves_one_object_that_is_known_to_be_ours(done: bool) -> None:
    async def story(world: World) -> None:
        await world.settle()
        assert world.reason == "Available"
        assert world.answers("CREATE").count("ok") == 1
        assert set(world.answers("CREATE")) <= {"ok", "002002"}
        assert world.snowflake.rows["W"]["comment"] == "ours"
        (claim,) = world.claims
        created_on = world.snowflake.rows["W"]["created_on"]
        assert claim["evidence"]["how"] == "created"
        assert datetime.fromisoformat(claim["evidence"]["createdOn"]) == created_on
        assert claim["mark"]["outcome"] == "done"

    assert await each_death(story, done=done) > 10


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_at_any_time_of_a_whole_life_leaves_nothing_behind(done: bool) -> None:
    async def story(world: World) -> None:
        await world.settle()
        world.delete()
        await world.settle()
        assert not world.snowflake.rows
        assert not world.claims
        assert not world.alive
        assert world.answers("DROP").count("ok") == 1

    assert await each_death(story, done=done) > 15


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_never_makes_a_strangers_object_ours(done: bool) -> None:
    async def story(world: World) -> None:
        world.snowflake.make("W", "theirs")
        await world.settle()
        assert world.reason == "ResourceAlreadyExists"
        world.delete()
        await world.settle()
        assert world.snowflake.rows["W"]["comment"] == "theirs"
        assert set(world.snowflake.sent) <= {("CREATE", "002002")}
        assert not world.alive

    assert await each_death(story, done=done) > 10


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_kind_that_goes_and_comes_back_owns_the_same_objects(done: bool) -> None:
    async def story(world: World) -> None:
        await world.settle()
        world.define(deletionTimestamp="2026-11-30T12:30:00Z")
        world.delete()
        await world.settle()
        assert not world.alive
        world.define()
        world.declare()
        await world.settle()
        assert world.reason == "Available"
        assert world.answers("CREATE").count("ok") == 1
        assert not world.answers("DROP")

    assert await each_death(story, done=done) > 10


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_resource_that_is_deleted_while_its_creation_is_cut_short_leaves_nothing(done: bool) -> None:
    async def story(world: World) -> None:
        with suppress(Died):
            await world.process()(KEY)
        world.delete()
        await world.settle()
        assert not world.snowflake.rows
        assert not [claim for claim in world.claims if "evidence" in claim or "mark" in claim]

    assert await each_death(story, done=done) > 10


async def test_an_object_that_a_role_is_given_at_birth_is_left_alone_without_another_creation() -> None:
    world = World(Fuse(0, done=False))
    world.snowflake.owner = "OTHER"
    process = world.process()
    await process(world.key)
    claim = copy.deepcopy(world.claims)
    await process(world.key)
    assert world.reason == "OwnedByOther"
    assert world.answers("CREATE") == ["ok"]
    assert world.claims == claim


async def test_an_attempt_that_was_refused_never_makes_a_later_object_ours() -> None:
    world = World(Fuse(0, done=False))
    world.snowflake.make("W", "theirs")
    await world.settle()
    world.snowflake.make("W", "made anew by the same role")
    await world.settle()
    assert world.reason == "ResourceAlreadyExists"
    assert "evidence" not in world.claims[0]


async def test_a_value_that_never_settles_is_sent_three_times_and_then_left_alone() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.snowflake.make("W", "theirs")
    world.snowflake.rows["W"]["created_on"] = datetime.fromisoformat(world.claims[0]["evidence"]["createdOn"])

    class Stubborn(dict[str, object]):
        def __setitem__(self, key: str, value: object) -> None:
            pass

    world.snowflake.rows["W"] = Stubborn(world.snowflake.rows["W"])
    reconcile = world.process()
    for _ in range(3):
        await reconcile(KEY)
    assert world.reason == "NotConverging"
    assert world.answers("ALTER") == ["ok"] * 3


async def test_a_new_databases_empty_public_is_dropped_under_a_claim_of_its_own() -> None:
    world = World(Fuse(0, done=False), "Database", {"dropPublicSchemaOnCreation": True})
    claimed: list[str] = []
    world.snowflake.before = lambda text: claimed.extend(
        each["identity"]["fqn"] for each in world.claims if text.startswith("DROP SCHEMA")
    )
    await world.settle()
    assert claimed == ['"W"', '"W"."PUBLIC"']
    assert [claim["identity"]["fqn"] for claim in world.claims] == ['"W"']


async def test_a_new_databases_public_that_another_resource_claims_is_left_alone() -> None:
    world = World(Fuse(0, done=False), "Database", {"dropPublicSchemaOnCreation": True})
    other = Holder(group="snowflake.freehold.dev", kind="Schema", namespace="m", name="public", uid="u")
    store = ClaimStore(world.kube)
    await store.create(new_claim(Identity("R.A", "SCHEMA", Name(("W", "PUBLIC"))), "O.A", other))
    await world.settle()
    assert not world.answers('DROP SCHEMA "W"."PUBLIC"')
    assert {claim["holder"]["name"] for claim in world.claims} == {"x", "public"}


@pytest.mark.parametrize("unlisted", ["Claim", "Schema"])
async def test_a_container_is_not_dropped_before_it_is_known_what_lies_inside(unlisted: str) -> None:
    world = World(Fuse(0, done=False), "Database")
    await world.settle()
    world.kube.objects[world.place]["metadata"]["annotations"] = {"freehold.dev/force-destroy": "true"}
    world.delete()
    process = world.process()
    world.reflectors[unlisted].synced.clear()
    with pytest.raises(Unfinished, match="isn't known yet"):
        await process(world.key)
    assert not world.answers("DROP")
    world.reflectors[unlisted].synced.set()
    await process(world.key)
    assert world.answers("DROP") == ["ok"]


@pytest.mark.parametrize("number", [709, 695, 390112, 999999])
async def test_an_object_whose_creation_got_a_vague_answer_is_ours(number: int) -> None:
    world = World(Fuse(0, done=False))

    def answer(text: str) -> None:
        if text.startswith("CREATE") and not world.snowflake.rows:
            world.snowflake.make("W", "ours")
            raise SnowflakeError("vague", number=number)

    world.snowflake.before = answer
    with suppress(Unfinished):
        await world.process()(world.key)
    assert world.claims[0]["mark"]["outcome"] == "sent"
    await world.settle()
    assert world.reason == "Available"
    assert world.claims[0]["evidence"]["how"] == "created"


@pytest.mark.parametrize("successor", [None, "theirs"])
async def test_what_came_in_place_of_an_object_before_its_drop_is_left_alone(successor: str | None) -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.delete()
    rows = world.snowflake.rows

    def replaced(verb: str, plural: str, _name: str) -> None:
        if (verb, plural) == ("replace", "claims"):
            rows.pop("W", None)
            if successor:
                world.snowflake.make("W", successor)

    world.kube.before = replaced
    await world.settle()
    assert not world.answers("DROP")
    assert [row["comment"] for row in rows.values()] == ([successor] if successor else [])
    assert not world.alive
    assert not world.claims


async def test_what_is_in_the_way_is_told_without_asking_what_the_role_sees() -> None:
    world = World(Fuse(0, done=False), "Database")
    await world.settle()
    world.snowflake.content = ({"name": "S"},)
    world.delete()
    asked = world.snowflake.asked_what_it_sees
    with suppress(Unfinished):
        await world.process()(world.key)
    assert world.reason == "DeleteBlocked"
    assert world.snowflake.asked_what_it_sees == asked


async def test_a_drop_whose_answer_was_lost_is_over_before_the_next_one_is_sent() -> None:
    world = await deleted_with_a_lost_answer()
    process = world.process()
    for _ in range(2):
        with pytest.raises(Unfinished, match="a DROP of"):
            await process(world.key)
    world.monotonic += LONGEST
    await process(world.key)
    assert world.answers("DROP") == ["ok"]
    assert not world.alive


async def test_an_object_that_is_gone_after_a_lost_answer_is_released_only_when_the_drop_is_over() -> None:
    world = await deleted_with_a_lost_answer()
    world.snowflake.rows.clear()
    process = world.process()
    with pytest.raises(Unfinished, match="a DROP of"):
        await process(world.key)
    assert world.claims
    world.monotonic += LONGEST
    await process(world.key)
    assert not world.claims


async def test_a_drop_that_was_refused_is_sent_again_at_once() -> None:
    world = World(Fuse(0, done=False))
    await world.settle()
    world.delete()
    refusals = iter([SnowflakeError("insufficient privileges", number=3001, sqlstate="42501")])

    def refuse(text: str) -> None:
        if text.startswith("DROP") and (error := next(refusals, None)):
            raise error

    world.snowflake.before = refuse
    process = world.process()
    with suppress(Unfinished):
        await process(world.key)
    assert world.reason == "DeleteBlocked"
    await process(world.key)
    assert not world.alive


async def test_a_resource_that_is_gone_is_forgotten() -> None:
    world = World(Fuse(0, done=False))
    process = world.process()
    await process(world.key)
    world.kube.remove(world.path, "x", "n")
    assert await process(world.key) == Forget()
    assert not process._deep_at
    assert not process._services.following._topics


async def test_an_error_that_repeats_is_written_once_although_its_ids_differ() -> None:
    world = World(Fuse(0, done=False))
    numbers = itertools.count()

    def refuse(text: str) -> None:
        if text.startswith("CREATE"):
            raise SnowflakeError("no privileges", number=3001, sqlstate="42501", query_id=f"01b2-{next(numbers)}")

    world.snowflake.before = refuse
    process = world.process()
    versions = set()
    for _ in range(3):
        with suppress(Unfinished):
            await process(world.key)
        versions.add(str(world.kube.objects[world.place]["status"]))
    (status,) = versions
    assert "01b2" not in status
    assert [reason for reason, _ in world.events] == ["ReconcileError"]


async def test_claims_are_listed_for_a_new_resource_only_while_not_all_are_known() -> None:
    world = World(Fuse(0, done=False))
    lists: list[str] = []
    world.kube.before = lambda verb, plural, _name: lists.append(plural) if verb == "list" else None
    process = world.process()
    await process(world.key)
    assert not lists
    world.kube.objects = {place: each for place, each in world.kube.objects.items() if place[0] != "claims"}
    world.reflectors["Claim"].synced.clear()
    await process(world.key)
    assert lists == ["claims"]


async def test_who_owns_another_object_under_an_earlier_name_makes_no_second_one() -> None:
    world = World(Fuse(0, done=False))
    process = world.process()
    await process(world.key)
    world.kube.objects[world.place]["spec"]["name"] = "OTHER"
    (stored,) = [each async for page in world.kube.list(CLAIM.path) for each in page.objects]
    world.inventory.note(None, stored)
    await process(world.key)
    assert world.reason == "IdentityChanged"
    assert set(world.snowflake.rows) == {"W"}


async def test_the_labels_of_a_watched_namespace_are_not_asked_for_again() -> None:
    world = World(Fuse(0, done=False))
    spec = {"account": "O-A", "authenticationType": "KeyPair", "allowedNamespaces": ["other"]}
    selector = {"allowedNamespaceSelector": {"matchLabels": {"team": "a"}}}
    account = {"key": "R.A", "name": "O.A"}
    world.kube.put(PROVIDER_CONFIG.path, "default", "n", spec={**spec, **selector}, status={"account": account})
    process = world.process()
    asked: list[str] = []
    world.kube.before = lambda _verb, plural, _name: asked.append(plural)
    world.reflectors["Namespace"]._put(
        Object({"kind": "Namespace", "metadata": {"name": "n", "labels": {"team": "a"}}})
    )
    await process(world.key)
    assert world.reason == "Available"
    assert "namespaces" not in asked
