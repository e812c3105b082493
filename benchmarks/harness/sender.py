"""A member of an installation that does nothing but send statements to an account, as many as it may or so many a
second. Its settings are JSON, the only argument; when it is asked to stop, it prints how long its loop stood still.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from pydantic import BaseModel

from freehold import sql
from freehold.kinds.account.providerconfig import Bucket
from freehold.kube.client import Kube
from freehold.kube.objects import LEASES
from freehold.snowflake.budget import Limits
from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import Password
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold_controllers.runtime.process import Process, Settings
from freehold_controllers.runtime.watches import Watch
from freehold_controllers.runtime.work import Forget
from freehold_controllers.sharing import Sharing

IN_FLIGHT = 16
"""Statements at a time of who sends as many as it may."""

_UNLIMITED = Bucket(rate=10_000, burst=10_000)
_QUERY = sql.words("SHOW WAREHOUSES")


class Sender(BaseModel, frozen=True):
    """What to send, and where.

    Attributes:
        name: of its Lease; part of every query tag.
        namespace: of that.
        kubeconfig: of the API server.
        host: of the endpoint; `port`, `ca`, `account`, `user` and `password` likewise.
        budget: of the account, in statements a second and at once.
        rate: statements a second; None for as many as it may.
        health_port: of the process.
    """

    name: str
    namespace: str
    kubeconfig: Path
    host: str
    port: int
    ca: str
    account: str
    user: str
    password: str
    budget: int
    rate: int | None
    health_port: int

    @property
    def tag(self) -> QueryTag:
        return QueryTag("Warehouse", "bench", self.name, "")

    @property
    def settings(self) -> ConnectionSettings:
        return ConnectionSettings(
            provider=f"bench/{self.name}",
            account=self.account,
            host=self.host,
            port=self.port,
            user=self.user,
            role=None,
            warehouse=None,
            credential=Password("the benchmark", self.password),
            ca_bundle=self.ca,
        )


class Stalls:
    """How long a loop is kept by what runs in it: processor time alone, for on a busy machine others have the rest.

    Attributes:
        longest: seconds.
    """

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self, tick: float = 0.01) -> NoReturn:
        while True:
            begun, used = time.monotonic(), time.thread_time()
            await asyncio.sleep(tick)
            late = time.monotonic() - begun - tick
            self.longest = max(self.longest, min(late, time.thread_time() - used))


async def _send(send: Callable[[], Awaitable[object]], rate: int | None) -> None:
    async with asyncio.TaskGroup() as tasks:
        if rate is None:
            for _ in range(IN_FLIGHT):
                tasks.create_task(_go_on(send))
        while rate is not None:
            tasks.create_task(_once(send))
            await asyncio.sleep(1 / rate)


async def _go_on(send: Callable[[], Awaitable[object]]) -> NoReturn:
    while True:
        await send()


async def _once(send: Callable[[], Awaitable[object]]) -> None:
    await send()


async def _nothing(*_: object) -> Forget:
    return Forget()


async def main(sender: Sender) -> None:
    """Send until SIGTERM."""
    sharing, stalls = Sharing(), Stalls()
    process_settings = Settings(
        name=sender.name,
        namespace=sender.namespace,
        instance=sender.name,
        health_port=sender.health_port,
    )
    kube, snowflake = Kube.from_kubeconfig(sender.kubeconfig), Snowflake("bench", budget=sharing.budgets)
    async with kube, snowflake:
        facts = await snowflake.verify(sender.settings)
        settings = replace(sender.settings, account_key=facts.key)
        account = Bucket(rate=sender.budget, burst=sender.budget)
        sharing.budgets.limit(facts.key, Limits(_UNLIMITED, account))
        watches = [Watch(LEASES, namespace=sender.namespace, wakes=sharing.note)]
        process = Process(kube, process_settings, watches, tells=sharing.tell)
        send = partial(snowflake.execute, settings, _QUERY, sender.tag)
        await process.run(_nothing, partial(_send, send, sender.rate), stalls.watch)
    print(1000 * stalls.longest)


if __name__ == "__main__":
    asyncio.run(main(Sender.model_validate_json(sys.argv[1])))
