"""Updates and drift, on an account in memory: what is sent, what is told of it, and what stays in the user's hands."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from freehold.kube.errors import Conflict
from freehold.observation import Parameter
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import OutcomeUnknown, SnowflakeError
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import LONGEST, Died, Fuse, World

WHOLE: dict[str, Any] = {"managementPolicies": {"createOrAlter": True}}
DETECT: dict[str, Any] = {"managementPolicies": {"driftPolicy": "detect-only"}}


def made(kind: str = "Database", **spec: Any) -> World:
    return World(Fuse(0, done=False), kind, spec)


async def test_drift_that_cannot_be_corrected_is_told_while_it_lasts() -> None:
    world = made()
    await world.settle()
    world.snowflake.rows["W"]["comment"] = "theirs"
    world.snowflake.refuse("ALTER", SnowflakeError("insufficient privileges", number=3001, sqlstate="42501"))
    with suppress(Unfinished):
        await world.process()(world.key)
    assert world.conditions["DriftDetected"]["message"] == 'comment is "theirs", should be "ours"'
    assert world.reason != "Available"
    world.snowflake.before = lambda _text: None
    await world.settle()
    assert "DriftDetected" not in world.conditions
    assert world.reason == "Available"
    assert ("DriftCorrected", 'comment was "theirs", is "ours" now') in world.events


async def test_drift_that_is_only_told_is_not_corrected_when_another_field_is_changed() -> None:
    world = made("Warehouse", **DETECT)
    await world.settle()
    world.snowflake.rows["W"] |= {"comment": "theirs"}
    world.edit(autoResume=True)
    world.snowflake.rows["W"] |= {"auto_resume": True}
    await world.settle()
    assert not world.answers("ALTER")
    assert world.reason == "Available"
    assert world.conditions["DriftDetected"]["message"] == 'comment is "theirs", should be "ours"'


async def test_a_crash_between_statement_and_status_leaves_a_change_the_users() -> None:
    """Else the next process would take it for drift, and detect-only would keep it from being made."""
    world = made("Warehouse", **DETECT)
    await world.settle()
    world.edit(comment="new")
    world.snowflake.before = lambda text: world.fuse.__setattr__("at", world.fuse.count) if "ALTER" in text else None
    await world.settle()
    assert world.snowflake.rows["W"]["comment"] == "new"
    assert "DriftDetected" not in world.conditions


async def test_a_change_that_is_taken_back_after_a_crash_is_the_users_too() -> None:
    world = made("Warehouse", **DETECT)
    await world.settle()
    world.edit(comment="new")
    world.snowflake.before = lambda text: (
        world.fuse.__setattr__("at", world.fuse.count + 1) if "ALTER" in text else None
    )
    with suppress(Died):
        await world.process()(world.key)
    rows = world.snowflake.rows
    assert dict(rows["W"])["comment"] == "new"
    world.edit(comment="ours")
    await world.settle()
    assert world.snowflake.rows["W"]["comment"] == "ours"
    assert "DriftDetected" not in world.conditions


async def test_drift_that_is_only_told_is_not_corrected_by_an_update_as_a_whole() -> None:
    world = made(managementPolicies={"createOrAlter": True, "driftPolicy": "detect-only"}, logLevel="INFO")
    world.snowflake.parameters = {"LOG_LEVEL": Parameter("INFO", "DATABASE")}
    await world.settle()
    world.snowflake.parameters = {"LOG_LEVEL": Parameter("WARN", "DATABASE")}
    world.edit(comment="new")
    await world.settle()
    assert world.snowflake.rows["W"]["comment"] == "new"
    assert not world.answers("CREATE OR ALTER")
    assert world.conditions["DriftDetected"]["message"] == 'logLevel is "WARN", should be "INFO"'


@pytest.mark.parametrize("policies", [{}, DETECT])
async def test_a_warehouse_that_vanished_is_told_of(policies: dict[str, object]) -> None:
    world = made("Warehouse", **policies)
    await world.settle()
    del world.snowflake.rows["W"]
    await world.settle()
    if policies:
        assert world.reason == "Vanished"
        assert world.conditions["DriftDetected"]["reason"] == "Vanished"
        assert not world.snowflake.rows
    else:
        assert world.reason == "Available"
        assert ("DriftCorrected", 'warehouse "W" had disappeared and was created anew') in world.events


async def test_an_update_is_one_create_or_alter_where_that_is_wanted_and_loses_nothing() -> None:
    world = made(**WHOLE)
    await world.settle()
    world.edit(comment="new")
    await world.settle()
    assert world.snowflake.rows["W"]["comment"] == "new"
    assert world.answers("CREATE OR ALTER") == ["ok"]
    assert not world.answers("ALTER")


@pytest.mark.parametrize("restarted", [False, True])
async def test_nothing_is_dropped_while_an_update_that_could_make_it_anew_may_be_under_way(restarted: bool) -> None:
    world = made(**WHOLE)
    await world.settle()
    process = world.process()
    world.edit(comment="new")
    lost = OutcomeUnknown("no answer", error_class=ErrorClass.TRANSIENT)
    world.snowflake.refuse("CREATE OR ALTER", lost)
    with suppress(Unfinished):
        await process(world.key)
    world.delete()
    if restarted:
        process = world.process()
    with pytest.raises(Unfinished, match="a CREATE OR ALTER of"):
        await process(world.key)
    assert not world.answers("DROP")
    world.monotonic += LONGEST
    await process(world.key)
    assert not world.alive


async def test_what_an_update_has_answered_is_dropped_at_once() -> None:
    world = made(**WHOLE)
    process = world.process()
    await process(world.key)
    world.edit(comment="new")
    await process(world.key)
    assert world.answers("CREATE OR ALTER") == ["ok"]
    world.delete()
    await process(world.key)
    assert not world.alive


async def test_an_update_is_an_alter_where_something_else_is_set() -> None:
    world = made(**WHOLE)
    await world.settle()
    world.snowflake.parameters = {"LOG_LEVEL": Parameter("INFO", "DATABASE")}
    world.edit(comment="new")
    await world.settle()
    assert world.answers("ALTER") == ["ok"]
    assert not world.answers("CREATE OR ALTER")


@pytest.mark.parametrize(("number", "sqlstate"), [(1003, "42000"), (2, "0A000")])
async def test_an_account_without_create_or_alter_gets_alter_in_the_same_pass_and_is_not_asked_again(
    number: int, sqlstate: str
) -> None:
    world = made(**WHOLE)
    await world.settle()
    asked: list[str] = []

    def refuse(text: str) -> None:
        if text.startswith("CREATE OR ALTER"):
            asked.append(text)
            raise SnowflakeError("unsupported", number=number, sqlstate=sqlstate)

    world.snowflake.before = refuse
    process = world.process()
    for comment in ("new", "newer"):
        world.edit(comment=comment)
        await process(world.key)
        assert world.reason == "Available"
    assert world.answers("ALTER") == ["ok", "ok"]
    assert len(asked) == 1
    assert not [reason for reason, _ in world.events if reason not in ("Created", "Updated")]
    assert world.kube.objects[world.place]["spec"]["managementPolicies"] == {"createOrAlter": True}


async def test_what_the_spec_leaves_alone_is_told_in_status_and_never_written_into_the_spec() -> None:
    world = made()
    world.snowflake.parameters = {
        "LOG_LEVEL": Parameter("INFO", "ACCOUNT"),
        "DATA_RETENTION_TIME_IN_DAYS": Parameter("1", ""),
    }
    before = dict(world.kube.objects[world.place]["spec"])
    await world.settle()
    assert world.status["parameters"] == {"logLevel": "INFO", "dataRetentionTimeInDays": "1"}
    assert world.kube.objects[world.place]["spec"] == before
    world.edit(logLevel="INFO")
    await world.settle()
    assert world.status["parameters"] == {"dataRetentionTimeInDays": "1"}


@pytest.mark.parametrize("policy", ["paused", "deletionPolicy"])
async def test_policies_and_pauses_are_no_change_of_the_object(policy: str) -> None:
    world = made()
    await world.settle()
    applied = world.status["lastAppliedSpecHash"]
    world.edit(**({"paused": False} if policy == "paused" else {"deletionPolicy": "Orphan"}))
    await world.settle()
    assert world.status["lastAppliedSpecHash"] == applied
    world.edit(comment="new")
    await world.settle()
    assert world.status["lastAppliedSpecHash"] != applied


async def test_the_first_field_that_a_user_sets_is_no_drift() -> None:
    world = made(comment=None)
    await world.settle()
    world.edit(transient=True)
    await world.settle()
    assert world.reason == "ImmutableField"


async def test_what_was_applied_anew_during_a_pass_is_not_told_the_earlier_ones_status() -> None:
    """By what was sent for the earlier one, fields that the new one never had would count as removed from it."""
    world = made("Warehouse")

    def apply_anew(text: str) -> None:
        if text.startswith("CREATE"):
            world.kube.remove(world.path, "x", "n")
            world.declare()

    world.snowflake.before = apply_anew
    with pytest.raises(Conflict):
        await world.process()(world.key)
    assert "status" not in world.kube.objects[world.place]
