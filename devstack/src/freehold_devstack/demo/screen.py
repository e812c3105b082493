"""What the audience sees: headings, commands as a person would type them with their real output, and times."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table


def _console() -> Console:
    return Console(highlight=False, soft_wrap=True)


@dataclass
class Screen:
    """Where the story is told: in colours on a terminal, in plain lines everywhere else."""

    console: Console = field(default_factory=_console)
    _times: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """A heading, what happens under it, and the time that it took."""
        self.console.print(f"\n[bold]{len(self._times) + 1}. {title}[/]\n")
        started = time.monotonic()
        yield
        seconds = time.monotonic() - started
        self._times.append((title, seconds))
        self.console.print(f"[dim]({seconds:.1f} s)[/]")

    def say(self, text: str) -> None:
        """An explanation."""
        self.console.print(text, markup=False, style="italic")

    def command(self, line: str, prompt: str = "$") -> None:
        """What a person would type."""
        self.console.print(f"{prompt} {line}", markup=False, style="bold cyan")

    def output(self, text: str) -> None:
        """What came of it."""
        if text.strip():
            self.console.print(text.rstrip(), markup=False)

    def failure(self, error: Exception) -> None:
        """What went wrong, and where to look."""
        self.console.print("\n".join((str(error), *getattr(error, "__notes__", ()))), markup=False, style="bold red")

    def summary(self) -> None:
        """The steps and their times."""
        table = Table("step", "seconds", show_footer=True)
        table.columns[0].footer = "total"
        table.columns[1].footer = f"{sum(seconds for _, seconds in self._times):.1f}"
        table.columns[1].justify = "right"
        for title, seconds in self._times:
            table.add_row(title, f"{seconds:.1f}")
        self.console.print()
        self.console.print(table)
