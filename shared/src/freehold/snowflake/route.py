"""How the connector reaches an account, and that it reaches nothing else.

It follows redirects, with the credential that it has sent, and can't be told not to. But it can be told of a proxy, and
which hosts need none: whatever isn't the account's is left to the proxy that leads there, or to one that isn't there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from freehold.snowflake.settings import ConnectionSettings, Proxy

_NOWHERE = Proxy("http", "127.0.0.1", 1)
"""Nobody listens on this port, which only root could."""

_PORTS = {"http": 80, "https": 443}

_AWS = re.compile(r"AWS_([A-Z]+(?:_GOV)?_[A-Z]+_\d+)")
"""A region as CURRENT_REGION() prints it, perhaps behind the name of a region group."""


def options(settings: ConnectionSettings) -> Mapping[str, object]:
    """The connector's arguments that lead to an account."""
    proxy = settings.proxy or _of_environment(settings.host)
    if proxy is None or proxy.bypasses(settings.host):
        return _told(replace(_NOWHERE, bypass=",".join(_direct(settings))))
    return _told(replace(proxy, bypass=""))


def storage(account_key: str) -> Iterator[str]:
    """Where Snowflake leaves results that are too large for an answer: its cloud's storage, in the account's region.

    Args:
        account_key: of the account, as a log-in has proved it.
    """
    if aws := _AWS.search(account_key):
        region = aws[1].lower().replace("_", "-")
        yield from (".s3.amazonaws.com", f".s3.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}")
    elif "AZURE_" in account_key:
        yield from (".blob.core.windows.net", ".blob.core.usgovcloudapi.net", ".blob.core.chinacloudapi.cn")
    elif "GCP_" in account_key:
        yield "storage.googleapis.com"


def _direct(settings: ConnectionSettings) -> Iterator[str]:
    yield settings.host.strip("[]")
    yield from settings.domains
    yield from storage(settings.account_key or "")


def _of_environment(host: str) -> Proxy | None:
    """The proxy that whoever runs this process lets everything go through, if it is to lead to a host."""
    found = getproxies()
    url = found.get("https") or found.get("all")
    if not url or proxy_bypass(host):
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    return Proxy(
        scheme=parts.scheme,
        host=parts.hostname or "",
        port=parts.port or _PORTS.get(parts.scheme, _PORTS["http"]),
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password or ""),
    )


def _told(proxy: Proxy) -> Mapping[str, object]:
    known = {"proxy_user": proxy.user, "proxy_password": proxy.password} if proxy.user else {}
    bypass = {"no_proxy": proxy.bypass} if proxy.bypass else {}
    return {"proxy_host": proxy.host, "proxy_port": proxy.port, "proxy_scheme": proxy.scheme, **known, **bypass}
