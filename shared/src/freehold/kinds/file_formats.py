"""Options of file formats, which file formats have as properties and stages in the brackets of FILE_FORMAT.

Source: "CREATE FILE FORMAT" in Snowflake's SQL reference.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from freehold import sql
from freehold.kinds.fields import prop
from freehold.kinds.model import Model
from freehold.kinds.property import KEEP, Observe, Property, Reset, set_to
from freehold.kinds.resource import Rule
from freehold.kinds.spec_fields import INFERRED, SpecField, properties
from freehold.kinds.values import Codec, Comment, Word
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

_ESCAPED = re.compile(
    r"(?P<bytes>0x(?:[0-9A-Fa-f]{2})+|(?:\\x[0-9A-Fa-f]{2})+) | \\(?P<octal>[0-3][0-7]{2}) | \\(?P<sign>[nrtbf\\'\"])",
    re.VERBOSE,
)
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}

LONGEST_DELIMITER = 20
"""Characters of a delimiter."""


def characters(text: str) -> str:
    """The characters that a text spells: as they are, by an escape sequence, or by hex or octal values."""
    return _ESCAPED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    if found["bytes"]:
        spelled = bytes.fromhex(found["bytes"].removeprefix("0x").replace(r"\x", ""))
        return spelled.decode(errors="replace")
    return chr(int(found["octal"], 8)) if found["octal"] else _SIGNS.get(found["sign"], found["sign"])


@dataclass(frozen=True)
class Characters(Codec):
    """A text of certain characters, in any of their spellings, or a word that stands for what is none.

    Attributes:
        word: which SQL has as a keyword: as a text it would be what it spells.
    """

    word: str

    def canonical(self, value: Any) -> str:
        text = str(value)
        return self.word if text.upper() == self.word else characters(text)

    def render(self, value: Any) -> Sql:
        text = self.canonical(value)
        return sql.words(self.word) if text == self.word else sql.literal_in_line(text)


class _Encoding(Word):
    """A character set, with or without dashes."""

    def canonical(self, value: Any) -> Any:
        return super().canonical(str(value).replace("-", ""))


class _Nulls(Codec):
    """Texts in an order: SHOW prints a list of them, DESCRIBE a text in which they can't be told apart for certain."""

    def render(self, value: Sequence[str]) -> Sql:
        return sql.sql("({all})", all=sql.join(map(sql.literal_in_line, value), ", "))

    def canonical(self, value: Sequence[str]) -> tuple[str, ...]:
        return tuple(value)

    def read(self, raw: object) -> Any:
        return tuple(map(str, raw)) if isinstance(raw, list) else characters(str(raw or "[]"))

    def matches(self, desired: Any, observed: Any) -> bool:
        return bool(observed == (f"[{', '.join(desired)}]" if isinstance(observed, str) else desired))


@dataclass(frozen=True)
class Option(Property):
    """An option of a file format.

    Attributes:
        types: of the formats that have it.
    """

    types: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def _parsed(text: str) -> Any:
    return orjson.loads(text)


def _shown(keyword: str) -> Observe:
    """An option in the column format_options, which has those of the format's type."""

    def read(observation: Observation) -> object:
        text = observation.row.get("format_options")
        return _parsed(text).get(keyword, UNKNOWN) if isinstance(text, str) and text else UNKNOWN

    return read


def _option(
    keyword: str,
    types: str,
    default: str | int | Callable[[Any], Any],
    *,
    codec: Codec = INFERRED,
    check: Callable[[Any], object] | None = None,
    own_statement: bool = False,
    **constraints: Any,
) -> Any:
    """An option.

    Args:
        keyword: its name.
        types: of the formats that have it.
        default: what it goes back to, as it has no UNSET; perhaps by the spec.
        codec: as a property has it.
        check: likewise.
        own_statement: likewise.
        constraints: pydantic's.
    """
    facts = Option(
        sql=keyword,
        types=tuple(types.split()),
        codec=codec,
        observe=_shown(keyword),
        source=f"show.format_options.{keyword}",
        reset=Reset(of=default) if callable(default) else set_to(default),
        own_statement=own_statement,
        check=check,
    )
    return Field(default=None, json_schema_extra=facts, **constraints)


def _short(text: str) -> None:
    if len(characters(text)) > LONGEST_DELIMITER:
        raise ValueError(f"a delimiter has at most {LONGEST_DELIMITER} characters: {text!r}")


def _single(text: str) -> None:
    if text.upper() != "NONE" and len(characters(text)) != 1:
        raise ValueError(f"one character is needed, its escape sequence, or NONE: {text!r}")


def _enclosing(text: str) -> None:
    if text.upper() != "NONE" and characters(text) not in ("'", '"'):
        raise ValueError(f"a single or a double quote is needed, or NONE: {text!r}")


_ALL = "CSV JSON AVRO ORC PARQUET XML"
_NONE, _AUTO = Characters("NONE"), Characters("AUTO")


class FormatOptions(Model):
    """A type of files, with its options."""

    type: Literal["CSV", "JSON", "AVRO", "ORC", "PARQUET", "XML"] = prop(
        "TYPE", show="type", codec=Word(quoted=False), reset=KEEP, recreate_when=operator.ne, required=True
    )
    """What the files are. No change leads from one to another."""
    compression: (
        Literal["AUTO", "GZIP", "BZ2", "BROTLI", "ZSTD", "DEFLATE", "RAW_DEFLATE", "NONE", "LZO", "SNAPPY"] | None
    ) = _option("COMPRESSION", "CSV JSON AVRO PARQUET XML", "AUTO", codec=Word(quoted=False))
    """How files are compressed. AUTO looks at the file; of PARQUET it means SNAPPY."""
    record_delimiter: str | None = _option(
        "RECORD_DELIMITER", "CSV", "\n", codec=_NONE, check=_short, min_length=1, max_length=256
    )
    r"""What ends a record: characters, escape sequences (\n), hex (\xC2\xA2) or octal values, or NONE."""
    field_delimiter: str | None = _option(
        "FIELD_DELIMITER", "CSV", ",", codec=_NONE, check=_short, min_length=1, max_length=256
    )
    """What ends a field, spelled as recordDelimiter."""
    multi_line: bool | None = _option("MULTI_LINE", "CSV JSON", True)
    """Whether a record may go over several lines."""
    file_extension: str | None = _option("FILE_EXTENSION", "CSV JSON", "", codec=Comment(), max_length=256)
    """Extension of files that are unloaded; by default it follows from type and compression."""
    parse_header: bool | None = _option("PARSE_HEADER", "CSV", False, own_statement=True)
    """Whether the first row has the names of columns."""
    skip_header: int | None = _option("SKIP_HEADER", "CSV", 0, ge=0)
    """Lines at the start of a file that are skipped."""
    skip_blank_lines: bool | None = _option("SKIP_BLANK_LINES", "CSV", False)
    """Whether blank lines are skipped; else they end in an error."""
    date_format: str | None = _option("DATE_FORMAT", "CSV JSON", "AUTO", codec=_AUTO, min_length=1, max_length=256)
    """Format of dates, or AUTO."""
    time_format: str | None = _option("TIME_FORMAT", "CSV JSON", "AUTO", codec=_AUTO, min_length=1, max_length=256)
    """Format of times, or AUTO."""
    timestamp_format: str | None = _option(
        "TIMESTAMP_FORMAT", "CSV JSON", "AUTO", codec=_AUTO, min_length=1, max_length=256
    )
    """Format of timestamps, or AUTO."""
    binary_format: Literal["HEX", "BASE64", "UTF8"] | None = _option(
        "BINARY_FORMAT", "CSV JSON", "HEX", codec=Word(quoted=False)
    )
    """How binary values are written as text."""
    escape: str | None = _option("ESCAPE", "CSV", "NONE", codec=_NONE, check=_single, min_length=1, max_length=16)
    """The character that escapes others in every field, or NONE."""
    escape_unenclosed_field: str | None = _option(
        "ESCAPE_UNENCLOSED_FIELD", "CSV", "\\", codec=_NONE, check=_single, min_length=1, max_length=16
    )
    """The character that escapes others in fields without enclosure, or NONE. By default the backslash."""
    trim_space: bool | None = _option("TRIM_SPACE", "CSV JSON AVRO ORC PARQUET", False)
    """Whether blanks around values are removed."""
    field_optionally_enclosed_by: str | None = _option(
        "FIELD_OPTIONALLY_ENCLOSED_BY", "CSV", "NONE", codec=_NONE, check=_enclosing, min_length=1, max_length=16
    )
    """The single or double quote around texts, or NONE."""
    null_if: list[Annotated[str, Field(max_length=1024)]] | None = _option(
        "NULL_IF",
        "CSV JSON AVRO ORC PARQUET",
        lambda options: (r"\N",) if options.type == "CSV" else (),
        codec=_Nulls(),
        max_length=100,
    )
    r"""Texts that stand for NULL, as they stand in the file. By default \N in CSV, and none elsewhere."""
    error_on_column_count_mismatch: bool | None = _option("ERROR_ON_COLUMN_COUNT_MISMATCH", "CSV", True)
    """Whether another number of fields than the table has columns is an error."""
    replace_invalid_characters: bool | None = _option("REPLACE_INVALID_CHARACTERS", _ALL, False)
    """Whether invalid UTF-8 is replaced."""
    empty_field_as_null: bool | None = _option("EMPTY_FIELD_AS_NULL", "CSV", True)
    """Whether an empty field is NULL."""
    skip_byte_order_mark: bool | None = _option("SKIP_BYTE_ORDER_MARK", "CSV JSON XML", True)
    """Whether a byte order mark is skipped."""
    encoding: (
        Literal[
            "BIG5", "EUCJP", "EUCKR", "GB18030", "IBM420", "IBM424", "IBM949", "ISO2022CN", "ISO2022JP", "ISO2022KR",
            "ISO88591", "ISO88592", "ISO88595", "ISO88596", "ISO88597", "ISO88598", "ISO88599", "ISO885915", "KOI8R",
            "SHIFTJIS", "UTF8", "UTF16", "UTF16BE", "UTF16LE", "UTF32", "UTF32BE", "UTF32LE", "WINDOWS1250",
            "WINDOWS1251", "WINDOWS1252", "WINDOWS1253", "WINDOWS1254", "WINDOWS1255", "WINDOWS1256",
        ]
        | None
    ) = _option("ENCODING", "CSV", "UTF8", codec=_Encoding(quoted=False))  # fmt: skip
    """Character set of the files."""
    enable_octal: bool | None = _option("ENABLE_OCTAL", "JSON", False)
    """Whether numbers may be octal."""
    allow_duplicate: bool | None = _option("ALLOW_DUPLICATE", "JSON", False)
    """Whether a field may occur twice in an object; the last one counts."""
    strip_outer_array: bool | None = _option("STRIP_OUTER_ARRAY", "JSON", False)
    """Whether the outermost brackets are removed, so that each item is a record."""
    strip_null_values: bool | None = _option("STRIP_NULL_VALUES", "JSON", False)
    """Whether fields and items that are null are removed."""
    ignore_utf8_errors: bool | None = _option("IGNORE_UTF8_ERRORS", "JSON XML", False)
    """Whether invalid UTF-8 is replaced: the older name of replaceInvalidCharacters."""
    snappy_compression: bool | None = _option("SNAPPY_COMPRESSION", "PARQUET", True)
    """Whether files that are unloaded are compressed by Snappy. Snowflake doesn't tell it afterwards."""
    binary_as_text: bool | None = _option("BINARY_AS_TEXT", "PARQUET", True)
    """Whether columns without a logical type are read as UTF-8 text."""
    use_logical_type: bool | None = _option("USE_LOGICAL_TYPE", "PARQUET", False)
    """Whether logical types in the files are heeded."""
    use_vectorized_scanner: bool | None = _option("USE_VECTORIZED_SCANNER", "PARQUET", False)
    """Whether the faster scanner is used."""
    preserve_space: bool | None = _option("PRESERVE_SPACE", "XML", False)
    """Whether blanks around the content of elements stay."""
    strip_outer_element: bool | None = _option("STRIP_OUTER_ELEMENT", "XML", False)
    """Whether the outermost element is removed, so that each one inside is a record."""
    disable_snowflake_data: bool | None = _option("DISABLE_SNOWFLAKE_DATA", "XML", False)
    """Whether Snowflake's own tags aren't recognised."""
    disable_auto_convert: bool | None = _option("DISABLE_AUTO_CONVERT", "XML", False)
    """Whether numbers and Booleans stay texts."""


def options_of(model: type[Model]) -> tuple[SpecField, ...]:
    """The options that a model has as fields, TYPE apart."""
    return tuple(each for each in properties(model) if isinstance(each.facts, Option))


def _rules() -> Iterator[Rule]:
    for each in options_of(FormatOptions):
        types = each.facts.types  # type: ignore[attr-defined]  # as it was filtered
        if set(types) != set(_ALL.split()):
            has = " and ".join((", ".join(types[:-1]), types[-1])) if types[1:] else types[0]
            yield Rule(
                f"!has(self.{each.name}) || self.type in {list(types)}", f"{each.name} is an option of {has}", each.name
            )
    yield Rule(
        "!has(self.compression) || (self.type == 'PARQUET' ? self.compression in ['AUTO', 'LZO', 'SNAPPY', 'NONE'] : "
        "!(self.compression in ['LZO', 'SNAPPY']) && !(self.type == 'AVRO' && self.compression == 'BZ2'))",
        "compression of PARQUET is AUTO, LZO, SNAPPY or NONE; no other type takes LZO and SNAPPY, and AVRO no BZ2",
        "compression",
    )
    yield Rule(
        "!(has(self.compression) && has(self.snappyCompression))",
        "set at most one of compression and snappyCompression",
        "snappyCompression",
    )
    yield Rule(
        "!has(self.skipHeader) || self.skipHeader == 0 || !has(self.parseHeader) || !self.parseHeader",
        "a header is either skipped or parsed: set skipHeader to 0, or parseHeader to false",
        "skipHeader",
    )
    yield Rule(
        "!has(self.ignoreUtf8Errors) || !self.ignoreUtf8Errors || !has(self.replaceInvalidCharacters) || "
        "!self.replaceInvalidCharacters",
        "ignoreUtf8Errors and replaceInvalidCharacters mean the same: set one of them",
        "ignoreUtf8Errors",
    )


FORMAT_RULES = tuple(_rules())
"""What goes together."""


def faults(options: FormatOptions) -> tuple[str, ...]:
    """What CEL can't tell: delimiters that contain one another."""
    field, record = (
        _NONE.canonical(each) for each in (options.field_delimiter or ",", options.record_delimiter or "\n")
    )
    if "NONE" in (field, record) or not (field in record or record in field):
        return ()
    return (f"fieldDelimiter {field!r} and recordDelimiter {record!r}: neither may contain the other",)
