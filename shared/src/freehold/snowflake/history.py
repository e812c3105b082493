"""What SHOW ... HISTORY proves: that an incarnation was dropped, itself or with what contained it.

Where SHOW has no row of an object, absent and invisible look the same. Source: "SHOW DATABASES", "SHOW SCHEMAS" and
"SHOW TABLES" in Snowflake's documentation: dropped_on is set in the rows of what was dropped and can be restored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime

from freehold.claims import Evidence
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.registry import KINDS
from freehold.observation import Row
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.sql import Sql

Query = Callable[[Sql], Awaitable[Sequence[Row]]]
"""The rows of a query."""

_UNANSWERED = frozenset({ErrorClass.MISSING, ErrorClass.PERMISSION, ErrorClass.SYNTAX, ErrorClass.UNSUPPORTED})
"""Classes of answers that tell nothing of what was asked for."""


async def was_dropped(query: Query, kind: Kind, target: Target, evidence: Evidence) -> bool:
    """Whether the object that evidence speaks of is known to be gone.

    Args:
        query: asks Snowflake.
        kind: the object's kind.
        target: the object.
        evidence: of its incarnation.

    Raises:
        SnowflakeError: there is no answer.
    """
    if kind.history and any(is_end_of(row, evidence) for row in await _incarnations(query, kind, target)):
        return True
    for container, outer in _containers(target):
        if any(is_end_around(row, evidence) for row in await _incarnations(query, container, outer)):
            return True
    return False


def is_end_of(row: Row, evidence: Evidence) -> bool:
    """Whether a row is of this very incarnation, and it was dropped."""
    return row.get("created_on") == evidence.created_on and isinstance(row.get("dropped_on"), datetime)


def is_end_around(row: Row, evidence: Evidence) -> bool:
    """Whether a row is of the container in which the object was seen when the evidence was written, and it was dropped
    later: whatever was in it then has gone along."""
    began, ended = row.get("created_on"), row.get("dropped_on")
    return isinstance(began, datetime) and isinstance(ended, datetime) and began <= evidence.time < ended


def _containers(target: Target) -> Iterator[tuple[Kind, Target]]:
    """What an object lies in, inside out."""
    for depth in range(len(target.parts) - 1, 0, -1):
        kind = KINDS[("Database", "Schema")[depth - 1]]
        yield kind, kind.target(target.parts[:depth])


async def _incarnations(query: Query, kind: Kind, target: Target) -> Sequence[Row]:
    """The rows of all incarnations of a name."""
    try:
        rows = await query(kind.show(target, history=True))
    except SnowflakeError as error:
        if error.error_class in _UNANSWERED:
            return ()
        raise
    return [row for row in rows if kind.is_row_of(target, row)]
