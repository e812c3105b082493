"""A Service in front of webhook processes: new connections go to those that are ready, as kube-proxy sends them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from tests.integration.webhook.harness import WebhookProcess

PERIOD = 0.5
"""Seconds between two probes, so that a process gets new connections for up to as long after it is told to end."""


class Service:
    """The address that the API server calls; an asynchronous context manager.

    Attributes:
        pods: the processes that may be connected to.
    """

    def __init__(self, *pods: WebhookProcess) -> None:
        self.pods = list(pods)
        self._ready: list[WebhookProcess] = []
        self._turns = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/validate"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._spawn(self._probe())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def connects_to(self, *pods: WebhookProcess) -> bool:
        """Whether new connections go to all of these."""
        return all(pod in self._ready for pod in pods)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _probe(self) -> None:
        while True:
            self._ready = [pod for pod in self.pods if (await pod.probe("/readyz"))[0] == 200]
            await asyncio.sleep(PERIOD)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._spawn(self._forward(reader, writer))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ready, ends = self._ready, [writer]
        try:
            with suppress(ConnectionError):
                if ready:
                    pod = ready[next(self._turns) % len(ready)]
                    there, back = await asyncio.open_connection("127.0.0.1", pod.port)
                    ends.append(back)
                    await asyncio.gather(_pipe(reader, back), _pipe(there, writer))
        finally:
            for end in ends:
                end.close()
            await asyncio.gather(*(end.wait_closed() for end in ends), return_exceptions=True)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()
