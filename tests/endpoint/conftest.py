"""An endpoint to test against, with a clock of its own and the real driver to talk to it."""

import os
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import pytest
import snowflake.connector.aio
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from snowflake.connector.errors import DatabaseError

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.seed import Seed, SeedAccount, SeedRole, SeedUser
from freehold_devstack.snowflake.tls import Certificate, issue

os.environ["SNOWFLAKE_DISABLE_PLATFORM_DETECTION"] = "true"

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class Clock:
    """A clock that a test puts forward. It starts near the real time, which the driver's tokens carry."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Keys:
    """Key pairs of the test's user: the registered ones and a stranger's."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(65537, 2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.stranger = ec.generate_private_key(ec.SECP256R1())


def der(key: PrivateKey) -> bytes:
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def public_pem(key: PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@pytest.fixture(scope="session")
def keys() -> Keys:
    return Keys()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return issue(tmp_path_factory.mktemp("tls"), ["localhost", "127.0.0.1"])


@pytest.fixture
def clock() -> Clock:
    return Clock(time.time())


@pytest.fixture
def seed(keys: Keys) -> Seed:
    """One account with OPERATOR, who owns nothing yet and may make databases and warehouses."""
    operator = SeedUser(
        password="correct horse",
        rsa_public_key=public_pem(keys.rsa),
        rsa_public_key_2=public_pem(keys.ec),
        default_role="OPERATOR",
        roles=["OPERATOR"],
    )
    return Seed(
        accounts=[
            SeedAccount(
                users={"OPERATOR": operator, "DISABLED": SeedUser(password="pw", disabled=True)},
                roles={"OPERATOR": SeedRole(granted_to=["SYSADMIN"]), "OTHER": SeedRole()},
                statements=["GRANT CREATE DATABASE, CREATE WAREHOUSE ON ACCOUNT TO ROLE OPERATOR"],
            )
        ]
    )


class Start(Protocol):
    """Starts an endpoint that ends with the test."""

    def __call__(self, **options: Any) -> Awaitable[SnowflakeEndpoint]: ...


@pytest.fixture
async def start(seed: Seed, certificate: Certificate, clock: Clock) -> AsyncIterator[Start]:
    started: list[SnowflakeEndpoint] = []

    async def start_one(**options: Any) -> SnowflakeEndpoint:
        endpoint = SnowflakeEndpoint(seed, certificate, **{"clock": clock, "answer_within": 0.05, **options})
        started.append(await endpoint.__aenter__())
        return endpoint

    yield start_one
    for endpoint in started:
        await endpoint.__aexit__(None, None, None)


@pytest.fixture
async def endpoint(start: Start) -> SnowflakeEndpoint:
    return await start()


Connect = Callable[..., Awaitable[Any]]
"""Connects the driver, to an endpoint of this process or to what the options say; by default OPERATOR with its key."""


@pytest.fixture
async def connect(keys: Keys) -> AsyncIterator[Connect]:
    connections: list[Any] = []

    async def connect_one(endpoint: SnowflakeEndpoint | None, **options: Any) -> Any:
        if "password" not in options and "authenticator" not in options:
            options.setdefault("private_key", der(keys.ec))
        if endpoint is not None:
            options = {"port": endpoint.port, "custom_root_store_path": str(endpoint.certificate.ca), **options}
        connection = await snowflake.connector.aio.connect(
            **{
                "account": "FREEHOLD-DEVSTACK",
                "user": "OPERATOR",
                "host": "127.0.0.1",
                "protocol": "https",
                "enable_server_session_keep_alive_auto_detection": True,
                "retry_max_attempts": 1,
                "login_timeout": 10,
                **options,
            }
        )
        connections.append(connection)
        return connection

    yield connect_one
    for connection in connections:
        await connection.close()


async def rows(connection: Any, sql: str, **options: Any) -> list[tuple[Any, ...]]:
    """Execute on a cursor of its own and fetch everything."""
    cursor = connection.cursor()
    await cursor.execute(sql, **options)
    return list(await cursor.fetchall())


async def error_number(connection: Any, sql: str, **options: Any) -> int | None:
    """The number that a statement is refused with."""
    with pytest.raises(DatabaseError) as caught:
        await rows(connection, sql, **options)
    return caught.value.errno


async def refused(connect: Connect, endpoint: SnowflakeEndpoint, **options: Any) -> int | None:
    """The number that a log-in is refused with."""
    with pytest.raises(DatabaseError) as caught:
        await connect(endpoint, **options)
    return caught.value.errno


@asynccontextmanager
async def http_client(endpoint: SnowflakeEndpoint) -> AsyncIterator[aiohttp.ClientSession]:
    """What to speak the protocol with where the driver hides what the server answers."""
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=endpoint.certificate.ca))
    async with aiohttp.ClientSession(f"https://127.0.0.1:{endpoint.port}", connector=connector) as http:
        yield http


async def log_in(
    http: aiohttp.ClientSession, *, account: str = "FREEHOLD-DEVSTACK", user: str = "OPERATOR", **named: str
) -> dict[str, Any]:
    """The data that a log-in without the driver is answered with; `named` is the URL's query."""
    body = {"data": {"ACCOUNT_NAME": account, "LOGIN_NAME": user, "PASSWORD": "correct horse"}}
    async with http.post("/session/v1/login-request", json=body, params=named) as response:
        data: dict[str, Any] = (await response.json())["data"]
        return data


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    return tmp_path / "state.jsonl"
