"""Secrets stay where they are put: nothing that leaves the processes has one, whatever others quote of it.

What is secret follows from the declarations: every value of a Secret that a ProviderConfig refers to, and every field
of a kind that says so. What others are told, they tell back.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
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
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model, model_in
from freehold.kinds.registry import KINDS
from freehold.kinds.secret_inputs import SecretKeyReference
from freehold.kinds.spec_fields import properties
from freehold_devstack.processes import until
from tests.harness.further_kinds.user import USER
from tests.integration.controllers.tenant import API, DEADLINE
from tests.integration.telemetry.conftest import FURTHER, PASSWORD, World
from tests.integration.telemetry.others import REFUSING

TELLING = 16
"""Length from which the last line of a private key is of use to anybody."""

BIN = Path(sys.executable).parent

SECRET_FIELDS = [
    (kind, each) for kind in (*KINDS.values(), USER) for each in properties(kind.spec) if each.facts.secret
]
"""All secret fields of all kinds."""


def canary() -> str:
    return secrets.token_hex(12)


def forms(secret: bytes) -> Iterator[bytes]:
    """A secret as it is, and what base64 of anything that holds it has in any case."""
    yield secret
    for lead in range(3):
        yield base64.b64encode(bytes(lead) + secret)[4 if lead else 0 : -4]


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


def references(model: type[Model], place: str = "") -> Iterator[str]:
    """Where a manifest refers to a key of a Secret."""
    for attribute, info in model.model_fields.items():
        name = f"{place}{info.alias or attribute}"
        inner = model_in(info.annotation)
        if inner is SecretKeyReference:
            yield name
        elif inner is not None:
            yield from references(inner, f"{name}.")


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


def manifest(world: World, kind: Kind, name: str, **spec: Any) -> str:
    """A resource of a kind with secret fields; all of them stand for the same object."""
    metadata = {"name": name, "namespace": world.tenant.namespace}
    return json.dumps(
        {"apiVersion": API, "kind": kind.name, "metadata": metadata, "spec": {"name": "SECRETIVE", **spec}}
    )


def write(world: World, kind: Kind, name: str, **spec: Any) -> str:
    """Apply it; answers with what kubectl says."""
    applied = world.tenant.kubectl(
        *("apply", "--server-side", "--force-conflicts", "-f", "-"),
        input=manifest(world, kind, name, **spec),
        check=False,
    )
    return applied.stdout + applied.stderr


def plan(folder: Path, text: str) -> str:
    """What `freehold plan` says of a manifest."""
    file = folder / "manifest.yaml"
    file.write_text(text)
    environment = {**os.environ, "PYTHONPATH": FURTHER}
    return subprocess.run(
        [BIN / "freehold", "plan", "--offline", "-f", file],
        check=True,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def left(world: World) -> Iterator[tuple[str, bytes]]:
    """All that has left the processes, by where it went."""
    tenant = world.tenant
    for controller in world.controllers:
        yield controller.log.name, controller.log.read_bytes()
        yield f"metrics of {controller.log.name}", controller.metrics().encode()
    yield "the webhook's log", world.webhook.log.read_bytes()
    for kind in ("events.events.k8s.io", "leases", "claims", "freehold"):
        listed = json.loads(tenant.control_plane.kubectl("get", kind, "--all-namespaces", "--output=json").stdout)
        for each in listed["items"]:
            # What people have written themselves.
            each["spec"] = {} if kind == "freehold" and each["kind"] == USER.name else each.get("spec")
        yield kind, json.dumps(listed).encode()
    yield "traces", b"".join(world.traces)
    yield "query tags", "".join(entry.query_tag for entry in tenant.endpoint.since()).encode()


def search(told: Mapping[str, bytes], planted: Mapping[str, str]) -> None:
    """Make sure that nothing of what was told, by where, has a secret, of which is given whose it is."""
    for secret, whose in planted.items():
        for form in forms(secret.encode()):
            for where, text in told.items():
                found = text.find(form)
                assert found < 0, f"{whose} is in {where}: {text[max(0, found - 300) : found + 100]!r}"


def test_every_way_to_log_in_and_every_reference_to_a_secret_is_tried(world: World) -> None:
    tried = [each.spec for each in logins(world)]
    assert {each["authenticationType"] for each in tried} == set(get_args(AuthenticationType))
    for place in references(ProviderConfigSpec):
        assert any(at(spec, place) for spec in tried), place
    assert any(at(spec, "credentials.passphraseKey") for spec in tried)
    assert SECRET_FIELDS


def test_no_credential_leaves_the_processes(world: World) -> None:
    planted = {PASSWORD: "the password that works"}
    for login in logins(world):
        planted |= dict.fromkeys(login.secrets, f"a secret of log-in {login.name}")
        message = refuse(world, login)
        assert ("***" in message) == bool(login.quoted), f"{login.name}: {message}"
    search(dict(left(world)), planted)


def test_no_secret_field_leaves_the_processes(world: World, tmp_path: Path) -> None:
    tenant, planted, answers = world.tenant, {}, ""
    for kind, each in SECRET_FIELDS:
        secret = canary()
        planted[secret] = f"{kind.name}'s {each.name}"
        spec = {each.name: secret}
        planned = plan(tmp_path, manifest(world, kind, "one", **spec))
        assert "'***'" in planned
        quoted = f"unexpected '{secret}' near '{secret[:10]}'"
        tenant.endpoint.fault(f"^CREATE {kind.object_type}", "error", number=1003, sqlstate="42000", message=quoted)
        answers += planned + write(world, kind, "one", **spec)
        (message,) = tenant.reaches(kind.name, "one", "TerminalError")
        assert "unexpected '***' near '***'" in message
        # What failed isn't tried again before something changes.
        answers += write(world, kind, "one", **spec, comment="again")
        tenant.ready(kind.name, "one")
        refusal = write(world, kind, "rival", **spec)
        assert "denied the request" in refusal
        answers += refusal
    search(dict(left(world)) | {"what people are answered": answers.encode()}, planted)
