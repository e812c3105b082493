"""What a log-in needs stays until nothing needs the log-in, so that a whole namespace can be deleted in any order."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from freehold_devstack.processes import until
from tests.harness.controllers import Controller
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant

IN_USE = "freehold.dev/in-use"
HELD = (("secret", "default"), ("rolebinding", "freehold-secrets"))


@pytest.fixture
def doomed(tenant: Tenant, namespace: str) -> Iterator[Tenant]:
    """A team in a namespace of its own, which the test deletes."""
    team = Tenant(tenant.control_plane, tenant.endpoint, f"{namespace}-doomed")
    team.control_plane.kubectl("create", "namespace", team.namespace)
    team.provide("ANNA", PASSWORD)
    team.ready("providerconfig", "default")
    yield team
    team.endpoint.clear_faults()


def finalizers(tenant: Tenant, kind: str, name: str) -> list[str] | None:
    """Those of an object; None when it is gone."""
    found = tenant.get(kind, name)
    return None if found is None else found["metadata"].get("finalizers", [])


def delete_namespace(tenant: Tenant) -> None:
    tenant.control_plane.kubectl("delete", "namespace", tenant.namespace, "--wait=false")


def namespace_gone(tenant: Tenant) -> None:
    def gone() -> bool:
        return not tenant.control_plane.kubectl("get", "namespace", tenant.namespace, "--ignore-not-found").stdout

    until(gone, DEADLINE, "the namespace to be gone", tenant.describe)


def deleting(tenant: Tenant, kind: str, name: str) -> bool:
    found = tenant.get(kind, name)
    return found is not None and "deletionTimestamp" in found["metadata"]


def test_what_a_log_in_needs_is_held_before_it_is_tried(newcomer: Tenant) -> None:
    newcomer.let_secrets_be_read()
    newcomer.secret("default", "wrong")
    newcomer.provider("BERT")
    newcomer.reaches("providerconfig", "default", "CredentialsError")
    assert [finalizers(newcomer, *each) for each in HELD] == [[IN_USE], [IN_USE]]


def test_a_namespace_goes_in_any_order_also_when_the_controllers_start_anew_meanwhile(
    doomed: Tenant, name: str, controllers: dict[str, Controller]
) -> None:
    doomed.apply("Warehouse", "wh", spec={"name": name})
    doomed.apply("Database", "db", spec={"name": name})
    doomed.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    doomed.ready("warehouse", "wh")
    doomed.ready("schema", "s")
    for controller in controllers.values():
        controller.kill()
    delete_namespace(doomed)
    # Nothing is left in memory of what to log in with, and everything is on its way out.
    for each in (*HELD, ("providerconfig", "default"), ("schema", "s"), ("database", "db")):
        until(lambda each=each: deleting(doomed, *each), DEADLINE, f"{each} to be on its way out", doomed.describe)  # type: ignore[misc]
    for controller in controllers.values():
        controller.start()
    namespace_gone(doomed)
    assert not doomed.endpoint.exists("DATABASE", name)
    assert not doomed.endpoint.exists("WAREHOUSE", name)


def test_what_is_held_is_released_when_the_provider_config_goes(tenant: Tenant) -> None:
    tenant.ready("providerconfig", "default")
    tenant.delete("providerconfig", "default")
    tenant.gone("providerconfig", "default")
    assert [finalizers(tenant, *each) for each in HELD] == [[], []]


def test_another_provider_config_of_the_namespace_keeps_what_it_needs(tenant: Tenant) -> None:
    tenant.provider("ANNA", "second", credentials={"secretRef": {"name": "default", "key": "password"}})
    tenant.secret("third", PASSWORD)
    tenant.provider("ANNA", "third")
    for each in ("default", "second", "third"):
        tenant.ready("providerconfig", each)
    tenant.delete("providerconfig", "default")
    tenant.gone("providerconfig", "default")
    assert [finalizers(tenant, *each) for each in HELD] == [[IN_USE], [IN_USE]]
    tenant.delete("providerconfig", "second")
    tenant.gone("providerconfig", "second")
    assert [finalizers(tenant, *each) for each in HELD] == [[], [IN_USE]]
    tenant.delete("providerconfig", "third")
    tenant.gone("providerconfig", "third")
    assert finalizers(tenant, "rolebinding", "freehold-secrets") == []


def test_of_provider_configs_that_go_together_the_last_one_releases(tenant: Tenant) -> None:
    names = [f"p{number}" for number in range(5)]
    for each in names:
        tenant.provider("ANNA", each, credentials={"secretRef": {"name": "default", "key": "password"}})
    for each in names:
        tenant.ready("providerconfig", each)
    tenant.delete("providerconfig", "default", *names)
    tenant.gone("providerconfig", "default", *names)
    assert [finalizers(tenant, *each) for each in HELD] == [[], []]


def test_a_provider_config_that_turns_to_another_secret_releases_the_former_one(tenant: Tenant) -> None:
    tenant.ready("providerconfig", "default")
    tenant.secret("second", PASSWORD)
    tenant.provider("ANNA", credentials={"secretRef": {"name": "second", "key": "password"}})
    until(lambda: finalizers(tenant, "secret", "second") == [IN_USE], DEADLINE, "the new one to be held")
    assert finalizers(tenant, "secret", "default") == []


def test_a_secret_that_cannot_be_held_is_used_and_said_to_be_loose(tenant: Tenant, name: str) -> None:
    tenant.ready("providerconfig", "default")
    binding = json.loads(tenant.kubectl("get", "rolebinding", "freehold-secrets", "--output=json").stdout)
    tenant.apply(
        "RoleBinding", "other", api=binding["apiVersion"], roleRef=binding["roleRef"], subjects=binding["subjects"]
    )
    tenant.delete("rolebinding", "freehold-secrets")
    tenant.kubectl("patch", "rolebinding", "freehold-secrets", "--type=merge", '--patch={"metadata":{"finalizers":[]}}')
    (message,) = tenant.reaches("providerconfig", "default", "NotHeld", "CredentialsHeld")
    assert "there is no RoleBinding freehold-secrets" in message
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    tenant.let_secrets_be_read()
    until(
        lambda: "CredentialsHeld" not in tenant.conditions("providerconfig", "default"),
        DEADLINE,
        "the RoleBinding to be held",
        tenant.describe,
    )
    assert finalizers(tenant, "rolebinding", "freehold-secrets") == [IN_USE]


def test_the_binding_of_the_installation_goes_with_the_chart(tenant: Tenant) -> None:
    home = Tenant(tenant.control_plane, tenant.endpoint, "freehold")
    home.secret("home", PASSWORD)
    home.provider("ANNA", "home")
    home.ready("providerconfig", "home")
    assert finalizers(home, "secret", "home") == [IN_USE]
    assert finalizers(home, "rolebinding", "freehold-secrets") == []
    home.delete("providerconfig", "home")
    home.gone("providerconfig", "home")
    assert finalizers(home, "secret", "home") == []
