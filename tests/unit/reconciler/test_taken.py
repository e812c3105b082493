"""Names that others have: what it costs to find out again and again that they still do."""

from __future__ import annotations

import pytest

from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.reconciler.taken import VALIDITY, Taken
from tests.unit.reconciler.world import Fuse, World


@pytest.fixture
def world() -> World:
    return World(Fuse(0, done=False))


async def test_while_a_strangers_object_is_seen_no_other_create_is_sent(world: World) -> None:
    world.snowflake.make("W", "theirs")
    process = world.process()
    await process(world.key)
    claims = world.claims
    await process(world.key)
    assert world.reason == "ResourceAlreadyExists"
    assert world.answers("CREATE") == ["002002"]
    assert world.claims == claims

    del world.snowflake.rows["W"]
    await process(world.key)
    assert world.reason == "Available"


async def test_while_the_name_is_known_to_be_taken_by_something_invisible_no_other_create_is_sent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sees_nothing(*_: object) -> bool:
        return False

    monkeypatch.setattr(world.snowflake, "sees_all", sees_nothing)
    world.snowflake.refuse("CREATE", SnowflakeError("exists, invisible", number=3041, sqlstate="42710"))
    sent, refuse = list[str](), world.snowflake.before

    def count(text: str) -> None:
        sent.append(text)
        refuse(text)

    world.snowflake.before = count
    process = world.process()
    await process(world.key)
    claims, told = world.claims, world.status
    await process(world.key)
    assert world.reason == "ResourceAlreadyExists"
    assert len(sent) == 1
    assert (world.claims, world.status) == (claims, told)

    world.annotate(reconcile_now="please")
    await process(world.key)
    assert len(sent) == 2

    world.snowflake.before = lambda _text: None
    await process(world.key)
    assert world.reason == "ResourceAlreadyExists"
    world.edit(comment="another")
    await process(world.key)
    assert world.reason == "Available"


def test_an_answer_holds_for_the_same_question_until_it_is_too_old() -> None:
    now = 0.0
    taken = Taken(lambda: now)
    assert not taken.holds("claim", "asked")
    taken.note("claim", "asked")
    assert taken.holds("claim", "asked")
    assert not taken.holds("claim", "asked otherwise")
    assert not taken.holds("another", "asked")
    now = VALIDITY.total_seconds()
    assert not taken.holds("claim", "asked")
