"""Statements: what is asked right before one goes out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from freehold.snowflake.client import Snowflake
from freehold.snowflake.driver import Result
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql, words
from tests.unit.snowflake.test_pool import SETTINGS, StubConnection

TAG = QueryTag(kind="Warehouse", namespace="n", name="x", uid="u")


class Lost(Exception):
    """The Lease is another's."""


class SlowLogin(Snowflake):
    """A client whose log-in takes so long that the Lease is lost meanwhile."""

    def __init__(self) -> None:
        super().__init__("test")
        self.active = True
        self.sent: list[str] = []

    async def _open(self, settings: ConnectionSettings) -> Session:  # noqa: ARG002  # the parent's own word
        self.active = False

        async def execute(statement: Sql, _tag: str, _limit: timedelta | None) -> Result:
            self.sent.append(statement.text)
            return Result((), None)

        connection = SimpleNamespace(lost=False, execute=execute, close=StubConnection().close)
        return cast("Session", SimpleNamespace(connection=connection))

    def require_active(self) -> None:
        if not self.active:
            raise Lost


async def test_a_lease_that_is_lost_during_the_log_in_keeps_the_statement_back() -> None:
    async with SlowLogin() as snowflake:
        with pytest.raises(Lost):
            await snowflake.execute(SETTINGS, words("CREATE DATABASE D"), TAG, require=snowflake.require_active)
        assert snowflake.sent == []
        await snowflake.execute(SETTINGS, words("SHOW DATABASES"), TAG)
        assert snowflake.sent == ["SHOW DATABASES"]


@pytest.mark.parametrize(
    ("given", "limit"), [(None, 60), (timedelta(seconds=20), 20), (timedelta(seconds=90), 60)], ids=str
)
async def test_a_session_opens_with_the_shortest_limit_that_anybody_sets(
    monkeypatch: pytest.MonkeyPatch, given: timedelta | None, limit: int
) -> None:
    opened: list[timedelta] = []

    async def record(_settings: ConnectionSettings, _tag: str, longest: timedelta) -> Session:
        opened.append(longest)
        raise Lost

    monkeypatch.setattr(Session, "open", record)
    async with Snowflake("test", statement_timeout=timedelta(seconds=60)) as snowflake:
        with pytest.raises(Lost):
            await snowflake.execute(replace(SETTINGS, statement_timeout=given), words("SHOW DATABASES"), TAG)
    assert opened == [timedelta(seconds=limit)]
