"""The gate between a controller and the world: each of its requests passes here, and one of them may be its last."""

from __future__ import annotations

import asyncio
import gzip
import re
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import aiohttp
import orjson
from aiohttp import web
from yarl import URL

_OWN_HEADERS = frozenset({"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding"})
"""Headers that each side of a proxy sets for itself."""

_RESOURCE = re.compile(r"/(?:api|apis/[^/]+)/[^/]+(?:/namespaces/[^/]+)?/(?P<plural>[^/]+)(?:/[^/]+)?(?P<sub>/.+)?")
_ARRIVING = frozenset({"LOGIN", "SELECT", "USE"})
_READING = _ARRIVING | {"DESC", "DESCRIBE", "SHOW"}
"""Verbs of what changes nothing; the former are about no object."""

_LARGEST = 64 * 1024**2


class Timing(StrEnum):
    """When a process dies of a request."""

    BEFORE = "before"
    """It was about to be sent."""
    AFTER = "after"
    """It was carried out, and the answer never arrived."""
    LATE = "late"
    """It was on its way, and is carried out only after the next process has had a look."""


@dataclass(frozen=True, slots=True)
class Request:
    """A statement to Snowflake, or a write to the API server.

    Attributes:
        text: what it asks for, without what differs from run to run.
        nth: how often the same was asked for in the run, this time included.
        statement: whether it goes to Snowflake.
        writes: whether it changes anything.
    """

    text: str
    nth: int
    statement: bool
    writes: bool

    @property
    def verb(self) -> str:
        return _verb(self.text)

    def __str__(self) -> str:
        return f"{self.text} #{self.nth}"


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a process.

    Attributes:
        request: the one that it dies of.
        timing: before or after that one.
    """

    request: Request
    timing: Timing

    def __str__(self) -> str:
        return f"{self.timing} {self.request}"


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where requests are passed on to.

    Attributes:
        url: scheme, host and port.
        trust: what the certificate is checked with.
    """

    url: str
    trust: ssl.SSLContext


class Gate:
    """A reverse proxy to the API server on one port and to Snowflake on another.

    Attributes:
        passed: what has passed since `watch`, in order.
        died: set when the process is dead.
        looked: set when a statement about an object was answered after that: the next process has seen what there is.
        quiet_since: time of the loop when the latest of what counts was answered.
    """

    def __init__(self, kube: Upstream, snowflake: Upstream) -> None:
        self._kube = kube
        self._snowflake = snowflake
        self._open = AsyncExitStack()
        self._client: aiohttp.ClientSession
        self.watch(str, None, _nothing)

    async def listen(self, kube_port: int, snowflake_port: int, certificate: ssl.SSLContext) -> Self:
        """Begin to pass requests on: those of the API server without TLS, those of Snowflake with this certificate."""
        connector = aiohttp.TCPConnector(limit=0)
        client = aiohttp.ClientSession(connector=connector, auto_decompress=False, timeout=aiohttp.ClientTimeout())
        self._client = await self._open.enter_async_context(client)
        application = web.Application(client_max_size=_LARGEST)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0, handler_cancellation=True)
        await runner.setup()
        self._open.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", kube_port).start()
        await web.TCPSite(runner, "127.0.0.1", snowflake_port, ssl_context=certificate).start()
        return self

    async def close(self) -> None:
        await self._open.aclose()

    def watch(self, told: Callable[[str], str], death: Death | None, kill: Callable[[], None]) -> None:
        """Begin a run.

        Args:
            told: takes out of a text what differs from run to run.
            death: when the process is to die; None has it live.
            kill: ends the process, and returns when it is dead.
        """
        self._told = told
        self._death = death
        self._kill = kill
        self._counts: Counter[str] = Counter()
        self._due = asyncio.Event()
        self._late: asyncio.Task[None] | None = None
        self.passed: list[Request] = []
        self.died = asyncio.Event()
        self.looked = asyncio.Event()
        self.quiet_since = 0.0

    async def deliver(self) -> None:
        """Let the request arrive that has been on its way, if there is one."""
        self._due.set()
        if self._late is not None:
            await self._late

    async def _handle(self, arrived: web.Request) -> web.StreamResponse:
        body = await arrived.read()
        request = self._understood(arrived, body)
        timing = self._death.timing if self._death and request == self._death.request else None
        if timing in (Timing.BEFORE, Timing.LATE):
            self._die()
            if timing is Timing.LATE:
                self._late = asyncio.create_task(self._arrive_late(arrived, body))
            return web.Response(status=503)
        if arrived.query.get("watch") == "true":
            return await self._stream(arrived)
        response = await self._pass(arrived, body)
        if timing is Timing.AFTER:
            self._die()
        elif request is not None:
            self.quiet_since = asyncio.get_running_loop().time()
            if request.statement and request.verb not in _ARRIVING and self.died.is_set():
                self.looked.set()
        return response

    def _die(self) -> None:
        self._kill()
        self.died.set()

    def _understood(self, arrived: web.Request, body: bytes) -> Request | None:
        """What a request is about; None for what doesn't count: reads of the API server, and Leases."""
        if self._upstream(arrived) is self._snowflake:
            text = _statement(arrived, body)
            writes = text is not None and _verb(text) not in _READING
        else:
            text = _api_write(arrived)
            writes = True
        if text is None:
            return None
        text = self._told(text)
        self._counts[text] += 1
        request = Request(text, self._counts[text], self._upstream(arrived) is self._snowflake, writes)
        self.passed.append(request)
        return request

    def _upstream(self, arrived: web.Request) -> Upstream:
        return self._snowflake if arrived.secure else self._kube

    def _forward(self, arrived: web.Request, body: bytes = b"") -> Any:
        upstream = self._upstream(arrived)
        url = URL(f"{upstream.url}{arrived.raw_path}", encoded=True)
        headers = _passed_on(arrived.headers)
        return self._client.request(arrived.method, url, headers=headers, data=body, ssl=upstream.trust)

    async def _pass(self, arrived: web.Request, body: bytes) -> web.Response:
        async with self._forward(arrived, body) as answer:
            return web.Response(status=answer.status, headers=_passed_on(answer.headers), body=await answer.read())

    async def _arrive_late(self, arrived: web.Request, body: bytes) -> None:
        await self._due.wait()
        await self._pass(arrived, body)

    async def _stream(self, arrived: web.Request) -> web.StreamResponse:
        async with self._forward(arrived) as answer:
            response = web.StreamResponse(status=answer.status, headers=_passed_on(answer.headers))
            # Whoever was killed listens no more.
            with suppress(ConnectionResetError):
                await response.prepare(arrived)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
        return response


def _verb(text: str) -> str:
    return text.split(maxsplit=1)[0]


def _nothing() -> None:
    pass


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OWN_HEADERS}


def _statement(arrived: web.Request, body: bytes) -> str | None:
    if arrived.path.endswith("/login-request"):
        return "LOGIN"
    if not arrived.path.endswith("/query-request"):
        return None
    plain = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    return str(orjson.loads(plain)["sqlText"])


def _api_write(arrived: web.Request) -> str | None:
    found = _RESOURCE.fullmatch(arrived.path)
    if arrived.method == "GET" or found is None or found["plural"] == "leases":
        return None
    return f"{arrived.method} {found['plural']}{found['sub'] or ''}"
