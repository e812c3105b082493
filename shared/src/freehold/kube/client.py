"""The Kubernetes client: few verbs over any resource type."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import orjson
from kubernetes_asyncio.client import Configuration

from freehold.kinds.resource import GroupResource
from freehold.kube.errors import Unavailable, refusal
from freehold.kube.objects import Object, Page, WatchEvent
from freehold.kube.transport import Body, Query, Transport, url_of

PAGE = 500
"""Objects of a list that are asked for at a time."""

SILENCE = 90.0
"""Seconds without a byte after which a watch counts as dead; API servers send a bookmark about every minute."""


class Kube(Transport):
    """A client of one API server. Every method raises a subclass of `ApiError`."""

    def __init__(self, load: Callable[[Configuration], Awaitable[None]], *, timeout: float = 30.0) -> None:
        """The arguments are those of `Transport`."""
        super().__init__(load, timeout=timeout)
        # Many lists at once, as at the start of a process, would only be answered with 429.
        self._listing = asyncio.Semaphore(8)

    async def get(self, path: GroupResource, name: str, namespace: str | None = None) -> Object:
        """Read an object.

        Raises:
            NotFound: there is none of that name.
            NotServed: the type itself is unknown.
        """
        return Object(await self._call("GET", path, namespace, name))

    async def list(
        self,
        path: GroupResource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = PAGE,
    ) -> AsyncGenerator[Page, None]:
        """Read all objects page by page, as of one moment.

        Args:
            path: resource type.
            namespace: only this one; None for all.
            label_selector: only objects with these labels.
            field_selector: only objects with these fields.
            limit: objects in a page.

        Raises:
            Gone: the pages took longer than the server keeps the moment; begin again.
        """
        query = {"labelSelector": label_selector, "fieldSelector": field_selector, "limit": str(limit)}
        token: str | None = None
        while token != "":
            async with self._listing:
                answer = await self._call("GET", path, namespace, query={**query, "continue": token})
            metadata = answer["metadata"]
            # Items of built-in types don't say what they are.
            head = {"apiVersion": path.api_version, "kind": path.kind}
            yield Page(tuple(Object(head | item) for item in answer["items"] or ()), metadata["resourceVersion"])
            token = metadata.get("continue") or ""

    async def create(
        self,
        path: GroupResource,
        body: Mapping[str, Any],
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        field_manager: str | None = None,
    ) -> Object:
        """Create an object.

        Raises:
            AlreadyExists: the name is taken.
        """
        query = {"dryRun": "All" if dry_run else None, "fieldManager": field_manager}
        return Object(await self._call("POST", path, namespace, query=query, body=body))

    async def replace(
        self, path: GroupResource, body: Mapping[str, Any], *, field_manager: str | None = None
    ) -> Object:
        """Replace an object by compare-and-set: the body holds the resourceVersion that was read.

        Raises:
            Conflict: the object changed since.
        """
        metadata = body["metadata"]
        if not metadata.get("resourceVersion"):
            raise ValueError("a replacement needs the resourceVersion that was read")
        query = {"fieldManager": field_manager}
        return Object(
            await self._call("PUT", path, metadata.get("namespace"), metadata["name"], query=query, body=body)
        )

    async def apply(
        self,
        path: GroupResource,
        name: str,
        namespace: str | None,
        body: Mapping[str, Any],
        *,
        field_manager: str,
        force: bool = True,
        subresource: str | None = None,
    ) -> Object:
        """Server-side apply: the field manager's fields become exactly these.

        Raises:
            Conflict: without force, another manager owns one of them.
        """
        query = {"fieldManager": field_manager, "force": "true" if force else None}
        return await self._patch(path, name, namespace, body, "application/apply-patch+yaml", subresource, query)

    async def patch(
        self,
        path: GroupResource,
        name: str,
        namespace: str | None,
        body: Body,
        *,
        subresource: str | None = None,
        field_manager: str | None = None,
    ) -> Object:
        """Change parts of an object by a merge patch."""
        query = {"fieldManager": field_manager}
        return await self._patch(path, name, namespace, body, "application/merge-patch+json", subresource, query)

    async def delete(
        self,
        path: GroupResource,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> None:
        """Ask for the deletion of an object; finalizers may hold it.

        Args:
            path: resource type.
            name: name of the object.
            namespace: its namespace.
            uid: delete only this incarnation.
            resource_version: delete only while nothing has changed.

        Raises:
            Conflict: a precondition failed.
        """
        conditions = {"uid": uid, "resourceVersion": resource_version}
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {key: value for key, value in conditions.items() if value is not None},
        }
        await self._call("DELETE", path, namespace, name, body=body)

    async def watch(
        self,
        path: GroupResource,
        namespace: str | None = None,
        *,
        resource_version: str,
        label_selector: str | None = None,
        field_selector: str | None = None,
        timeout: float = 300.0,
        silence: float = SILENCE,
    ) -> AsyncGenerator[WatchEvent, None]:
        """Follow changes, bookmarks included, until the server ends the watch. Nothing is retried here.

        Args:
            path: resource type.
            namespace: only this one; None for all.
            resource_version: where to begin: of a list, an event or a bookmark.
            label_selector: only objects with these labels.
            field_selector: only objects with these fields.
            timeout: seconds after which the server ends the watch.
            silence: seconds without a byte after which the connection counts as dead.

        Raises:
            Gone: the resourceVersion is too old; list again.
            Unavailable: the connection was lost, went silent or carried a torn line.
        """
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(round(timeout)),
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
        }
        patience = aiohttp.ClientTimeout(sock_connect=self._timeout.total, sock_read=silence)
        request = self._send("GET", path, url_of(path, namespace), query, timeout=patience)
        async with request as response:
            async for line in response.content:
                yield _event(line)

    async def _patch(
        self,
        path: GroupResource,
        name: str,
        namespace: str | None,
        body: Body,
        content_type: str,
        subresource: str | None,
        query: Query,
    ) -> Object:
        return Object(
            await self._call(
                "PATCH", path, namespace, name, subresource, query=query, body=body, content_type=content_type
            )
        )


def _event(line: bytes) -> WatchEvent:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Unavailable(0, "", f"the watch carried a torn line: {error}") from error
    if event["type"] == "ERROR":
        raise refusal(event["object"].get("code") or 500, orjson.dumps(event["object"]))
    return WatchEvent(event["type"], Object(event["object"]))
