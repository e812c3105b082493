"""What is proved by what Snowflake doesn't show, and what isn't."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from freehold.claims import Evidence
from freehold.kinds.registry import KINDS
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold_controllers.reconciler.decision import Absence
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import BEGIN, SETTINGS, Fuse, World

WAREHOUSE = KINDS["Warehouse"]
EVIDENCE = Evidence(how="created", created_on=BEGIN, role="R", time=BEGIN)


@pytest.mark.parametrize(("shown", "view"), [(True, Absence.PROVED), (False, Absence.UNPROVED)])
async def test_what_show_leaves_out_for_everybody_is_never_proved_by_it(shown: bool, view: Absence) -> None:
    """Such as shares, of which a role that sees all else is shown none."""
    world = World(Fuse(0, done=False))
    kind = replace(WAREHOUSE, shown_to_all_seeing=shown)
    tag = QueryTag(kind="Warehouse", namespace="n", name="x", uid="u")
    remote = Remote(world.snowflake, SETTINGS, "R", kind, kind.target(("W",)), tag, lambda: None)
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
