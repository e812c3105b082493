"""What a spec of a resource stands for, as admission sees it."""

from __future__ import annotations

from dataclasses import dataclass

from freehold.identifiers import InvalidName
from freehold.identity import Identity
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kube.objects import NAMESPACES
from freehold.permissions import Usage
from freehold.resolve import Get, Provider, Resolved, Unresolved, resolve


@dataclass(frozen=True, slots=True)
class View:
    """What one spec of a resource stands for.

    Attributes:
        provider: its ProviderConfig.
        usage: what it wants of that.
        resolved: its objects, as far as they are known.
        claimed: the objects that it claims; none while the account isn't proven.
    """

    provider: Provider
    usage: Usage
    resolved: Resolved | Unresolved
    claimed: frozenset[Identity]


@dataclass(frozen=True, slots=True)
class Unnameable:
    """Snowflake can't have an object of the name that a spec gives it.

    Attributes:
        why: for people.
    """

    why: str


Seen = View | Unresolved | Unnameable


async def view(kind: Kind, namespace: str, spec: SnowflakeSpec, *, get: Get, live: Get) -> Seen:
    """See what a spec stands for.

    Args:
        kind: of the resource.
        namespace: of the resource.
        spec: its own, or the one that it had.
        get: reads parents and ProviderConfigs.
        live: reads namespaces, which nobody watches.

    Raises:
        ApiError: a read failed.
    """
    try:
        resolved = await resolve(kind, namespace, spec, get)
    except InvalidName as error:
        return Unnameable(str(error))
    if resolved.provider is None:
        return resolved
    found = await live(NAMESPACES, "", namespace) if resolved.provider.spec.allowed_namespace_selector else None
    names, identities = (resolved.names, resolved.identities) if isinstance(resolved, Resolved) else ((), None)
    usage = Usage.of(kind, namespace, found.labels if found else {}, spec, names)
    observed = spec.management_policies.observe_only
    return View(resolved.provider, usage, resolved, frozenset() if observed else frozenset(identities or ()))
