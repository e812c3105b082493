"""How fast the Snowflake endpoint is, and what a large schema takes it: benchmarks are to measure Freehold, not it.

The endpoint is a process of its own, pinned to one core; a plain HTTP client on the others sends statements as the
driver does. A busy machine slows the clock, not the endpoint, so the figure to compare is statements by second of its
processor time.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import orjson
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tests.harness.endpoint import Endpoint

STATEMENTS = 10_000
TABLES = 50_000
IN_FLIGHT = 16
TARGET_RATE = 1000
TARGET_MIB = 300

PASSWORD = "correct horse"  # noqa: S105  # of an account that lives as long as the benchmark
SEED = {
    "accounts": [
        {"users": {"BENCH": {"password": PASSWORD, "default_role": "SYSADMIN", "roles": ["SYSADMIN"]}}},
    ]
}


@dataclass(frozen=True)
class Usage:
    """What the endpoint's process has used so far.

    Attributes:
        seconds: of processor time.
        mib: resident memory now.
    """

    seconds: float
    mib: float

    @classmethod
    def of(cls, pid: int) -> Usage:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        ticks = int(fields[11]) + int(fields[12])
        return cls(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


class Client:
    """Speaks the driver's protocol, and nothing more than it takes."""

    def __init__(self, http: aiohttp.ClientSession, token: str) -> None:
        self._http = http
        self._headers = {"Authorization": f'Snowflake Token="{token}"'}

    @classmethod
    async def log_in(cls, http: aiohttp.ClientSession) -> Client:
        body = {"data": {"ACCOUNT_NAME": "FREEHOLD-DEVSTACK", "LOGIN_NAME": "BENCH", "PASSWORD": PASSWORD}}
        async with http.post("/session/v1/login-request", json=body) as response:
            return cls(http, (await response.json())["data"]["token"])

    async def run(self, sql: str) -> None:
        """Run a statement, which must succeed."""
        body = orjson.dumps({"sqlText": sql, "asyncExec": False, "sequenceId": 1})
        async with self._http.post("/queries/v1/query-request", data=body, headers=self._headers) as response:
            answer = orjson.loads(await response.read())
        if not answer["success"]:
            raise RuntimeError(f"{sql}: {answer['message']}")

    async def run_all(self, statements: Sequence[str], progress: Progress, title: str) -> None:
        """Run statements, several at a time."""
        waiting = iter(progress.track(statements, description=title))
        await asyncio.gather(*(self._work(waiting) for _ in range(IN_FLIGHT)))

    async def _work(self, waiting: Iterator[str]) -> None:
        for sql in waiting:
            await self.run(sql)


@dataclass(frozen=True)
class Figures:
    """What was measured.

    Attributes:
        per_second: statements by second on the clock.
        per_cpu_second: statements by second of the endpoint's processor time.
    """

    per_second: float
    per_cpu_second: float


async def _rate(client: Client, pid: int, statements: Sequence[str], progress: Progress, title: str) -> Figures:
    before, started = Usage.of(pid), time.monotonic()
    await client.run_all(statements, progress, title)
    took, used = time.monotonic() - started, Usage.of(pid).seconds - before.seconds
    return Figures(round(len(statements) / took), round(len(statements) / used))


async def _measure(endpoint: Endpoint, progress: Progress) -> tuple[dict[str, Figures], Usage]:
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=endpoint.ca), limit=IN_FLIGHT)
    async with aiohttp.ClientSession(f"https://{endpoint.host}:{endpoint.port}", connector=connector) as http:
        client = await Client.log_in(http)
        for sql in ("CREATE DATABASE bench", "CREATE SCHEMA bench.large", "CREATE WAREHOUSE bench"):
            await client.run(sql)
        mixes = {
            "SELECT 1": ["SELECT 1"] * STATEMENTS,
            "SHOW SCHEMAS LIKE": ["SHOW SCHEMAS LIKE 'LARGE' IN DATABASE bench"] * STATEMENTS,
            "ALTER WAREHOUSE": [f"ALTER WAREHOUSE bench SET AUTO_SUSPEND = {60 + n % 2}" for n in range(STATEMENTS)],
            "CREATE TABLE": [f"CREATE TABLE bench.large.t{n} (id INT, name STRING, at DATE)" for n in range(TABLES)],
        }
        rates = {
            title: await _rate(client, endpoint.pid, statements, progress, title) for title, statements in mixes.items()
        }
    return rates, Usage.of(endpoint.pid)


def main() -> None:
    """Run it and print a table, and the same as JSON in the last line."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint(Path(folder), SEED)
        try:
            first, *others = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(endpoint.pid, {first})
            os.sched_setaffinity(0, others or {first})
            with Progress(console=console, transient=True) as progress:
                rates, usage = asyncio.run(_measure(endpoint, progress))
        finally:
            endpoint.stop()
    table = Table("statement", "by second", "by CPU second", title=f"One core; target {TARGET_RATE} by CPU second")
    for title, figures in rates.items():
        table.add_row(title, f"{figures.per_second:,.0f}", f"{figures.per_cpu_second:,.0f}")
    console.print(table)
    console.print(f"{TABLES:,} tables in one schema: {usage.mib:.0f} MiB; target {TARGET_MIB}", highlight=False)
    per_cpu_second = {title: figures.per_cpu_second for title, figures in rates.items()}
    print(orjson.dumps({"benchmark": "endpoint", "per_cpu_second": per_cpu_second, "mib": round(usage.mib)}).decode())


if __name__ == "__main__":
    main()
