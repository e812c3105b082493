"""A controller whose reconcile writes lines instead of talking to Snowflake: `KUBECONFIG NAMESPACE NAME PORT FILE`.

Each line is `<name> <boot time> <resource> <generation>`, written while the process believes that it may.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta

from freehold import logs
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.lease import monotonic
from freehold.kube.objects import Key
from freehold_controllers.runtime.lines import Workers
from freehold_controllers.runtime.process import Process, Settings
from freehold_controllers.runtime.watches import Watch
from freehold_controllers.runtime.work import Done

WAREHOUSES = KINDS["Warehouse"].resource.path


async def main(kubeconfig: str, namespace: str, name: str, port: str, log: str) -> None:
    lines = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    settings = Settings(
        *("actors", namespace, name, int(port)),
        lease_duration=timedelta(seconds=3),
        workers=Workers(own=4, pool=0),
        works_in=frozenset({namespace}),
    )
    async with Kube.from_kubeconfig(kubeconfig) as kube:
        process = Process(kube, settings, [Watch(WAREHOUSES, reconciled=True, namespace=namespace)])

        async def reconcile(key: Key, _not_before: float) -> Done:
            """Write a few lines, a moment apart, and come back soon."""
            found = process.reflectors[WAREHOUSES.kind].store[key.namespace, key.name]
            for _ in range(5):
                process.member.require_active()
                os.write(lines, f"{name} {monotonic()} {key.name} {found.generation}\n".encode())
                await asyncio.sleep(0.02)
            return Done(every=timedelta(seconds=0.05))

        await process.run(reconcile)


if __name__ == "__main__":
    logs.configure("info", logs.Format.TEXT)
    asyncio.run(main(*sys.argv[1:]))
