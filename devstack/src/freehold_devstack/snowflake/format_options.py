"""Options of file formats: what each format type takes, their defaults, and how Snowflake prints them.

https://docs.snowflake.com/en/sql-reference/sql/create-file-format: file formats have them as properties, stages in the
brackets of FILE_FORMAT.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar, Value
from freehold_devstack.snowflake.parser import Literal
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import (
    Boolean,
    Choice,
    Integer,
    InvalidFormError,
    InvalidValueError,
    ListOf,
    Names,
    Text,
    ValueType,
    choice,
    read_value,
)

TYPE, FORMAT_NAME = "TYPE", "FORMAT_NAME"

# --- values ----------------------------------------------------------------------------------------------------------

_BYTES = re.compile(r"0x((?:[0-9A-Fa-f]{2})+)|((?:\\x[0-9A-Fa-f]{2})+)|\\([0-3][0-7]{2})")
_MAX_DELIMITER = 20


def _characters(text: str) -> str:
    """The characters that a text spells: as they are, or as hex or octal values of their bytes."""
    if text in {r"\n", r"\r", r"\t", r"\r\n"}:
        return text.replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\t", "\t")
    spelled = _BYTES.fullmatch(text)
    if spelled is None:
        return text
    plain, escaped, octal = spelled.groups()
    if octal:
        return chr(int(octal, 8))
    try:
        return bytes.fromhex(plain or escaped.replace(r"\x", "")).decode()
    except UnicodeDecodeError:
        raise InvalidValueError from None


@dataclass(frozen=True)
class _Characters:
    """A string of characters, or a word that stands for what is none.

    Attributes:
        high: The most characters.
        allowed: The only strings that are taken; empty for any.
    """

    word: str
    high: int
    allowed: frozenset[str] = frozenset()
    sql_name: str = "String"

    def read(self, literal: Literal) -> Scalar:
        if literal.kind is TokenKind.WORD and literal.value == self.word:
            return self.word
        if literal.kind is not TokenKind.STRING:
            raise InvalidValueError
        characters = _characters(literal.value)
        if not 0 < len(characters) <= self.high or (self.allowed and characters not in self.allowed):
            raise InvalidValueError
        return characters


_DELIMITER = _Characters("NONE", _MAX_DELIMITER)
_ESCAPE = _Characters("NONE", 1)
_ENCLOSURE = _Characters("NONE", 1, frozenset({"'", '"'}))
_TIME_FORMAT = _Characters("AUTO", 256)
_STRING, _BOOLEAN = Text(sql_name="String"), Boolean(sql_name="Boolean")
_INTEGER, _STRINGS = Integer(0, sql_name="Integer"), ListOf(Text(), sql_name="List")


def _words(words: str) -> Choice:
    return Choice({word: word for word in words.split()}, sql_name="String")


_COMPRESSIONS = "AUTO GZIP BROTLI ZSTD DEFLATE RAW_DEFLATE NONE"
_TEXT_COMPRESSION = _words(f"{_COMPRESSIONS} BZ2")
_ENCODING = _words(
    "BIG5 EUCJP EUCKR GB18030 IBM420 IBM424 IBM949 ISO2022CN ISO2022JP ISO2022KR ISO88591 ISO88592 ISO88595 ISO88596 "
    "ISO88597 ISO88598 ISO88599 ISO885915 KOI8R SHIFTJIS UTF8 UTF16 UTF16BE UTF16LE UTF32 UTF32BE UTF32LE WINDOWS1250 "
    "WINDOWS1251 WINDOWS1252 WINDOWS1253 WINDOWS1254 WINDOWS1255 WINDOWS1256"
)


@dataclass(frozen=True)
class OptionValue:
    """The value of an option: whatever is wrong with one, the answer is that for another type."""

    type: ValueType

    @property
    def sql_name(self) -> str:
        return self.type.sql_name

    def read(self, literal: Literal) -> Value:
        try:
            return self.type.read(literal)
        except InvalidValueError:
            raise InvalidFormError from None


# --- options ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """An option of one format type.

    Attributes:
        hidden: Whether neither SHOW nor DESCRIBE tells it.
        read_only: Whether it is told but can't be given.
    """

    name: str
    type: ValueType
    default: Value
    hidden: bool = False
    read_only: bool = False


def _flag(name: str, default: bool = False) -> Option:
    return Option(name, _BOOLEAN, default)


_TIMES = tuple(Option(name, _TIME_FORMAT, "AUTO") for name in ("DATE_FORMAT", "TIME_FORMAT", "TIMESTAMP_FORMAT"))
_BINARY = Option("BINARY_FORMAT", _words("HEX BASE64 UTF8"), "HEX")
_EXTENSION = Option("FILE_EXTENSION", _STRING, None)
_TRIM, _REPLACE = _flag("TRIM_SPACE"), _flag("REPLACE_INVALID_CHARACTERS")
_IGNORE, _SKIP_MARK = _flag("IGNORE_UTF8_ERRORS"), _flag("SKIP_BYTE_ORDER_MARK", True)
_NULLS = Option("NULL_IF", _STRINGS, ())


def _compression(type_: ValueType) -> Option:
    return Option("COMPRESSION", type_, "AUTO")


_CSV = (
    Option("RECORD_DELIMITER", _DELIMITER, "\n"),
    Option("FIELD_DELIMITER", _DELIMITER, ","),
    _EXTENSION,
    Option("SKIP_HEADER", _INTEGER, 0),
    _flag("PARSE_HEADER"),
    *_TIMES,
    _BINARY,
    Option("ESCAPE", _ESCAPE, "NONE"),
    Option("ESCAPE_UNENCLOSED_FIELD", _ESCAPE, "\\"),
    _TRIM,
    Option("FIELD_OPTIONALLY_ENCLOSED_BY", _ENCLOSURE, "NONE"),
    Option("NULL_IF", _STRINGS, (r"\N",)),
    _compression(_TEXT_COMPRESSION),
    _flag("ERROR_ON_COLUMN_COUNT_MISMATCH", True),
    Option("VALIDATE_UTF8", _BOOLEAN, True, read_only=True),
    _flag("SKIP_BLANK_LINES"),
    _REPLACE,
    _flag("EMPTY_FIELD_AS_NULL", True),
    _SKIP_MARK,
    Option("ENCODING", _ENCODING, "UTF8"),
    _flag("MULTI_LINE", True),
)
_JSON = (
    _EXTENSION,
    *_TIMES,
    _BINARY,
    _TRIM,
    _NULLS,
    _compression(_TEXT_COMPRESSION),
    *map(_flag, ("ENABLE_OCTAL", "ALLOW_DUPLICATE", "STRIP_OUTER_ARRAY", "STRIP_NULL_VALUES")),
    _IGNORE,
    _REPLACE,
    _SKIP_MARK,
    _flag("MULTI_LINE", True),
)
_PARQUET = (
    _TRIM,
    _NULLS,
    _compression(_words("AUTO LZO SNAPPY NONE")),
    Option("SNAPPY_COMPRESSION", _BOOLEAN, None, hidden=True),
    _flag("BINARY_AS_TEXT", True),
    _flag("USE_LOGICAL_TYPE"),
    _flag("USE_VECTORIZED_SCANNER"),
    _REPLACE,
)
_XML = (
    _compression(_TEXT_COMPRESSION),
    _IGNORE,
    *map(_flag, ("PRESERVE_SPACE", "STRIP_OUTER_ELEMENT", "DISABLE_SNOWFLAKE_DATA", "DISABLE_AUTO_CONVERT")),
    _REPLACE,
    _SKIP_MARK,
)

FORMATS: Mapping[str, tuple[Option, ...]] = {
    "CSV": _CSV,
    "JSON": _JSON,
    "AVRO": (_TRIM, _NULLS, _compression(_words(_COMPRESSIONS)), _REPLACE),
    "ORC": (_TRIM, _NULLS, _REPLACE),
    "PARQUET": _PARQUET,
    "XML": _XML,
}
"""The options of each format type, in the order of DESCRIBE."""

TYPES = OptionValue(choice(*FORMATS))


def all_options() -> tuple[Option, ...]:
    """The options of all format types: with all values that any of them takes, and the default where they share it."""
    known: dict[str, Option] = {}
    for option in (option for options in FORMATS.values() for option in options if not option.read_only):
        known.setdefault(option.name, option)
    compressions = {word: word for word in (*_COMPRESSIONS.split(), "BZ2", "LZO", "SNAPPY")}
    known["COMPRESSION"] = Option("COMPRESSION", Choice(compressions, sql_name="String"), None)
    known["NULL_IF"] = Option("NULL_IF", _STRINGS, None)
    return tuple(known.values())


# --- rules -----------------------------------------------------------------------------------------------------------


def settled(format_type: str, values: Mapping[str, Value], given: Iterable[str]) -> dict[str, Value]:
    """The options of a format type, complete, of values that may have been meant for another.

    Args:
        values: Of options by name; None stands for the default.
        given: What the statement spells out.

    Raises:
        SqlError: 001420 for an option of another type, 001008 for a value, 999999 for what doesn't go together.
    """
    options = {option.name: option for option in FORMATS[format_type] if not option.read_only}
    named = frozenset(given)
    for name in sorted(named - options.keys()):
        raise errors.invalid_property(name, f"{format_type} FILE FORMAT")
    complete = {name: _or_default(values.get(name), option.default) for name, option in options.items()}
    _check_compression(options, complete)
    if complete.get("SKIP_HEADER") and complete.get("PARSE_HEADER"):
        raise errors.unnumbered("SKIP_HEADER can't be given together with PARSE_HEADER = TRUE.")
    if complete.get("IGNORE_UTF8_ERRORS") and complete.get("REPLACE_INVALID_CHARACTERS"):
        raise errors.unnumbered("IGNORE_UTF8_ERRORS and REPLACE_INVALID_CHARACTERS can't both be TRUE.")
    if {"COMPRESSION", "SNAPPY_COMPRESSION"} <= named:
        raise errors.unnumbered("COMPRESSION and SNAPPY_COMPRESSION can't be given together.")
    _check_delimiters(complete)
    return complete


def _or_default(value: Value, default: Value) -> Value:
    return default if value is None else value


def _check_compression(options: Mapping[str, Option], values: Mapping[str, Value]) -> None:
    compression = options.get("COMPRESSION")
    if compression is not None and isinstance(compression.type, Choice):
        value = str(values["COMPRESSION"])
        if value not in compression.type.spellings:
            raise errors.invalid_parameter_value(value, "COMPRESSION")


def _check_delimiters(values: Mapping[str, Value]) -> None:
    field, record = (str(values.get(name, "NONE")) for name in ("FIELD_DELIMITER", "RECORD_DELIMITER"))
    if "NONE" not in {field, record} and (field in record or record in field):
        raise errors.unnumbered("FIELD_DELIMITER and RECORD_DELIMITER can't be contained in one another.")


@dataclass(frozen=True)
class FileFormat:
    """FILE_FORMAT of a stage: the name of a file format, or a type with its options, all of them told.

    A name is read as {"FORMAT_NAME": parts}, options as {"TYPE": type, <option>: value, …}.
    """

    sql_name: str = "STRING"

    def read(self, literal: Literal) -> Value:
        if literal.group is None:
            return {FORMAT_NAME: Names().read(literal)}
        given = dict(literal.group)
        if FORMAT_NAME in given:
            if len(given) > 1:
                raise errors.unnumbered("FORMAT_NAME can't be given together with a TYPE and its options.")
            return {FORMAT_NAME: Names().read(given[FORMAT_NAME])}
        format_type = str(read_value(TYPE, TYPES, given.pop(TYPE))) if TYPE in given else "CSV"
        known = {option.name: option for option in FORMATS[format_type] if not option.read_only}
        values = {
            name: read_value(name, OptionValue(known[name].type), value)
            for name, value in given.items()
            if name in known
        }
        return {TYPE: format_type, **settled(format_type, values, given)}


# --- printing --------------------------------------------------------------------------------------------------------

Row = tuple[str, str, str, str]
"""Name, type, value and default of an option."""


def described(format_type: str, values: Mapping[str, Value]) -> list[Row]:
    """What DESCRIBE prints of a format: the defaults are those of CSV for what CSV has."""
    rows = [(TYPE, "String", format_type, "CSV")]
    csv = {option.name: option.default for option in _CSV}
    for option in FORMATS[format_type]:
        if not option.hidden:
            value = values.get(option.name, option.default)
            default = csv.get(option.name, option.default)
            rows.append((option.name, option.type.sql_name, printed(value), printed(default)))
    return rows


def as_json(format_type: str, values: Mapping[str, Value]) -> str:
    """The column format_options of SHOW FILE FORMATS."""
    shown = {
        option.name: values.get(option.name, option.default) for option in FORMATS[format_type] if not option.hidden
    }
    return json.dumps({TYPE: format_type, **shown}, separators=(",", ":"), ensure_ascii=False)


def printed(value: Value) -> str:
    """A value as DESCRIBE spells it: characters escaped as in a string, lists in square brackets."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)[1:-1]
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(printed, value)) + "]"
    return str(value)
