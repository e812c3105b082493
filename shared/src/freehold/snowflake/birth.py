"""Who owns what is created: the role of the session, unless a future grant says otherwise."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from freehold import sql
from freehold.kinds import grants
from freehold.kinds.names import Level
from freehold.observation import Observation
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.sight import Sight

_TELLS_NOTHING = frozenset({ErrorClass.MISSING, ErrorClass.PERMISSION})

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


async def owned(sight: Sight, seen: Observation) -> Observation:
    """What was seen of an object, with its owner. SHOW doesn't tell that of every type: of functions, integrations and
    network policies the grants do.

    Args:
        sight: the object.
        seen: what was seen of it.

    Returns:
        The same where it tells the owner, of a slot, which has none, and where the role that looks may not know.

    Raises:
        SnowflakeError: there is no answer.
    """
    if seen.owner is not None or sight.target.slot is not None:
        return seen
    of = sql.words(sight.kind.securable or sight.kind.object_type)
    try:
        rows = await sight.query(sql.sql("SHOW GRANTS ON {of} {name}", of=of, name=sight.target.name))
    except SnowflakeError as error:
        if error.error_class not in _TELLS_NOTHING:
            raise
        return seen
    owners = [row["grantee_name"] for row in rows if row["privilege"] == "OWNERSHIP"]
    return replace(seen, row={**seen.row, "owner": owners[0]}) if owners else seen
