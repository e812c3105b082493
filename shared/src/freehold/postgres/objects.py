"""What is made for a PostgresCluster: types, and how each object is owned."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Object

CNPG_GROUP = "postgresql.cnpg.io"
"""API group of CloudNativePG, and its name as a provisioner."""

CNPG_CLUSTERS = GroupResource(CNPG_GROUP, "v1", "clusters", "Cluster")
POOLERS = GroupResource(CNPG_GROUP, "v1", "poolers", "Pooler")
SCHEDULED_BACKUPS = GroupResource(CNPG_GROUP, "v1", "scheduledbackups", "ScheduledBackup")
BACKUPS = GroupResource(CNPG_GROUP, "v1", "backups", "Backup")
CNPG_DATABASES = GroupResource(CNPG_GROUP, "v1", "databases", "Database")
OBJECT_STORES = GroupResource("barmancloud.cnpg.io", "v1", "objectstores", "ObjectStore")

LABELS: Mapping[str, str] = {"app.kubernetes.io/managed-by": "freehold-postgres"}
RELOAD: Mapping[str, str] = {"cnpg.io/reload": "true"}
"""Label of Secrets and ConfigMaps whose changes CloudNativePG follows."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The resource that an object is made for.

    Attributes:
        path: its type.
        namespace: its namespace.
        name: its name.
        uid: its uid.
    """

    path: GroupResource
    namespace: str
    name: str
    uid: str

    @property
    def reference(self) -> dict[str, Any]:
        """The controller owner reference: the object goes with it."""
        return {
            "apiVersion": self.path.api_version,
            "kind": self.path.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


def made(
    path: GroupResource,
    name: str,
    owner: Owner,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **parts: Any,
) -> dict[str, Any]:
    """An object that belongs to its owner, as it is to be.

    Args:
        path: its type.
        name: its name.
        owner: whom it is made for, in the same namespace.
        labels: beside those that all have.
        annotations: its annotations.
        parts: `spec`, `data` and the like.
    """
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": owner.namespace,
        "labels": {**LABELS, **(labels or {})},
        **({"annotations": dict(annotations)} if annotations else {}),
        "ownerReferences": [owner.reference],
    }
    return {"apiVersion": path.api_version, "kind": path.kind, "metadata": metadata, **parts}


def controller_of(live: Object) -> Mapping[str, Any] | None:
    """The reference to an object's controller; None where it has none."""
    references: list[Mapping[str, Any]] = live.metadata.get("ownerReferences") or []
    return next((each for each in references if each.get("controller")), None)


def present(**fields: Any) -> dict[str, Any]:
    """Fields without those that aren't set."""
    return {name: value for name, value in fields.items() if value is not None}


def encoded(data: Mapping[str, str]) -> dict[str, str]:
    """The data of a Secret as the API has it."""
    return {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
