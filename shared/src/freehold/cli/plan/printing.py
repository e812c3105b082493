"""A plan as people read it: on a terminal, or in the comment of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import typer
from rich.text import Text

from freehold.cli import console
from freehold.cli.console import printable
from freehold.cli.plan.entries import Action, Entry

_SIGNS = {
    Action.CREATE: ("+", "green"),
    Action.ALTER: ("~", "yellow"),
    Action.ADOPT: ("&", "cyan"),
    Action.RECREATE: ("±", "red"),
    Action.DROP: ("-", "red"),
    Action.NONE: ("=", "dim"),
    Action.REFUSE: ("!", "red"),
}
"""How each action is marked."""


def summary(entries: Sequence[Entry]) -> str:
    """A plan in one line."""
    counts = Counter(each.action for each in entries)
    changes = ", ".join(f"{counts[each]} to {each.value}" for each in Action if counts[each] and each.changes)
    refused = f"; {counts[Action.REFUSE]} refused" if counts[Action.REFUSE] else ""
    return f"{changes or 'nothing to do'}{refused}"


def show(entries: Sequence[Entry]) -> None:
    """Print a plan on the terminal."""
    for each in entries:
        sign, style = _SIGNS[each.action]
        console.out.print(Text(f"{sign} {_title(each)}", style))
        for line in _details(each):
            console.out.print(Text(f"    {printable(line)}"))
        for statement in each.statements:
            console.out.print(Text(f"    {printable(statement)};", "bold"))
        for note in each.notes:
            console.warning(f"{each.resource}: {note}")
    console.out.print(f"Plan: {summary(entries)}.", markup=False)


def markdown(entries: Sequence[Entry]) -> None:
    """Print a plan as the comment of a pull request."""
    typer.echo(f"### Freehold plan: {summary(entries)}\n")
    told = [each for each in entries if each.action is not Action.NONE or each.why]
    if told:
        typer.echo("| | resource | object | why |\n| --- | --- | --- | --- |")
    for each in told:
        cells = (each.action.value, str(each.resource), each.object, "; ".join([*_details(each), *each.notes]))
        typer.echo(f"| {' | '.join(map(_cell, cells))} |")
    if statements := [f"{statement};" for each in entries for statement in each.statements]:
        # A fence longer than any in the statements, which may hold whatever people write into comments.
        fence = "`" * (1 + max(3, *(_longest_run(each) for each in statements)))
        typer.echo("\n".join(["\n<details><summary>SQL</summary>\n", f"{fence}sql", *map(_lines, statements), fence]))
        typer.echo("\n</details>")


def _title(entry: Entry) -> str:
    of = f": {entry.object}" if entry.object else ""
    return printable(f"{entry.action.value} {entry.resource}{of}")


def _details(entry: Entry) -> list[str]:
    return [*map(str, entry.differences), *([entry.why] if entry.why else [])]


def _cell(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("@", "&#64;")


def _lines(statement: str) -> str:
    return "\n".join(map(printable, statement.split("\n")))


def _longest_run(text: str) -> int:
    return max((len(run) for run in "".join(each if each == "`" else " " for each in text).split()), default=0)
