"""Finalizers keep what is needed: a resource until object and claim are dealt with, a Secret while it is used."""

from __future__ import annotations

from collections.abc import Sequence

from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.objects import Object

FINALIZER = "freehold.dev/claim"
"""Of our own resources."""

IN_USE = "freehold.dev/in-use"
"""Of what belongs to others and is needed by us."""


async def add(kube: Kube, path: GroupResource, found: Object, manager: str, finalizer: str = FINALIZER) -> Object:
    """Hold an object.

    Raises:
        Conflict: it changed since it was read.
        Invalid: it is being deleted already.
    """
    if finalizer in found.finalizers:
        return found
    return await _write(kube, path, found, (*found.finalizers, finalizer), manager)


async def remove(kube: Kube, path: GroupResource, found: Object, manager: str, finalizer: str = FINALIZER) -> Object:
    """Let an object go.

    Raises:
        Conflict: it changed since it was read.
    """
    if finalizer not in found.finalizers:
        return found
    return await _write(kube, path, found, [each for each in found.finalizers if each != finalizer], manager)


async def _write(kube: Kube, path: GroupResource, found: Object, finalizers: Sequence[str], manager: str) -> Object:
    metadata = {"finalizers": list(finalizers), "resourceVersion": found.resource_version}
    return await kube.patch(path, found.name, found.namespace, {"metadata": metadata}, field_manager=manager)
