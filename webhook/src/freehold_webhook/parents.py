"""What resources refer to, at hand: ProviderConfigs and the kinds that contain others are watched."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.kind import parents_among
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.objects import Object
from freehold.kube.reflector import Reflector
from freehold.resolve import live

_METADATA = frozenset({"name", "namespace", "resourceVersion"})


class Parents:
    """Copies of parents and ProviderConfigs. They may be behind, so a refusal must not rest on them."""

    def __init__(self, kube: Kube) -> None:
        self._live = live(kube)
        self._reflectors = {path: Reflector(kube, path, keep=needed) for path in _watched()}

    async def run(self) -> None:
        """Keep the copies up to date until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for reflector in self._reflectors.values():
                tasks.create_task(reflector.run())

    async def get(self, path: GroupResource, namespace: str, name: str) -> Object | None:
        """A copy, or what the API server has when there is none."""
        reflector = self._reflectors.get(path)
        copy = reflector.store.get((namespace, name)) if reflector else None
        return copy or await self._live(path, namespace, name)


def needed(received: Object) -> Object:
    """What identities and allow-lists are computed from: there may be many parents, and their status is long."""
    metadata = {key: received.metadata[key] for key in _METADATA & received.metadata.keys()}
    account = received.status.get("account")
    return Object({"metadata": metadata, "spec": received.spec, "status": {"account": account} if account else {}})


def _watched() -> Iterator[GroupResource]:
    yield PROVIDER_CONFIG.path
    yield from (kind.resource.path for kind in parents_among(KINDS.values()))
