"""How a slot is filled, seen and emptied: what a kind declares in place of CREATE, SHOW ... LIKE and DROP."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


def oldest(rows: Sequence[Row]) -> Row:
    """The oldest of several rows, with all who have granted the same."""
    found = min(rows, key=lambda row: row["created_on"])  # type: ignore[arg-type,return-value]
    if len(rows) == 1:
        return found
    grantors = sorted({str(row["granted_by"]) for row in rows if row.get("granted_by")})
    return {**found, "granted_by": ", ".join(grantors)}


@dataclass(frozen=True)
class Filling:
    """What is set in a slot.

    Attributes:
        show: what tells of a slot.
        fills: whether a row is what fills a slot.
        fill: (slot, spec) to the statement that fills it.
        empty: (slot, whether what depends on it may go along) to the statement that empties it; None where that can
            only be filled with something else, so that it stays.
        value: attributes of the spec that say what is in the slot, where the rows don't tell since when. What is found
            is ours then as long as it is what we have put there.
        refill: (slot, spec) to the statement that changes what is in a slot of ours; None where fields have statements
            of their own.
        merge: makes one row of several that fill one slot.
        named: (slot, row that fills it) to the slot as the statement that empties it names it.
        refused: what helps where Snowflake doesn't let a role fill a slot, for people; empty where that is what helps
            with others.
        free: (row, our role) to whether what fills a slot is our role's own to replace, whatever the adoption policy.
    """

    show: Callable[[Slot], Listing]
    fills: Callable[[Slot, Row], bool]
    fill: Callable[[Slot, Any], Sql]
    empty: Callable[[Slot, bool], Sql | None]
    value: tuple[str, ...] = ()
    refill: Callable[[Slot, Any], Sql] | None = None
    merge: Callable[[Sequence[Row]], Row] = oldest
    named: Callable[[Slot, Row], Slot] = lambda slot, _row: slot
    refused: Callable[[Slot], str] = lambda _slot: ""
    free: Callable[[Row, str], bool] = lambda _row, _role: False

    def row(self, slot: Slot, rows: Iterable[Row]) -> Row | None:
        """What fills a slot; None when it is empty."""
        found = [row for row in rows if self.fills(slot, row)]
        if self.value:
            found = [{**row, "created_on": UNDATED} for row in found]
        return self.merge(found) if found else None
