"""The one place where SQL text is made: fragments that know how to quote themselves, joined into statements.

A `Sql` is built from templates written in code, quoted identifiers and escaped literals; no other module pastes SQL.
Each fragment carries a second form for people, in which secrets are masked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import LiteralString

from freehold.identifiers import qualified

MASK = "'***'"


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL.

    Attributes:
        text: what is sent.
        shown: what logs, events and conditions may show; equal to `text` unless it holds a secret.
    """

    text: str
    shown: str

    def __str__(self) -> str:
        return self.shown


def words(text: LiteralString | str) -> Sql:
    """Keywords, operators, a property's name: text that a declaration in code wrote."""
    return Sql(text, text)


def identifier(*parts: str) -> Sql:
    """A name, always double-quoted, outermost part first."""
    return words(qualified(parts))


def literal(value: str, *, secret: bool = False) -> Sql:
    """A string literal. In single quotes Snowflake takes the backslash as an escape ("String constants")."""
    text = "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return Sql(text, MASK if secret else text)


def like(name: str) -> Sql:
    """The pattern of SHOW ... LIKE that finds a stored name. It may find others: rows are filtered by exact name."""
    # A backslash may or may not be an escape in SHOW ... LIKE, "_" matches it either way.
    return literal(name.replace("\\", "_"))


def number(value: int) -> Sql:
    return words(str(value))


def boolean(value: bool) -> Sql:
    return words("TRUE" if value else "FALSE")


def join(parts: Iterable[Sql], separator: LiteralString | str = " ") -> Sql:
    """Fragments one after the other."""
    pieces = tuple(parts)
    return Sql(separator.join([p.text for p in pieces]), separator.join([p.shown for p in pieces]))


def sql(template: LiteralString, **parts: Sql) -> Sql:
    """A statement from a template in code: `sql("DROP {type} {name}", type=words("TABLE"), name=identifier("T"))`."""
    return Sql(
        template.format(**{key: part.text for key, part in parts.items()}),
        template.format(**{key: part.shown for key, part in parts.items()}),
    )
