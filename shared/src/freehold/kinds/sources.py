"""Sources of functions and procedures, in any language."""

from __future__ import annotations

from typing import Any

from freehold import bodies, sql
from freehold.kinds.clauses import clause
from freehold.kinds.described import DETAIL, described
from freehold.kinds.property import Place
from freehold.kinds.values import Codec

_LONGEST = 1_000_000
"""Characters: Snowflake takes a statement of 1 MB."""


class Source(Codec):
    """A source in any language: every character counts but the form of line ends and blanks at the very end."""

    def canonical(self, value: Any) -> str:
        return str(value).replace("\r\n", "\n").rstrip()


def body(*, required: bool = True) -> Any:
    """The field of a source."""
    return clause(
        "AS",
        write=lambda value: sql.sql("AS {source}", source=sql.source(value)),
        codec=Source(),
        observe=described("body"),
        source="describe.body",
        details=(DETAIL,),
        place=Place.END,
        check=bodies.source,
        secret=True,
        required=required,
        min_length=1,
        max_length=_LONGEST,
    )
