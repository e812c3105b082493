"""What SHOW REPLICATION DATABASES tells of a database: whether it is a primary, or a replica of another account's.

It lists those of all accounts that take part, and a replica mostly has its primary's name, so that only region and
account tell which row is the own one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from freehold import sql
from freehold.kinds.property import Target
from freehold.observation import UNKNOWN, Observation, Row, Unknown
from freehold.sql import Sql

_REPLICATION, _ACCOUNT = "replication", "account"

REPLICATION: Mapping[str, Callable[[Target], Sql]] = {
    _REPLICATION: lambda target: sql.sql("SHOW REPLICATION DATABASES LIKE {name}", name=sql.like(target.parts[-1])),
    _ACCOUNT: lambda _target: sql.words("SELECT CURRENT_REGION() AS REGION, CURRENT_ACCOUNT() AS LOCATOR"),
}
"""The further queries of a kind of databases that it takes."""


def own_row(observation: Observation) -> Row | Unknown | None:
    """The row of the database itself; None for one that isn't replicated, UNKNOWN where it wasn't asked for."""
    details = observation.details or {}
    if not details.keys() >= REPLICATION.keys():
        return UNKNOWN
    (account,) = details[_ACCOUNT]
    # Perhaps behind the name of a group of regions, which has a column of its own in the other answer.
    here = str(account["region"]).rpartition(".")[2].upper(), str(account["locator"]).upper()
    for row in details[_REPLICATION]:
        where = str(row.get("snowflake_region")).upper(), str(row.get("account_locator")).upper()
        if row.get("name") == observation.row["name"] and where == here:
            return row
    return None


def is_primary(row: Row) -> bool:
    """Whether others are, or may become, replicas of the database in a row."""
    return str(row.get("is_primary")).lower() == "true"
