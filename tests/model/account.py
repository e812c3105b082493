"""A Snowflake account that strangers work in, too: the devstack's own, in this process."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from freehold.snowflake.driver import Result
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.session import AccountFacts
from freehold.sql import Sql
from freehold_devstack.snowflake.accounts import UnknownNameError
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.queries import Request
from freehold_devstack.snowflake.results import Cell, Column
from freehold_devstack.snowflake.seed import SeedAccount, SeedRole

OURS, THEIRS = "R", "S"
"""The role that Freehold works in, and one of others."""

ROLES = {role: {"granted_to": ["SYSADMIN"]} for role in (OURS, THEIRS)}
STATEMENTS = [
    f"GRANT CREATE DATABASE, CREATE ROLE, CREATE WAREHOUSE, RESOLVE ALL ON ACCOUNT TO ROLE {OURS}",
]
"""What an account begins with."""

SEED = SeedAccount(roles={name: SeedRole.model_validate(facts) for name, facts in ROLES.items()}, statements=STATEMENTS)

FACTS = AccountFacts("R", "A", "O", "A", "U", OURS, "", "10")


class Wire(Protocol):
    """An open connection."""

    async def execute(self, statement: Sql, query_tag: str | None = None) -> Result: ...

    async def close(self) -> None: ...


class Account(Protocol):
    """An account, as the model needs it."""

    def sql(self, statement: str, role: str = "ACCOUNTADMIN") -> list[Mapping[str, Any]]:
        """Run a statement as somebody else, at once; one that is refused does nothing."""

    async def connect(self) -> Wire:
        """Log in as Freehold does."""


class Direct:
    """A connection without a network."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session = engine.session_as(role=OURS)

    async def execute(self, statement: Sql, query_tag: str | None = None) -> Result:
        parameters = {} if query_tag is None else {"QUERY_TAG": query_tag}
        query = self._engine.submit(self._session, Request(statement.text, parameters=parameters))
        if query.result is None:
            error = query.error
            assert error is not None
            raise SnowflakeError(error.message, number=error.number, sqlstate=error.sqlstate, query_id=query.id)
        columns = query.result.columns
        rows = [{c.name.lower(): _read(c, v) for c, v in zip(columns, row, strict=True)} for row in query.result.rows]
        return Result(tuple(rows), query.id)

    async def close(self) -> None:
        """There is nothing to close."""


class InProcess:
    """An account of an engine of its own, whose clock ticks at every look at it, so that no two objects are born at
    the same time."""

    def __init__(self) -> None:
        ticks = (1_800_000_000 + number / 1000 for number in itertools.count())
        self._engine = Engine(clock=ticks.__next__)
        self._engine.add_accounts(SEED)

    def sql(self, statement: str, role: str = "ACCOUNTADMIN") -> list[Mapping[str, Any]]:
        try:
            result = self._engine.run_as(statement, role=role)
        except (SqlError, UnknownNameError):
            return []
        return [{name.lower(): cell for name, cell in row.items()} for row in result.records()]

    async def connect(self) -> Wire:
        return Direct(self._engine)


def _read(column: Column, value: Cell) -> object:
    """A cell as the driver's users get it."""
    return time_of(value) if column.type == "timestamp_ltz" and isinstance(value, int) else value


def time_of(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(0, UTC).replace() + milliseconds * _MILLISECOND


_MILLISECOND = datetime.resolution * 1000
