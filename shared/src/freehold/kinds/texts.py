"""SQL that Snowflake keeps and prints back: the query of a view, the body of a policy, the statement of a task.

Such a text goes into statements as it was written, and is compared by what it means: blanks, comments, needless quotes,
the case of words and a final semicolon don't count (`bodies.canonical`); what stands in strings and quoted names does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from freehold import bodies, sql
from freehold.kinds.property import KEEP, UNSET, Change, Observe, Place, Property, Target
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

MAX_LENGTH = 1_000_000
"""Longest text, in characters: Snowflake takes a statement of 1 MB ("Query size limits")."""


class Text(Codec):
    """A piece of SQL. An empty one is nothing that Snowflake would keep: what printed it doesn't tell."""

    def __init__(self, *, secret: bool = False, quotable: bool = True) -> None:
        self._secret = secret
        self._quotable = quotable and not secret

    def render(self, value: Any) -> Sql:
        written = bodies.written(bodies.unended(str(value)))
        return written if self._quotable else sql.unquotable(written, shown=not self._secret)

    def canonical(self, value: Any) -> str:
        return " ".join(bodies.canonical(bodies.unended(str(value))))

    def read(self, raw: object) -> Any:
        return None if raw is None else self.canonical(str(raw)) if str(raw).strip() else UNKNOWN


class Condition(Text):
    """Likewise one that need not be there: NULL and an empty text mean that there is none."""

    def read(self, raw: object) -> str | None:
        return self.canonical(str(raw)) if raw and str(raw).strip() else None


def text(
    words: str,
    *,
    check: Callable[[str], object],
    observe: Observe,
    source: str,
    alter: str = "",
    remove: str = "",
    place: Place = Place.PROPERTIES,
    details: tuple[str, ...] = (),
    change: Change = Change.ALTER,
    required: bool = False,
    secret: bool = False,
    quotable: bool = True,
    max_length: int = MAX_LENGTH,
) -> Any:
    """A field that holds one.

    Args:
        words: what stands before it in CREATE: `AS`, `->`, `WHEN`.
        check: tells whether it is one whole piece: `bodies.query`, `bodies.expression`, `bodies.statement`.
        observe: reads it.
        source: the same for people.
        alter: what stands before it in ALTER: `MODIFY AS`, `SET BODY ->`; empty where no ALTER changes it.
        remove: what takes it away in ALTER: `REMOVE WHEN`; empty where nothing does.
        place: where it stands in CREATE.
        details: the kind's further queries that it is read from.
        change: what a change means.
        required: whether every manifest has it.
        secret: whether it is shown to nobody, since people write credentials into such.
        quotable: whether people are told what Snowflake quotes of it where it refuses it, such as a name that is wrong;
            a secret never is.
        max_length: in characters.
    """
    codec: Text = (Condition if remove else Text)(secret=secret, quotable=quotable)

    def altered(target: Target, desired: str | None, observed: object) -> Sequence[Sql]:
        if desired is not None:
            return (target.alter(_after(alter, codec.render(desired))),)
        return (target.alter(sql.words(remove)),) if remove and observed is not None else ()

    facts = Property(
        sql=words,
        codec=codec,
        observe=observe,
        source=source,
        clause=lambda value: _after(words, codec.render(value)),
        alter=altered if alter else None,
        own_statement=True,
        reset=UNSET if remove else KEEP,
        place=place,
        details=details,
        change=change,
        check=check,
        secret=secret,
    )
    return Field(
        default=... if required else None,
        json_schema_extra=facts,
        repr=not secret,
        min_length=1,
        max_length=max_length,
    )


def in_create(column: str) -> Observe:
    """A column of SHOW with the whole CREATE as somebody typed it: what follows the AS that ends its header. The header
    isn't looked at, for no ALTER changes it. UNKNOWN where the column is empty, as a secure view's is for strangers.

    Args:
        column: the column, in lower case.
    """

    def read(observation: Observation) -> object:
        found = bodies.body(str(observation.row.get(column) or ""))
        return UNKNOWN if found is None else found

    return read


def detail(query: str, column: str) -> Observe:
    """A column of the one row that a further query of a kind finds, such as DESCRIBE of a policy.

    Args:
        query: the query's name.
        column: the column, in lower case.
    """

    def read(observation: Observation) -> object:
        rows = (observation.details or {}).get(query)
        return rows[0].get(column, UNKNOWN) if rows else UNKNOWN

    return read


def _after(words: str, piece: Sql) -> Sql:
    return sql.sql("{words} {piece}", words=sql.words(words), piece=piece)
