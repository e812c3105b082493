"""Result sets, and how the driver's JSON format spells columns and cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from freehold_devstack.snowflake.catalog import Scalar

_TEXT_LENGTH = 16_777_216


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        type: Name of the type on the wire: text, fixed, boolean or timestamp_ltz.
        scale: Decimal places; of timestamps, digits of the second's fraction.
    """

    name: str
    type: str = "text"
    nullable: bool = True
    scale: int = 0

    def rowtype(self) -> dict[str, Any]:
        """The column's entry in `rowtype`."""
        text = self.type == "text"
        return {
            "name": self.name,
            "type": self.type,
            "nullable": self.nullable,
            "length": _TEXT_LENGTH if text else None,
            "byteLength": _TEXT_LENGTH if text else None,
            "precision": 38 if self.type == "fixed" else 0 if self.type == "timestamp_ltz" else None,
            "scale": None if self.type in {"text", "boolean"} else self.scale,
        }

    def cell(self, value: Scalar) -> str | None:
        """A value as the wire spells it; timestamps are given in milliseconds since 1970."""
        if value is None:
            return None
        if self.type == "timestamp_ltz":
            return f"{int(value) // 1000}.{int(value) % 1000:03d}"
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value)


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
    rows: Sequence[tuple[Scalar, ...]]

    def rowtype(self) -> list[dict[str, Any]]:
        return [column.rowtype() for column in self.columns]

    def rowset(self) -> list[list[str | None]]:
        return [[column.cell(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]

    def records(self) -> list[dict[str, Scalar]]:
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
