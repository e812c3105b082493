"""Specs to begin with, changed as a test says."""

from __future__ import annotations

from typing import Any

from freehold.postgres.cluster import PostgresClusterSpec
from freehold.postgres.clusterclass import PostgresClusterClassSpec
from freehold.postgres.effective import Effective, merge

STORE = {
    "destinationPath": "s3://backups/orders",
    "s3Credentials": {"accessKeyId": {"name": "s3", "key": "id"}, "secretAccessKey": {"name": "s3", "key": "key"}},
}


def class_of(config: dict[str, Any] | None = None, cnpg: dict[str, Any] | None = None) -> PostgresClusterClassSpec:
    """A class with poolers and both sorts of backups set up, neither of them switched on."""
    cnpg = {"connectionPooler": {}, "backup": {"volumeSnapshot": {}, "barmanObjectStore": STORE}, **(cnpg or {})}
    manifest = {"provisioner": "postgresql.cnpg.io", "config": config or {}, "cnpg": cnpg}
    return PostgresClusterClassSpec.model_validate(manifest)


def cluster_of(**spec: Any) -> PostgresClusterSpec:
    """A cluster of the class `standard`."""
    return PostgresClusterSpec.model_validate({"class": "standard", **spec})


def effective(config: dict[str, Any] | None = None, cnpg: dict[str, Any] | None = None, **spec: Any) -> Effective:
    """What a cluster of such a class comes to."""
    return merge(class_of(config, cnpg), cluster_of(**spec))
