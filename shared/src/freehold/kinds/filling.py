"""How a slot is filled, seen and emptied: what a kind declares in place of CREATE, SHOW ... LIKE and DROP."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from freehold.identity import Slot
from freehold.observation import Row
from freehold.sql import Sql

UNDATED = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for the time at which a slot was filled where Snowflake doesn't tell."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A query that tells of many slots.

    Attributes:
        query: the query.
        column: by which its rows are told apart first.
        names: what may be printed in that column of what fills the slot in question.
        complete: whether a slot without a row is empty, whoever asks. SHOW GRANTS ON and OF are refused to a role that
            doesn't see the object or role that they ask about, and TO leaves out the rows of those ("Usage notes" of
            SHOW GRANTS in Snowflake's documentation).
    """

    query: Sql
    column: str
    names: tuple[str, ...]
    complete: bool = True


@dataclass(frozen=True)
class Filling:
    """What is set in a slot.

    Attributes:
        show: what tells of a slot.
        fills: whether a row is what fills a slot.
        fill: (slot, spec) to the statement that fills it.
        empty: (slot, whether what depends on it may go along) to the statement that empties it; None for what can only
            be replaced, and stays.
        dated: whether the rows tell when the slot was filled. Where they don't, what is found counts as ours as long as
            it is what the resource asks for.
    """

    show: Callable[[Slot], Listing]
    fills: Callable[[Slot, Row], bool]
    fill: Callable[[Slot, Any], Sql]
    empty: Callable[[Slot, bool], Sql] | None
    dated: bool = True

    def row(self, slot: Slot, rows: Iterable[Row]) -> Row | None:
        """What fills a slot: the oldest of several rows, with all who have granted the same; None when it is empty."""
        found = [row for row in rows if self.fills(slot, row)]
        if not self.dated:
            found = [{**row, "created_on": UNDATED} for row in found]
        oldest = min(found, key=lambda row: row["created_on"], default=None)  # type: ignore[arg-type,return-value]
        if oldest is None or len(found) == 1:
            return oldest
        grantors = sorted({str(row["granted_by"]) for row in found if row.get("granted_by")})
        return {**oldest, "granted_by": ", ".join(grantors)}
