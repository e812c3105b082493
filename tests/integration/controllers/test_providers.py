"""ProviderConfigs: what is wrong with one is said clearly, in it and in those who use it."""

from __future__ import annotations

import base64
import contextlib
import socket
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from freehold_devstack.processes import until
from tests.integration.controllers.conftest import PASSWORD, WORKLOADS
from tests.integration.controllers.tenant import DEADLINE, Tenant

LOOK = {"freehold.dev/reconcile-now": "now"}


def test_a_wrong_password_is_tried_once_and_mended_by_the_secret(newcomer: Tenant, name: str) -> None:
    newcomer.let_secrets_be_read()
    newcomer.secret("default", "wrong")
    newcomer.provider("CARL")
    for number in range(3):
        newcomer.apply("Warehouse", f"wh{number}", spec={"name": f"{name}{number}"})
    (message,) = newcomer.reaches("providerconfig", "default", "CredentialsError")
    assert f"Secret {newcomer.namespace}/default" in message
    assert "wrong" not in message
    for text in newcomer.reaches("warehouse", ["wh0", "wh1", "wh2"], "DependencyNotReady"):
        assert "CredentialsError" in text
    assert newcomer.endpoint.logins("CARL") == ["390100"]
    newcomer.secret("default", PASSWORD)
    newcomer.ready("providerconfig", "default")
    newcomer.ready("warehouse", "wh0", "wh1", "wh2")


def test_a_missing_secret_is_named_and_waited_for(newcomer: Tenant) -> None:
    newcomer.let_secrets_be_read()
    newcomer.provider("ANNA")
    (message,) = newcomer.reaches("providerconfig", "default", "SecretNotFound")
    assert f"Secret {newcomer.namespace}/default doesn't exist" in message
    newcomer.secret("default", PASSWORD)
    newcomer.ready("providerconfig", "default")


def test_a_missing_key_and_an_empty_value_are_named_and_mended_by_the_secret(newcomer: Tenant) -> None:
    newcomer.let_secrets_be_read()
    put(newcomer, pass_word=PASSWORD.encode())
    newcomer.provider("ANNA")
    before = newcomer.endpoint.logins("ANNA")
    (message,) = newcomer.reaches("providerconfig", "default", "SecretNotFound")
    assert message == f"Secret {newcomer.namespace}/default has no key password: it has pass_word"
    put(newcomer, password=b"")
    until(lambda: "the value of key password is empty" in told(newcomer), DEADLINE, "the empty value to be told")
    assert newcomer.endpoint.logins("ANNA") == before
    put(newcomer, password=PASSWORD.encode())
    newcomer.ready("providerconfig", "default")


def test_a_new_key_is_taken_up_under_load_without_a_moment_of_failure(newcomer: Tenant, name: str) -> None:
    old, new = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    newcomer.endpoint.sql(f"ALTER USER ANNA SET RSA_PUBLIC_KEY = '{public(old)}', RSA_PUBLIC_KEY_2 = '{public(new)}'")
    newcomer.let_secrets_be_read()
    put(newcomer, password=private(old))
    newcomer.provider("ANNA", authenticationType="KeyPair")
    names = [f"wh{number}" for number in range(20)]
    for each in names:
        newcomer.apply("Warehouse", each, spec={"name": f"{name}_{each}"})
    newcomer.ready("warehouse", *names)
    since = {each: newcomer.conditions("warehouse", each)["Ready"] for each in names}
    verified = (newcomer.get("providerconfig", "default") or {})["status"]["secretResourceVersion"]

    put(newcomer, password=private(new))
    for each in names:
        newcomer.apply("Warehouse", each, spec={"name": f"{name}_{each}"}, annotations=LOOK)
    until(
        lambda: (newcomer.get("providerconfig", "default") or {})["status"]["secretResourceVersion"] != verified,
        DEADLINE,
        "the new key to be verified",
    )
    newcomer.endpoint.sql("ALTER USER ANNA UNSET RSA_PUBLIC_KEY")
    newcomer.ready("warehouse", *names)
    assert {each: newcomer.conditions("warehouse", each)["Ready"] for each in names} == since
    for each in names:
        newcomer.apply("Warehouse", each, spec={"name": f"{name}_{each}", "comment": "by the new key"})

    newcomer.ready("warehouse", *names)
    assert {entry.outcome for entry in newcomer.endpoint.statements(f"WAREHOUSE .*{name}")} == {"ok"}


def client(port: int) -> dict[str, Any]:
    secret = {"name": "default", "key": "password"}
    oauth = {
        "clientId": "freehold",
        "clientSecretRef": secret,
        "tokenRequestURL": f"https://127.0.0.1:{port}/token",
    }
    return {"user": None, "credentials": None, "authenticationType": "OAuthClientCredentials", "oauth": oauth}


def proxied(port: int) -> dict[str, Any]:
    return {"user": "ANNA", "proxy": {"host": "127.0.0.1", "port": port}}


@pytest.mark.parametrize(("pointing", "field"), [(client, "oauth.tokenRequestURL"), (proxied, "proxy.host")])
def test_a_foreign_token_url_or_proxy_is_told_and_gets_no_packet(
    newcomer: Tenant, pointing: Callable[[int], dict[str, Any]], field: str
) -> None:
    newcomer.let_secrets_be_read()
    newcomer.secret("default", PASSWORD)
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        newcomer.provider(**pointing(trap.getsockname()[1]))
        (message,) = newcomer.reaches("providerconfig", "default", "HostNotAllowed")
        assert message.startswith(f"spec.{field}: host 127.0.0.1:")
        with contextlib.suppress(BlockingIOError):
            pytest.fail(f"a connection from {trap.accept()[1]}")


def test_a_namespace_that_is_not_listed_can_not_log_in_as_the_workload(newcomer: Tenant) -> None:
    newcomer.provider(None, authenticationType="WorkloadIdentity", credentials=None)
    (message,) = newcomer.reaches("providerconfig", "default", "WorkloadIdentityNotAllowed")
    assert f"namespace {newcomer.namespace}" in message


def test_a_listed_namespace_logs_in_as_the_workload_without_a_secret(newcomer: Tenant, name: str) -> None:
    newcomer.control_plane.kubectl("create", "namespace", WORKLOADS)
    listed = Tenant(newcomer.control_plane, newcomer.endpoint, WORKLOADS)
    listed.provider(None, authenticationType="WorkloadIdentity", credentials=None)
    (message,) = listed.reaches("providerconfig", "default", "Available")
    assert "user WALTER in role FREEHOLD" in message
    listed.apply("Warehouse", "wh", spec={"name": name})
    listed.ready("warehouse", "wh")
    listed.control_plane.kubectl("delete", "namespace", WORKLOADS, "--wait=false")
    listed.gone("warehouse", "wh")
    listed.gone("providerconfig", "default")
    assert not listed.endpoint.exists("WAREHOUSE", name)


def test_a_secret_that_may_not_be_read_names_the_role_binding(newcomer: Tenant) -> None:
    newcomer.secret("default", PASSWORD)
    newcomer.provider("ANNA")
    (message,) = newcomer.reaches("providerconfig", "default", "SecretNotFound")
    assert "RoleBinding freehold-secrets" in message
    newcomer.let_secrets_be_read()
    newcomer.ready("providerconfig", "default")


def test_a_host_that_cannot_be_reached_is_said_to_be(newcomer: Tenant) -> None:
    newcomer.let_secrets_be_read()
    newcomer.secret("default", PASSWORD)
    newcomer.provider("ANNA", host="localhost")
    (message,) = newcomer.reaches("providerconfig", "default", "HostNotAllowed")
    assert "allowedHosts" in message
    newcomer.provider("ANNA", host="127.0.0.2")
    (message,) = newcomer.reaches("providerconfig", "default", "PingFailed")
    assert "127.0.0.2" in message


def test_a_namespace_that_is_not_allowed_is_told_so(tenant: Tenant, namespace: str, name: str) -> None:
    other = f"{namespace}-other"
    tenant.control_plane.kubectl("create", "namespace", other)
    stranger = Tenant(tenant.control_plane, tenant.endpoint, other)
    stranger.apply("Warehouse", "wh", spec={"name": name, "providerRef": {"name": "default", "namespace": namespace}})
    stranger.reaches("warehouse", "wh", "NamespaceNotAllowed")
    tenant.provider("ANNA", allowedNamespaces=[other])
    stranger.ready("warehouse", "wh")
    stranger.delete("warehouse", "wh")
    stranger.gone("warehouse", "wh")
    tenant.control_plane.kubectl("delete", "namespace", other, "--wait=false")


def test_a_provider_that_is_down_keeps_the_finalizer_and_says_why(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    tenant.secret("default", "wrong")
    tenant.reaches("providerconfig", "default", "CredentialsError")
    tenant.delete("warehouse", "wh")
    (message,) = tenant.reaches("warehouse", "wh", "DependencyNotReady")
    assert "freehold.dev/abandon-on-delete" in message
    tenant.secret("default", PASSWORD)
    tenant.gone("warehouse", "wh")
    assert not tenant.endpoint.exists("WAREHOUSE", name)


def put(tenant: Tenant, **values: bytes) -> None:
    """Write the Secret `default`, with these keys alone."""
    data = {key: base64.b64encode(value).decode() for key, value in values.items()}
    tenant.apply("Secret", "default", api="v1", data=data)


def told(tenant: Tenant) -> str:
    return str(tenant.conditions("providerconfig", "default").get("Ready", {}).get("message"))


def private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public(key: ec.EllipticCurvePrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()
