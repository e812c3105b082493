"""What was seen of one object in Snowflake, as plain data between the client layer and the pure core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

Row = Mapping[str, object]
"""One row of a result: column name in lower case to the driver's value (str, int, datetime, None ...)."""


class Unknown:
    """A value that was not read: a column that this account lacks, or one that only a deep observation reads."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A row of SHOW PARAMETERS.

    Attributes:
        value: effective value as text.
        level: where it is set (`DATABASE`, `ACCOUNT` ...); empty for Snowflake's default.
    """

    value: str
    level: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One object as Snowflake shows it to our role.

    Attributes:
        row: its row of SHOW, filtered by exact name.
        parameters: SHOW PARAMETERS of the object by key; None when only SHOW was read (shallow).
        details: rows of a kind's further queries by the query's name; None when shallow.
        unreadable: what Snowflake said where more than the row was asked for and the role may not read it.
        broken: what Snowflake said where an object can't be read since it doesn't work any more.
        shared: whether the row was read for others, too, and is older than this observation: good enough to see that
            nothing is to be done, not to do anything.
    """

    row: Row
    parameters: Mapping[str, Parameter] | None = None
    details: Mapping[str, tuple[Row, ...]] | None = field(default=None)
    unreadable: str = ""
    broken: str = ""
    shared: bool = False

    @property
    def created_on(self) -> datetime:
        """When this incarnation of the object was made; equality tells a replaced object."""
        value = self.row["created_on"]
        if not isinstance(value, datetime):
            raise TypeError(f"created_on is {value!r}, a timestamp was expected")
        return value

    @property
    def dated(self) -> bool:
        """Whether Snowflake tells which incarnation it is: of an object that the role may not read it may not."""
        return isinstance(self.row.get("created_on"), datetime)

    @property
    def owner(self) -> str | None:
        """Role that owns the object; None where Snowflake doesn't tell."""
        value = self.row.get("owner")
        return value if isinstance(value, str) and value else None


Depth = Literal["shallow", "deep"]
