"""Which hosts credentials may be sent to: the installation decides, not who writes a ProviderConfig."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

SNOWFLAKE_HOSTS = (".snowflakecomputing.com", ".snowflakecomputing.cn")
"""Snowflake's own domains, private links included (`<account>.privatelink.snowflakecomputing.com`)."""

_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_ENTRY = re.compile(r"(?P<host>.+?)(:(?P<port>[0-9]+))?")


def check(host: str, port: int, allowed: Iterable[str]) -> str | None:
    """Why a host may not be connected to; None when it may.

    Args:
        host: DNS name or IP address (IPv6 in brackets), without scheme and port.
        port: TCP port.
        allowed: the installation's list. `.example.com` allows every name below that domain; a name or an address
            allows exactly that; either one followed by `:<port>`, only on that port.
    """
    name = host.lower().removesuffix(".")
    if not _HOST.fullmatch(name):
        # Anything else could end in an allowed domain and still lead elsewhere: "evil.example/.snowflakecomputing.com".
        return f"{host!r} is no host name or IP address"
    if any(_matches(name, port, entry.strip().lower()) for entry in allowed):
        return None
    return (
        f"host {name}:{port} is not one that this installation of Freehold connects to: "
        "ask who runs it to add the host to allowedHosts"
    )


def domains(allowed: Iterable[str]) -> Iterator[str]:
    """The domains below which everything may be connected to, on any port, each with its leading dot."""
    entries = (entry.strip().lower() for entry in allowed)
    return (entry for entry in entries if entry.startswith(".") and ":" not in entry)


def _matches(name: str, port: int, entry: str) -> bool:
    parts = _ENTRY.fullmatch(entry)
    if parts is None or parts["port"] not in (None, str(port)):
        return False
    host = parts["host"]
    return name.endswith(host) if host.startswith(".") else name == host
