"""The Kubernetes client: few verbs over any resource type, JSON by orjson, one place for retries and credentials.

Configuration, authentication and TLS are kubernetes_asyncio's; requests go raw over its aiohttp session, which costs
a third of what its typed API does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import aiohttp
import orjson
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import ConfigException, load_incluster_config, load_kube_config
from prometheus_client import Counter
from yarl import URL

from freehold.kinds.resource import GroupResource
from freehold.kube import connection
from freehold.kube.backoff import Backoff
from freehold.kube.errors import ApiError, TooManyRequests, Unavailable, refusal, unavailable
from freehold.kube.objects import Object, Page, WatchEvent
from freehold.metrics import REGISTRY

PAGE = 500
"""Objects of a list that are asked for at a time."""

ATTEMPTS = 5
"""How often a request is made before its failure is the caller's."""

LONGEST_WAIT = 30.0
"""Seconds; a server that asks for more is the caller's to wait for."""

SILENCE = 90.0
"""Seconds without a byte after which a watch counts as dead; API servers send a bookmark about every minute."""

_REQUESTS = Counter(
    "freehold_kubernetes_requests",
    "Requests to the API server by method, resource type and status (0: no answer).",
    ["method", "resource", "status"],
    registry=REGISTRY,
)
_WARNINGS = Counter(
    "freehold_kubernetes_warnings",
    "Warnings of the API server, for example of a field that its schema doesn't know.",
    ["resource"],
    registry=REGISTRY,
)

_log = logging.getLogger(__name__)

Query = Mapping[str, str | None]
Body = Mapping[str, Any]


class Kube:
    """A client of one API server; an asynchronous context manager.

    Every method raises a subclass of `ApiError`. What the server certainly didn't handle (429, a refused connection)
    and what may safely be asked twice (GET) is repeated, `Retry-After` honoured; all else is the caller's to decide.
    """

    def __init__(self, load: Callable[[Configuration], Awaitable[None]], *, timeout: float = 30.0) -> None:
        """
        Args:
            load: fills in server, CA and credentials; called again when the server no longer accepts these.
            timeout: seconds for each attempt of a request that is no watch.
        """
        self._load = load
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        self._configuration = Configuration()
        # The pool's default would be used up by the watches alone.
        self._configuration.connection_pool_maxsize = 0
        # Python 3.13 wants extensions in a CA that many clusters' CAs lack, and that no other client asks for.
        self._configuration.disable_strict_ssl_verification = True
        self._reloading = asyncio.Lock()
        # Many lists at once, as at the start of a process, would only be answered with 429.
        self._listing = asyncio.Semaphore(8)
        self._backoff = Backoff(first=0.2, most=5.0)
        self._session: aiohttp.ClientSession
        self._proxy: str | None
        self._server_date: str | None = None
        self._server_date_at = 0.0

    @classmethod
    def from_environment(cls, context: str | None = None) -> Self:
        """The cluster of $KUBECONFIG, else the one that the process runs in, else that of ~/.kube/config.

        Args:
            context: of the kubeconfig, by default its current one; when given, a kubeconfig is what is read.
        """
        if context is None and "KUBECONFIG" not in os.environ and "KUBERNETES_SERVICE_HOST" in os.environ:
            return cls(_load_in_cluster)
        return cls.from_kubeconfig(os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config", context)

    @classmethod
    def from_kubeconfig(cls, path: str | Path, context: str | None = None) -> Self:
        """The cluster of a kubeconfig's context, by default its current one; $KUBECONFIG may list several files."""

        async def load(configuration: Configuration) -> None:
            if not _is_there(path):
                # The library would only log that, and complain about what isn't in an empty configuration.
                raise ConfigException(f"there is no kubeconfig {path}")
            await load_kube_config(str(path), context=context, client_configuration=configuration, persist_config=False)

        return cls(load)

    async def __aenter__(self) -> Self:
        await self._load(self._configuration)
        self._session = connection.session(self._configuration)
        self._proxy = connection.proxy(self._configuration)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._session.close()

    @property
    def server_time(self) -> datetime:
        """The API server's clock: the Date of its latest answer, advanced by our monotonic clock since.

        Never ahead of the server's, and behind by no more than a second and the answer's time on the way.

        Raises:
            RuntimeError: there was no answer yet.
        """
        if self._server_date is None:
            raise RuntimeError("the API server's time is known only after its first answer")
        passed = timedelta(seconds=time.monotonic() - self._server_date_at)
        return parsedate_to_datetime(self._server_date).astimezone(UTC) + passed

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
        request = self._send("GET", path, _url(path, namespace), query, timeout=patience)
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

    async def _call(
        self,
        method: str,
        path: GroupResource,
        namespace: str | None,
        *names: str | None,
        query: Query | None = None,
        body: Body | None = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        """One request and its answer, repeated where that is safe."""
        url = _url(path, namespace, *names)
        failures = 0
        while True:
            try:
                async with self._send(
                    method, path, url, query or {}, timeout=self._timeout, body=body, content_type=content_type
                ) as response:
                    return orjson.loads(await response.read())  # type: ignore[no-any-return]  # JSON of an API object
            except ApiError as error:
                failures += 1
                wait = max(self._backoff.delay(failures), error.retry_after or 0.0)
                if failures == ATTEMPTS or wait > LONGEST_WAIT or not _repeatable(method, error):
                    raise
            await asyncio.sleep(wait)

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: GroupResource,
        url: str,
        query: Query,
        *,
        timeout: aiohttp.ClientTimeout,
        body: Body | None = None,
        content_type: str = "application/json",
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One attempt; a refusal is raised, and so is what goes wrong while the answer is read."""
        status = 0
        try:
            response = await self._authorized(method, url, query, timeout, body, content_type)
            async with response:
                status = response.status
                self._take_note(path, response)
                if status >= 400:
                    raise refusal(status, await response.read(), response.headers.get("Retry-After"))
                yield response
        except aiohttp.ClientConnectorError as error:
            raise unavailable(error, unsent=True) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise unavailable(error) from error
        except (ConfigException, OSError) as error:
            # Credentials that can't be read just now, for example a token file that is being replaced.
            raise unavailable(error, unsent=True) from error
        finally:
            _REQUESTS.labels(method, path.plural, status).inc()

    async def _authorized(
        self,
        method: str,
        url: str,
        query: Query,
        timeout: aiohttp.ClientTimeout,
        body: Body | None,
        content_type: str,
    ) -> aiohttp.ClientResponse:
        """Send with the credentials as they are, and once more with fresh ones when they are no longer accepted."""
        address = URL(f"{self._configuration.host}{url}", encoded=True).with_query(
            {key: value for key, value in query.items() if value is not None}
        )
        # Bytes as they are would be looked up in aiohttp's table of what can be sent.
        data = None if body is None else aiohttp.BytesPayload(orjson.dumps(body), content_type=content_type)
        for refreshed in (False, True):
            token = await self._configuration.get_api_key_with_prefix("BearerToken")
            headers = {"Accept": "application/json", "Content-Type": content_type}
            if token:
                headers["Authorization"] = token
            response = await self._session.request(
                method,
                address,
                data=data,
                headers=headers,
                timeout=timeout,
                proxy=self._proxy,
                server_hostname=self._configuration.tls_server_name,
            )
            if response.status != 401 or refreshed:
                break
            response.release()
            await self._refresh(token)
        return response

    async def _refresh(self, refused: str | None) -> None:
        """Read the credentials again, unless another request did so in the meantime."""
        async with self._reloading:
            if await self._configuration.get_api_key_with_prefix("BearerToken") == refused:
                await self._load(self._configuration)

    def _take_note(self, path: GroupResource, response: aiohttp.ClientResponse) -> None:
        """Read the server's clock and its warnings off an answer's headers."""
        if date := response.headers.get("Date"):
            self._server_date, self._server_date_at = date, time.monotonic()
        for warning in response.headers.getall("Warning", ()):
            _WARNINGS.labels(path.plural).inc()
            _log.warning("the API server warns about %s: %s", path.plural, warning)


def _is_there(kubeconfig: str | Path) -> bool:
    """Whether any file of a kubeconfig exists."""
    return any(Path(each).expanduser().exists() for each in str(kubeconfig).split(os.pathsep))


async def _load_in_cluster(configuration: Configuration) -> None:
    load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]  # untyped library


def _repeatable(method: str, error: ApiError) -> bool:
    """Whether the request wasn't handled, may be made twice, or the server asks for it to be made again."""
    if isinstance(error, TooManyRequests):
        return True
    return isinstance(error, Unavailable) and (method == "GET" or error.unsent or error.retry_after is not None)


def _url(path: GroupResource, namespace: str | None, *names: str | None) -> str:
    root = ("apis", path.group, path.version) if path.group else ("api", path.version)
    scope = ("namespaces", namespace) if path.namespaced and namespace else ()
    return "/" + "/".join(quote(part, safe="") for part in (*root, *scope, path.plural, *names) if part)


def _event(line: bytes) -> WatchEvent:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Unavailable(0, "", f"the watch carried a torn line: {error}") from error
    if event["type"] == "ERROR":
        raise refusal(event["object"].get("code") or 500, orjson.dumps(event["object"]))
    return WatchEvent(event["type"], Object(event["object"]))
