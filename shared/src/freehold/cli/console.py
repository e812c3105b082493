"""What the command line prints: answers to standard output, everything else to standard error."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import zip_longest
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

out = Console(highlight=False, soft_wrap=True)
err = Console(highlight=False, soft_wrap=True, stderr=True)

FAILED, USAGE = 1, 2
"""Exit codes: the answer is no; there is no answer, for it was asked wrongly or the cluster gives none."""

LONG = 1000
"""Rows from which a table is printed without colours, which take about a millisecond a row."""

_STYLES = {
    **dict.fromkeys(("live", "ok"), "green"),
    **dict.fromkeys(("free", "unknown"), "yellow"),
    **dict.fromkeys(("created", "adopted"), "cyan"),
    "refused": "red",
}


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"


Output = Annotated[Format, typer.Option("--output", "-o", help="For people, or for programs.")]


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below headings: on a terminal folded into its width, elsewhere each in one line however long."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if not out.is_terminal or len(cells) > LONG:
        widths = [max(map(len, column)) for column in zip_longest(headings, *cells, fillvalue="")]
        for line in (headings, *cells):
            padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            typer.echo("   ".join(padded).rstrip())
        return
    drawn = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 3, 0, 0))
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in cells:
        drawn.add_row(*(Text(cell, _STYLES.get(cell, "")) for cell in row))
    out.print(drawn, soft_wrap=False)


def facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair a line."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        out.print(Text.assemble((name.ljust(width), "bold"), "   ", (printable(value), _STYLES.get(value, ""))))


def json(document: Any) -> None:
    """Print JSON."""
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))


def error(message: str) -> None:
    """Tell in one line what is wrong, and what to do about it."""
    err.print(Text.assemble(("error: ", "red"), printable(" ".join(message.split()))))


def warning(message: str) -> None:
    """Tell in one line what to know beside."""
    err.print(Text.assemble(("warning: ", "yellow"), printable(" ".join(message.split()))))


def fail(message: str, code: int = FAILED) -> typer.Exit:
    """Tell what is wrong; to be raised."""
    error(message)
    return typer.Exit(code)


def printable(text: str) -> str:
    """A text without what a terminal would obey: names of objects may hold any character."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
