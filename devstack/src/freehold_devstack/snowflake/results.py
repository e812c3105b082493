"""Result sets, and how the driver's JSON format spells columns and cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from freehold_devstack.snowflake.catalog import Scalar

Cell = Scalar | float | Decimal | bytes | tuple[int, int]
"""What a cell may hold. Dates are days since 1970; times and timestamps count units of their scale, since midnight or
since 1970; those with a time zone come with its offset in minutes. Semi-structured values are JSON, as text."""

_TEXT_LENGTH = 16_777_216
_BINARY_LENGTH = 8_388_608
_SCALED = frozenset({"fixed", "time", "timestamp_ltz", "timestamp_ntz", "timestamp_tz"})
_ZERO_OFFSET = 1440
"""What stands for UTC in a cell with a time zone, in minutes."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        type: Name of the type on the wire: text, fixed, real, decfloat, boolean, date, time, timestamp_ltz, _ntz or
            _tz, binary, variant, object, array or vector.
        scale: Decimal places; of times, digits of the second's fraction.
        precision: Digits of a number.
        length: Of text in characters, of binary data in bytes; the greatest by default.
        dimension, element: Of a vector: how many elements, and their type on the wire.
    """

    name: str
    type: str = "text"
    nullable: bool = True
    scale: int = 0
    precision: int = 38
    length: int | None = None
    dimension: int = 0
    element: str = ""

    def rowtype(self) -> dict[str, Any]:
        """The column's entry in `rowtype`."""
        length = byte_length = None
        if self.type == "text":
            length = self.length or _TEXT_LENGTH
            byte_length = min(4 * length, _TEXT_LENGTH)
        elif self.type == "binary":
            length = byte_length = self.length or _BINARY_LENGTH
        entry = {
            "name": self.name,
            "type": self.type,
            "nullable": self.nullable,
            "length": length,
            "byteLength": byte_length,
            "precision": self.precision if self.type in {"fixed", "decfloat"} else 0 if self.type in _SCALED else None,
            "scale": self.scale if self.type in _SCALED else None,
        }
        if self.type == "vector":
            part = {"type": self.element, "nullable": False, "precision": 38, "scale": 0, "length": 0, "byteLength": 0}
            entry |= {"vectorDimension": self.dimension, "fields": [part]}
        return entry

    def cell(self, value: Cell) -> str | None:
        """A value as the wire spells it."""
        match value:
            case None:
                return None
            case bool():
                return "true" if value else "false"
            case bytes():
                return value.hex().upper()
            case (units, offset):
                return f"{self._seconds(units)} {_ZERO_OFFSET + offset}"
            case int() if self.type in _SCALED and self.type != "fixed":
                return self._seconds(value)
            case Decimal():
                return f"{value:f}" if self.type == "fixed" else str(value)
            case _:
                return str(value)

    def _seconds(self, units: int) -> str:
        """Units of the scale as seconds."""
        if not self.scale:
            return str(units)
        whole, fraction = divmod(abs(units), 10**self.scale)
        return f"{'-' if units < 0 else ''}{whole}.{fraction:0{self.scale}d}"


def text(name: str) -> Column:
    return Column(name)


def number(name: str) -> Column:
    return Column(name, "fixed")


def boolean(name: str) -> Column:
    return Column(name, "boolean")


def timestamp(name: str) -> Column:
    return Column(name, "timestamp_ltz", scale=3)


@dataclass(frozen=True)
class Result:
    """What a statement answers."""

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]

    def rowtype(self) -> list[dict[str, Any]]:
        return [column.rowtype() for column in self.columns]

    def rowset(self) -> list[list[str | None]]:
        return [[column.cell(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]

    def records(self) -> list[dict[str, Cell]]:
        """The rows by column name, for in-process use."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


def status(message: str) -> Result:
    """The one-cell result of a statement that isn't a query."""
    return Result((text("status"),), [(message,)])


DONE = status("Statement executed successfully.")

MULTIPLE = Result(
    (Column("multiple statement execution", nullable=False),), [("Multiple statements executed successfully.",)]
)
"""The result of a request with several statements; each of them has its own."""
