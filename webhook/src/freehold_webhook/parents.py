"""What resources refer to, at hand: ProviderConfigs and the kinds that contain others are watched."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from functools import partial

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.kind import Kind, parents_among
from freehold.kinds.property import Change
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
        self._reflectors = {
            path: Reflector(kube, path, keep=partial(needed, fields=fields)) for path, fields in _watched()
        }

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


def needed(received: Object, fields: Collection[str] | None = None) -> Object:
    """What identities and allow-lists are computed from: there may be many parents, with much in spec and status.

    Args:
        received: a parent or ProviderConfig.
        fields: what of its spec; None for all.
    """
    metadata = {key: received.metadata[key] for key in _METADATA & received.metadata.keys()}
    spec = received.spec if fields is None else {key: value for key, value in received.spec.items() if key in fields}
    account = received.status.get("account")
    return Object({"metadata": metadata, "spec": spec, "status": {"account": account} if account else {}})


def naming(kind: Kind) -> frozenset[str]:
    """The spec fields of a kind that the names of what lies in it rest on, and those that it can't be read without."""
    required = {info.alias or name for name, info in kind.spec.model_fields.items() if info.is_required()}
    return frozenset(required.union(each.name for each in kind.fields if each.facts.change is Change.IDENTITY))


def _watched() -> Iterator[tuple[GroupResource, Collection[str] | None]]:
    yield PROVIDER_CONFIG.path, None
    yield from ((kind.resource.path, naming(kind)) for kind in parents_among(KINDS.values()))
