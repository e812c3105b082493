"""An API server in memory, for tests of decisions: objects, compare-and-set, and failures on demand."""

from __future__ import annotations

import copy
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.errors import AlreadyExists, Conflict, NotFound
from freehold.kube.objects import Object, Page

Place = tuple[str, str, str]
"""Plural, namespace, name."""


class MemoryKube(Kube):
    """The verbs of `Kube` over a dictionary.

    Attributes:
        objects: what is stored.
        writes: (verb, plural, name) of every write that succeeded.
        before: called with (verb, plural, name) before a request is handled; may raise, or change what is stored.
        clock: the server's time.
    """

    def __init__(self) -> None:
        self.objects: dict[Place, dict[str, Any]] = {}
        self.writes: list[tuple[str, str, str]] = []
        self.before: Callable[[str, str, str], None] = lambda _verb, _plural, _name: None
        self.clock = datetime(2026, 11, 30, 12, tzinfo=UTC)
        self._versions = itertools.count(1)

    @property
    def server_time(self) -> datetime:
        return self.clock

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """There is nothing to close."""

    def advance(self, time: timedelta) -> None:
        self.clock += time

    def put(self, path: GroupResource, name: str, namespace: str = "", **parts: Any) -> Object:
        """Store an object as somebody else would."""
        metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **parts.pop("metadata", {})}
        body = {"apiVersion": path.api_version, "kind": path.kind, "metadata": metadata, **parts}
        return self._store(path, body)

    def remove(self, path: GroupResource, name: str, namespace: str = "") -> None:
        del self.objects[path.plural, namespace, name]

    async def get(self, path: GroupResource, name: str, namespace: str | None = None) -> Object:
        self.before("get", path.plural, name)
        return Object(copy.deepcopy(self._find(path, namespace, name)))

    async def list(
        self, path: GroupResource, namespace: str | None = None, *, label_selector: str | None = None, **_: Any
    ) -> AsyncGenerator[Page, None]:
        self.before("list", path.plural, "")
        wanted = dict([label_selector.split("=", 1)]) if label_selector else {}
        found = [
            Object(copy.deepcopy(body))
            for (plural, at, _), body in self.objects.items()
            if plural == path.plural
            and namespace in (None, at)
            and wanted.items() <= (body["metadata"].get("labels") or {}).items()
        ]
        yield Page(tuple(found), "1")

    async def create(
        self, path: GroupResource, body: Mapping[str, Any], namespace: str | None = None, **_: Any
    ) -> Object:
        name = body["metadata"]["name"]
        self.before("create", path.plural, name)
        if (path.plural, namespace or "", name) in self.objects:
            raise AlreadyExists(409, "AlreadyExists", f"{path.plural} {name!r} already exists")
        self.writes.append(("create", path.plural, name))
        metadata = {**body["metadata"], "namespace": namespace} if namespace else body["metadata"]
        return self._store(path, copy.deepcopy({**body, "metadata": metadata}))

    async def replace(self, path: GroupResource, body: Mapping[str, Any], **_: Any) -> Object:
        metadata = body["metadata"]
        self.before("replace", path.plural, metadata["name"])
        stored = self._find_as_read(path, metadata.get("namespace"), metadata["name"], body)
        self.writes.append(("replace", path.plural, metadata["name"]))
        kept = {key: stored["metadata"][key] for key in ("uid", "creationTimestamp")}
        return self._store(path, {**copy.deepcopy(dict(body)), "metadata": {**metadata, **kept}})

    async def delete(
        self,
        path: GroupResource,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> None:
        self.before("delete", path.plural, name)
        metadata = self._find(path, namespace, name)["metadata"]
        if uid not in (None, metadata["uid"]) or resource_version not in (None, metadata["resourceVersion"]):
            raise Conflict(409, "Conflict", "a precondition failed")
        self.writes.append(("delete", path.plural, name))
        del self.objects[path.plural, namespace or "", name]

    def _find(self, path: GroupResource, namespace: str | None, name: str) -> dict[str, Any]:
        try:
            return self.objects[path.plural, namespace or "", name]
        except KeyError:
            raise NotFound(404, "NotFound", f"{path.plural} {name!r} not found") from None

    def _find_as_read(
        self, path: GroupResource, namespace: str | None, name: str, written: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What is there, of which a write says the version that it is meant for."""
        stored = self._find(path, namespace, name)
        if stored["metadata"]["resourceVersion"] != written["metadata"]["resourceVersion"]:
            raise Conflict(409, "Conflict", f"{name} has been modified")
        return stored

    def _store(self, path: GroupResource, body: dict[str, Any]) -> Object:
        version = str(next(self._versions))
        now = self.clock.isoformat(timespec="seconds").replace("+00:00", "Z")
        metadata = {"uid": f"uid-{version}", "creationTimestamp": now, **body["metadata"], "resourceVersion": version}
        stored = {**body, "metadata": metadata}
        self.objects[path.plural, metadata.get("namespace", ""), metadata["name"]] = stored
        return Object(copy.deepcopy(stored))
