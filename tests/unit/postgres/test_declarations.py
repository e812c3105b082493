"""The CRDs of the PostgreSQL kinds: structural and complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from freehold.generate.crd import definition
from freehold.kinds.resources import RESOURCES
from freehold.kinds.utility.declaration import Utility
from freehold.postgres.cluster import CLUSTER
from freehold.postgres.clusterclass import CLUSTER_CLASS
from freehold.postgres.database import DATABASE

KINDS = (CLUSTER_CLASS, CLUSTER, DATABASE)
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda each: each.name)


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in (*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")):
        if isinstance(child, Mapping):
            yield from _nodes(child)


def _schema(kind: Utility) -> Mapping[str, Any]:
    version: Mapping[str, Any] = definition(kind.resource)["spec"]["versions"][0]
    schema: Mapping[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


@kinds
def test_every_node_has_a_type_or_is_a_quantity(kind: Utility) -> None:
    for node in _nodes(_schema(kind)):
        assert ("type" in node) is not node.get("x-kubernetes-int-or-string", False)
        assert not {"$ref", "anyOf", "title", "$defs", "const"} & set(node)


@kinds
def test_every_field_is_described(kind: Utility) -> None:
    parts = [_schema(kind)["properties"][name] for name in ("spec", "status")]
    fields = [each for part in parts for node in _nodes(part) for each in node.get("properties", {}).items()]
    assert [name for name, field in fields if not field.get("description")] == []


@kinds
def test_a_definition_fits_into_a_client_side_apply(kind: Utility) -> None:
    assert len(orjson.dumps(definition(kind.resource))) < 256 * 1024


def test_no_short_name_is_taken() -> None:
    ours = [name for kind in KINDS for name in kind.resource.short_names]
    assert not {name for each in RESOURCES for name in each.short_names} & set(ours)
    assert len(ours) == len(set(ours))


def test_defaults_are_those_that_a_class_begins_with() -> None:
    config = _schema(CLUSTER_CLASS)["properties"]["spec"]["properties"]["config"]
    assert config["default"] == {"instances": 1, "storage": "50Gi", "postgresVersion": "18"}
    cluster = _schema(CLUSTER)["properties"]["spec"]["properties"]
    assert "default" not in cluster["instances"]
    assert cluster["clusterDeletionPolicy"]["default"] == "Retain"
