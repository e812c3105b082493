"""Who owns what is created: the role of the session, unless a future grant says otherwise."""

from __future__ import annotations

from contextlib import suppress

from freehold import sql
from freehold.kinds import grants
from freehold.kinds.names import Level
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.sight import Sight

_CONTAINERS = (Level.SCHEMA, Level.DATABASE)
"""Innermost first: future grants in a schema shut out those in its database on the same type of objects ("GRANT
<privileges>", behaviour change 1870 in Snowflake's documentation)."""


async def owner_at_birth(sight: Sight) -> str | None:
    """The role that a future grant of OWNERSHIP gives an object when it is created, whoever does so.

    Args:
        sight: the object.

    Returns:
        None where there is no such grant, or the role that looks may not know.
    """
    for level in (each for each in _CONTAINERS if each.value <= sight.kind.level.value):
        name = sql.identifier(*sight.target.parts[: level.value - 1])
        query = sql.sql("SHOW FUTURE GRANTS IN {level} {name}", level=sql.words(level.name), name=name)
        with suppress(SnowflakeError):
            if rows := [row for row in await sight.query(query) if grants.is_of(sight.kind.object_type, row)]:
                return next((str(row["grantee_name"]) for row in rows if row["privilege"] == "OWNERSHIP"), None)
    return None
