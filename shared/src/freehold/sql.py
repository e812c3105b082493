"""The one place where SQL text is made: fragments that know how to quote themselves, joined into statements.

A `Sql` is built from templates written in code, quoted identifiers and escaped literals; no other module pastes SQL.
Each fragment carries a second form for people, in which secrets are masked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import LiteralString

from freehold import redaction
from freehold.identifiers import qualified
from freehold.identity import Name, Slot

MASK = "'***'"


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL.

    Attributes:
        text: what is sent.
        shown: what logs, events and conditions may show; equal to `text` unless it holds a secret.
        secrets: the values that are masked in `shown`.
        unquotable: texts of people in it, which may hold secrets: nobody is told what a server quotes of them.
    """

    text: str = field(repr=False)
    shown: str
    secrets: tuple[str, ...] = field(default=(), repr=False)
    unquotable: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.shown

    def redact(self, message: str) -> str:
        """A server's message about this statement without its secrets: servers quote what they refuse, whole or cut."""
        message = redaction.without_parts(
            message, {form for value in self.secrets for form in (value, _escaped(value))}
        )
        return redaction.without_quotations(message, self.unquotable)


def words(text: LiteralString | str) -> Sql:
    """Keywords, operators, a property's name: text that a declaration in code wrote."""
    return Sql(text, text)


def identifier(*parts: str) -> Sql:
    """A name, always double-quoted, outermost part first."""
    return words(qualified(parts))


def named(name: Name | Slot) -> Sql:
    """What an identity names, which prints itself as SQL reads it: every name in it in double quotes."""
    return words(str(name))


def literal(value: str, *, secret: bool = False) -> Sql:
    """A string literal. In single quotes Snowflake takes the backslash as an escape ("String constants")."""
    text = f"'{_escaped(value)}'"
    return Sql(text, MASK, (value,) if value else ()) if secret else words(text)


def standard_literal(value: str) -> Sql:
    """A string literal of PostgreSQL's, in which the backslash is no escape (`standard_conforming_strings`)."""
    return words("'" + value.replace("'", "''") + "'")


def literal_in_line(value: str) -> Sql:
    """A string literal whose line breaks and tabs are escape sequences."""
    text = literal(value).text
    return words(text.replace("\r", r"\r").replace("\n", r"\n").replace("\t", r"\t"))


def dollar_quoted(value: str) -> Sql:
    """A string literal in $$, in which nothing is an escape.

    Raises:
        ValueError: the value would end it.
    """
    if "$$" in value or value.endswith("$"):
        raise ValueError("a text in $$ can't hold $$")
    return words(f"$${value}$$")


def source(text: str) -> Sql:
    """The source of a function or procedure, as the string that ends a statement. It is shown to nobody, since people
    write secrets into sources."""
    ends = "$$" in text or text.startswith("$") or text.endswith("$")
    return Sql((literal(text) if ends else dollar_quoted(text)).text, MASK, unquotable=(text,))


def unquotable(fragment: Sql, *, shown: bool = True) -> Sql:
    """A fragment that nobody is told of by what a server quotes of it.

    Args:
        fragment: a text of people.
        shown: whether what is sent may be shown.
    """
    return replace(fragment, shown=fragment.shown if shown else MASK, unquotable=(fragment.text,))


def masked(fragment: Sql, value: str) -> Sql:
    """A fragment whose text is shown to nobody, since it is a secret value."""
    return Sql(fragment.text, MASK, (value,) if value else ())


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
    text, shown = separator.join([p.text for p in pieces]), separator.join([p.shown for p in pieces])
    return Sql(text, shown, *_withheld(pieces))


def sql(template: LiteralString, **parts: Sql) -> Sql:
    """A statement from a template in code: `sql("DROP {type} {name}", type=words("TABLE"), name=identifier("T"))`."""
    return Sql(
        template.format(**{key: part.text for key, part in parts.items()}),
        template.format(**{key: part.shown for key, part in parts.items()}),
        *_withheld(parts.values()),
    )


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _withheld(parts: Collection[Sql]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    secrets = tuple(value for part in parts for value in part.secrets)
    return secrets, tuple(text for part in parts for text in part.unquotable)
