"""Our finalizer, which keeps a resource until its object and its claim are dealt with."""

from __future__ import annotations

from collections.abc import Sequence

from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.objects import Object

FINALIZER = "freehold.dev/claim"


async def add(kube: Kube, path: GroupResource, found: Object, manager: str) -> Object:
    """Hold a resource.

    Raises:
        Conflict: it changed since it was read.
    """
    if FINALIZER in found.finalizers:
        return found
    return await _write(kube, path, found, (*found.finalizers, FINALIZER), manager)


async def remove(kube: Kube, path: GroupResource, found: Object, manager: str) -> Object:
    """Let a resource go.

    Raises:
        Conflict: it changed since it was read.
    """
    if FINALIZER not in found.finalizers:
        return found
    return await _write(kube, path, found, [each for each in found.finalizers if each != FINALIZER], manager)


async def _write(kube: Kube, path: GroupResource, found: Object, finalizers: Sequence[str], manager: str) -> Object:
    metadata = {"finalizers": list(finalizers), "resourceVersion": found.resource_version}
    return await kube.patch(path, found.name, found.namespace, {"metadata": metadata}, field_manager=manager)
