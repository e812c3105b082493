"""A Snowflake account that strangers work in, too: the devstack's own, in this process."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from freehold.snowflake.driver import Result
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.session import AccountFacts
from freehold.sql import Sql
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.queries import Request
from freehold_devstack.snowflake.results import Cell, Column
from freehold_devstack.snowflake.seed import SeedAccount, SeedRole

OURS, THEIRS = "R", "S"
"""The role that Freehold works in, and one of others."""

ROLES = {role: {"granted_to": ["SYSADMIN"]} for role in (OURS, THEIRS)}
STATEMENTS = [
    f"GRANT CREATE DATABASE, CREATE WAREHOUSE, RESOLVE ALL ON ACCOUNT TO ROLE {OURS}",
    f"GRANT CREATE DATABASE, CREATE WAREHOUSE ON ACCOUNT TO ROLE {THEIRS}",
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
        except SqlError:
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


@dataclass(frozen=True, slots=True)
class Incarnation:
    """An object that is there.

    Attributes:
        born: its created_on, which no other object has.
        owner: role.
        comment: its comment.
        transient: whether it is a transient database.
    """

    born: datetime
    owner: str
    comment: str
    transient: bool


def there(account: Account, kind: str, name: str) -> Incarnation | None:
    """The object of a name, whoever may see it."""
    rows = account.sql(f"SHOW {kind}S")
    row = next((row for row in rows if row["name"] == name), None)
    if row is None:
        return None
    transient = "TRANSIENT" in str(row.get("options") or "")
    return Incarnation(time_of(row["created_on"]), str(row["owner"]), str(row["comment"] or ""), transient)


def sees_all(account: Account) -> bool:
    """Whether Freehold's role sees every object."""
    return any(row["privilege"] == "RESOLVE ALL" for row in account.sql(f"SHOW GRANTS TO ROLE {OURS}"))


STRANGERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "alters": (("ALTER {kind} \"{name}\" SET COMMENT = 'theirs'", "ACCOUNTADMIN"),),
    "drops": (('DROP {kind} "{name}"', "ACCOUNTADMIN"),),
    "undrops": (('UNDROP {kind} "{name}"', "ACCOUNTADMIN"),),
    "creates": (("CREATE {kind} \"{name}\" COMMENT = 'theirs'", THEIRS),),
    "creates in our role": (("CREATE {kind} \"{name}\" COMMENT = 'theirs'", OURS),),
    "replaces": (('DROP {kind} "{name}"', "ACCOUNTADMIN"), ("CREATE {kind} \"{name}\" COMMENT = 'theirs'", THEIRS)),
    "replaces in our role": (("CREATE OR REPLACE {kind} \"{name}\" COMMENT = 'theirs'", OURS),),
    "takes ownership": (('GRANT OWNERSHIP ON {kind} "{name}" TO ROLE S REVOKE CURRENT GRANTS', "ACCOUNTADMIN"),),
    "gives ownership back": (('GRANT OWNERSHIP ON {kind} "{name}" TO ROLE R REVOKE CURRENT GRANTS', "ACCOUNTADMIN"),),
    "renames": (('ALTER {kind} "{name}" RENAME TO "{name}_AWAY"', "ACCOUNTADMIN"),),
    "renames back": (('ALTER {kind} "{name}_AWAY" RENAME TO "{name}"', "ACCOUNTADMIN"),),
    "fills": (('CREATE SCHEMA "{name}"."THEIRS"', "ACCOUNTADMIN"),),
    "empties": (('DROP SCHEMA "{name}"."THEIRS"', "ACCOUNTADMIN"),),
    "blinds us": (("REVOKE RESOLVE ALL ON ACCOUNT FROM ROLE R", "ACCOUNTADMIN"),),
    "lets us see": (("GRANT RESOLVE ALL ON ACCOUNT TO ROLE R", "ACCOUNTADMIN"),),
}
"""What others do in the account: statements with the roles that send them."""


def act(account: Account, deed: str, kind: str, name: str) -> None:
    """Have others do something, as far as Snowflake lets them."""
    for statement, role in STRANGERS[deed]:
        account.sql(statement.format(kind=kind.upper(), name=name), role)
