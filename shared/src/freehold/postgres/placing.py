"""How what lies beside a cluster belongs to a PostgresDatabase, which may be in another namespace.

There, no owner reference can lead to it. A label with its uid says whose an object is, and its finalizer sees to it
that nothing is left behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Object
from freehold.postgres.objects import Owner, controller_of, made
from freehold.postgres.ownership import owned_by, owners_beside, taken_over

OWNER_UID = "freehold.dev/owner-uid"
"""Label with the uid of the resource that an object in another namespace is made for."""
OWNER = "freehold.dev/owner"
"""Annotation with its kind, namespace and name, for people."""
RETAINED_FROM = "freehold.dev/retained-from"
"""Annotation with the namespace and name of the resource that has left an object behind."""


def placed(
    path: GroupResource,
    namespace: str,
    name: str,
    owner: Owner,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **parts: Any,
) -> dict[str, Any]:
    """An object that belongs to a PostgresDatabase, as it is to be.

    Args:
        path: its type.
        namespace: its namespace.
        name: its name.
        owner: whom it is made for.
        labels: beside those that all have.
        annotations: beside those that say whose it is.
        parts: `spec`, `data` and the like.
    """
    if namespace == owner.namespace:
        return made(path, name, owner, labels=labels, annotations=annotations, **parts)
    body = made(
        path,
        name,
        owner,
        labels={**(labels or {}), OWNER_UID: owner.uid},
        annotations={**(annotations or {}), OWNER: _told(owner)},
        **parts,
    )
    metadata = {key: value for key, value in body["metadata"].items() if key != "ownerReferences"}
    return {**body, "metadata": {**metadata, "namespace": namespace}}


def belongs(live: Object, owner: Owner) -> bool:
    """Whether an object is proven to be made for a resource."""
    controller = controller_of(live)
    if controller is not None:
        return bool(controller.get("uid") == owner.uid)
    return live.namespace != owner.namespace and live.labels.get(OWNER_UID) == owner.uid


def returns(live: Object, owner: Owner) -> bool:
    """Whether an object is nobody's, and was left behind by a resource of this name."""
    orphaned = controller_of(live) is None and OWNER_UID not in live.labels
    return orphaned and live.annotations.get(RETAINED_FROM) == f"{owner.namespace}/{owner.name}"


def left_behind(live: Object, owner: Owner) -> dict[str, Any] | None:
    """The merge patch by which an object outlives its resource; None when it isn't its."""
    if not belongs(live, owner):
        return None
    return owned_by(
        live,
        ownerReferences=owners_beside(live, owner),
        labels={OWNER_UID: None},
        annotations={OWNER: None, RETAINED_FROM: f"{owner.namespace}/{owner.name}"},
    )


def taken_back(live: Object, owner: Owner) -> dict[str, Any]:
    """The merge patch by which an object that is nobody's becomes a resource's."""
    if live.namespace == owner.namespace:
        return taken_over(live, owner, annotations={RETAINED_FROM: None})
    return owned_by(live, labels={OWNER_UID: owner.uid}, annotations={RETAINED_FROM: None, OWNER: _told(owner)})


def _told(owner: Owner) -> str:
    return f"{owner.path.kind} {owner.namespace}/{owner.name}"
