"""`make chaos`: tell all stories of a shard, show what comes of them, and end with one line of JSON."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import time
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from freehold_devstack.progress import console, task
from tests.chaos.gate import Death
from tests.chaos.operations import OPERATIONS
from tests.chaos.samples import killed_kinds
from tests.chaos.shard import Shard, Tally, stories
from tests.chaos.story import Story
from tests.chaos.world import World
from tests.harness.ending import end_on_sigterm


def main(
    shard: Annotated[str, typer.Option(help="Which of how many parts, as in 2/4.")] = "1/1",
    lanes: Annotated[int, typer.Option(help="Runs side by side.")] = 6,
    only: Annotated[str, typer.Option(help="Only the runs whose name contains this.")] = "",
) -> None:
    """Kill a controller before and after each of its requests, and see where the next one ends."""
    end_on_sigterm()
    number, count = map(int, shard.split("/"))
    begun, whole = time.monotonic(), True

    def wanted(story: Story, death: Death) -> bool:
        return only in name(story, death)

    # A story whose name alone tells that none of its runs is asked for needs no recording either.
    told = [each for each in stories()[number - 1 :: count] if str(each).startswith(only.partition(":")[0])]
    with task(f"crash test {shard}") as show:

        def report(tally: Tally, death: Death | None, violation: str | None) -> None:
            show(_progress(run.tallies))
            if violation is not None:
                _tell(name(tally.story, death), violation)

        run = Shard(told, wanted, report)
        try:
            asyncio.run(_run(run, lanes))
        except KeyboardInterrupt:
            whole = False
            console.print("interrupted: what follows is what came of it until then")
    console.print(_table(run.tallies))
    typer.echo(json.dumps(_summary(run.tallies, time.monotonic() - begun)))
    sys.exit(not whole or any(tally.violations for tally in run.tallies))


def name(story: Story, death: Death | None) -> str:
    """What a run is called."""
    return f"{story}: {death or 'undisturbed'}"


def _tell(run: str, violation: str) -> None:
    console.print(f"{run}\n{violation}", style="red", markup=False, soft_wrap=True)
    console.print(f"to repeat it: python -m tests.chaos --only {shlex.quote(run)}", markup=False, soft_wrap=True)


async def _run(shard: Shard, lanes: int) -> None:
    async with World(lanes) as world:
        await shard.run(world)


def _progress(tallies: Sequence[Tally]) -> str:
    runs, violations = sum(each.runs for each in tallies), sum(len(each.violations) for each in tallies)
    planned = sum(each.planned for each in tallies)
    recorded = sum(each.points > 0 for each in tallies)
    return f"{runs} of {planned} runs, {recorded} of {len(tallies)} stories recorded, {violations} violations"


def _table(tallies: Sequence[Tally]) -> Table:
    """Runs by kind and operation, all variants together."""
    table = Table(
        "kind",
        *(each.name for each in OPERATIONS),
        "violations",
        title="runs with a death",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for kind in killed_kinds():
        of_kind = [each for each in tallies if each.story.kind is kind]
        runs = [sum(each.runs for each in of_kind if each.story.operation is operation) for operation in OPERATIONS]
        table.add_row(kind.name, *map(str, runs), str(sum(len(each.violations) for each in of_kind)))
    return table


def _summary(tallies: Sequence[Tally], seconds: float) -> dict[str, object]:
    return {
        "kinds": sorted({each.story.kind.name for each in tallies}),
        "stories": len(tallies),
        "killPoints": sum(each.points for each in tallies),
        "runs": sum(each.runs for each in tallies),
        "missed": sum(each.missed for each in tallies),
        "violations": sum(len(each.violations) for each in tallies),
        "seconds": round(seconds),
    }


if __name__ == "__main__":
    typer.run(main)
