"""Snowflake identifiers: how a stored name is written into SQL and read back from what Snowflake prints.

A *stored name* is what the catalog holds (`orders`, `a.b`, `a"b`): no quotes, no folding. Rules: "Identifier
requirements" in Snowflake's SQL reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_LENGTH = 255
"""Longest name that Snowflake takes, in characters (code points), quotes not counted."""

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
_PART = re.compile(r'"((?:[^"]|"")+)"|([A-Za-z_][A-Za-z0-9_$]*)')


class InvalidName(ValueError):
    """A text that can't be the name of a Snowflake object."""


def check(name: str) -> str:
    """Return `name` unchanged when Snowflake can store it.

    Raises:
        InvalidName: it is empty, longer than 255 characters, or holds NUL or half a surrogate pair.
    """
    if not name:
        raise InvalidName("a name can't be empty")
    if len(name) > MAX_LENGTH:
        raise InvalidName(f"a name has at most {MAX_LENGTH} characters, this one has {len(name)}: {name[:40]!r}…")
    if "\0" in name:
        raise InvalidName(f"a name can't hold a NUL character: {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidName(f"a name must be valid Unicode: {name!r}") from error
    return name


def quote(name: str) -> str:
    """The double-quoted form of one stored name, which Snowflake never folds."""
    return '"' + name.replace('"', '""') + '"'


def qualified(parts: Iterable[str]) -> str:
    """The fully-qualified name of stored name parts, outermost first: `"DB"."SCHEMA"."NAME"`."""
    return ".".join(quote(part) for part in parts)


def split(text: str) -> tuple[str, ...]:
    """The stored names in a dotted name as Snowflake prints it or a person writes it.

    A quoted part is taken as it stands, a bare part is folded to upper case, as Snowflake would.

    Raises:
        InvalidName: `text` isn't a dotted name.
    """
    parts: list[str] = []
    position = 0
    while match := _PART.match(text, position):
        quoted, bare = match.groups()
        parts.append(check(quoted.replace('""', '"')) if quoted is not None else bare.upper())
        position = match.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            break
        position += 1
    raise InvalidName(f"not a dotted name: {text!r}")


def split_in_database(text: str) -> tuple[str, ...]:
    """The database and name in the fully-qualified name of an object in a database: what says less depends on the
    session.

    Raises:
        InvalidName: `text` isn't such a name.
    """
    return _split_into(text, "two parts, DATABASE.NAME")


def split_in_schema(text: str) -> tuple[str, ...]:
    """Likewise the database, schema and name of an object in a schema."""
    return _split_into(text, "three parts, DATABASE.SCHEMA.NAME")


def _split_into(text: str, form: str) -> tuple[str, ...]:
    parts = split(text)
    if len(parts) != form.count(".") + 1:
        raise InvalidName(f"a fully-qualified name has {form}: {text!r}")
    return parts


def unquoted(text: str) -> str:
    """The stored name in a column that prints one name, with or without its quotes."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return text


def printed(*parts: str) -> tuple[str, ...]:
    """All that a name may be printed as: accounts differ in whether they quote what need not be, or nothing."""
    forms = (".".join(parts), qualified(parts), ".".join(quote(each) if needs_quotes(each) else each for each in parts))
    return tuple(dict.fromkeys(forms))


def needs_quotes(name: str) -> bool:
    """Whether people must quote this stored name in their SQL: bare identifiers are folded to upper case."""
    return not (_BARE.fullmatch(name) and name == name.upper())
