"""What is proved by what Snowflake doesn't show, and what isn't."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from freehold import slots
from freehold.claims import Evidence
from freehold.identity import Slot
from freehold.kinds.registry import KINDS
from freehold.lifecycle.decision import Absence
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import BEGIN, SETTINGS, Fuse, MemorySnowflake, World

WAREHOUSE = KINDS["Warehouse"]
EVIDENCE = Evidence(how="created", created_on=BEGIN, role="R", time=BEGIN)


@pytest.mark.parametrize(("shown", "view"), [(True, Absence.PROVED), (False, Absence.UNPROVED)])
async def test_what_show_leaves_out_for_everybody_is_never_proved_by_it(shown: bool, view: Absence) -> None:
    """Such as shares, of which a role that sees all else is shown none."""
    world = World(Fuse(0, done=False))
    kind = replace(WAREHOUSE, shown_to_all_seeing=shown)
    tag = QueryTag(kind="Warehouse", namespace="n", name="x", uid="u")
    remote = Remote(world.snowflake, SETTINGS, "R", kind, kind.target(("W",)), tag, require_active=lambda: None)
    assert await remote.view_anyway(EVIDENCE) is view


class Blind(MemorySnowflake):
    """An account in which the role is shown nothing, and doesn't see everything."""

    async def observe(self, *_: Any, **__: Any) -> None:
        return None

    async def sees_all(self, *_: Any) -> bool:
        return False


ROLE, HOLDER = slots.of("ROLE", "A"), slots.of("ROLE", "R")


@pytest.mark.parametrize(
    ("kind", "slot", "view"),
    [
        (
            "GrantPrivilegesToAccountRole",
            slots.grant("SELECT", slots.of("TABLE", "D", "S", "T"), HOLDER),
            Absence.PROVED,
        ),
        ("AccountRoleAssignment", slots.assignment(ROLE, slots.of("USER", "U")), Absence.PROVED),
        ("AccountRoleAssignment", slots.assignment(ROLE, HOLDER), Absence.UNPROVED),
        ("DatabaseRoleAssignment", slots.assignment(slots.of("DATABASE ROLE", "D", "A"), HOLDER), Absence.UNPROVED),
    ],
)
async def test_a_grant_counts_as_gone_where_what_it_is_of_is_seen(kind: str, slot: Slot, view: Absence) -> None:
    """SHOW GRANTS TO leaves out the roles that the asking role doesn't see, and says nothing of that."""
    tag = QueryTag(kind=kind, namespace="n", name="x", uid="u")
    target = KINDS[kind].target_of(slot)
    remote = Remote(Blind(Fuse(0, done=False)), SETTINGS, "R", KINDS[kind], target, tag, require_active=lambda: None)
    assert await remote.view_anyway(EVIDENCE) is view


@pytest.mark.parametrize(
    ("number", "sqlstate", "dropped"),
    [
        pytest.param(2, "0A000", True, id="an account that doesn't have the feature has no such objects"),
        pytest.param(1003, "42000", False, id="a question that isn't understood tells nothing"),
        pytest.param(3001, "42501", False, id="nor does a refusal"),
    ],
)
async def test_what_cannot_be_looked_for_before_a_drop(number: int, sqlstate: str, dropped: bool) -> None:
    world = World(Fuse(0, done=False), "Database")
    await world.settle()
    world.delete()

    def answer(text: str) -> None:
        if text.startswith("SHOW NOTEBOOKS"):
            raise SnowflakeError("no", number=number, sqlstate=sqlstate)

    world.snowflake.before = answer
    with suppress(Unfinished):
        await world.process()(world.key)
    assert ("W" not in world.snowflake.rows) == dropped
    assert world.alive != dropped
