"""Those that the processes talk to beside the API server and Snowflake; each tells back what it was told, if it can."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

REFUSING = "/refusing"
"""Path of the token endpoint that refuses every client."""


class Collector(BaseHTTPRequestHandler):
    """A collector of traces, by OTLP over HTTP."""

    received: list[bytes]

    def do_POST(self) -> None:
        self.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        _answer(self, 200, b"")

    def log_message(self, *_: object) -> None:
        """Nothing."""


class TokenEndpoint(BaseHTTPRequestHandler):
    """Gives everybody the same access token, or repeats what it was asked with."""

    token: str

    def do_POST(self) -> None:
        told = f"{self.headers['Authorization']} {self.rfile.read(int(self.headers['Content-Length'])).decode()}"
        refusal = {"error": "invalid_client", "error_description": told, "error_uri": told}
        given = {"access_token": self.token, "token_type": "Bearer"}
        refused = self.path == REFUSING
        _answer(self, 401 if refused else 200, json.dumps(refusal if refused else given).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


class Proxy(BaseHTTPRequestHandler):
    """Lets nobody through, and repeats with what it was asked to."""

    def do_CONNECT(self) -> None:
        proof = self.headers["Proxy-Authorization"] or ""
        plain = base64.b64decode(proof.removeprefix("Basic ")).decode()
        self.send_response(407, f"not with {proof}, which is {plain}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve on a port of 127.0.0.1, with TLS where there is a context."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def spans(received: list[bytes]) -> Iterator[tuple[str, Span]]:
    """(service, span) of all that a collector has received."""
    for body in received:
        for each in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = next(fact.value.string_value for fact in each.resource.attributes if fact.key == "service.name")
            for scope in each.scope_spans:
                for span in scope.spans:
                    yield service, span


def _answer(request: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    request.send_response(status)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)
