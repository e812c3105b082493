"""FieldExports on a real API server, whose managed fields say whose each key is."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import DEADLINE, Tenant

API = "freehold.dev/v1alpha1"


@pytest.fixture
def home(tenant: Tenant, name: str) -> Tenant:
    """A team that has a Warehouse `wh`, and lets exports be written."""
    tenant.let_exports_be_written()
    tenant.apply("Warehouse", "wh", spec={"name": name, "comment": "one"})
    tenant.ready("Warehouse", "wh")
    return tenant


def export(tenant: Tenant, name: str, path: str, *, to: str = "ConfigMap", key: str = "k", target: str = "t") -> None:
    source = {"resource": {"kind": "Warehouse", "name": "wh"}, "path": path}
    place = {"kind": to, "name": target, "key": key}
    tenant.apply("FieldExport", name, api=API, spec={"from": source, "to": place, "refreshInterval": "10s"})


def data(tenant: Tenant, kind: str = "ConfigMap", target: str = "t") -> dict[str, str]:
    found: dict[str, Any] = tenant.get(kind, target) or {}
    return found.get("data") or {}


def holds(tenant: Tenant, wanted: dict[str, str]) -> None:
    until(lambda: data(tenant) == wanted, DEADLINE, f"the ConfigMap to hold {wanted}", tenant.describe)


def test_a_value_is_written_follows_its_source_and_goes_with_its_export(home: Tenant) -> None:
    export(home, "comment", ".status.showOutput.comment")
    export(home, "all", ".status.showOutput", key="show.json")
    export(home, "secret", ".status.account", to="Secret")
    for each in ("comment", "all", "secret"):
        home.ready("FieldExport", each)
    assert data(home)["k"] == "one"
    assert json.loads(data(home)["show.json"])["comment"] == "one"
    assert base64.b64decode(data(home, "Secret")["k"]).decode() == "FREEHOLD.DEVSTACK"
    found = home.get("ConfigMap", "t") or {}
    assert any("FieldExport" in note for note in found["metadata"]["annotations"].values())
    home.kubectl("patch", "warehouse", "wh", "--type=merge", '--patch={"spec":{"comment":"two"}}')
    until(lambda: data(home).get("k") == "two", DEADLINE, "the new value", home.describe)
    home.delete("FieldExport", "all")
    home.gone("FieldExport", "all")
    holds(home, {"k": "two"})
    home.delete("FieldExport", "comment", "secret")
    home.gone("FieldExport", "comment", "secret")
    assert home.get("ConfigMap", "t") is None
    assert home.get("Secret", "t") is None


def test_what_others_have_set_is_neither_overwritten_nor_removed(home: Tenant) -> None:
    home.kubectl("create", "configmap", "t", "--from-literal=k=theirs", "--from-literal=other=stays")
    export(home, "x", ".status.showOutput.comment")
    (message,) = home.reaches("FieldExport", "x", "ConflictDetected")
    assert "key k of ConfigMap" in message
    assert data(home) == {"k": "theirs", "other": "stays"}
    home.delete("FieldExport", "x")
    home.gone("FieldExport", "x")
    assert data(home) == {"k": "theirs", "other": "stays"}
    # Once it is gone, the key is exported into their object, and taken out again.
    home.kubectl("patch", "configmap", "t", "--type=merge", '--patch={"data":{"k":null}}')
    export(home, "x", ".status.showOutput.comment")
    home.ready("FieldExport", "x")
    assert data(home) == {"k": "one", "other": "stays"}
    home.delete("FieldExport", "x")
    home.gone("FieldExport", "x")
    assert data(home) == {"other": "stays"}


def test_the_last_value_stays_while_there_is_none_and_a_lost_one_comes_back(home: Tenant) -> None:
    export(home, "x", ".status.showOutput.comment")
    export(home, "later", ".status.showOutput.nothing", key="later")
    home.ready("FieldExport", "x")
    (message,) = home.reaches("FieldExport", "later", "DependencyNotReady")
    assert "has no .status.showOutput.nothing yet" in message
    home.delete("ConfigMap", "t")
    holds(home, {"k": "one"})
    home.delete("Warehouse", "wh")
    home.gone("Warehouse", "wh")
    home.reaches("FieldExport", "x", "DependencyNotReady", "Synced")
    holds(home, {"k": "one"})


def test_without_the_role_binding_it_says_which_one_is_missing(tenant: Tenant, name: str) -> None:
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("Warehouse", "wh")
    export(tenant, "x", ".status.fullyQualifiedName")
    (message,) = tenant.reaches("FieldExport", "x", "TerminalError")
    assert "by a RoleBinding freehold-exports" in message
    # Nor does one that has written nothing need any to go.
    tenant.delete("FieldExport", "x")
    tenant.gone("FieldExport", "x")
