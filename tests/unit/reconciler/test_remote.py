"""Steps of a plan: what is sent after one has failed, and how long an effect is waited for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold import altering, planning
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.observation import Observation, Row
from freehold.snowflake.client import Snowflake
from freehold.snowflake.driver import Result
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql
from freehold_controllers.reconciler import remote
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.remote import Remote
from tests.unit.reconciler.world import SETTINGS

WAREHOUSE = KINDS["Warehouse"]
TARGET = WAREHOUSE.target(("W",))
BORN = datetime(2026, 11, 30, tzinfo=UTC)
RUNNING = {"created_on": BORN, "name": "W", "type": "STANDARD", "state": "STARTED"}


class Running(Snowflake):
    """A running warehouse, which suspends when told to, or never does."""

    def __init__(self, refused: str = "", *, suspends: bool = True) -> None:
        super().__init__("test")
        self.row: Row = RUNNING
        self.sent: list[str] = []
        self.limits: set[timedelta | None] = set()
        self._refused, self._suspends = refused, suspends

    async def execute(
        self,
        _settings: ConnectionSettings,
        statement: Sql,
        _tag: QueryTag,
        *,
        limit: timedelta | None = None,
        require: Callable[[], None] = lambda: None,  # noqa: ARG002  # the parent's own word
    ) -> Result:
        self.limits.add(limit)
        text = statement.text.removeprefix('ALTER WAREHOUSE "W" ')
        self.sent.append(text)
        if text == self._refused:
            raise SnowflakeError("no", number=3001)
        if text == "SUSPEND" and self._suspends:
            self.row = {**self.row, "state": "SUSPENDED"}
        return Result((), None)

    async def observe(self, *_: Any, **__: Any) -> Observation:
        return Observation(self.row)


async def change_type(snowflake: Snowflake, kind: Kind = WAREHOUSE) -> None:
    """Carry out the plan of a change of type."""
    spec = WAREHOUSE.spec.model_validate({"name": "W", "warehouseType": "SNOWPARK-OPTIMIZED"})
    seen = Observation(RUNNING)
    steps = altering.alter(WAREHOUSE, TARGET, spec, seen, planning.differences(WAREHOUSE, spec, seen, ()))
    await _remote(snowflake, kind).take_all(steps, seen)


def _remote(snowflake: Snowflake, kind: Kind = WAREHOUSE) -> Remote:
    tag = QueryTag(kind="Warehouse", namespace="n", name="x", uid="u")
    return Remote(snowflake, SETTINGS, "R", kind, TARGET, tag, require_active=lambda: None)


SET = "SET WAREHOUSE_TYPE = 'SNOWPARK-OPTIMIZED'"
RESUME = "RESUME IF SUSPENDED"


@pytest.mark.parametrize(
    ("refused", "sent"),
    [("", ["SUSPEND", SET, RESUME]), (SET, ["SUSPEND", SET, RESUME]), ("SUSPEND", ["SUSPEND", RESUME])],
    ids=["nothing", "the change", "the suspension"],
)
async def test_a_warehouse_is_resumed_whatever_was_refused(refused: str, sent: list[str]) -> None:
    snowflake = Running(refused)
    if refused:
        with pytest.raises(SnowflakeError, match="no"):
            await change_type(snowflake)
    else:
        await change_type(snowflake)
    assert snowflake.sent == sent


@pytest.mark.parametrize("limit", [None, timedelta(seconds=300)])
async def test_statements_may_run_for_as_long_as_the_kind_says(limit: timedelta | None) -> None:
    snowflake = Running()
    await change_type(snowflake, replace(WAREHOUSE, statement_limit=limit))
    assert snowflake.limits == {limit}


async def test_an_effect_that_does_not_show_is_told_and_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SETTLING", timedelta(seconds=0.01))
    snowflake = Running(suspends=False)
    with pytest.raises(Stopped, match="state STARTED and not yet SUSPENDED"):
        await change_type(snowflake)
    assert snowflake.sent == ["SUSPEND", RESUME]


@pytest.mark.parametrize(
    ("owner", "number", "told"),
    [("OTHER", 3001, True), ("R", 3001, False), (None, 3001, False), ("OTHER", 1003, False)],
)
def test_a_refusal_tells_who_owns_an_object_by_now(owner: str | None, number: int, *, told: bool) -> None:
    mine = _remote(Running())
    seen = Observation({**RUNNING, "owner": owner})
    with pytest.raises(SnowflakeError) as refused, mine.as_owner(seen):
        raise SnowflakeError("Insufficient privileges to operate on warehouse 'W'", number=number, sqlstate="42501")
    assert ("belongs to role OTHER by now: grant that role to R" in str(refused.value)) is told
