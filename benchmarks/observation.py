"""What it costs to look at objects that nobody changes: statements an interval, writes to the API server, memory.

The objects of the first part are looked at as a controller does it, in a time of their own: each at its own instants,
through the client layer, with the real driver, at the endpoint. In the second part, both controllers look after real
resources in a real API server. Counts come from the endpoint's journal and the API server's own metrics; they don't
depend on how busy the machine is.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import json
import ssl
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated

import aiohttp
import orjson
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.endpoint import IN_FLIGHT, PASSWORD, Client
from benchmarks.harness import results
from freehold import planning, slots
from freehold.kinds.account.grantprivilegestoaccountrole import GRANT_PRIVILEGES_TO_ACCOUNT_ROLE as GRANT
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.schema.table import TABLE
from freehold.kube.backoff import jittered
from freehold.observation import Depth, Row
from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import Password
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.scopes import PAGE, around
from freehold.snowflake.settings import ConnectionSettings
from freehold.snowflake.snapshots import Snapshots
from freehold.sql import Sql
from freehold_controllers.runtime.queue import LATELY
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.processes import until
from tests.harness.apiserver import requests
from tests.harness.chart import install_without_pods
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers import conftest
from tests.integration.controllers.tenant import API, Tenant

RESYNC = timedelta(minutes=5)
INTERVALS = 4
"""How many are counted, of the time of its own."""
LIVE_RESYNC = timedelta(seconds=60)
LIVE_TABLES = 1_000

ROLE = "ACCOUNTADMIN"
SEED = {"accounts": [{"users": {"BENCH": {"password": PASSWORD, "default_role": ROLE, "roles": [ROLE]}}}]}
TAG = QueryTag("Table", "bench", "t", "")
SPEC = {"name": "T", "databaseName": "D", "schemaName": "S", "columns": [{"name": "ID", "type": "NUMBER(38,0)"}]}

WRITES = ("POST", "PUT", "PATCH", "APPLY", "DELETE")
WRITTEN = ("claims", "tables", "schemas", "databases", "providerconfigs", "events")


@dataclass
class Clock:
    """A time of its own, in seconds."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


Look = Callable[[float], Awaitable[object]]
"""Looks at an object, or at how others have seen it after an instant."""


# --- through the client layer ----------------------------------------------------------------------------------------


class Account:
    """An account with many objects, and a client of it."""

    def __init__(self, endpoint: Endpoint, clock: Clock, snowflake: Snowflake) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._snowflake = snowflake
        self._settings = ConnectionSettings(
            *("bench/default", "FREEHOLD-DEVSTACK", endpoint.host, endpoint.port, "BENCH", ROLE, None),
            Password("the benchmark", PASSWORD),
            ca_bundle=endpoint.ca,
        )

    def look(self, kind: Kind, target: Target, depth: Depth = "shallow", details: Collection[str] = ()) -> Look:
        """A look at an object or a slot."""

        async def look(not_before: float) -> None:
            found = await self._snowflake.observe(
                self._settings, kind, target, depth, TAG, details=details, not_before=not_before
            )
            if found is None:
                raise RuntimeError(f"{target} isn't there")

        return look

    async def statements(self, looks: Sequence[Look]) -> float:
        """Statements an interval of objects that are all looked at once in it, each at its own time."""
        waiting = [(0.0, number, 0.0) for number in range(len(looks))]
        begun, sequence = self._clock.now, 0
        while True:
            due, number, interval = heapq.heappop(waiting)
            if sequence == 0 and due >= RESYNC.total_seconds():
                # What began together has drifted apart, and each scope is known.
                sequence = self._endpoint.sequence
            if due >= (1 + INTERVALS) * RESYNC.total_seconds():
                break
            self._clock.now = begun + due
            await looks[number](self._clock.now - LATELY * interval)
            interval = jittered(RESYNC)
            heapq.heappush(waiting, (due + interval, number, interval))
        return len(self._endpoint.statements(since=sequence)) / INTERVALS

    async def once(self, looks: Sequence[Look]) -> int:
        """Statements of looks that come all at once."""
        self._clock.now += RESYNC.total_seconds()
        sequence, now = self._endpoint.sequence, self._clock.now
        await asyncio.gather(*(look(now) for look in looks))
        return len(self._endpoint.statements(since=sequence))


async def _fill(endpoint: Endpoint, progress: Progress) -> None:
    """Ten schemas of a thousand tables, and a thousand grants on their database."""
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=endpoint.ca), limit=IN_FLIGHT)
    async with aiohttp.ClientSession(f"https://{endpoint.host}:{endpoint.port}", connector=connector) as http:
        client = await Client.log_in(http)
        for sql in ("CREATE DATABASE d", *(f"CREATE SCHEMA d.s{schema}" for schema in range(10))):
            await client.run(sql)
        tables = [f"CREATE TABLE d.s{number % 10}.t{number // 10} (id INT)" for number in range(10_000)]
        await client.run_all(tables, progress, "10,000 tables")
        await client.run_all([f"CREATE ROLE r{number}" for number in range(1_000)], progress, "1,000 roles")
        grants = [f"GRANT USAGE ON DATABASE d TO ROLE r{number}" for number in range(1_000)]
        await client.run_all(grants, progress, "1,000 grants")


async def _layer(endpoint: Endpoint, progress: Progress) -> dict[str, float]:
    """The figures of the client layer."""
    await _fill(endpoint, progress)
    clock = Clock()
    tables = [TABLE.target(("D", f"S{number % 10}", f"T{number // 10}")) for number in range(10_000)]
    one_schema = [target for target in tables if target.parts[1] == "S0"]
    database, roles = slots.of("DATABASE", "D"), (slots.of("ROLE", f"R{number}") for number in range(1_000))
    grants = [GRANT.target_of(slots.grant("USAGE", database, role)) for role in roles]
    details = planning.details(TABLE, TABLE.spec.model_validate(SPEC), ())
    async with Snowflake("bench", clock=clock) as snowflake:
        account = Account(endpoint, clock, snowflake)
        deep = [account.look(TABLE, each, "deep", details) for each in one_schema]
        return {
            "statements_10000_tables": await account.statements([account.look(TABLE, each) for each in tables]),
            "statements_1000_grants": await account.statements([account.look(GRANT, each) for each in grants]),
            "statements_deep_1000_tables": await account.once(deep),
        }


# --- memory ----------------------------------------------------------------------------------------------------------


def mib_per_10000_rows() -> float:
    """Memory that 10,000 rows of SHOW TABLES take as a snapshot keeps them."""
    return asyncio.run(_mib_per_10000_rows())


async def _mib_per_10000_rows() -> float:
    numbers = iter(range(10_000))

    async def read(_settings: ConnectionSettings, _query: Sql) -> Sequence[Row]:
        return [_row(number) for number in islice(numbers, PAGE)]

    snapshots = Snapshots(read, time.monotonic)
    settings = ConnectionSettings("n/p", "O-A", "host", 443, "U", "R", None, Password("s", "p"))
    scope = around(TABLE, TABLE.target(("D", "S", "T")))
    gc.collect()
    tracemalloc.start()
    try:
        snapshot = await snapshots.rows(settings, scope, 0.0)
        gc.collect()
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if snapshot.size != 10_000:
        raise RuntimeError(f"{snapshot.size} rows were kept")
    return used / 2**20


def _row(number: int) -> Row:
    """A row as the driver brings it: texts are new each time, even where they are equal."""
    same = {
        "database_name": "SALES",
        "schema_name": "NIGHTLY",
        "kind": "TABLE",
        "owner": "SALES_OWNER",
        "cluster_by": "",
    }
    flags = ("is_external", "is_event", "is_hybrid", "is_iceberg", "is_dynamic", "is_immutable", "change_tracking")
    more = ("automatic_clustering", "search_optimization", "enable_schema_evolution", "owner_role_type")
    texts = {**same, **dict.fromkeys((*flags, *more), "OFF"), "retention_time": "1"}
    return {
        "created_on": datetime.fromtimestamp(1_700_000_000 + number, UTC),
        "name": f"ORDERS_{number:05d}",
        "comment": f"orders of the {number}th day, by customer",
        "rows": 1_000 + number,
        "bytes": 1_000_000 + number,
        "search_optimization_progress": 0,
        "search_optimization_bytes": 0,
        "budget": None,
        **{column: str(text.encode(), "utf-8") for column, text in texts.items()},
    }


# --- with controllers ------------------------------------------------------------------------------------------------


class Live:
    """Both controllers, and the tables that they look after."""

    def __init__(self, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self._control_plane = stack.enter_context(ControlPlane())
        install_without_pods(self._control_plane)
        self._endpoint = Endpoint(folder, conftest.SEED)
        stack.callback(self._endpoint.stop)
        hosts = f"--allowed-hosts={self._endpoint.host}:{self._endpoint.port}"
        resync = f"--resync-interval={LIVE_RESYNC.total_seconds():g}"
        account, self._schema = (
            Controller(self._control_plane, domain, folder, hosts, resync) for domain in ("account", "schema")
        )
        for controller in (account, self._schema):
            controller.start()
            stack.callback(controller.kill)
        self._control_plane.kubectl("create", "namespace", "bench")
        self._tenant = Tenant(self._control_plane, self._endpoint, "bench")
        self._tenant.provide("ANNA", conftest.PASSWORD)
        self._tenant.ready("ProviderConfig", "default")

    def create(self) -> None:
        """Declare the tables, and wait until all are there."""
        parents = {"databaseRef": {"name": "bench"}, "schemaRef": {"name": "bench"}}
        columns = [{"name": "ID", "type": "NUMBER(38,0)"}]
        manifests = [
            self._manifest("Database", "bench"),
            self._manifest("Schema", "bench", databaseRef=parents["databaseRef"]),
            *(self._manifest("Table", f"t{number}", **parents, columns=columns) for number in range(LIVE_TABLES)),
        ]
        listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests})
        self._tenant.kubectl("apply", "--server-side", "-f", "-", input=listed)
        ready = 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status} {end}'

        def all_ready() -> bool:
            return self._tenant.kubectl("get", "tables", f"--output={ready}").stdout.split() == ["True"] * LIVE_TABLES

        until(all_ready, 1800, "all tables to be ready")

    def idle(self) -> dict[str, float]:
        """Statements about tables for each time that all of them are looked at, and what is written meanwhile."""
        self._await_looks(1)
        sequence, before = self._endpoint.sequence, requests(self._control_plane, WRITTEN)
        looks = self._await_looks(2)
        statements = len(self._endpoint.statements("TABLE", since=sequence))
        made = requests(self._control_plane, WRITTEN) - before
        return {
            "statements_1000_tables": statements * LIVE_TABLES / looks,
            "api_writes_idle_resync": sum(made[verb] for verb in WRITES),
        }

    def _await_looks(self, times: int) -> float:
        """Wait until the tables have been looked at so many times on the average; returns how many looks that were."""
        begun = self._schema.reconciles("Table")

        def looks() -> float:
            return self._schema.reconciles("Table") - begun

        until(lambda: looks() >= times * LIVE_TABLES, 600 * times, "tables to be looked at again")
        return looks()

    @staticmethod
    def _manifest(kind: str, name: str, **spec: object) -> dict[str, object]:
        stored = {"name": name.upper(), **spec}
        return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": stored}


# --- the whole -------------------------------------------------------------------------------------------------------

TARGETS = {
    "statements_1000_tables": 2,
    "statements_10000_tables": 20,
    "statements_1000_grants": 3,
    "api_writes_idle_resync": 0,
}


def _print(figures: Mapping[str, float], console: Console) -> None:
    table = Table("figure", "value", "target", title="An interval in which nothing happens")
    for name, value in figures.items():
        table.add_row(name, f"{value:g}", str(TARGETS.get(name, "")))
    console.print(table)


def run(
    *, record: Annotated[bool, typer.Option("--record", help="Keep the figures in benchmarks/results.")] = False
) -> None:
    """Measure, and print a table, and the figures as JSON in the last line. Takes some five minutes."""
    console = Console()
    with ExitStack() as stack:
        endpoint = Endpoint(Path(stack.enter_context(tempfile.TemporaryDirectory())), SEED)
        stack.callback(endpoint.stop)
        with Progress(console=console, transient=True) as progress:
            figures = asyncio.run(_layer(endpoint, progress))
    with ExitStack() as stack:
        live = Live(stack)
        live.create()
        figures |= live.idle()
    figures = {name: round(value, 2) for name, value in sorted(figures.items())}
    _print(figures, console)
    if record:
        results.record("observation", figures)
    print(orjson.dumps(figures).decode())


if __name__ == "__main__":
    typer.run(run)
