"""What a function or procedure returns: one value of a type, or the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from freehold import datatypes, sql
from freehold.datatypes import DataType, InvalidDataType
from freehold.identifiers import InvalidName, split, unquoted
from freehold.sql import Sql

_TABLE = re.compile(r"\s*TABLE\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
_COLUMN = re.compile(r'\s*("(?:[^"]|"")+"|[A-Za-z_][\w$]*)\s+(.*)', re.DOTALL)
_PIECES = re.compile(r'"(?:[^"]|"")*"|[(),]|[^"(),]+|"')


@dataclass(frozen=True, slots=True)
class Returned:
    """What comes back.

    Attributes:
        type: of the one value; None where rows come back.
        columns: (name, type) of each column of the rows; none where they are found out at each call.
    """

    type: DataType | None
    columns: tuple[tuple[str, DataType], ...] = ()

    def __str__(self) -> str:
        return (
            str(self.type) if self.type else f"TABLE ({', '.join(f'{name} {type_}' for name, type_ in self.columns)})"
        )

    @property
    def ddl(self) -> Sql:
        """After RETURNS."""
        if self.type is not None:
            return sql.words(self.type.ddl)
        columns = (sql.join((sql.identifier(name), sql.words(type_.ddl))) for name, type_ in self.columns)
        return sql.sql("TABLE ({columns})", columns=sql.join(columns, ", "))


def parse(text: str) -> Returned:
    """Read what a person writes: names without quotes are folded to upper case, as in SQL.

    Raises:
        InvalidDataType: it is neither a type nor TABLE (<column> <type>, ...).
    """
    table = _TABLE.fullmatch(text)
    if table is None:
        return Returned(datatypes.parse(text))
    return Returned(None, tuple(_column(each) for each in _listed(table[1])))


def _column(text: str) -> tuple[str, DataType]:
    found = _COLUMN.fullmatch(text)
    if found is None:
        raise InvalidDataType(f"a column of TABLE has a name and a data type: {text.strip()!r}")
    try:
        (name,) = split(found[1])
    except InvalidName as error:
        raise InvalidDataType(str(error)) from error
    return name, datatypes.parse(found[2])


def read(text: str) -> Returned | None:
    """Read what Snowflake prints, names as they are stored; None where that can't be told."""
    table = _TABLE.fullmatch(text)
    if table is None:
        return Returned(datatypes.read(text))
    columns = tuple(_printed(each.strip()) for each in _listed(table[1]))
    known = tuple(each for each in columns if each is not None)
    return Returned(None, known) if len(known) == len(columns) else None


def _printed(text: str) -> tuple[str, DataType] | None:
    """A name may hold blanks, and be printed without quotes: what follows it is the longest type that there is."""
    for at in (each.start() for each in re.finditer(" ", text)):
        found = datatypes.read(text[at:])
        if found.known:
            return unquoted(text[:at]), found
    return None


def matches(desired: Returned, live: Returned) -> bool:
    """Whether what is returned is what a spec asks for. What the spec doesn't write is left to the account."""
    if desired.type is not None and live.type is not None:
        return datatypes.matches(desired.type, live.type)
    return (
        (desired.type is live.type)
        and [name for name, _ in desired.columns] == [name for name, _ in live.columns]
        and all(
            datatypes.matches(one, other) for (_, one), (_, other) in zip(desired.columns, live.columns, strict=True)
        )
    )


def _listed(text: str) -> Iterator[str]:
    """The items of a list; commas in quotes and parentheses don't count."""
    item, depth, more = "", 0, False
    for piece in _PIECES.findall(text):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and not depth:
            yield item
            item, more = "", True
        else:
            item += piece
    if more or item.strip():
        yield item
