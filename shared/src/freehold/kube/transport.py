"""Requests to an API server: JSON by orjson, one place for credentials and for what is repeated.

Configuration, authentication and TLS are kubernetes_asyncio's; requests go raw over its aiohttp session, which costs
a third of what its typed API does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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
from freehold.metrics import REGISTRY

ATTEMPTS = 5
"""How often a request is made before its failure is the caller's."""

LONGEST_WAIT = 30.0
"""Seconds; a server that asks for more is the caller's to wait for."""

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


class Transport:
    """The way to one API server; an asynchronous context manager.

    Its methods raise a subclass of `ApiError`. What the server certainly didn't handle (429, a refused connection) and
    what may safely be asked twice (GET) is repeated, `Retry-After` honoured; all else is the caller's to decide.
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
        url = url_of(path, namespace, *names)
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


def url_of(path: GroupResource, namespace: str | None, *names: str | None) -> str:
    """Where objects of a type are: all, those of a namespace, or one with its sub-resources."""
    root = ("apis", path.group, path.version) if path.group else ("api", path.version)
    scope = ("namespaces", namespace) if path.namespaced and namespace else ()
    return "/" + "/".join(quote(part, safe="") for part in (*root, *scope, path.plural, *names) if part)
