"""The HTTPS server that the API server calls: POST /validate."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from aiohttp import web

from freehold import tracing
from freehold_webhook.admission import Admission
from freehold_webhook.certificates import Certificates
from freehold_webhook.review import MalformedReview, Request, answer, read

PATH = "/validate"

LARGEST_REVIEW = 16 * 2**20
"""Bytes; an API server takes objects of 3 MiB, and a review holds two."""

_log = logging.getLogger(__name__)


class Server:
    """Answers admission reviews.

    Attributes:
        draining: whether connections are closed after their next answer, so that callers go elsewhere.
    """

    def __init__(self, admission: Admission, *, strict: bool) -> None:
        """
        Args:
            admission: decides.
            strict: whether what could not be checked is denied.
        """
        self._admission = admission
        self._strict = strict
        self.draining = False

    @asynccontextmanager
    async def serve(self, port: int, certificates: Certificates, *, host: str | None = None) -> AsyncIterator[int]:
        """Serve while the context is open; requests in flight are answered before it closes.

        Args:
            port: where to listen; 0 for a free port.
            certificates: for TLS.
            host: address to listen on; by default all.

        Yields:
            The port.
        """
        # One path needs no router, middleware or signals, which took a tenth of each answer.
        received = partial(web.BaseRequest, loop=asyncio.get_running_loop(), client_max_size=LARGEST_REVIEW)
        server = web.Server(self._validate, request_factory=received, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=10.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port, ssl_context=certificates.context).start()
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()

    async def _validate(self, http: web.BaseRequest) -> web.Response:
        if (http.method, http.path) != ("POST", PATH):
            return web.Response(status=404)
        try:
            request = read(await http.read())
        except (MalformedReview, web.RequestPayloadError) as error:
            _log.warning("a request is refused: %s", error)
            return web.Response(status=400, text=f"{error}\n")
        with tracing.span("admission", _about(request)) as span:
            verdict = await self._admission.review(request)
            span.set_attribute("freehold.result", verdict.outcome.value)
        response = web.Response(body=answer(request, verdict, strict=self._strict), content_type="application/json")
        if self.draining:
            response.force_close()
        return response


def _about(request: Request) -> Mapping[str, str]:
    """What a span tells of a request."""
    return {
        "freehold.kind": request.kind,
        "freehold.operation": request.operation,
        "freehold.name": request.object.name if request.object else "",
        "k8s.namespace.name": request.namespace,
    }
