"""Secrets to log in with stay where they are put, whatever others quote of them.

What is secret follows from the declaration: every value of a Secret that a ProviderConfig refers to. What others are
told, they tell back.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from freehold.kinds.account.authentication import AuthenticationType
from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold_devstack.processes import until
from tests.integration.controllers.tenant import DEADLINE
from tests.integration.telemetry.conftest import PASSWORD, World
from tests.integration.telemetry.leaks import canary, left, references, search
from tests.integration.telemetry.others import REFUSING

TELLING = 16
"""Length from which the last line of a private key is of use to anybody."""


@dataclass(frozen=True)
class Login:
    """A ProviderConfig that can't log in.

    Attributes:
        name: of it, its Secret and its user.
        spec: of it.
        data: of its Secret.
        quoted: what Snowflake tells back; nothing where it isn't reached.
        user: whom it logs in as; empty where the token says it.
    """

    name: str
    spec: Mapping[str, Any]
    data: Mapping[str, str] = field(default_factory=dict)
    quoted: tuple[str, ...] = ()
    user: str | None = None

    @property
    def secrets(self) -> Iterator[str]:
        """All that is secret of it, in pieces in which it may be told."""
        for each in (value.rpartition(":")[2] for value in (*self.data.values(), *self.quoted)):
            yield from (line for line in each.splitlines() if "-----" not in line and len(line) >= TELLING)


def logins(world: World) -> Iterator[Login]:
    """For each way to authenticate, and each way in which it may be refused, a ProviderConfig."""

    def by_secret(name: str, type_: AuthenticationType, data: dict[str, str], **spec: Any) -> Login:
        reference = {"secretRef": {"name": name, "key": "it"}}
        credentials = {**reference, **({"passphraseKey": "passphrase"} if "passphrase" in data else {})}
        return Login(
            name,
            {"authenticationType": type_, "user": name.upper(), "credentials": credentials, **spec},
            data,
            tuple(value for key, value in data.items() if key != "passphrase"),
            name.upper(),
        )

    def by_client(name: str, path: str = "/token", **spec: Any) -> Login:
        oauth = {
            "clientId": "freehold",
            "clientSecretRef": {"name": name, "key": "it"},
            "tokenRequestURL": f"https://127.0.0.1:{world.token_port}{path}",
        }
        fixed = {"authenticationType": "OAuthClientCredentials", "user": name.upper(), "oauth": oauth}
        quoted = () if path == REFUSING else (world.access_token,)
        return Login(name, {**fixed, **spec}, {"it": canary()}, quoted, name.upper())

    def proxied(login: Login) -> Login:
        data = {**login.data, "proxy": f"freehold:{canary()}"}
        reference = {"name": login.name, "key": "proxy"}
        proxy = {"host": "127.0.0.1", "port": world.proxy_port, "credentialsRef": reference}
        return Login(login.name, {**login.spec, "proxy": proxy}, data)

    key, passphrase = rsa.generate_private_key(65537, 2048), canary()
    stored, plain = (
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode()
        for encryption in (BestAvailableEncryption(passphrase.encode()), NoEncryption())
    )
    encrypted = by_secret("key", "KeyPair", {"it": stored, "passphrase": passphrase})
    yield Login(encrypted.name, encrypted.spec, encrypted.data, (plain,), encrypted.user)
    yield by_secret("password", "UsernamePassword", {"it": canary()})
    yield by_secret("pat", "ProgrammaticAccessToken", {"it": canary()})
    yield by_secret("token", "OAuthToken", {"it": canary()})
    yield by_client("client")
    yield by_client("unknown-client", REFUSING)
    yield Login("workload", {"authenticationType": "WorkloadIdentity"}, {}, (world.workload_token,), "")
    yield proxied(by_secret("password-by-proxy", "UsernamePassword", {"it": canary()}))
    yield proxied(by_client("client-by-proxy"))


def at(spec: Mapping[str, Any], place: str) -> object:
    found: Any = spec
    for each in place.split("."):
        found = (found or {}).get(each)
    return found


def refuse(world: World, login: Login) -> str:
    """Have a log-in refused by somebody who quotes all of it; answers with what is told then."""
    tenant = world.tenant
    if login.user is not None:
        quoted = " ".join(login.quoted)
        tenant.endpoint.fault(f"^LOGIN {login.user}$", "error", number=390100, message=f"Not '{quoted}'!", times=None)
    if login.data:
        data = {key: base64.b64encode(value.encode()).decode() for key, value in login.data.items()}
        tenant.apply("Secret", login.name, api="v1", data=data)
    fixed = {"credentials": None, "user": None, "loginTimeoutSeconds": 10}
    trusted = tenant.endpoint.ca + world.token_ca
    tenant.provider(**{**fixed, **login.spec}, name=login.name, caBundle=trusted)

    def told() -> str:
        ready = tenant.conditions("providerconfig", login.name).get("Ready", {})
        return ready.get("message", "") if ready.get("status") == "False" else ""

    until(lambda: bool(told()), DEADLINE, f"the end of log-in {login.name}", tenant.describe)
    return told()


def test_every_way_to_log_in_and_every_reference_to_a_secret_is_tried(world: World) -> None:
    tried = [each.spec for each in logins(world)]
    assert {each["authenticationType"] for each in tried} == set(get_args(AuthenticationType))
    for place in references(ProviderConfigSpec):
        assert any(at(spec, place) for spec in tried), place
    assert any(at(spec, "credentials.passphraseKey") for spec in tried)


def test_no_credential_leaves_the_processes(world: World) -> None:
    planted = {PASSWORD: "the password that works"}
    for login in logins(world):
        planted |= dict.fromkeys(login.secrets, f"a secret of log-in {login.name}")
        message = refuse(world, login)
        assert ("***" in message) == bool(login.quoted), f"{login.name}: {message}"
    search(dict(left(world)), planted)
