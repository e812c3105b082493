"""An endpoint that speaks Snowflake's own protocol over TLS, and the client layer with the real driver against it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import KeyPair, Password, key_pair
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import ConnectionSettings
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.seed import Seed, SeedAccount, SeedRole, SeedUser
from freehold_devstack.snowflake.tls import Certificate, issue

PASSWORD = "correct horse"
TAG = QueryTag("Database", "team", "sales", "0b5e")

STATEMENTS = [
    "GRANT CREATE DATABASE, CREATE WAREHOUSE ON ACCOUNT TO ROLE OPERATOR",
    "GRANT RESOLVE ALL ON ACCOUNT TO ROLE SEER",
    'GRANT ROLE "seer above" TO ROLE DEPUTY',
    'GRANT ROLE SEER TO ROLE "seer above"',
]


@dataclass
class Clock:
    """A clock that a test puts forward."""

    now: float

    def __call__(self) -> float:
        return self.now


def new_key(source: str) -> tuple[KeyPair, str]:
    """A key pair as Freehold reads it, and its public half in PEM."""
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return key_pair(private, None, source), public.decode()


@pytest.fixture(scope="session")
def registered() -> tuple[KeyPair, str]:
    return new_key("Secret team/snowflake, key private_key.pem")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return issue(tmp_path_factory.mktemp("tls"), ["localhost", "127.0.0.1"])


@pytest.fixture
def clock() -> Clock:
    return Clock(time.time())


@pytest.fixture
async def endpoint(
    registered: tuple[KeyPair, str], certificate: Certificate, clock: Clock
) -> AsyncIterator[SnowflakeEndpoint]:
    roles = ["OPERATOR", "DEPUTY", "seer above", "SEER"]
    operator = SeedUser(password=PASSWORD, rsa_public_key=registered[1], default_role="OPERATOR", roles=roles)
    account = SeedAccount(
        users={"OPERATOR": operator, "DISABLED": SeedUser(password=PASSWORD, disabled=True)},
        roles={name: SeedRole() for name in (*roles, "OTHER")},
        statements=STATEMENTS,
    )
    async with SnowflakeEndpoint(Seed(accounts=[account]), certificate, clock=clock, answer_within=0.2) as endpoint:
        yield endpoint


@pytest.fixture
def settings(endpoint: SnowflakeEndpoint, registered: tuple[KeyPair, str]) -> ConnectionSettings:
    """OPERATOR, with its key."""
    return ConnectionSettings(
        provider="team/default",
        account="FREEHOLD-DEVSTACK",
        host="127.0.0.1",
        port=endpoint.port,
        user="OPERATOR",
        role="OPERATOR",
        warehouse=None,
        credential=registered[0],
        ca_bundle=Path(endpoint.certificate.ca).read_text(),
    )


@pytest.fixture
def password_settings(settings: ConnectionSettings) -> ConnectionSettings:
    return replace(settings, credential=Password("Secret team/snowflake, key password", PASSWORD))


@pytest.fixture
async def snowflake(endpoint: SnowflakeEndpoint) -> AsyncIterator[Snowflake]:  # noqa: ARG001 - closed before it
    async with Snowflake("prod") as client:
        yield client
