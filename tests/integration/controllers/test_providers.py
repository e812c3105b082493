"""ProviderConfigs: what is wrong with one is said clearly, in it and in those who use it."""

from __future__ import annotations

from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import Tenant


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
