"""What Snowflake refuses: told with what helps, tried again when that may help, never taken for success or absence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from freehold import slots
from freehold.kinds.registry import KINDS
from freehold.kube.errors import Forbidden
from freehold.kube.objects import Key
from freehold.planning import grant_to_create
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError, Unreachable
from freehold.sql import Sql
from freehold_controllers.reconciler.creation import _remedy
from freehold_controllers.reconciler.dropping import explained
from freehold_controllers.reconciler.reconcile import SLOW
from freehold_controllers.runtime.work import Done, Unfinished

from .world import Fuse, World


@pytest.fixture
def world() -> World:
    return World(Fuse(0, done=False))


IN_USE = SnowflakeError("Policy P cannot be dropped as it is associated with one or more entities.", number=3531)
USED = {"ref_database_name": "D", "ref_schema_name": "S", "ref_entity_name": "T", "ref_entity_domain": "TABLE"}


@pytest.mark.parametrize(
    ("refusal", "uses", "told"),
    [
        (IN_USE, ({**USED, "ref_column_name": "C"},), 'in use by column "C" of table "D"."S"."T": take it off'),
        (IN_USE, (), "associated with one or more"),
        (IN_USE, SnowflakeError("No active warehouse selected", number=606), "associated with one or more"),
        (SnowflakeError("Insufficient privileges", number=3001, sqlstate="42501"), ({**USED},), "Insufficient"),
    ],
    ids=["seen", "not seen", "can't be asked", "something else"],
)
async def test_a_refused_drop_is_explained_by_what_uses_the_object(
    refusal: SnowflakeError, uses: Any, told: str
) -> None:
    async def query(_query: Sql) -> tuple[dict[str, str], ...]:
        if isinstance(uses, Exception):
            raise uses
        return tuple(uses)

    policy = KINDS["MaskingPolicy"]
    remote: Any = SimpleNamespace(kind=policy, target=policy.target(("D", "S", "P")), query=query)

    assert told in str(await explained(remote, refusal))


def told_by(world: World) -> str:
    return str(world.conditions["Synced"]["message"])


@pytest.mark.parametrize(
    ("securable", "added", "told"),
    [
        ("account", "", 'Run GRANT CREATE WAREHOUSE ON ACCOUNT TO ROLE "R".'),
        ("account", "CREATE WAREHOUSE granted on ACCOUNT.", 'Run GRANT CREATE WAREHOUSE ON ACCOUNT TO ROLE "R".'),
        ("resource_monitor", "", "Insufficient privileges to operate on resource_monitor 'X'."),
    ],
    ids=["known by the statement", "named by Snowflake", "something else"],
)
async def test_a_role_that_may_not_create_is_told_the_grant_to_run(
    world: World, securable: str, added: str, told: str
) -> None:
    text = f"Insufficient privileges to operate on {securable} 'X'."
    text += added and f" Your primary role R must have {added}"
    world.snowflake.refuse("CREATE", SnowflakeError(text, number=3001, sqlstate="42501"))

    with pytest.raises(Unfinished):
        await world.process()(world.key)

    assert told_by(world).endswith(told)
    assert told_by(world).count("GRANT") <= 1


@pytest.mark.parametrize(
    ("kind", "parts", "grant"),
    [
        ("Database", ("d",), 'GRANT CREATE DATABASE ON ACCOUNT TO ROLE "my role"'),
        ("Schema", ("d", "s"), 'GRANT CREATE SCHEMA ON DATABASE "d" TO ROLE "my role"'),
    ],
)
def test_the_right_to_create_is_one_on_what_contains_the_object(kind: str, parts: tuple[str, ...], grant: str) -> None:
    assert str(grant_to_create(KINDS[kind], KINDS[kind].target(parts), "my role")) == grant


def test_what_only_a_system_role_creates_is_told_with_that_role() -> None:
    kind = KINDS["ResourceMonitor"]
    remote: Any = SimpleNamespace(kind=kind, target=kind.target(("RM",)), role="R")
    refusal = SnowflakeError("Insufficient privileges to operate on account 'X'.", number=3001, sqlstate="42501")

    assert _remedy(remote, refusal).startswith("Only ACCOUNTADMIN may: name it in useRole")


@pytest.mark.parametrize(
    ("privilege", "securable", "helps"),
    [
        ("EXECUTE TASK", slots.ACCOUNT, "Only ACCOUNTADMIN can grant EXECUTE TASK on the account: set useRole to it"),
        ("EXECUTE AUTO CLASSIFICATION", slots.ACCOUNT, "Only ACCOUNTADMIN can grant"),
        ("EXECUTE AUTO CLASSIFICATION", slots.of("SCHEMA", "D", "S"), ""),
        ("CREATE ROLE", slots.ACCOUNT, ""),
        ("CREATE DATABASE ROLE", slots.of("DATABASE", "D"), ""),
    ],
)
def test_what_manage_grants_does_not_help_with_is_told(privilege: str, securable: slots.Phrase, helps: str) -> None:
    kind = KINDS["GrantPrivilegesToAccountRole"]
    target = kind.target_of(slots.grant(privilege, securable, slots.of("ROLE", "R")))
    remote: Any = SimpleNamespace(kind=kind, target=target, role="R")
    refusal = SnowflakeError("Grant not executed: Insufficient privileges.", number=3102, sqlstate="42501")

    assert "MANAGE GRANTS" in refusal.remedy
    assert _remedy(remote, refusal).startswith(helps)
    assert bool(_remedy(remote, refusal)) is bool(helps)


async def test_a_statement_that_nothing_but_a_change_helps_is_sent_once_until_there_is_one(world: World) -> None:
    world.snowflake.refuse("CREATE", SnowflakeError("invalid value", number=1008, sqlstate="22023"), times=1)
    process = world.process()

    assert await process(world.key) == Done(resync=SLOW)
    assert world.reason == "TerminalError"
    assert not world.snowflake.rows

    world.edit(comment="mended")
    assert await process(world.key) == Done()
    assert world.reason == "Available"


async def test_what_is_refused_to_one_keeps_no_other_from_working(world: World) -> None:
    other = Key(world.kind, "n", "other")
    spec = {**world.kube.objects[world.place]["spec"], "name": "OTHER"}
    world.kube.put(world.path, other.name, other.namespace, metadata={"generation": 1}, spec=spec)
    world.snowflake.refuse('CREATE WAREHOUSE "W"', SnowflakeError("syntax error", number=1003, sqlstate="42000"))
    process = world.process()

    for _ in range(20):
        await process(world.key)
    assert await process(other) == Done()

    assert (world.reason, world.reason_of(other)) == ("TerminalError", "Available")


@pytest.mark.parametrize(("number", "slowly"), [(999999, True), (390701, True), (3001, False), (604, False)])
async def test_what_is_unheard_of_or_too_much_is_not_hurried(world: World, number: int, slowly: bool) -> None:
    world.snowflake.refuse("CREATE", SnowflakeError("no", number=number))

    with pytest.raises(Unfinished) as end:
        await world.process()(world.key)

    assert end.value.slowly is slowly


@pytest.mark.parametrize(
    "error",
    [
        SnowflakeError("session gone", number=390114),
        SnowflakeError("unheard of", number=999999),
        OutcomeUnknown("503"),
        Unreachable("no log-in"),
    ],
    ids=["session", "unknown", "outage", "no log-in"],
)
@pytest.mark.parametrize("at", ["look", "DROP"])
async def test_an_outage_while_deleting_keeps_object_and_resource_and_the_drop_comes_afterwards(
    world: World, error: SnowflakeError, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.settle()
    world.delete()
    process = world.process()

    async def look(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as outage:
        if at == "look":
            outage.setattr(world.snowflake, "observe", look)
        else:
            world.snowflake.refuse("DROP", error)
        with pytest.raises(Unfinished):
            await process(world.key)
        assert (world.alive, list(world.snowflake.rows)) == (True, ["W"])
        assert told_by(world).startswith("not dropped yet: ")
        world.snowflake.before = lambda _text: None

    # Which waits until a DROP whose answer was lost can't be under way any more.
    await world.settle()
    assert (world.alive, list(world.snowflake.rows)) == (False, [])


async def test_nothing_is_dropped_while_it_is_unknown_whether_the_kind_itself_goes(world: World) -> None:
    await world.settle()
    world.delete()

    def forbid(verb: str, plural: str, _name: str) -> None:
        if plural == "customresourcedefinitions":
            raise Forbidden(403, "Forbidden", f"freehold-account cannot {verb} it")

    world.kube.before = forbid
    with pytest.raises(Unfinished):
        await world.process()(world.key)
    assert not world.answers("DROP")
    assert world.reason == "DeleteBlocked"
    assert "Let Freehold read CustomResourceDefinition warehouses.snowflake.freehold.dev" in world.message

    world.annotate(abandon_on_delete="true")
    await world.process()(world.key)
    assert not world.alive
    assert world.snowflake.rows
