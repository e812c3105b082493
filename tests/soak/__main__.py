"""`make soak`: show what goes on, what came of it, and end with one line of JSON."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from typing import Annotated

import typer
from rich.table import Table

from freehold_devstack.progress import console, task
from tests.harness.ending import end_on_sigterm
from tests.soak.soak import Soak


def main(
    minutes: Annotated[float, typer.Option(help="How long resources are disturbed.")] = 10,
    resources: Annotated[int, typer.Option(help="How many there are, in projects of 25.")] = 500,
    seed: Annotated[int, typer.Option(help="Has the same things done again.")] = 0,
) -> None:
    """Let resources live among people, strangers, faults and restarts, and see that they end as declared."""
    end_on_sigterm()
    # What admission warns people about is none of what is shown here.
    logging.getLogger("freehold").setLevel(logging.ERROR)
    begun = time.monotonic()
    with task("soak") as show:
        soak = Soak(resources, minutes * 60, seed, show)
        asyncio.run(soak.run())
    for violation in soak.violations:
        console.print(violation, style="red", markup=False, soft_wrap=True)
    console.print(_table(soak))
    typer.echo(json.dumps(_summary(soak, minutes, seed, time.monotonic() - begun)))
    sys.exit(bool(soak.violations))


def _table(soak: Soak) -> Table:
    table = Table("what happened", "times", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name, times in sorted((soak.deeds + soak.faults).items()):
        table.add_row(name, str(times))
    return table


def _summary(soak: Soak, minutes: float, seed: int, seconds: float) -> dict[str, object]:
    return {
        "resources": len(soak.places),
        "minutes": minutes,
        "seed": seed,
        "deeds": soak.deeds.total(),
        "faults": soak.faults.total(),
        "restarts": soak.restarts,
        "gaveUp": soak.gave_up,
        "memory": [
            {"process": name, "mib": round(mebibytes), "growth": round(growth, 3)}
            for name, mebibytes, growth in soak.memory
        ],
        "violations": len(soak.violations),
        "seconds": round(seconds),
    }


if __name__ == "__main__":
    typer.run(main)
