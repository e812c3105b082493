"""What a literal becomes when it is cast to a data type, as far as SELECT needs it."""

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from zoneinfo import ZoneInfo

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.datatypes import DataType
from freehold_devstack.snowflake.parser import phrases
from freehold_devstack.snowflake.results import Cell, Column

_WIRE_TYPES = {
    **{
        base: base.lower()
        for base in phrases("""
            ARRAY, BINARY, BOOLEAN, DATE, DECFLOAT, OBJECT, TIME, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TIMESTAMP_TZ, VARIANT,
            VECTOR
        """)
    },
    "FLOAT": "real",
    "NUMBER": "fixed",
    "VARCHAR": "text",
}
"""The data types that a column may have, and their names on the wire."""

_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
_NANOSECONDS = 9
"""Decimal places of a second that conversions count with."""
_PER_SECOND = 1_000_000_000
_NUMBER = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:E[+-]?\d{1,5})?)\s*", re.ASCII | re.IGNORECASE)
_HEXADECIMAL = re.compile(r"(?:[0-9A-F]{2})*", re.IGNORECASE | re.ASCII)
_DIGITS = Context(prec=80)
"""Room for every digit that a number may have."""
_DECFLOAT_EXPONENTS = range(-16383, 16385)
_DAY = r"(\d{4}-\d{2}-\d{2})"
_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?"
_DATE = re.compile(_DAY, re.ASCII)
_CLOCK = re.compile(_TIME, re.ASCII)
_TIMESTAMP = re.compile(rf"{_DAY}(?:[ T]{_TIME})?\s*(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?", re.ASCII)


def column(name: str, data_type: DataType) -> Column:
    """The column of an expression of this type.

    Raises:
        SqlError: 000002 for a type that the endpoint makes no columns of.
    """
    if data_type.base not in _WIRE_TYPES:
        raise errors.unsupported(f"SELECT of {data_type.base}")
    wire, arguments = _WIRE_TYPES[data_type.base], data_type.arguments
    match wire:
        case "fixed":
            return Column(name, wire, precision=arguments[0], scale=arguments[1])
        case "decfloat":
            return Column(name, wire, precision=arguments[0])
        case "text" | "binary":
            return Column(name, wire, length=arguments[0])
        case "vector":
            element = _WIRE_TYPES["FLOAT" if data_type.elements[0].type.base == "FLOAT" else "NUMBER"]
            return Column(name, wire, dimension=arguments[0], element=element)
        case "time" | "timestamp_ltz" | "timestamp_ntz" | "timestamp_tz":
            return Column(name, wire, scale=arguments[0])
        case _:
            return Column(name, wire)


def convert(value: Cell, source: DataType, target: DataType, zone: str) -> Cell:
    """A value of one type as a value of another.

    Args:
        zone: The session's time zone.

    Raises:
        SqlError: 000002 for types that the endpoint does not convert, the number of the data error for a value.
    """
    if value is None or source == target:
        return value
    if source.base == "VARCHAR" and isinstance(value, str):
        if target.base not in _FROM_TEXT:
            raise errors.unsupported(f"CAST of VARCHAR AS {target.base}")
        return _FROM_TEXT[target.base](value, target, zone)
    if source.base == "NUMBER" and target.base in _FROM_NUMBER:
        written = f"{value:f}" if isinstance(value, Decimal) else str(value)
        return _FROM_NUMBER[target.base](written, target, zone)
    if source.base in {"OBJECT", "ARRAY", "VARIANT"} and target.base in _FROM_JSON:
        return _FROM_JSON[target.base](str(value), target, zone)
    raise errors.unsupported(f"CAST of {source.base} AS {target.base}")


def _text(value: str, target: DataType, _zone: str) -> Cell:
    if len(value) > target.arguments[0]:
        raise errors.text_too_long(value)
    return value


def _number(value: str, target: DataType, _zone: str) -> Cell:
    precision, scale = target.arguments
    read, limit = _decimal(value), Decimal(1).scaleb(precision - scale)
    if abs(read) >= limit:
        raise errors.out_of_range(value)
    rounded = read.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _DIGITS)
    if abs(rounded) >= limit:
        raise errors.out_of_range(value)
    return rounded if scale else int(rounded)


def _decimal(value: str) -> Decimal:
    number = _NUMBER.fullmatch(value)
    if number is None:
        raise errors.not_recognized("Numeric", value)
    return Decimal(number[1])


def _float(value: str, _target: DataType, _zone: str) -> Cell:
    read = float(_decimal(value))
    if math.isinf(read):
        raise errors.out_of_range(value)
    return read


def _decimal_float(value: str, target: DataType, _zone: str) -> Cell:
    read = Context(prec=target.arguments[0], rounding=ROUND_HALF_UP).create_decimal(_decimal(value))
    if read and read.adjusted() not in _DECFLOAT_EXPONENTS:
        raise errors.out_of_range(value)
    return read


def _boolean(value: str, _target: DataType, _zone: str) -> Cell:
    try:
        return _BOOLEANS[value.lower()]
    except KeyError:
        raise errors.not_recognized("Boolean", value) from None


def _date(value: str, _target: DataType, _zone: str) -> Cell:
    if _DATE.fullmatch(value) is None:
        raise errors.not_recognized("Date", value)
    return (_day(value, "Date", value) - date(1970, 1, 1)).days


def _day(text: str, kind: str, value: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise errors.not_recognized(kind, value) from None


def _time(value: str, target: DataType, _zone: str) -> Cell:
    clock = _CLOCK.fullmatch(value)
    if clock is None:
        raise errors.not_recognized("Time", value)
    return _units(_nanoseconds(clock.groups(), "Time", value), target)


def _units(nanoseconds: int, target: DataType) -> int:
    scale: int = 10 ** (_NANOSECONDS - target.arguments[0])
    return nanoseconds // scale


def _nanoseconds(clock: tuple[str | None, ...], kind: str, value: str) -> int:
    """Since midnight."""
    hours, minutes, seconds = (int(part or 0) for part in clock[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise errors.not_recognized(kind, value)
    fraction = int((clock[3] or "0").ljust(_NANOSECONDS, "0"))
    return (hours * 3600 + minutes * 60 + seconds) * _PER_SECOND + fraction


def _timestamp(value: str, target: DataType, zone: str) -> Cell:
    """Wall clock for NTZ, an instant for LTZ, an instant and its offset for TZ."""
    written = _TIMESTAMP.fullmatch(value)
    if written is None:
        raise errors.not_recognized("Timestamp", value)
    day, *clock, offset = written.groups()
    since = _day(day, "Timestamp", value) - date(1970, 1, 1)
    wall = since.days * 86_400 * _PER_SECOND + _nanoseconds(tuple(clock), "Timestamp", value)
    minutes = _offset(offset, wall, zone)
    instant = wall if target.base == "TIMESTAMP_NTZ" else wall - minutes * 60 * _PER_SECOND
    units = _units(instant, target)
    return (units, minutes) if target.base == "TIMESTAMP_TZ" else units


def _offset(written: str | None, wall: int, zone: str) -> int:
    """Minutes east of UTC, as written or as the zone has it then."""
    if written is None:
        then = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=wall // _PER_SECOND)
        offset = then.replace(tzinfo=ZoneInfo(zone)).utcoffset()
        return 0 if offset is None else int(offset.total_seconds()) // 60
    if written == "Z":
        return 0
    digits = written[1:].replace(":", "")
    return (-1 if written[0] == "-" else 1) * (int(digits[:2]) * 60 + int(digits[2:]))


def _binary(value: str, target: DataType, _zone: str) -> Cell:
    if _HEXADECIMAL.fullmatch(value) is None:
        raise errors.not_hexadecimal(value)
    read = bytes.fromhex(value)
    if len(read) > target.arguments[0]:
        raise errors.text_too_long(value)
    return read


def _variant(value: str, _target: DataType, _zone: str) -> Cell:
    return json.dumps(value)


def _parsed(kind: type[list[object]] | type[dict[str, object]]) -> Callable[[str, DataType, str], Cell]:
    def parse(value: str, target: DataType, _zone: str) -> Cell:
        if not isinstance(read := json.loads(value), kind):
            raise errors.failed_cast(_compact(read), target.base)
        return value

    return parse


def _vector(value: str, target: DataType, _zone: str) -> Cell:
    read = json.loads(value)
    number = float | int if target.elements[0].type.base == "FLOAT" else int
    fits = isinstance(read, list) and len(read) == target.arguments[0]
    if not (fits and all(isinstance(each, number) and not isinstance(each, bool) for each in read)):
        raise errors.failed_cast(_compact(read), target.base)
    return _compact(read)


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _same(value: str, _target: DataType, _zone: str) -> Cell:
    return value


_Conversion = Callable[[str, DataType, str], Cell]

_FROM_NUMBER: Mapping[str, _Conversion] = {
    "VARCHAR": _text,
    "NUMBER": _number,
    "FLOAT": _float,
    "DECFLOAT": _decimal_float,
    "VARIANT": _same,
}
_FROM_TEXT: Mapping[str, _Conversion] = {
    **_FROM_NUMBER,
    "BOOLEAN": _boolean,
    "DATE": _date,
    "TIME": _time,
    "TIMESTAMP_LTZ": _timestamp,
    "TIMESTAMP_NTZ": _timestamp,
    "TIMESTAMP_TZ": _timestamp,
    "BINARY": _binary,
    "VARIANT": _variant,
}
_FROM_JSON: Mapping[str, _Conversion] = {
    "VARIANT": _same,
    "OBJECT": _parsed(dict),
    "ARRAY": _parsed(list),
    "VECTOR": _vector,
}


def parse_json(value: Cell) -> Cell:
    """What PARSE_JSON answers: the JSON as Snowflake prints it, nothing for a text without any.

    Raises:
        SqlError: 100069 for what is no JSON, or has one key twice in an object.
    """
    if value is None or not str(value).strip():
        return None
    try:
        return print_json(json.loads(str(value), object_pairs_hook=_object, parse_constant=_no_number))
    except (ValueError, RecursionError) as error:
        raise errors.bad_json(str(error)) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'duplicate object attribute "{twice}"')
    return members


def _no_number(word: str) -> object:
    raise ValueError(f'unknown keyword "{word}"')


def print_json(value: object) -> str:
    """JSON with its lines as Snowflake breaks them, and its keys in order."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
