"""The page about Snowflake's errors: what they mean, what Freehold does and what people can do."""

from __future__ import annotations

from collections.abc import Iterator

from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.error_table.row import Row
from freehold.snowflake.error_table.table import SQLSTATES, TABLE

_PREFACE = """# Errors of Snowflake

A condition gives the number, SQLSTATE and text of what Snowflake says, and what helps where that isn't in the text.
What Freehold does follows from the number; where that is unknown, from the text, else from SQLSTATE. Snowflake
publishes no list of its errors: this one follows its documentation and its own clients. Numbers with an asterisk are
known from third parties only.
"""


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([_PREFACE, *(line for kind in ErrorClass for line in _section(kind))])


def _section(kind: ErrorClass) -> Iterator[str]:
    yield f"## {kind.value.capitalize()}"
    yield ""
    yield f"What Freehold does: {kind.action}."
    yield ""
    if states := SQLSTATES.get(kind):
        yield f"SQLSTATE of unknown numbers: {', '.join(f'`{state}`' for state in states)}."
        yield ""
    if rows := TABLE.get(kind):
        yield "| Number or text | What is the matter | What helps |"
        yield "| --- | --- | --- |"
        # Texts last.
        for row in sorted(rows, key=lambda row: row.numbers or (10**6,)):
            yield f"| {_sign(row)} | {row.about} | {row.advice} |"
        yield ""


def _sign(row: Row) -> str:
    """What an answer is known by."""
    if row.pattern:
        return f"“{row.pattern.replace('.*', '…').replace(chr(92), '')}”"
    return ", ".join(f"{number:06d}{'*' if row.reported else ''}" for number in row.numbers)
