"""Resources as they would be once their manifests are applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freehold.claims import Holder
from freehold.cli.manifests import namespace_of
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Key, Object
from freehold.resolve import Get


def overlaid(get: Get, manifests: Mapping[Key, Object]) -> Get:
    """Reads resources as they would be once manifests are applied."""

    async def over(path: GroupResource, namespace: str, name: str) -> Object | None:
        return manifests.get(Key(path.kind, namespace, name)) or await get(path, namespace, name)

    return over


def applied_over(manifest: Mapping[str, Any], stored: Object | None) -> Object:
    """A resource as it would be once its manifest is applied: what others have annotated stays."""
    key = {"name": manifest["metadata"]["name"], "namespace": namespace_of(manifest)}
    before = stored.metadata if stored else {}
    annotations = {**(before.get("annotations") or {}), **(manifest["metadata"].get("annotations") or {})}
    metadata = {**before, **manifest["metadata"], **key, "annotations": annotations}
    return Object({**manifest, "metadata": metadata, "status": stored.status if stored else {}})


def holder_of(found: Object) -> Holder:
    """Who a resource is as the holder of a claim."""
    group = KINDS[found.kind].resource.path.group
    return Holder(group=group, kind=found.kind, namespace=found.namespace, name=found.name, uid=found.uid)
