"""What is granted and revoked: exactly what is ours, whatever others do in between, each privilege by itself."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.observation import Depth, Observation
from freehold.snowflake.driver import Result
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql
from freehold_controllers.reconciler.reconcile import Reconciler
from tests.unit.reconciler.world import Fuse, MemorySnowflake, World

ADOPT = {"managementPolicies": {"adoptionPolicy": "adopt"}}


class Stage(MemorySnowflake):
    """An account with the privileges of role READER on one internal stage, where WRITE never goes without READ.

    Attributes:
        granted: rows of SHOW GRANTS by privilege.
        order: the privilege that has to be there first, and the one after it.
        between: called when the time is asked for, which is right before a GRANT.
    """

    def __init__(self, fuse: Fuse) -> None:
        super().__init__(fuse)
        self.granted: dict[str, dict[str, object]] = {}
        self.order = ("READ", "WRITE")
        self.between: Callable[[], None] = lambda: None

    def grant(self, privilege: str, by: str) -> None:
        self.granted.setdefault(
            privilege,
            {
                "created_on": next(self._now),
                "privilege": privilege,
                "granted_to": "ROLE",
                "grantee_name": "READER",
                "granted_by": by,
            },
        )

    async def answer(self, statement: Sql) -> Result:
        verb, privilege = re.findall(r"^(GRANT|REVOKE) (\w+) ON STAGE", statement.text)[0]
        first, second = self.order
        early = (verb, privilege) == ("GRANT", second) and first not in self.granted
        if early or ((verb, privilege) == ("REVOKE", first) and second in self.granted):
            self.sent.append((f"{verb} {privilege}", "003512"))
            raise SnowflakeError("privilege order violation", number=3512, error_class=ErrorClass.CONFLICT)
        self.sent.append((f"{verb} {privilege}", "ok"))
        if verb == "GRANT":
            self.grant(privilege, "R")
        elif self.granted.get(privilege, {}).get("granted_by") == "R":
            del self.granted[privilege]
        self.fuse.after()
        return Result((), "query")

    async def observe(
        self,
        _settings: ConnectionSettings,
        kind: Kind,
        target: Target,
        _depth: Depth,
        _tag: QueryTag,
        *,
        details: Collection[str] = (),  # noqa: ARG002  # the parent's own word
        not_before: float | None = None,  # noqa: ARG002  # likewise
    ) -> Observation | None:
        self.fuse.before()
        row = kind.row_of(target, self.granted.values())
        return Observation(dict(row), {}, {}) if row else None

    async def clock(self, *_: Any) -> datetime:
        self.between()
        return await super().clock()


@dataclass
class Granting(World):
    """A world with privileges on a stage.

    Attributes:
        privileges: those that are declared.
    """

    kind: str = "GrantPrivilegesToAccountRole"
    privileges: tuple[str, ...] = ("READ",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.stage = self.snowflake = Stage(self.fuse)

    def declare(self) -> None:
        on_stage = {"objectType": "STAGE", "objectName": "D.S.X"}
        spec = {"accountRole": "READER", "privileges": list(self.privileges), "onSchemaObject": on_stage, **self.spec}
        self.kube.put(self.path, "x", "n", metadata={"generation": 1}, spec=spec)

    def process(self) -> Reconciler:
        found = super().process()
        self.learn()
        return found

    async def gone(self) -> None:
        """Delete the resource, and wait until it is gone, or nothing more is tried."""
        self.delete()
        with suppress(AssertionError):
            await self.settle()


def granting(*privileges: str, adopt: bool = False, read_only: bool = False) -> Granting:
    return Granting(Fuse(0, done=False), privileges=privileges, spec=ADOPT if adopt else {}, read_only=read_only)


async def test_what_somebody_else_grants_just_before_us_is_not_ours() -> None:
    world = granting("READ")
    world.stage.between = lambda: world.stage.grant("READ", "OTHER")
    await world.settle()
    assert world.reason == "ResourceAlreadyExists"
    await world.gone()
    assert not world.alive
    assert world.stage.sent == []
    assert "READ" in world.stage.granted


async def test_what_a_revoke_leaves_is_told_and_not_revoked_again_and_again() -> None:
    """Snowflake says that it has succeeded."""
    world = granting("READ", adopt=True)
    world.stage.grant("READ", "OTHER")
    await world.settle()
    await world.gone()
    assert world.alive
    assert world.reason == "DeleteBlocked"
    assert "granted by OTHER" in world.message
    assert world.stage.sent == [("REVOKE READ", "ok")]


@pytest.mark.parametrize("order", [("READ", "WRITE"), ("WRITE", "READ")])
async def test_privileges_that_need_one_another_come_and_go(order: tuple[str, str]) -> None:
    world = granting("READ", "WRITE")
    world.stage.order = order
    await world.settle()
    assert world.stage.granted.keys() == {"READ", "WRITE"}
    await world.gone()
    assert not world.alive
    assert world.stage.granted == {}


async def test_mode_read_only_plans_all_that_it_would_grant() -> None:
    world = granting("READ", "WRITE", read_only=True)
    await world.settle()
    assert world.reason == "ReadOnly"
    assert sorted(each.split(" ON ")[0] for each in world.status["plan"]) == ["GRANT READ", "GRANT WRITE"]
    assert world.stage.sent == []


@pytest.mark.parametrize("done", [False, True])
async def test_whenever_a_process_dies_what_is_not_asked_for_any_more_is_revoked_and_nothing_else(done: bool) -> None:
    for at in itertools.count(1):
        world = Granting(Fuse(at, done), privileges=("READ",))
        world.stage.order = ("", "")
        world.stage.grant("USAGE", "OTHER")
        await world.settle()
        world.edit(privileges=["WRITE"])
        await world.settle()
        assert world.stage.granted.keys() == {"USAGE", "WRITE"}
        world.delete()
        await world.settle()
        assert world.stage.granted.keys() == {"USAGE"}
        assert not world.alive
        assert world.claims == []
        if not world.fuse.blown:
            break
    assert at > 20


async def test_what_is_granted_goes_though_the_role_or_the_stage_has_gone_before() -> None:
    world = granting("READ", "WRITE")
    await world.settle()
    world.stage.granted.clear()
    await world.gone()
    assert not world.alive
    assert [verb for verb, _ in world.stage.sent if verb.startswith("REVOKE")] == []
