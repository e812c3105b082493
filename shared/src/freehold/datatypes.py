"""Data types: the many spellings that Snowflake takes, the one that it prints, and when two are the same.

Rules: "Summary of data types" in Snowflake's SQL reference, and what DESCRIBE TABLE prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(r"""\s*(?:(?P<word>[A-Za-z_][A-Za-z0-9_$]*|"(?:[^"]|"")+"|'[^']*'|[0-9]+)|(?P<mark>[(),]))""")
_WORD = re.compile(r"[A-Z_][A-Z0-9_$]*")
_KEY = re.compile(r'[A-Za-z_"]')


class InvalidDataType(ValueError):
    """A text that isn't a data type of Snowflake, or doesn't say which one is meant."""


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a structured type: a key of OBJECT, the element of ARRAY, the key or value of MAP.

    Attributes:
        type: its data type.
        key: the key of OBJECT as written, case kept; empty elsewhere.
        nullable: whether NULL is allowed.
    """

    type: DataType
    key: str = ""
    nullable: bool = True

    def __str__(self) -> str:
        return self._text(str(self.type))

    @property
    def ddl(self) -> str:
        """The element in a statement, as `DataType.ddl`."""
        return self._text(self.type.ddl)

    def _text(self, type_: str) -> str:
        return f"{self.key} {type_}".lstrip() + ("" if self.nullable else " NOT NULL")


@dataclass(frozen=True, slots=True)
class DataType:
    """A data type; as text it is what DESCRIBE TABLE prints, but for the collation.

    Attributes:
        base: the word that all its synonyms stand for; the whole text, in upper case, of a type that isn't known.
        arguments: precision and scale, length, or dimension, with defaults filled in.
        elements: the parts of a structured type; the element type of VECTOR.
        written: whether the arguments were written, or are filled in.
        collation: what follows COLLATE; None when nothing does. It is no part of the type.
        known: whether this release knows the type.
    """

    base: str
    arguments: tuple[int, ...] = ()
    elements: tuple[Element, ...] = ()
    written: bool = field(default=False, compare=False)
    collation: str | None = field(default=None, compare=False)
    known: bool = field(default=True, compare=False)

    def __str__(self) -> str:
        separator = "," if self.base == "NUMBER" else ", "
        inside = separator.join(map(str, (*self.elements, *self.arguments)))
        return f"{self.base}({inside})" if inside else self.base

    @property
    def ddl(self) -> str:
        """The type in a statement: what isn't written is left to the account's defaults."""
        if self.left_open:
            return self.base
        if self.base in ("OBJECT", "ARRAY", "MAP") and self.elements:
            return f"{self.base}({', '.join(each.ddl for each in self.elements)})"
        return str(self)

    @property
    def left_open(self) -> bool:
        """Whether the length is one that an account fills in."""
        return not self.written and self.arguments in _FILLED_IN.get(self.base, ())

    @property
    def signature(self) -> str:
        """The type as it tells overloads of a function apart: length, precision, scale and elements don't count."""
        return str(self) if self.base == "VECTOR" else self.base


@dataclass(frozen=True, slots=True)
class _Family:
    """What a word of DDL stands for.

    Attributes:
        base: the canonical word.
        bounds: (lowest, highest) of each argument that may be written, in order.
        defaults: the arguments when none is written.
    """

    base: str
    bounds: tuple[tuple[int, int], ...] = ()
    defaults: tuple[int, ...] = ()


_VARCHAR = _Family("VARCHAR", ((1, 134_217_728),), (16_777_216,))
_BINARY = _Family("BINARY", ((1, 67_108_864),), (8_388_608,))
_NUMBER = _Family("NUMBER", ((1, 38), (0, 37)), (38, 0))
_FRACTION = ((0, 9),)

_SPELLINGS: Mapping[_Family, Sequence[str]] = {
    _NUMBER: ("NUMBER", "DECIMAL", "DEC", "NUMERIC"),
    _Family("NUMBER", (), (38, 0)): ("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "BYTEINT"),
    _Family("FLOAT"): ("FLOAT", "FLOAT4", "FLOAT8", "DOUBLE", "DOUBLE PRECISION", "REAL"),
    _Family("DECFLOAT", ((38, 38),), (38,)): ("DECFLOAT",),
    _VARCHAR: ("VARCHAR", "STRING", "TEXT", "NVARCHAR", "NVARCHAR2", "CHAR VARYING", "NCHAR VARYING"),
    _Family("VARCHAR", _VARCHAR.bounds, (1,)): ("CHAR", "CHARACTER", "NCHAR"),
    _BINARY: ("BINARY", "VARBINARY"),
    _Family("TIME", _FRACTION, (9,)): ("TIME",),
    _Family("TIMESTAMP_NTZ", _FRACTION, (9,)): (
        "TIMESTAMP_NTZ", "TIMESTAMPNTZ", "DATETIME", "TIMESTAMP WITHOUT TIME ZONE",
    ),
    _Family("TIMESTAMP_LTZ", _FRACTION, (9,)): (
        "TIMESTAMP_LTZ", "TIMESTAMPLTZ", "TIMESTAMP WITH LOCAL TIME ZONE",
    ),
    _Family("TIMESTAMP_TZ", _FRACTION, (9,)): ("TIMESTAMP_TZ", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"),
    **{_Family(word): (word,) for word in ("BOOLEAN", "DATE", "VARIANT", "GEOGRAPHY", "GEOMETRY", "UUID", "FILE")},
}  # fmt: skip
_FAMILIES = {spelling: family for family, spellings in _SPELLINGS.items() for spelling in spellings}

_FILLED_IN = {"VARCHAR": (_VARCHAR.defaults, (134_217_728,)), "BINARY": (_BINARY.defaults, (67_108_864,))}
"""Arguments that accounts fill in, the older ones first."""

_VECTOR_ELEMENTS = {"INT": "INT", "INTEGER": "INT", "FLOAT": "FLOAT", "FLOAT4": "FLOAT", "FLOAT8": "FLOAT"}
_MOST_DIMENSIONS = 4096
_MOST_WORDS = max(len(spelling.split()) for spelling in _FAMILIES)
_DEEPEST = 50
"""Levels of structured types inside one another that are read; far beyond what anybody declares."""

_REFUSED = {
    "TIMESTAMP": "TIMESTAMP depends on TIMESTAMP_TYPE_MAPPING: write TIMESTAMP_NTZ, TIMESTAMP_LTZ or TIMESTAMP_TZ",
    **{word: f"Snowflake has no type {word}" for word in ("BLOB", "CLOB", "ENUM")},
}


def parse(text: str) -> DataType:
    """Read a data type as a person writes it.

    A word that isn't known may be a type newer than this release: it is read, and told by `known`.

    Raises:
        InvalidDataType: it is none.
    """
    return _Reader(text).whole()


def read(text: str) -> DataType:
    """Read a data type as Snowflake prints it: whatever it is, it is a type."""
    try:
        return parse(text)
    except InvalidDataType:
        return DataType(" ".join(text.upper().split()), known=False)


def matches(desired: DataType, live: DataType) -> bool:
    """Whether a live type is what a spec asks for. What the spec doesn't write is left to the account's defaults."""
    if desired == live:
        return True
    if desired.base != live.base or len(desired.elements) != len(live.elements):
        return False
    left_open = desired.left_open and live.arguments in _FILLED_IN[desired.base]
    return (desired.arguments == live.arguments or left_open) and all(
        (one.key, one.nullable) == (other.key, other.nullable) and matches(one.type, other.type)
        for one, other in zip(desired.elements, live.elements, strict=True)
    )


def widens(live: DataType, desired: DataType) -> bool:
    """Whether ALTER TABLE makes one type of the other without a look at the rows: a longer text or binary, or a number
    of more digits with the same scale ("ALTER TABLE ... ALTER COLUMN")."""
    if live.base != desired.base or live.base not in ("VARCHAR", "BINARY", "NUMBER"):
        return False
    return live.arguments[0] < desired.arguments[0] and live.arguments[1:] == desired.arguments[1:]


def signature(types: Sequence[str]) -> tuple[str, ...]:
    """The argument types that tell a function or procedure from its overloads.

    Args:
        types: data types as a person writes them, in order.

    Raises:
        InvalidDataType: one is none.
    """
    return tuple(parse(each).signature for each in types)


class _Reader:
    """Reads one text, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = self._depth = 0

    def whole(self) -> DataType:
        """The type that the text is, with nothing after it."""
        found = self._type()
        if self._at != len(self._tokens):
            raise self._invalid()
        return found

    def _type(self) -> DataType:
        if self._next() == "VECTOR":
            return self._vector()
        if self._next() in ("OBJECT", "ARRAY", "MAP"):
            return self._structured(self._take().upper())
        word = self._keyword()
        if word in _REFUSED:
            raise InvalidDataType(f"{_REFUSED[word]}: {self._text!r}")
        written = self._numbers()
        family = _FAMILIES.get(word)
        if family is None:
            return DataType(word, written or (), written=written is not None, known=False)
        arguments = self._filled(word, family, written)
        collation = self._collation() if family.base == "VARCHAR" else None
        return DataType(family.base, arguments, written=written is not None, collation=collation)

    def _collation(self) -> str | None:
        if not self._skip("COLLATE"):
            return None
        text = self._take()
        if not text.startswith("'"):
            raise self._invalid()
        return text[1:-1]

    def _keyword(self) -> str:
        """The longest spelling that the next words make."""
        rest = [token.upper() for token in self._tokens[self._at : self._at + _MOST_WORDS]]
        longest = max((n for n in range(1, len(rest) + 1) if " ".join(rest[:n]) in _FAMILIES), default=1)
        if not rest or not _WORD.fullmatch(rest[0]):
            raise self._invalid()
        self._at += longest
        return " ".join(rest[:longest])

    def _numbers(self) -> tuple[int, ...] | None:
        """Numbers in parentheses; None where there are none."""
        if not self._skip("("):
            return None
        numbers: list[int] = []
        while not numbers or self._skip(","):
            numbers.append(self._number())
        self._expect(")")
        return tuple(numbers)

    def _number(self) -> int:
        token = self._take()
        if not re.fullmatch(r"[0-9]{1,9}", token):
            raise self._invalid()
        return int(token)

    def _filled(self, word: str, family: _Family, written: tuple[int, ...] | None) -> tuple[int, ...]:
        if written is None:
            return family.defaults
        within = len(written) <= len(family.bounds) and all(
            low <= number <= high for number, (low, high) in zip(written, family.bounds, strict=False)
        )
        arguments = (*written, *family.defaults[len(written) :])
        if not within or (family is _NUMBER and arguments[1] > arguments[0]):
            raise InvalidDataType(f"{word} doesn't take these arguments: {self._text!r}")
        return arguments

    def _structured(self, base: str) -> DataType:
        if not self._skip("("):
            if base == "MAP":
                raise self._invalid()
            return DataType(base)
        elements: list[Element] = []
        self._depth += 1
        while not elements or self._skip(","):
            elements.append(self._element(keyed=base == "OBJECT"))
        self._depth -= 1
        self._expect(")")
        if len(elements) != {"ARRAY": 1, "MAP": 2}.get(base, len(elements)):
            raise self._invalid()
        return DataType(base, elements=tuple(elements), written=True)

    def _element(self, *, keyed: bool) -> Element:
        if self._depth > _DEEPEST:
            raise InvalidDataType(f"a data type nested more than {_DEEPEST} deep: {self._text[:40]!r}…")
        key = self._take() if keyed else ""
        if key and not _KEY.match(key):
            raise self._invalid()
        found = self._type()
        nullable = not self._skip("NOT")
        if not nullable:
            self._expect("NULL")
        return Element(found, key, nullable)

    def _vector(self) -> DataType:
        self._expect("VECTOR")
        self._expect("(")
        element = _VECTOR_ELEMENTS.get(self._take().upper())
        self._expect(",")
        dimension = self._number()
        self._expect(")")
        if element is None or not 1 <= dimension <= _MOST_DIMENSIONS:
            raise self._invalid()
        return DataType("VECTOR", (dimension,), (Element(DataType(element)),), written=True)

    def _next(self) -> str:
        return self._tokens[self._at].upper() if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        """The next token as it is written."""
        if self._at == len(self._tokens):
            raise self._invalid()
        self._at += 1
        return self._tokens[self._at - 1]

    def _skip(self, token: str) -> bool:
        found = self._next() == token
        self._at += found
        return found

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            raise self._invalid()

    def _invalid(self) -> InvalidDataType:
        return InvalidDataType(f"not a data type: {self._text!r}")


def _tokens(text: str) -> Iterator[str]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise InvalidDataType(f"not a data type: {text!r}")
        yield match["word"] or match["mark"]
        position = match.end()
