"""What a controller's memory is spent on: sessions that are open, and rows that are kept of what SHOW answers.

A session is measured by the resident memory of the process that holds it, with the real driver and the endpoint as a
process of its own; rows by what Python's allocator gives out for them.
"""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.endpoint import PASSWORD, SEED, Usage
from benchmarks.harness import results
from benchmarks.observation import mib_per_10000_rows
from freehold.snowflake.credentials import Password
from freehold.snowflake.driver import STATEMENT_TIMEOUT
from freehold.snowflake.query_tag import session_tag
from freehold.snowflake.session import Session
from freehold.snowflake.settings import ConnectionSettings
from tests.harness.endpoint import Endpoint

FIRST = 20
"""Sessions before anything is measured: they bring what all of them share."""
MORE = 200
AT_ONCE = 8


async def _mib_per_connection(endpoint: Endpoint) -> float:
    settings = ConnectionSettings(
        provider="bench/default",
        account="FREEHOLD-DEVSTACK",
        host=endpoint.host,
        port=endpoint.port,
        user="BENCH",
        role="SYSADMIN",
        warehouse=None,
        credential=Password("the benchmark", PASSWORD),
        ca_bundle=endpoint.ca,
    )
    turns = asyncio.Semaphore(AT_ONCE)

    async with AsyncExitStack() as stack:

        async def open_one() -> None:
            async with turns:
                session = await Session.open(settings, session_tag("bench"), STATEMENT_TIMEOUT)
                stack.push_async_callback(session.connection.close)

        async def used_after(count: int) -> float:
            await asyncio.gather(*(open_one() for _ in range(count)))
            gc.collect()
            return Usage.of(os.getpid()).mib

        before = await used_after(FIRST)
        return (await used_after(MORE) - before) / MORE


def run(
    *, record: Annotated[bool, typer.Option("--record", help="Keep the figures in benchmarks/results.")] = False
) -> None:
    """Measure, and print a table, and the figures as JSON in the last line. Takes half a minute."""
    with tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint(Path(folder), SEED)
        try:
            connection = asyncio.run(_mib_per_connection(endpoint))
        finally:
            endpoint.stop()
    rows = mib_per_10000_rows()
    table = Table("what", "MiB", title="Memory of a controller")
    table.add_row(f"a session (mean of {MORE})", f"{connection:.3f}")
    table.add_row("10,000 rows of SHOW TABLES in a snapshot", f"{rows:.2f}")
    Console().print(table)
    figures = {"mib_per_connection": round(connection, 3), "mib_per_10000_rows": round(rows, 2)}
    if record:
        results.record("memory", figures)
    print(orjson.dumps(figures).decode())


if __name__ == "__main__":
    typer.run(run)
