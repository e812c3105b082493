"""An API server that answers what a test tells it to, and a tiny one that stores objects with compare-and-set."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes_asyncio.client import Configuration

from freehold.kube.client import Kube

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def secret(name: str, version: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": version, **metadata},
    }


def reply(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return answer


def refuse(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Answer:
    body = {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": f"refused: {reason}"}
    return reply(body, status, headers)


def listed(*objects: Mapping[str, Any], version: str, more: str = "") -> Answer:
    items = [{k: v for k, v in each.items() if k not in ("apiVersion", "kind")} for each in objects]
    return reply({"metadata": {"resourceVersion": version, "continue": more}, "items": items})


def watched(*events: tuple[str, Mapping[str, Any]], tail: bytes = b"", hold: bool = False) -> Answer:
    """Send events, then `tail`, and end the watch; or hold it open in silence."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for kind, body in events:
            await response.write(json.dumps({"type": kind, "object": body}).encode() + b"\n")
        await response.write(tail)
        if hold:
            await asyncio.Event().wait()
        return response

    return answer


async def cut(request: web.Request) -> web.StreamResponse:
    """Cut the connection without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@dataclass
class Script:
    """What the server answers, in order, and what it was asked. When all is said it holds watches in silence."""

    answers: deque[Answer] = field(default_factory=deque)
    requests: list[web.Request] = field(default_factory=list)

    def then(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    @property
    def asked(self) -> list[str]:
        """LIST, WATCH or method of each request."""
        return [_verb(request) for request in self.requests]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.requests.append(request)
        answer = self.answers.popleft() if self.answers else watched(hold=True)
        return await answer(request)


def _verb(request: web.Request) -> str:
    if "watch" in request.query:
        return "WATCH"
    return "LIST" if "limit" in request.query else request.method


async def until(condition: Callable[[], bool], within: float = 10.0) -> None:
    """Wait until a condition holds, for no more than so many seconds."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110  # any condition
            await asyncio.sleep(0.005)


@asynccontextmanager
async def client_of(handle: Answer, load: Callable[[Configuration], None] | None = None) -> AsyncIterator[Kube]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)

    async def configure(configuration: Configuration) -> None:
        configuration.host = f"http://{server.host}:{server.port}"
        if load is not None:
            load(configuration)

    server = TestServer(app)
    # A watch that is held open must not hold up the end of the test.
    await server.start_server(shutdown_timeout=1)
    try:
        async with Kube(configure) as kube:
            yield kube
    finally:
        await server.close()


@dataclass
class Store:
    """Objects by name, whatever their type and namespace."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: int = 0
    down: bool = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if "limit" in request.query:
            return await listed(*self.objects.values(), version=str(self.version))(request)
        body = await request.json() if request.can_read_body else {}
        name = body["metadata"]["name"] if request.method == "POST" else request.path.rpartition("/")[2]
        answer = refuse(500, "InternalError") if self.down else self._answer(request.method, name, body)
        return await answer(request)

    def _answer(self, method: str, name: str, body: dict[str, Any]) -> Answer:
        found = self.objects.get(name)
        if method == "POST" and found:
            return refuse(409, "AlreadyExists")
        if method != "POST" and not found:
            return refuse(404, "NotFound")
        if method == "GET":
            return reply(found)
        expected = body["preconditions" if method == "DELETE" else "metadata"]
        if found and expected["resourceVersion"] != found["metadata"]["resourceVersion"]:
            return refuse(409, "Conflict")
        self.version += 1
        if method == "DELETE":
            return reply(self.objects.pop(name))
        body["metadata"]["resourceVersion"] = str(self.version)
        self.objects[name] = body
        return reply(body)
