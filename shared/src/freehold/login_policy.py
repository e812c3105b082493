"""What the installation lets ProviderConfigs log in to, and as: it decides, not who writes one. Admission and the
controllers ask the same function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from freehold import hosts
from freehold.kinds.account.providerconfig import ProviderConfigSpec

HTTPS_PORT = 443

_URL = re.compile(r"https://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?(?:[/?].*)?")
"""A URL in which every parser sees the same host: no user, no backslash before the path."""


@dataclass(frozen=True, slots=True)
class LoginPolicy:
    """The installation's decisions.

    Attributes:
        allowed_hosts: what may be connected to, as `freehold.hosts.check` reads it.
        workload_identity_namespaces: whose ProviderConfigs may log in as Freehold's own workload, which has all rights
            that an account gives to it.
        token_file: the token of that workload; None where there is none.
    """

    allowed_hosts: tuple[str, ...]
    workload_identity_namespaces: frozenset[str] = frozenset()
    token_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What the installation doesn't let a ProviderConfig do.

    Attributes:
        reason: reason of the condition.
        message: which field, why, and what to do.
    """

    reason: Literal["HostNotAllowed", "WorkloadIdentityNotAllowed"]
    message: str


def check(policy: LoginPolicy, namespace: str, spec: ProviderConfigSpec) -> Forbidden | None:
    """Why nothing may be sent for a ProviderConfig; None when it may.

    Args:
        policy: the installation's.
        namespace: the ProviderConfig's.
        spec: its spec.
    """
    if spec.authentication_type == "WorkloadIdentity" and namespace not in policy.workload_identity_namespaces:
        return Forbidden(
            "WorkloadIdentityNotAllowed",
            f"spec.authenticationType: namespace {namespace} may not log in by the workload identity of this "
            "installation of Freehold: use a Secret of your own, or ask who runs it to add the namespace to "
            "workloadIdentityNamespaces",
        )
    for field, name, port in _destinations(spec):
        if why := hosts.check(name, port, policy.allowed_hosts):
            return Forbidden("HostNotAllowed", f"spec.{field}: {why}")
    return None


def account_name(spec: ProviderConfigSpec) -> str:
    """The account as ORGANIZATION-ACCOUNT, or a legacy locator."""
    return spec.account or f"{spec.organization_name}-{spec.account_name}"


def address(spec: ProviderConfigSpec) -> tuple[str, int]:
    """Host and port of an account: "Connecting with a URL" in Snowflake's documentation. Hosts have no underscores."""
    port = spec.port or HTTPS_PORT
    if spec.host:
        return spec.host, port
    name = f"{account_name(spec)}.{spec.region}" if spec.region else account_name(spec)
    domain = "snowflakecomputing.cn" if spec.region and spec.region.startswith("cn-") else "snowflakecomputing.com"
    return f"{name}.{domain}".lower().replace("_", "-"), port


def _destinations(spec: ProviderConfigSpec) -> Iterator[tuple[str, str, int]]:
    """(field, host, port) of all that a log-in would connect to."""
    yield "host" if spec.host else "account", *address(spec)
    if spec.oauth:
        url = _URL.fullmatch(spec.oauth.token_request_url)
        # What isn't a URL is no host name either.
        host, port = (url["host"], url["port"]) if url else (spec.oauth.token_request_url, None)
        yield "oauth.tokenRequestURL", host, int(port or HTTPS_PORT)
    if spec.proxy:
        yield "proxy.host", spec.proxy.host, spec.proxy.port
