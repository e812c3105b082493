"""What comes from Secrets, and what Snowflake doesn't tell: sent when it changes, whoever dies in between."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import Fuse, World, each_death

PASSWORD = "canary-9f2c"  # a word
KEEN = {"password": {"name": "s", "key": "k"}, "disableMFA": True}


def world_of(fuse: Fuse | None = None, **spec: Any) -> World:
    """A user whose password is in a Secret."""
    return World(fuse or Fuse(0, done=False), "User", {**KEEN, **spec}, secrets={"s": ("uid", {"k": PASSWORD})})


async def pass_over(world: World) -> None:
    with suppress(Unfinished):
        await world.process()(world.key)


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_death_never_leaves_out_what_only_alter_takes_and_nobody_can_see(done: bool) -> None:
    async def story(world: World) -> None:
        world.secrets["s"] = ("uid", {"k": PASSWORD})
        world.edit(**KEEN)
        await world.settle()
        assert world.reason == "Available"
        assert 'ALTER USER "W" SET DISABLE_MFA = TRUE' in world.snowflake.texts
        assert world.answers("CREATE").count("ok") == 1

    assert await each_death(story, done=done, kind="User") > 10


async def test_what_create_has_said_is_not_said_again_and_a_second_pass_sends_nothing() -> None:
    world = world_of()
    await world.settle()
    sent = list(world.snowflake.texts)
    assert [each for each in sent if "PASSWORD" in each] == [
        f"""CREATE USER "W" PASSWORD = '{PASSWORD}' COMMENT = 'ours'"""
    ]
    await world.settle()
    assert world.snowflake.texts == sent


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_new_value_reaches_the_user_whoever_dies(done: bool) -> None:
    async def story(world: World) -> None:
        world.secrets["s"] = ("uid", {"k": PASSWORD})
        world.edit(**KEEN)
        await world.settle()
        world.secrets["s"] = ("uid", {"k": "another"})
        await world.settle()
        assert world.snowflake.texts.count("""ALTER USER "W" SET PASSWORD = 'another'""") >= 1
        assert world.reason == "Available"

    assert await each_death(story, done=done, kind="User") > 10


async def test_a_new_value_is_sent_once() -> None:
    world = world_of()
    await world.settle()
    world.secrets["s"] = ("uid", {"k": "another"})
    await world.settle()
    await world.settle()
    assert world.snowflake.texts.count("""ALTER USER "W" SET PASSWORD = 'another'""") == 1


async def test_a_refused_value_is_tried_again_until_it_is_taken() -> None:
    world = world_of()
    await world.settle()
    world.secrets["s"] = ("uid", {"k": "another"})
    refusal = SnowflakeError("Password rejected by current policy. Reason: 'LENGTH'", number=3002, sqlstate="28P01")
    world.snowflake.refuse("ALTER", refusal, times=1)
    await pass_over(world)
    assert world.conditions["Synced"]["status"] == "False"
    await world.settle()
    assert world.snowflake.texts.count("""ALTER USER "W" SET PASSWORD = 'another'""") == 1
    assert world.reason == "Available"


async def test_a_password_that_the_user_has_already_counts_as_set() -> None:
    world = world_of()
    await world.settle()
    world.status.pop("trackedParameters")
    refusal = SnowflakeError("Password rejected by current policy. Reason: 'PRIOR_USE'", number=3002, sqlstate="28P01")
    world.snowflake.refuse("""ALTER USER "W" SET PASSWORD""", refusal)
    await world.settle()
    assert world.reason == "Available"
    assert "password" in world.status["trackedParameters"]


@pytest.mark.parametrize(
    ("secrets", "says"),
    [
        ({}, "Secret n/s doesn't exist: create it with the key k"),
        ({"s": ("uid", {"other": "x"})}, "Secret n/s has no key k: it has other"),
        ({"s": ("uid", {"k": " "})}, "Secret n/s: the value of key k is empty"),
    ],
    ids=["no Secret", "no key", "no value"],
)
async def test_what_isnt_there_is_waited_for_and_never_unset(secrets: dict[str, Any], says: str) -> None:
    world = world_of()
    await world.settle()
    sent = list(world.snowflake.texts)
    world.secrets.clear()
    world.secrets.update(secrets)
    await pass_over(world)
    condition = world.conditions["ReferencesResolved"]
    assert (condition["status"], condition["reason"]) == ("False", "DependencyNotReady")
    assert says in condition["message"]
    assert world.snowflake.texts == sent
    world.delete()
    await world.settle()
    assert not world.alive


async def test_a_private_key_is_sent_nowhere() -> None:
    world = world_of(rsaPublicKey={"name": "s", "key": "k"}, password=None)
    world.secrets["s"] = ("uid", {"k": "-----BEGIN PRIVATE KEY-----\nMIIBAAIB\n-----END PRIVATE KEY-----"})
    await pass_over(world)
    assert "Secret s, key k: this is no" in world.conditions["ReferencesResolved"]["message"]
    assert not world.snowflake.texts


async def test_nobody_is_shown_a_value() -> None:
    world = world_of()
    await world.settle()
    world.secrets["s"] = ("uid", {"k": f"{PASSWORD}2"})
    await world.settle()
    world.snowflake.rows["W"]["has_password"] = False
    await pass_over(world)
    told = json.dumps([list(world.kube.objects.values()), world.events], default=str)
    assert PASSWORD not in told


async def test_a_secret_that_is_made_anew_with_the_same_value_is_sent_and_one_that_is_labelled_isnt() -> None:
    world = world_of()
    await world.settle()
    before = dict(world.status["trackedParameters"])
    await world.settle()
    assert world.status["trackedParameters"] == before
    world.secrets["s"] = ("other uid", {"k": PASSWORD})
    await world.settle()
    assert world.status["trackedParameters"]["password"] != before["password"]


async def test_a_user_whose_columns_are_blank_is_neither_altered_nor_dropped() -> None:
    world = world_of(email="e")
    await world.settle()
    row, sent = world.snowflake.rows["W"], list(world.snowflake.texts)
    row |= {"owner": "", "login_name": None, "comment": None, "has_password": None}
    await pass_over(world)
    assert world.reason == "NotVisible"
    row["created_on"] = None
    await pass_over(world)
    world.delete()
    await pass_over(world)
    assert world.alive
    assert world.snowflake.texts == sent


async def test_the_user_that_a_providerconfig_logs_in_as_is_not_dropped() -> None:
    world = world_of()
    await world.settle()
    world.kube.objects["providerconfigs", "n", "default"]["status"]["user"] = "W"
    world.delete()
    await pass_over(world)
    assert "logs in as" in world.conditions["DeleteBlocked"]["message"]
    assert "W" in world.snowflake.rows
    world.kube.objects["providerconfigs", "n", "default"]["status"]["user"] = "OTHER"
    await world.settle()
    assert not world.alive
