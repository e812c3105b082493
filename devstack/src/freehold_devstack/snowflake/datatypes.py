"""Data types: the spellings that Snowflake takes, the one that it prints, and which changes a column can undergo.

https://docs.snowflake.com/en/sql-reference/intro-summary-data-types
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.tokens import TokenKind, tokenize

# --- the types -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a structured type: a key of OBJECT, the element of ARRAY, the key or the value of MAP.

    Attributes:
        name: The key as written; empty where the part has no name.
    """

    type: "DataType"
    name: str = ""
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.name} {self.type}".lstrip() + ("" if self.nullable else " NOT NULL")


@dataclass(frozen=True, slots=True)
class DataType:
    """A data type; as text it is what DESCRIBE TABLE prints.

    Attributes:
        base: The word that all its synonyms stand for.
        elements: The parts of a structured type, or the element type of VECTOR.
        arguments: Precision and scale, length, or dimension.
        written: Whether the statement spelled the arguments out, or the default stands for them.
    """

    base: str
    arguments: tuple[int, ...] = ()
    elements: tuple[Element, ...] = ()
    written: bool = field(default=True, compare=False)

    def __str__(self) -> str:
        separator = "," if self.base == "NUMBER" else ", "
        inside = separator.join(map(str, (*self.elements, *self.arguments)))
        return self.base + (f"({inside})" if inside else "")

    @property
    def bare(self) -> str:
        """The type without arguments, as SHOW FUNCTIONS prints it; of VECTOR they are a part."""
        return str(self) if self.base == "VECTOR" else self.base

    @property
    def is_text(self) -> bool:
        return self.base == "VARCHAR"

    @property
    def is_numeric(self) -> bool:
        """Whether a column of it can be numbered automatically."""
        return self.base in {"NUMBER", "FLOAT"}

    @property
    def is_structured(self) -> bool:
        return self.base != "VECTOR" and bool(self.elements)


@dataclass(frozen=True, slots=True)
class _Range:
    """One number in a type's brackets."""

    name: str
    low: int
    high: int
    default: int

    def take(self, parser: Parser) -> int:
        value = parser.integer()
        if not self.low <= value <= self.high:
            raise errors.unnumbered(f"invalid {self.name}: {value:,}. Must be between {self.low:,} and {self.high:,}.")
        return value


_PRECISION = _Range("number precision", 1, 38, 38)
_SCALE = _Range("number scale", 0, 37, 0)
_FRACTION = _Range("time precision", 0, 9, 9)
_CHARACTERS = _Range("character length", 1, 134_217_728, 16_777_216)
_CHARACTER = _Range("character length", 1, 134_217_728, 1)
_BYTES = _Range("binary length", 1, 67_108_864, 8_388_608)
_DECIMAL_FLOAT = _Range("decfloat precision", 38, 38, 38)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """What a spelling stands for.

    Attributes:
        ranges: The numbers that it takes in brackets; none where brackets are no part of it.
        fixed: The arguments that it stands for where it takes none.
    """

    base: str
    ranges: tuple[_Range, ...] = ()
    fixed: tuple[int, ...] = ()


def _spellings() -> Mapping[str, _Spelling]:
    known = {word: _Spelling(word) for word in ("BOOLEAN", "DATE", "FILE", "GEOGRAPHY", "GEOMETRY", "UUID", "VARIANT")}
    known |= {"OBJECT": _Spelling("OBJECT"), "ARRAY": _Spelling("ARRAY"), "TIME": _Spelling("TIME", (_FRACTION,))}
    known["DECFLOAT"] = _Spelling("DECFLOAT", (_DECIMAL_FLOAT,))
    for words, spelling in (
        ("NUMBER, DECIMAL, DEC, NUMERIC", _Spelling("NUMBER", (_PRECISION, _SCALE))),
        ("INT, INTEGER, BIGINT, SMALLINT, TINYINT, BYTEINT", _Spelling("NUMBER", fixed=(38, 0))),
        ("FLOAT, FLOAT4, FLOAT8, DOUBLE, DOUBLE PRECISION, REAL", _Spelling("FLOAT")),
        ("VARCHAR, STRING, TEXT, NVARCHAR, NVARCHAR2", _Spelling("VARCHAR", (_CHARACTERS,))),
        ("CHAR VARYING, NCHAR VARYING", _Spelling("VARCHAR", (_CHARACTERS,))),
        ("CHAR, CHARACTER, NCHAR", _Spelling("VARCHAR", (_CHARACTER,))),
        ("BINARY, VARBINARY", _Spelling("BINARY", (_BYTES,))),
        # What TIMESTAMP alone means is a session's choice elsewhere; here no session can make another one.
        ("TIMESTAMP, DATETIME, TIMESTAMP_NTZ, TIMESTAMPNTZ", _Spelling("TIMESTAMP_NTZ", (_FRACTION,))),
        ("TIMESTAMP_LTZ, TIMESTAMPLTZ", _Spelling("TIMESTAMP_LTZ", (_FRACTION,))),
        ("TIMESTAMP_TZ, TIMESTAMPTZ", _Spelling("TIMESTAMP_TZ", (_FRACTION,))),
    ):
        known |= dict.fromkeys(words.split(", "), spelling)
    return known


_SPELLINGS = _spellings()
_CONTINUED = {"CHAR": "VARYING", "DOUBLE": "PRECISION", "NCHAR": "VARYING"}
_TIME_ZONES = {
    "WITHOUT TIME ZONE": "TIMESTAMP_NTZ",
    "WITH LOCAL TIME ZONE": "TIMESTAMP_LTZ",
    "WITH TIME ZONE": "TIMESTAMP_TZ",
}
_VECTOR_ELEMENTS = {"INT": "INT", "INTEGER": "INT", "FLOAT": "FLOAT", "FLOAT4": "FLOAT", "FLOAT8": "FLOAT"}
_DIMENSION = _Range("vector dimension", 1, 4096, 1)


# --- reading ---------------------------------------------------------------------------------------------------------


def parse_data_type(parser: Parser) -> DataType:
    """Take a data type in any of its spellings.

    Raises:
        SqlError: 002040 for a word that is no data type, 001003 for brackets that it doesn't take or lacks, 999999 for
            a number out of range.
    """
    if parser.token.kind is not TokenKind.WORD:
        raise parser.unexpected()
    if parser.accept("VECTOR"):
        return _parse_vector(parser)
    if parser.accept("MAP"):
        return _parse_map(parser)
    if parser.at("OBJECT", "(") or parser.at("ARRAY", "("):
        return _parse_structured(parser, parser.word())
    return _parse_plain(parser)


@cache
def data_type(text: str) -> DataType:
    """The data type that a text spells.

    Raises:
        SqlError: As `parse_data_type`; 001003 for what follows the type.
    """
    parser = Parser(tokenize(text), source=text)
    read = parse_data_type(parser)
    parser.end()
    return read


def _parse_plain(parser: Parser) -> DataType:
    words = parser.word()
    if words in _CONTINUED and parser.accept(_CONTINUED[words]):
        words = f"{words} {_CONTINUED[words]}"
    if words not in _SPELLINGS:
        raise errors.unsupported_data_type(words)
    spelling = _SPELLINGS[words]
    written = bool(spelling.ranges) and parser.accept("(")
    arguments = _parse_numbers(parser, spelling.ranges) if written else _defaults(spelling)
    base = spelling.base
    if words == "TIMESTAMP":
        base = next((zone for phrase, zone in _TIME_ZONES.items() if parser.accept_phrase(phrase)), base)
    return DataType(base, arguments, written=written or not spelling.ranges)


def _defaults(spelling: _Spelling) -> tuple[int, ...]:
    return spelling.fixed or tuple(number.default for number in spelling.ranges)


def _parse_numbers(parser: Parser, ranges: tuple[_Range, ...]) -> tuple[int, ...]:
    first, *others = ranges
    numbers = first.take(parser), *(other.take(parser) if parser.accept(",") else other.default for other in others)
    parser.expect(")")
    if others and numbers[1] > numbers[0]:
        raise errors.unnumbered(f"invalid number scale: {numbers[1]}. Must be between 0 and {numbers[0]}.")
    return numbers


def _parse_vector(parser: Parser) -> DataType:
    parser.expect("(")
    word = parser.word()
    if word not in _VECTOR_ELEMENTS:
        raise errors.unnumbered(f"Unsupported vector element type '{word}'.")
    parser.expect(",")
    dimension = _DIMENSION.take(parser)
    parser.expect(")")
    return DataType("VECTOR", (dimension,), (Element(DataType(_VECTOR_ELEMENTS[word])),))


def _parse_map(parser: Parser) -> DataType:
    parser.expect("(")
    key = Element(parse_data_type(parser))
    if not (key.type.is_text or (key.type.base == "NUMBER" and key.type.arguments[1] == 0)):
        raise errors.unnumbered(f"Unsupported map key type '{key.type}'.")
    parser.expect(",")
    value = _parse_element(parser)
    parser.expect(")")
    return DataType("MAP", elements=(key, value))


def _parse_structured(parser: Parser, base: str) -> DataType:
    parser.expect("(")
    parts: list[Element] = []
    while not parts or (base == "OBJECT" and parser.accept(",")):
        name = parser.token.text if base == "OBJECT" else ""
        if base == "OBJECT":
            parser.identifier()
        if name in {part.name for part in parts} - {""}:
            raise errors.duplicate_column(name)
        parts.append(_parse_element(parser, name))
    parser.expect(")")
    return DataType(base, elements=tuple(parts))


def _parse_element(parser: Parser, name: str = "") -> Element:
    return Element(parse_data_type(parser), name, nullable=not parser.accept("NOT", "NULL"))


# --- changing --------------------------------------------------------------------------------------------------------


def check_change(column: str, old: DataType, new: DataType) -> None:
    """Refuse what ALTER COLUMN … SET DATA TYPE can't do: all but a longer text and another precision of a NUMBER.

    Raises:
        SqlError: 040050 for a shorter text, 040052 for another scale, 002108 for another type; 999999 for the rest.
    """
    if old == new:
        return
    if old.base != new.base or old.is_structured or new.is_structured:
        raise errors.type_change(column, str(old), str(new))
    if old.is_text:
        if old.arguments > new.arguments:
            raise errors.type_narrowed(column, str(old), str(new))
    elif old.base != "NUMBER":
        raise errors.unnumbered(f"cannot change column {column} from type {old} to {new}")
    elif old.arguments[1] != new.arguments[1]:
        raise errors.scale_change(column, str(old), str(new))
