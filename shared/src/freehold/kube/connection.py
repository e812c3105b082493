"""The HTTP session with an API server: TLS as kubernetes_asyncio sets it up, the environment read once."""

from __future__ import annotations

from urllib.request import getproxies, proxy_bypass

import aiohttp
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.client.rest import RESTClientObject
from yarl import URL

LONGEST_LINE = 2**21
"""Bytes of an event of a watch; etcd stores objects of 1.5 MiB."""


def session(configuration: Configuration) -> aiohttp.ClientSession:
    """A session with the configured server and client certificates.

    The library's own session looks into the environment and into ~/.netrc at every request, in two threads, which takes
    longer than the request; and what it finds in ~/.netrc contradicts our bearer token.

    Args:
        configuration: loaded.
    """
    pool = RESTClientObject(configuration).pool_manager
    connector = pool.connector
    pool.detach()
    return aiohttp.ClientSession(connector=connector, read_bufsize=LONGEST_LINE)


def proxy(configuration: Configuration) -> str | None:
    """The proxy on the way to the server: the kubeconfig's, else that of $HTTPS_PROXY and $NO_PROXY; None for none.

    Args:
        configuration: loaded.
    """
    server = URL(configuration.host or "")
    if configuration.proxy or proxy_bypass(server.host or ""):
        return configuration.proxy
    return getproxies().get(server.scheme)
