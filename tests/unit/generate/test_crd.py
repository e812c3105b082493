"""CRDs: structural, complete, and within the API server's limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from freehold.claims import CLAIM
from freehold.generate.crd import definition
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import Resource
from freehold.kinds.resources import RESOURCES

resources = pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each.kind)


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in (*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")):
        if isinstance(child, Mapping):
            yield from _nodes(child)


def _schema(resource: Resource) -> Mapping[str, Any]:
    version: Mapping[str, Any] = definition(resource)["spec"]["versions"][0]
    schema: Mapping[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


@resources
def test_every_node_has_a_type_and_nothing_foreign_to_a_structural_schema(resource: Resource) -> None:
    for node in _nodes(_schema(resource)):
        assert "type" in node
        assert not {"$ref", "anyOf", "title", "$defs", "const"} & set(node)


@resources
def test_every_field_is_described(resource: Resource) -> None:
    schema = _schema(resource)
    # What all resources have alike the API server describes itself.
    ours = {name: part for name, part in schema["properties"].items() if name in ("spec", "status")}
    inside = [each for part in ours.values() for node in _nodes(part) for each in node.get("properties", {}).items()]
    fields = [(resource.kind, schema), *ours.items(), *inside]
    assert [name for name, field in fields if not field.get("description", "").strip()] == []


@resources
def test_a_definition_fits_into_a_client_side_apply(resource: Resource) -> None:
    assert len(orjson.dumps(definition(resource))) < 256 * 1024


def test_identity_can_neither_change_nor_appear_nor_vanish() -> None:
    spec = _schema(KINDS["Schema"].resource)["properties"]["spec"]
    for name in ("name", "databaseName", "databaseRef", "useRole"):
        assert spec["properties"][name]["x-kubernetes-validations"][0]["rule"] == "self == oldSelf"
    rules = [each["rule"] for each in spec["x-kubernetes-validations"]]
    assert "has(self.databaseRef) == has(oldSelf.databaseRef)" in rules


def test_a_claim_stays_with_its_object() -> None:
    spec = _schema(CLAIM)["properties"]["spec"]
    assert [each["rule"] for each in spec["x-kubernetes-validations"]] == ["self.identity == oldSelf.identity"]


def test_what_this_release_lacks_is_declared_and_refused_with_the_reason() -> None:
    spec = _schema(KINDS["Task"].resource)["properties"]["spec"]
    assert "errorIntegrationRef" in spec["properties"]
    (rule,) = (each for each in spec["x-kubernetes-validations"] if each["rule"] == "!has(self.errorIntegrationRef)")
    assert rule["fieldPath"] == ".errorIntegrationRef"
    assert rule["message"].startswith("NotSupported: this release has no kind QueueNotificationIntegration")


def test_what_can_not_be_used_or_changed_is_said_where_people_look_first() -> None:
    fields = _schema(KINDS["Database"].resource)["properties"]["spec"]["properties"]
    assert fields["tags"]["description"].startswith("Not supported: ")
    assert fields["name"]["description"].endswith("Can't be changed.")
    ordered = "the annotation freehold.dev/force-new: the object is dropped and created again."
    assert fields["transient"]["description"].endswith(f"A change needs {ordered}")
    sizes = _schema(KINDS["Warehouse"].resource)["properties"]["spec"]["properties"]
    assert sizes["warehouseType"]["description"].endswith(f"Some changes need {ordered}")
    assert "change" not in sizes["comment"]["description"]


def test_no_short_name_is_one_of_kubernetes_own() -> None:
    """kubectl would take it for the other: https://kubernetes.io/docs/reference/kubectl/#resource-types."""
    taken = {
        *("cj", "cm", "cr", "crd", "crds", "cs", "csr", "deploy", "ds", "ep", "ev", "hpa", "ing", "limits", "netpol"),
        *("no", "ns", "pc", "pdb", "po", "pv", "pvc", "quota", "rc", "rs", "sa", "sc", "sts", "svc", "cert", "certs"),
    }
    ours = [name for resource in RESOURCES for name in resource.short_names]
    assert not taken & set(ours)
    assert len(ours) == len(set(ours))
