"""Tokens by client credentials: what the token endpoint is asked, through which proxy, and what its answers mean."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import ClientCredentials
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import CredentialsRefused, LoginFailed, TlsFailed, Unreachable
from freehold.snowflake.oauth import fetch_token
from freehold.snowflake.settings import ConnectionSettings, Proxy
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.tls import Certificate

from .conftest import PASSWORD

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
GOOD = b'{"access_token":"good","token_type":"Bearer"}'


def answer(status: str, body: bytes = b"", *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


class Scripted:
    """A server that answers everything in the same way.

    Attributes:
        asked: the requests, heads and bodies.
    """

    def __init__(self, response: bytes) -> None:
        self.asked: list[bytes] = []
        self._response = response

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append(await reader.read(65536))
        writer.write(self._response)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(handle: Handle, certificate: Certificate | None = None) -> AsyncIterator[int]:
    """Serve on a port, with TLS where there is a certificate."""
    context = certificate.server_context() if certificate else None
    async with await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]


def client(port: int, scope: str | None = None) -> ClientCredentials:
    source = "Secret team/snowflake, key client_secret"
    return ClientCredentials(source, "free:hold", "canary%/", f"https://127.0.0.1:{port}/oauth/token", scope)


@pytest.fixture
def session(certificate: Certificate) -> ConnectionSettings:
    """The session that a token is for."""
    return ConnectionSettings(
        provider="team/default",
        account="ACME-MAIN",
        host="127.0.0.1",
        port=443,
        user=None,
        role="OPERATOR",
        warehouse=None,
        credential=client(443),
        ca_bundle=Path(certificate.ca).read_text(),
    )


@pytest.mark.parametrize(
    ("scope", "role", "asked"),
    [
        (None, "OPERATOR", ["session:role:OPERATOR"]),
        ("api://x/.default", "OPERATOR", ["api://x/.default"]),
        (None, None, []),
    ],
)
async def test_a_token_is_asked_for_by_the_client_for_the_role_of_the_session(
    scope: str | None, role: str | None, asked: list[str], session: ConnectionSettings, certificate: Certificate
) -> None:
    server = Scripted(answer("200 OK", GOOD))
    async with serving(server, certificate) as port:
        assert await fetch_token(client(port, scope), replace(session, role=role), 5) == "good"

    (request,) = server.asked
    head, _, body = request.decode().partition("\r\n\r\n")
    proof = base64.b64encode(b"free%3Ahold:canary%25%2F").decode()
    assert f"Authorization: Basic {proof}" in head
    assert parse_qs(body) == {"grant_type": ["client_credentials"], **({"scope": asked} if asked else {})}


ANSWERS = {
    "refused": (
        answer("401 Unauthorized", b'{"error":"invalid_client"}'),
        CredentialsRefused,
        r"401 \(invalid_client\)",
    ),
    "hidden": (answer("400 Bad Request", b'{"error":"canary%/ is wrong"}'), CredentialsRefused, "status 400; correct"),
    "not there": (answer("404 Not Found", b"404"), CredentialsRefused, "status 404; correct spec.oauth"),
    "no token": (answer("200 OK", b"{}"), CredentialsRefused, "no access_token in the answer"),
    "no JSON": (answer("200 OK", b"<html>"), CredentialsRefused, "no access_token in the answer"),
    "busy": (answer("503 Service Unavailable", b"busy"), LoginFailed, "status 503"),
    "too often": (answer("429 Too Many Requests"), LoginFailed, "status 429"),
    "cut": (b"HTTP/1.1", Unreachable, "no answer from the token endpoint"),
}


@pytest.mark.parametrize(("response", "failure", "message"), ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_without_a_token_is_told_without_its_text(
    response: bytes, failure: type[LoginFailed], message: str, session: ConnectionSettings, certificate: Certificate
) -> None:
    server = Scripted(response)
    async with serving(server, certificate) as port:
        with pytest.raises(LoginFailed, match=message) as told:
            await fetch_token(client(port), session, 5)

    assert type(told.value) is failure
    assert (told.value.error_class is ErrorClass.AUTHENTICATION) is (failure is CredentialsRefused)
    assert "canary" not in str(told.value)
    assert len(server.asked) == 1


async def test_a_redirect_of_the_token_endpoint_is_not_followed(
    session: ConnectionSettings, certificate: Certificate
) -> None:
    elsewhere = Scripted(answer("200 OK", GOOD))
    async with serving(elsewhere, certificate) as foreign:
        location = f"Location: https://127.0.0.1:{foreign}/token"
        async with serving(Scripted(answer("307 Temporary Redirect", b"", location)), certificate) as port:
            with pytest.raises(CredentialsRefused, match="redirects aren't followed"):
                await fetch_token(client(port), session, 5)

    assert elsewhere.asked == []


async def test_a_token_endpoint_that_is_not_there_or_not_trusted_is_named_in_the_same_words_each_time(
    session: ConnectionSettings, certificate: Certificate
) -> None:
    async def told(settings: ConnectionSettings, port: int, failure: type[LoginFailed]) -> set[str]:
        messages = set()
        for _ in range(2):
            with pytest.raises(failure) as failed:
                await fetch_token(client(port), settings, 5)
            messages.add(str(failed.value))
        return messages

    async with serving(Scripted(answer("200 OK", GOOD)), certificate) as port:
        (untrusted,) = await told(replace(session, ca_bundle=None), port, TlsFailed)
    (absent,) = await told(session, port, Unreachable)
    (unnamed,) = await told(replace(session, proxy=Proxy("http", "nowhere.invalid", 80)), port, Unreachable)
    assert re.search(r"/oauth/token failed: .*certificate verify failed.*spec\.caBundle", untrusted)
    assert re.search(r"/oauth/token: .*Connect call failed.*spec\.oauth\.tokenRequestURL", absent)
    assert re.search(r"/oauth/token: .*[Nn]ame.*spec\.proxy", unnamed)
    assert "object at" not in untrusted + absent + unnamed


async def test_a_token_endpoint_that_says_nothing_is_given_up_in_time(
    session: ConnectionSettings, certificate: Certificate
) -> None:
    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with serving(silence, certificate) as port:
        with pytest.raises(Unreachable, match="it took too long"):
            await fetch_token(client(port), session, 0.2)


class Tunnel:
    """An HTTP proxy.

    Attributes:
        asked: heads of the requests.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        host, _, port = self.asked[-1].split()[1].rpartition(":")
        there, back = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except OSError:
        pass
    finally:
        sink.close()


async def test_the_token_endpoint_is_reached_through_the_proxy_unless_it_is_to_be_reached_directly(
    session: ConnectionSettings, certificate: Certificate
) -> None:
    tunnel = Tunnel()
    async with serving(Scripted(answer("200 OK", GOOD)), certificate) as port, serving(tunnel) as proxy:
        through = Proxy("http", "127.0.0.1", proxy, "team", "pa:ss")
        for bypass in ("", "example.com", "example.com, 127.0.0.1"):
            await fetch_token(client(port), replace(session, proxy=replace(through, bypass=bypass)), 5)

    assert [head.splitlines()[0] for head in tunnel.asked] == [f"CONNECT 127.0.0.1:{port} HTTP/1.1"] * 2
    assert all(f"Basic {base64.b64encode(b'team:pa:ss').decode()}" in head for head in tunnel.asked)


async def test_snowflake_is_reached_through_the_proxy_alone(
    password_settings: ConnectionSettings, endpoint: SnowflakeEndpoint, snowflake: Snowflake
) -> None:
    tunnel = Tunnel()
    async with serving(tunnel) as port:
        through = Proxy("http", "127.0.0.1", port, "team", "pa:ss")
        await snowflake.verify(replace(password_settings, proxy=through))
        await snowflake.verify(replace(password_settings, proxy=replace(through, bypass="127.0.0.1")))
        await snowflake._pool.close()

    (head,) = tunnel.asked
    assert f"CONNECT 127.0.0.1:{endpoint.port}" in head
    assert f"Basic {base64.b64encode(b'team:pa:ss').decode()}" in head


async def test_a_proxy_that_refuses_is_told_and_gets_no_password(
    password_settings: ConnectionSettings, snowflake: Snowflake
) -> None:
    closed = Scripted(answer("407 Proxy Authentication Required"))
    async with serving(closed) as port:
        through = Proxy("http", "127.0.0.1", port, "team", "canary")
        with pytest.raises(Unreachable, match="proxy") as failure:
            await snowflake.verify(replace(password_settings, proxy=through))

    assert "canary" not in str(failure.value) + repr(through)
    assert not any(PASSWORD.encode() in request for request in closed.asked)
