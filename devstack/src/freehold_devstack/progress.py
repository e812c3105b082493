"""What a person sees while something takes time: a spinner on a terminal, plain lines everywhere else."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

console = Console(stderr=True, highlight=False)

QUIET_SECONDS = 20.0
"""Without a terminal, a long task prints a line this often."""


@contextmanager
def task(title: str) -> Iterator[Callable[[str], None]]:
    """Show that `title` is being worked on and for how long; the function it yields sets the detail shown beside it."""
    started = time.monotonic()
    with _spinner(title) if console.is_terminal else _lines(title, started) as show:
        yield show
    console.print(f"{title}: {time.monotonic() - started:.1f} s")


@contextmanager
def _spinner(title: str) -> Iterator[Callable[[str], None]]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        row = progress.add_task(title, total=None, detail="")
        yield lambda detail: progress.update(row, detail=detail)


@contextmanager
def _lines(title: str, started: float) -> Iterator[Callable[[str], None]]:
    printed = 0.0

    def show(detail: str) -> None:
        nonlocal printed
        elapsed = time.monotonic() - started
        if elapsed - printed >= QUIET_SECONDS:
            printed = elapsed
            console.print(f"{title}: {detail} ({elapsed:.0f} s)")

    yield show
