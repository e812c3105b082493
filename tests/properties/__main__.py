"""Runs many cases in several processes: `python -m tests.properties --cases 1000000 --seed 7`. It ends with JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.properties.cases import Tally, run

_BATCH = 2_000


def main() -> int:
    """Run the cases; 1 where one of them fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.properties", description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", default="0")
    given = parser.parse_args()
    begun, total = time.monotonic(), Tally()
    batches = [range(first, min(first + _BATCH, given.cases)) for first in range(0, given.cases, _BATCH)]
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        for tally in processes.map(partial(run, given.seed), batches):
            total += tally
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{total.cases:,} of {given.cases:,}")
    for each in total.failures[:20]:
        sys.stdout.write(f"{each}\n\n")
    figures = {"seed": given.seed, "cases": total.cases, "statements": total.statements, "without": total.without}
    figures |= {"failures": len(total.failures), "seconds": round(time.monotonic() - begun)}
    sys.stdout.write(f"{json.dumps(figures)}\n")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
