"""What a DROP of an object would take along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from freehold.identifiers import qualified
from freehold.kinds.property import Target
from freehold.observation import Row
from freehold.sql import Sql


def _qualified_name(row: Row) -> str:
    """The name in a row of SHOW for people, with its schema where it has one."""
    return qualified(str(row[column]) for column in ("schema_name", "name") if row.get(column))


@dataclass(frozen=True)
class Content:
    """What a DROP of an object would take along or spoil, and what keeps it from being sent.

    Attributes:
        query: finds it.
        counts: whether a row is something that somebody may miss.
        name: what a row is called, for people.
        remedy: why it matters and what to do about it first, for people.
        refused: whether Snowflake itself refuses the DROP meanwhile; it is then asked for only to tell what that is.
        told_to_all: whether the query tells everything, whatever the role may see.
        forced: whether the user may have it all dropped by `freehold.dev/force-destroy`.
    """

    query: Callable[[Target], Sql]
    counts: Callable[[Row], bool] = lambda _row: True
    name: Callable[[Row], str] = _qualified_name
    remedy: str = "nobody declares it, so move it away"
    refused: bool = False
    told_to_all: bool = False
    forced: bool = True
