"""The table of Snowflake's answers, and what one means: by number, else by text, else by SQLSTATE.

It follows Snowflake's documentation and its own clients' sources; Snowflake publishes no full list. Not in it: 333333
and 333334, which say that a statement is under way, and those of native applications that no kind can meet. Errors that
procedures raise have negative numbers of their own, and SQLSTATE P0001.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.error_table import logins, specs, waits
from freehold.snowflake.error_table.row import Row

TABLE: Mapping[ErrorClass, tuple[Row, ...]] = MappingProxyType(
    {
        ErrorClass.TERMINAL: specs.TERMINAL,
        ErrorClass.SYNTAX: specs.SYNTAX,
        ErrorClass.UNSUPPORTED: specs.UNSUPPORTED,
        ErrorClass.PERMISSION: waits.PERMISSION,
        ErrorClass.MISSING: waits.MISSING,
        ErrorClass.EXISTS: waits.EXISTS,
        ErrorClass.CONFLICT: waits.CONFLICT,
        ErrorClass.AUTHENTICATION: logins.AUTHENTICATION,
        ErrorClass.SESSION: logins.SESSION,
        ErrorClass.THROTTLED: waits.THROTTLED,
        ErrorClass.TRANSIENT: waits.TRANSIENT,
    }
)
"""All rows by class."""

SQLSTATES: Mapping[ErrorClass, tuple[str, ...]] = MappingProxyType(
    {
        ErrorClass.TERMINAL: ("22023", "22000", "42601", "42P13", "42S21", "42602", "23001", "P0000", "P0001"),
        ErrorClass.SYNTAX: ("42000",),
        ErrorClass.UNSUPPORTED: ("0A000",),
        ErrorClass.PERMISSION: ("42501",),
        ErrorClass.MISSING: ("02000", "42S02", "57P03"),
        ErrorClass.EXISTS: ("42710",),
        ErrorClass.CONFLICT: ("2BP01", "23505", "55000", "03000"),
        ErrorClass.AUTHENTICATION: ("28",),
        ErrorClass.TRANSIENT: ("57014", "XX000", "08"),
    }
)
"""What an answer means whose number and text aren't in the table: SQLSTATE, or its first two characters."""

_BY_NUMBER = {number: (kind, row) for kind, rows in TABLE.items() for row in rows for number in row.numbers}
_BY_PATTERN = tuple((kind, row) for kind, rows in TABLE.items() for row in rows if row.pattern)
_BY_SQLSTATE = {state: kind for kind, states in SQLSTATES.items() for state in states}


def find(number: int | None, message: str = "") -> tuple[ErrorClass, Row] | None:
    """The row of an answer with its class; None where the table has none."""
    if number in _BY_NUMBER:
        return _BY_NUMBER[number]
    return next((each for each in _BY_PATTERN if re.search(each[1].pattern, message)), None)


def classify(number: int | None, sqlstate: str | None = None, message: str = "") -> ErrorClass:
    """The class of a server's answer: by number, else by known text, else by SQLSTATE."""
    if found := find(number, message):
        return found[0]
    state = sqlstate or ""
    return _BY_SQLSTATE.get(state) or _BY_SQLSTATE.get(state[:2], ErrorClass.UNKNOWN)
