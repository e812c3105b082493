"""Scopes: what one SHOW answers as a whole, how it is asked for page by page, and when it is worth asking for. Pure.

Source: "LIMIT rows [ FROM 'name_string' ]" in Snowflake's documentation of SHOW TABLES and others: rows that follow the
first one whose name begins with the string, in exactly this case. Rows come in the order of their names inside of one
container, so that a scope is never more than that: the last name of a page leads to the next one.
"""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass

from freehold import sql
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.sql import Sql

SHOW_LIMIT = 10_000
"""Rows that SHOW answers with at most: as many aren't all."""

PAGE = 2_000
"""Rows of a page: more would stop everything else in this process for longer than a moment while they are unpacked."""

_ROWS_PER_STATEMENT = 500
"""Rows that are about as much work, at both ends, as another statement."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What one SHOW answers.

    Attributes:
        query: the SHOW.
        named_by: column by whose exact value rows are told apart; several rows may share one.
        paged: whether the SHOW takes LIMIT … FROM.
        divisible: whether there is a SHOW of a single object, too, which is less.
    """

    query: Sql
    named_by: str = "name"
    paged: bool = True
    divisible: bool = True

    def page(self, after: str | None) -> Sql:
        """The query of one page.

        Args:
            after: the last name of the page before; None for the first page.
        """
        if not self.paged:
            return self.query
        page = sql.sql("{query} LIMIT {rows}", query=self.query, rows=sql.number(PAGE))
        return page if after is None else sql.sql("{page} FROM {after}", page=page, after=sql.literal(after))

    def cut(self, rows: Sized) -> bool:
        """Whether an answer is as long as a page, so that there may be another."""
        return self.paged and len(rows) >= PAGE


def around(kind: Kind, target: Target) -> Scope:
    """All objects of a kind in the schema, database or account that contains one of them; of a slot, all that its query
    tells of others as well."""
    if kind.filling and target.slot:
        listing = kind.filling.show(target.slot)
        return Scope(listing.query, listing.column, paged=False, divisible=False)
    return Scope(kind.show_all(target), paged=kind.shown_in_pages, divisible=kind.shown_by_name)


def worth_it(scope: Scope, askers: int, rows: int | None) -> bool:
    """Whether a scope as a whole is cheaper than a SHOW for each of those who ask.

    Args:
        scope: the scope.
        askers: how many have asked lately, and may again while a snapshot serves.
        rows: how many the scope had when it was last read; None before.
    """
    if not scope.divisible:
        return True
    if rows is None:
        # The first may be the only one. From the second on, it is found out.
        return askers > 1
    return askers > 1 and askers >= math.ceil((rows + 1) / PAGE) + rows / _ROWS_PER_STATEMENT
