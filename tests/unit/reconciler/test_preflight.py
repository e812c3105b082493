"""Before a first CREATE: containers given by name are looked for, and only a proof that they are absent stops it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import pytest

from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.registry import KINDS
from freehold.lifecycle.decision import Stop
from freehold.observation import Observation
from freehold.snowflake.client import Snowflake
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.preflight import missing_parent, missing_sight, raw_parents
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.sight import Sight
from tests.harness.declarations import TABLE
from tests.unit.reconciler.world import SETTINGS

DATABASE, SCHEMA, WAREHOUSE = (KINDS[name] for name in ("Database", "Schema", "Warehouse"))
BY_NAME: dict[str, Any] = {"name": "T", "databaseName": "D", "schemaName": "S"}

PARENTS = [
    # kind, spec, kinds of the containers that are given by name
    (WAREHOUSE, {"name": "W"}, ()),
    (SCHEMA, {"name": "S", "databaseName": "D"}, ("Database",)),
    (SCHEMA, {"name": "S", "databaseRef": {"name": "d"}}, ()),
    (TABLE, BY_NAME, ("Database", "Schema")),
    (TABLE, {"name": "T", "databaseRef": {"name": "d"}, "schemaName": "S"}, ("Schema",)),
    (TABLE, {"name": "T", "schemaRef": {"name": "s"}}, ()),
]


@pytest.mark.parametrize(("kind", "spec", "expected"), PARENTS)
def test_what_is_given_by_reference_needs_no_look(kind: Kind, spec: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert tuple(each.name for each in raw_parents(kind, kind.spec.model_validate(spec))) == expected


class Account(Snowflake):
    """An account with some objects, seen by a role that sees all or only those."""

    def __init__(self, *there: tuple[str, ...], sees_everything: bool, refuses: SnowflakeError | None = None) -> None:
        self.there = there
        self.sees_everything = sees_everything
        self.refuses = refuses
        self.asked: list[tuple[str, ...]] = []

    async def observe(
        self,
        _settings: Any,
        _kind: Kind,
        target: Target,
        *_: Any,
        details: Collection[str] = (),
        not_before: float | None = None,
    ) -> Observation | None:
        assert not details
        assert not_before is None
        self.asked.append(target.parts)
        if self.refuses:
            raise self.refuses
        return Observation({"created_on": datetime(2026, 1, 1, tzinfo=UTC)}) if target.parts in self.there else None

    async def sees_all(self, *_: Any) -> bool:
        return self.sees_everything

    async def holds_on_account(self, _settings: Any, privileges: Collection[str], *_: Any) -> bool:
        assert privileges == {"IMPORT SHARE"}
        return self.sees_everything


async def look(account: Account) -> Stop | None:
    tag = QueryTag(kind="Table", namespace="n", name="x", uid="u")
    sight = Sight(account, SETTINGS, "R", TABLE, TABLE.target(("D", "S", "T")), tag, frozenset({"x"}))
    return await missing_parent(sight, TABLE.spec.model_validate(BY_NAME))


@pytest.mark.parametrize(
    ("there", "absent", "field"), [((), 'database "D"', "database"), ((("D",),), 'schema "D"."S"', "schema")]
)
async def test_a_container_that_is_certainly_not_there_is_named(
    there: tuple[tuple[str, ...], ...], absent: str, field: str
) -> None:
    stop = await look(Account(*there, sees_everything=True))
    assert stop is not None
    assert stop.reason == "DependencyNotReady"
    assert stop.message.startswith(f"{absent} isn't there")
    assert f"spec.{field}Name" in stop.message
    assert f"{field}Ref" in stop.message


async def test_what_may_only_be_invisible_is_left_to_snowflake_to_tell() -> None:
    account = Account(sees_everything=False)
    assert await look(account) is None
    assert account.asked == [("D",), ("D", "S")]


async def test_what_is_there_stops_nothing() -> None:
    assert await look(Account(("D",), ("D", "S"), sees_everything=True)) is None


async def test_who_may_not_look_may_still_create() -> None:
    account = Account(sees_everything=True, refuses=SnowflakeError("no", number=3001, sqlstate="42501"))
    assert await look(account) is None
    assert account.asked == [("D",), ("D", "S")]


async def test_an_outage_is_no_answer() -> None:
    with pytest.raises(SnowflakeError):
        await look(Account(sees_everything=True, refuses=SnowflakeError("no", error_class=ErrorClass.TRANSIENT)))


async def test_what_nobody_would_see_is_not_created() -> None:
    kind = KINDS["Share"]
    tag = QueryTag(kind="Share", namespace="n", name="x", uid="u")

    def sight(account: Account) -> Sight:
        return Sight(account, SETTINGS, "R", kind, kind.target(("S",)), tag)

    assert await missing_sight(sight(Account(sees_everything=True))) is None
    stop = await missing_sight(sight(Account(sees_everything=False)))
    assert stop is not None
    assert 'GRANT IMPORT SHARE ON ACCOUNT TO ROLE "R"' in stop.message
