"""The API server, which tells of what changes, and its live copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Object
from tests.model.trouble import Trouble
from tests.unit.reconciler.world import Api, Copies


class Cluster(Api):
    """An API server that tells of what changes."""

    def __init__(self) -> None:
        super().__init__(Trouble())
        self.changed: Callable[[Object | None, Object | None], None] = lambda _before, _after: None

    def _store(self, path: GroupResource, body: dict[str, Any]) -> Object:
        metadata = body["metadata"]
        before = self.objects.get((path.plural, metadata.get("namespace", ""), metadata["name"]))
        after = super()._store(path, body)
        self.changed(Object(deepcopy(before)) if before else None, after)
        return after

    async def delete(self, path: GroupResource, name: str, namespace: str | None = None, **preconditions: Any) -> None:
        place = (path.plural, namespace or "", name)
        before = self.objects.get(place)
        try:
            await super().delete(path, name, namespace, **preconditions)
        finally:
            if before and place not in self.objects:
                self.changed(Object(before), None)


class Present(Copies):
    """Live copies that are never behind."""

    def __init__(self, kube: Cluster, path: GroupResource) -> None:
        super().__init__(kube, path)
        self._live = kube.objects
        self._plural = path.plural

    @property
    def store(self) -> Mapping[tuple[str, str], Object]:
        return {
            (namespace, name): Object(body)
            for (plural, namespace, name), body in self._live.items()
            if plural == self._plural
        }
