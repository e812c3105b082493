"""Every way to log in, from ProviderConfig and Secret through the real driver to the endpoint."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from freehold.kinds.account.authentication import secret_name
from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.login_policy import LoginPolicy
from freehold.snowflake.client import Snowflake
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import (
    CredentialsRefused,
    HostNotAllowed,
    NotTried,
    OutcomeUnknown,
    RoleNotGranted,
    Unreachable,
    WorkloadIdentityNotAllowed,
)
from freehold.snowflake.settings import ConnectionSettings, settings_from
from freehold.sql import words
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.issuer import PATH, Issuer
from freehold_devstack.snowflake.seed import Seed
from freehold_devstack.snowflake.tls import Certificate

from .conftest import TAG, Clock

ISSUER = "https://issuer.test"
AUDIENCE = "https://freehold-devstack.test"
SUBJECT = "system:serviceaccount:freehold:freehold-account"
PASSWORD = "correct horse"
CANARY = "canary.in.a-secret"

RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
CREDENTIALS = {"secretRef": {"name": "snowflake", "key": "value"}}


def public(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def private(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, passphrase: bytes = b"") -> bytes:
    encryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


SEED = {
    "issuer": {
        "url": ISSUER,
        "clients": {
            "freehold": {
                "secret": "shh+%/",
                "claims": {"sub": "robot", "aud": AUDIENCE},
                "scopes": ["session:role:OTHER"],
            }
        },
    },
    "accounts": [
        {
            "roles": {"OPERATOR": {}, "OTHER": {}},
            "external_oauth": [{"issuer": ISSUER, "audience_list": [AUDIENCE]}],
            "allowed_ip_list": ["127.0.0.0/8"],
            "users": {
                "ROBOT": {
                    "roles": ["OPERATOR", "OTHER"],
                    "default_role": "OPERATOR",
                    "password": PASSWORD,
                    "rsa_public_key": public(RSA),
                    "rsa_public_key_2": public(EC),
                    "access_tokens": {"ONE": {"secret": "pat-one"}, "TWO": {"secret": "pat-two"}},
                    "workload_identity": {"issuer": ISSUER, "subject": SUBJECT},
                }
            },
        }
    ],
}


@pytest.fixture
async def endpoint(certificate: Certificate, clock: Clock) -> AsyncIterator[SnowflakeEndpoint]:
    async with SnowflakeEndpoint(Seed.model_validate(SEED), certificate, clock=clock, answer_within=0.2) as started:
        yield started


@pytest.fixture
def issuer(endpoint: SnowflakeEndpoint) -> Issuer:
    assert endpoint.issuer is not None
    return endpoint.issuer


@pytest.fixture
def token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the platform puts the token of our workload. The driver gives it to hosts of Snowflake's alone."""
    monkeypatch.setenv("SNOWFLAKE_WIF_ALLOWED_HOST_SUFFIXES", "127.0.0.1")
    return tmp_path / "token"


@pytest.fixture
def team(endpoint: SnowflakeEndpoint, token_file: Path) -> Team:
    return Team(endpoint, token_file)


class Team:
    """A namespace that may do all that the installation lets it."""

    def __init__(self, endpoint: SnowflakeEndpoint, token_file: Path) -> None:
        self.endpoint = endpoint
        self.token_file = token_file
        self.allowed: tuple[str, ...] = (f"127.0.0.1:{endpoint.port}",)
        self.spec: dict[str, Any] = {}
        self.secret: dict[str, bytes] = {}

    def uses(self, secret: Mapping[str, bytes], **spec: Any) -> None:
        """Write a ProviderConfig and its Secret."""
        self.spec = {
            "account": "FREEHOLD-DEVSTACK",
            "host": "127.0.0.1",
            "port": self.endpoint.port,
            "caBundle": Path(self.endpoint.certificate.ca).read_text(),
            **spec,
        }
        self.secret = dict(secret)

    def credential(self, kind: str, issuer: Issuer, value: str = "") -> None:
        """Write a ProviderConfig of an authentication type with a good credential, or with this value in its place."""
        good = self._good(kind, issuer)
        secret, spec = good[0], {"authenticationType": kind, **good[1]}
        self.uses({key: value.encode() if value else each for key, each in secret.items()}, **spec)
        if kind == "WorkloadIdentity":
            token = issuer.token(sub=SUBJECT, aud="snowflakecomputing.com")
            self.token_file.write_text(f"{value or token}\n")

    def _good(self, kind: str, issuer: Issuer) -> tuple[dict[str, bytes], dict[str, Any]]:
        user = {"user": "ROBOT", "credentials": CREDENTIALS}
        token = issuer.token(sub="robot", aud=AUDIENCE, scp=["session:role:OTHER"])
        oauth = {
            "clientId": "freehold",
            "clientSecretRef": CREDENTIALS["secretRef"],
            "tokenRequestURL": f"https://127.0.0.1:{self.endpoint.port}{PATH}/token",
        }
        return {
            "KeyPair": ({"value": private(RSA)}, user),
            "UsernamePassword": ({"value": PASSWORD.encode()}, user),
            "ProgrammaticAccessToken": ({"value": b"pat-one"}, user),
            "OAuthToken": ({"value": f"{token}\n".encode()}, {"credentials": CREDENTIALS, "role": "OTHER"}),
            "OAuthClientCredentials": ({"value": b"shh+%/"}, {"oauth": oauth, "role": "OTHER"}),
            "WorkloadIdentity": ({}, {}),
        }[kind]

    def settings(self, as_of: float = 0) -> ConnectionSettings:
        """What Freehold makes of it, as it was read at a time."""
        return settings_from(
            ProviderConfigSpec.model_validate(self.spec),
            namespace="team",
            name="default",
            secret=self.secret if secret_name(self.spec) else None,
            policy=LoginPolicy(self.allowed, frozenset({"team"}), self.token_file),
            as_of=as_of,
        )

    def logins(self) -> list[str | None]:
        return [entry.outcome for entry in self.endpoint.journal.since() if entry.kind == "login"]


TYPES = (
    "KeyPair",
    "UsernamePassword",
    "ProgrammaticAccessToken",
    "OAuthToken",
    "OAuthClientCredentials",
    "WorkloadIdentity",
)
every_type = pytest.mark.parametrize("kind", TYPES)


@every_type
async def test_each_type_logs_in(kind: str, team: Team, issuer: Issuer, snowflake: Snowflake) -> None:
    team.credential(kind, issuer)
    facts = await snowflake.verify(team.settings())

    assert (facts.user, facts.role) == ("ROBOT", team.spec.get("role", "OPERATOR"))
    assert facts.active_secondary_roles == ""
    assert team.logins() == ["ok"]


@pytest.mark.parametrize(
    "secret",
    [{"value": private(EC)}, {"value": private(RSA, b"open"), "passphrase": b"open\n"}],
    ids=["EC", "encrypted"],
)
async def test_a_key_of_either_kind_logs_in_encrypted_or_not(
    secret: dict[str, bytes], team: Team, snowflake: Snowflake
) -> None:
    passphrase = {"passphraseKey": "passphrase"} if "passphrase" in secret else {}
    team.uses(secret, authenticationType="KeyPair", user="ROBOT", credentials=CREDENTIALS | passphrase)

    assert (await snowflake.verify(team.settings())).user == "ROBOT"


WRONG = {
    "KeyPair": private(rsa.generate_private_key(65537, 2048)).decode(),
    "UsernamePassword": CANARY,
    "ProgrammaticAccessToken": CANARY,
    "OAuthToken": CANARY,
    "OAuthClientCredentials": CANARY,
    "WorkloadIdentity": Issuer(ISSUER).token(sub=SUBJECT, aud="snowflakecomputing.com"),
}


def tail(secret: str) -> str:
    """The end of a secret, without the armour of a key."""
    return secret.split("\n-----END", maxsplit=1)[0][-40:]


@every_type
async def test_a_refused_credential_is_tried_once_and_shown_nowhere(
    kind: str, team: Team, issuer: Issuer, snowflake: Snowflake, caplog: pytest.LogCaptureFixture
) -> None:
    team.credential(kind, issuer, WRONG[kind])
    settings = team.settings()

    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "snowflake.connector"):
        with pytest.raises(CredentialsRefused) as first:
            await snowflake.verify(settings)
        for role in (None, "OTHER"):
            with pytest.raises(CredentialsRefused):
                await snowflake.execute(settings.acting_as(role), words("SELECT 1"), TAG)

    assert first.value.error_class in (ErrorClass.AUTHENTICATION, ErrorClass.UNKNOWN)
    assert settings.credential.source in str(first.value)
    assert len(team.logins()) == (0 if kind == "OAuthClientCredentials" else 1)
    told = caplog.text + repr(settings) + "".join(traceback.format_exception(first.value))
    assert tail(WRONG[kind]) not in told


@pytest.mark.parametrize("kind", ["OAuthToken", "WorkloadIdentity"])
async def test_an_expired_token_is_tried_once(kind: str, team: Team, issuer: Issuer, snowflake: Snowflake) -> None:
    audience = AUDIENCE if kind == "OAuthToken" else "snowflakecomputing.com"
    subject = "robot" if kind == "OAuthToken" else SUBJECT
    team.credential(kind, issuer, issuer.token(sub=subject, aud=audience, scp=["session:role:OTHER"], exp=1))

    for _ in range(3):
        with pytest.raises(CredentialsRefused) as refusal:
            await snowflake.execute(team.settings(), words("SELECT 1"), TAG)

    assert refusal.value.error_class is not ErrorClass.SESSION
    assert len(team.logins()) == 1


@pytest.mark.parametrize("kind", ["OAuthToken", "OAuthClientCredentials"])
async def test_a_role_that_a_token_does_not_open_leaves_its_own_role_open(
    kind: str, team: Team, issuer: Issuer, snowflake: Snowflake
) -> None:
    team.credential(kind, issuer)
    own = team.settings()

    with pytest.raises(RoleNotGranted):
        await snowflake.execute(own.acting_as("OPERATOR"), words("SELECT 1"), TAG)

    assert (await snowflake.verify(own)).role == "OTHER"


async def test_a_session_whose_tokens_have_all_expired_is_opened_anew(
    team: Team, issuer: Issuer, snowflake: Snowflake, clock: Clock
) -> None:
    team.credential("OAuthClientCredentials", issuer)
    await snowflake.verify(team.settings())
    clock.now += 5 * 3600

    await snowflake.clock(team.settings(), TAG)

    assert team.logins() == ["ok", "ok"]


@pytest.mark.parametrize("claims", [{}, {"exp": 1}], ids=["new", "expired"])
async def test_the_token_of_the_workload_is_read_anew_for_each_log_in(
    claims: dict[str, int], team: Team, issuer: Issuer, snowflake: Snowflake
) -> None:
    team.credential("WorkloadIdentity", issuer)
    settings = team.settings()
    await snowflake.verify(settings)
    team.token_file.write_text(issuer.token(sub=SUBJECT, aud="snowflakecomputing.com", **claims))

    if claims:
        with pytest.raises(CredentialsRefused):
            await snowflake.verify(settings.acting_as("OTHER"))
    else:
        await snowflake.verify(settings.acting_as("OTHER"))


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), ("", "no JSON web token")])
async def test_a_token_of_the_workload_that_is_not_there_is_named_and_waited_for(
    content: str | None, why: str, team: Team, issuer: Issuer, snowflake: Snowflake
) -> None:
    team.credential("WorkloadIdentity", issuer)
    good = team.token_file.read_text()
    team.token_file.unlink() if content is None else team.token_file.write_text(content)

    with pytest.raises(NotTried, match=why) as failure:
        await snowflake.verify(team.settings())

    assert str(team.token_file) in str(failure.value)
    team.token_file.write_text(good)
    await snowflake.verify(team.settings())


@pytest.mark.parametrize(
    ("before", "after"), [("KeyPair", private(EC).decode()), ("ProgrammaticAccessToken", "pat-two")]
)
async def test_a_credential_is_rotated_under_load_without_a_failed_statement(
    before: str, after: str, team: Team, issuer: Issuer, snowflake: Snowflake
) -> None:
    team.credential(before, issuer)
    # Some passes that have begun with the old one go on with it to their end.
    old = team.settings()
    current = [old]
    team.endpoint.faults.add(Fault(match="^SELECT [0-9]", action="delay", seconds=0.05, times=None))
    finished: list[int] = []

    async def work(number: int) -> None:
        while len(finished) < 100:
            settings = old if number < 3 and len(finished) < 50 else current[0]
            await snowflake.execute(settings, words(f"SELECT {number}"), TAG)
            finished.append(number)

    async with asyncio.TaskGroup() as workers:
        for number in range(10):
            workers.create_task(work(number))
        await team.endpoint.journal.wait_for(
            lambda journal: len(journal.statements("^SELECT [0-9]", outcome="ok")) > 20
        )
        team.secret["value"] = after.encode()
        current[0] = team.settings(as_of=1)

    assert {entry.outcome for entry in team.endpoint.journal.statements("^SELECT [0-9]")} == {"ok"}
    # One for the old one, one for the new one, one for who still had the old one when its session was closed.
    assert team.logins() == ["ok"] * 3


@asynccontextmanager
async def trap() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A port, and what strangers send to it."""
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1024))
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], heard


@pytest.mark.parametrize(
    ("where", "protocol"),
    [("host", "https"), ("oauth.tokenRequestURL", "https"), ("proxy.host", "http"), ("proxy.host", "https")],
)
async def test_a_foreign_host_token_url_or_proxy_gets_no_packet(
    where: str, protocol: str, team: Team, issuer: Issuer, snowflake: Snowflake
) -> None:
    team.credential("OAuthClientCredentials", issuer)
    async with trap() as (port, heard):
        if where == "host":
            team.spec["port"] = port
        elif where == "proxy.host":
            team.spec["proxy"] = {"host": "127.0.0.1", "port": port, "protocol": protocol}
        else:
            team.spec["oauth"] = team.spec["oauth"] | {"tokenRequestURL": f"https://127.0.0.1:{port}/token"}
        with pytest.raises(HostNotAllowed, match=rf"spec\.{where}: host 127\.0\.0\.1:{port}"):
            await snowflake.verify(team.settings())

    assert heard == []
    assert team.endpoint.journal.since() == []


def test_only_listed_namespaces_log_in_as_the_workload(team: Team, issuer: Issuer) -> None:
    team.credential("WorkloadIdentity", issuer)
    with pytest.raises(WorkloadIdentityNotAllowed, match="namespace other"):
        settings_from(
            ProviderConfigSpec.model_validate(team.spec),
            namespace="other",
            name="default",
            secret=None,
            policy=LoginPolicy(team.allowed, frozenset({"team"}), team.token_file),
        )


async def test_limit_tag_and_parameters_of_the_provider_hold_in_its_sessions(
    team: Team, issuer: Issuer, snowflake: Snowflake
) -> None:
    team.credential("KeyPair", issuer)
    asked = {"requestTimeoutSeconds": 1, "queryTag": "cost center 7", "sessionParameters": {"LOCK_TIMEOUT": "60"}}
    team.spec |= asked
    team.endpoint.faults.add(Fault(match="HANGS", action="hang"))
    show = words("SHOW PARAMETERS IN SESSION")

    rows = (await snowflake.execute(team.settings(), show, TAG)).rows
    with pytest.raises(OutcomeUnknown) as failure:
        await snowflake.execute(team.settings(), words("SELECT 'HANGS'"), TAG)

    assert failure.value.number == 630
    assert {"LOCK_TIMEOUT": "60", "STATEMENT_TIMEOUT_IN_SECONDS": "1"}.items() <= {
        str(row["key"]): str(row["value"]) for row in rows
    }.items()
    (entry,) = team.endpoint.journal.statements("SHOW PARAMETERS")
    assert entry.query_tag == TAG.text("prod", "cost center 7")


async def test_a_provider_can_not_give_its_statements_more_time_than_the_installation(
    team: Team, issuer: Issuer, snowflake: Snowflake
) -> None:
    team.credential("KeyPair", issuer)
    team.spec["requestTimeoutSeconds"] = 3600

    rows = (
        await snowflake.execute(team.settings(), words("SHOW PARAMETERS LIKE 'STATEMENT_TIMEOUT%' IN SESSION"), TAG)
    ).rows

    assert str(rows[0]["value"]) == "60"


async def test_a_log_in_is_given_up_when_the_provider_says_so(team: Team, issuer: Issuer, snowflake: Snowflake) -> None:
    team.credential("KeyPair", issuer)
    team.spec["loginTimeoutSeconds"] = 1
    team.endpoint.faults.add(Fault(match="^LOGIN", action="hang"))

    async with asyncio.timeout(10):
        with pytest.raises(Unreachable, match="timed out"):
            await snowflake.verify(team.settings())
