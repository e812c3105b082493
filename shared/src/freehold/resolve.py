"""From a resource to the object that it stands for: reads parents and ProviderConfig, puts names and account together.

Names alone count: a parent need not be ready, but it must be there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from pydantic import ValidationError

from freehold.claims import Account
from freehold.identifiers import qualified
from freehold.identity import Identity, Name, Slot
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG, ProviderConfigSpec
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Requested
from freehold.kinds.references import references_of
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kinds.resources import UTILITIES
from freehold.kinds.utility.declaration import KUBERNETES, Utility
from freehold.kube.client import Kube
from freehold.kube.errors import ApiError, NotFound
from freehold.kube.objects import Object

M = TypeVar("M", bound=Model)

Get = Callable[[GroupResource, str, str], Awaitable[Object | None]]
"""Reads a resource by path, namespace and name; None when there is none.

Raises `freehold.kube.errors.ApiError` when there is no answer.
"""


@dataclass(frozen=True, slots=True)
class Provider:
    """The ProviderConfig of a resource.

    Attributes:
        namespace: its namespace.
        name: its name.
        spec: its spec.
        account: the account that a log-in has proven; None before.
    """

    namespace: str
    name: str
    spec: ProviderConfigSpec
    account: Account | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a resource stands for.

    Attributes:
        kind: its kind.
        provider: the ProviderConfig that it uses.
        names: the object or the slots that it stands for.
    """

    kind: Kind
    provider: Provider
    names: tuple[Name | Slot, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """Stored name parts of its object, outermost first; none where it fills slots."""
        return next((name.parts for name in self.names if isinstance(name, Name)), ())

    @property
    def identities(self) -> tuple[Identity, ...] | None:
        """What it stands for in the account, each once and sorted; None while the account isn't proven."""
        account = self.provider.account
        if account is None:
            return None
        return tuple(sorted({Identity(account.key, self.kind.object_class, name) for name in self.names}))


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Something that a resource refers to isn't there, or isn't what it should be.

    Attributes:
        requested: what was asked for.
        why: what is wrong with it.
        provider: the ProviderConfig that the resource uses, if that was found.
    """

    requested: Requested
    why: str
    provider: Provider | None = None

    def __str__(self) -> str:
        return f"{self.requested} {self.why}"


class _Stop(Exception):
    def __init__(self, requested: Requested, why: str) -> None:
        self.requested = requested
        self.why = why


def live(kube: Kube) -> Get:
    """Reads from the API server itself."""

    async def get(path: GroupResource, namespace: str, name: str) -> Object | None:
        try:
            return await kube.get(path, name, namespace)
        except NotFound:
            return None

    return get


async def resolve(kind: Kind, namespace: str, spec: SnowflakeSpec, get: Get) -> Resolved | Unresolved:
    """Find what a resource stands for.

    Args:
        kind: its kind.
        namespace: its namespace.
        spec: its spec.
        get: how parents and ProviderConfig are read.

    Raises:
        InvalidName: the resource or a parent has a name that Snowflake can't store.
        ApiError: a read failed.
    """
    provider = None
    try:
        provider = await _provider(namespace, spec, get)
        return Resolved(kind, provider, await _names(kind, namespace, spec, get))
    except _Stop as stop:
        return Unresolved(stop.requested, stop.why, provider)


async def astray(kind: Kind, namespace: str, spec: SnowflakeSpec, get: Get) -> str | None:
    """What a resource refers to that should lie beside its object, and lies in another schema, for people; None where
    there is no such thing, or that can't be told yet.

    Args:
        kind: its kind.
        namespace: its namespace.
        spec: its spec.
        get: how resources are read.

    Raises:
        InvalidName: a name is one that Snowflake can't store.
        ApiError: a read failed.
    """
    asked = [each for each in references_of(spec, namespace) if each.beside]
    own = await resolve(kind, namespace, spec, get) if asked else None
    for each in asked:
        there = KINDS[each.kind]
        found = await get(there.resource.path, each.namespace, each.name)
        other = await resolve(there, each.namespace, found.parsed(there.spec), get) if found else None
        if not isinstance(own, Resolved) or not isinstance(other, Resolved):
            continue
        if (lies := other.parts[:-1]) != (here := own.parts[:-1]):
            return f"{each} lies in schema {qualified(lies)}, and not in {qualified(here)}: refer to one beside it"
    return None


async def provider_of_spec(namespace: str, spec: SnowflakeSpec, get: Get) -> Provider | Unresolved:
    """Find the ProviderConfig of a resource.

    Args:
        namespace: its namespace.
        spec: its spec.
        get: how the ProviderConfig is read.

    Raises:
        ApiError: a read failed.
    """
    try:
        return await _provider(namespace, spec, get)
    except _Stop as stop:
        return Unresolved(stop.requested, stop.why)


async def stands_for(resource: Object, identity: Identity, get: Get) -> bool | None:
    """Whether a resource claims an identity; None when that can't be told.

    Args:
        resource: any resource that may hold claims.
        identity: the identity.
        get: how parents and ProviderConfig are read.
    """
    if utility := UTILITIES.get(resource.kind):
        return await _claims(utility, resource, identity, get)
    kind = KINDS.get(resource.key.kind)
    if kind is None:
        return None
    try:
        spec = resource.parsed(kind.spec)
        resolved = await resolve(kind, resource.namespace, spec, get)
    except (ApiError, ValueError):
        return None
    if spec.management_policies.observe_only:
        return False
    if isinstance(resolved, Unresolved) or resolved.identities is None:
        return None
    return any(each.hash == identity.hash for each in resolved.identities)


async def account_of(utility: Utility, spec: Model, namespace: str, get: Get) -> Account | Unresolved:
    """The account that the identities of a utility's resource lie in.

    Args:
        utility: its declaration.
        spec: its spec.
        namespace: its namespace.
        get: how the resource is read that stands for the account.

    Raises:
        ApiError: a read failed.
    """
    if utility.account is None:
        return Account(key=KUBERNETES, name="Kubernetes")
    requested = utility.account.of(spec, namespace)
    try:
        found = await _get(requested, utility.account.path, get)
    except _Stop as stop:
        return Unresolved(stop.requested, stop.why)
    # Another one of the same name is another account: what was there is gone.
    name = f"{requested.namespace}/{requested.name}"
    return Account(key=f"{name}/{found.uid}", name=name)


async def _claims(utility: Utility, resource: Object, identity: Identity, get: Get) -> bool | None:
    try:
        spec = utility.resource.spec.model_validate(resource.spec)
        account = await account_of(utility, spec, resource.namespace, get)
    except (ApiError, ValidationError):
        return None
    if isinstance(account, Unresolved):
        return None
    return identity in utility.identities(spec, resource.namespace, account.key)


async def _provider(namespace: str, spec: SnowflakeSpec, get: Get) -> Provider:
    reference = spec.provider_ref
    requested = Requested(PROVIDER_CONFIG.kind, reference.namespace or namespace, reference.name, "providerRef")
    found = await _get(requested, PROVIDER_CONFIG.path, get)
    account = found.status.get("account")
    return Provider(
        requested.namespace,
        requested.name,
        # One serves many resources; parents are many, and their models take more memory than their manifests.
        _read(requested, partial(found.parsed, ProviderConfigSpec)),
        Account(key=account["key"], name=account["name"]) if account else None,
    )


async def _names(kind: Kind, namespace: str, spec: SnowflakeSpec, get: Get) -> tuple[Name | Slot, ...]:
    computation = kind.names(spec, namespace, KINDS)
    try:
        requested = next(computation)
        while True:
            parent = KINDS[requested.kind]
            found = await _get(requested, parent.resource.path, get)
            requested = computation.send(_read(requested, partial(parent.spec.model_validate, found.spec)))
    except StopIteration as finished:
        names: tuple[Name | Slot, ...] = finished.value
        return names


async def _get(requested: Requested, path: GroupResource, get: Get) -> Object:
    found = await get(path, requested.namespace, requested.name)
    if found is None:
        raise _Stop(requested, "doesn't exist")
    return found


def _read(requested: Requested, parse: Callable[[], M]) -> M:
    try:
        return parse()
    except ValidationError as error:
        raise _Stop(requested, f"has a spec that this release can't read: {describe(error)}") from error


_MOST_FAULTS = 5
"""That are described of a manifest: whoever mends these is told of the others."""
_TOO_MANY = 1000
"""Faults that take longer to read than a request may."""


def describe(error: ValidationError) -> str:
    """What is wrong with a manifest, in one line."""
    if error.error_count() > _TOO_MANY:
        return f"{error.error_count()} faults"
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    found = [f"{'.'.join(str(step) for step in each['loc'])}: {each['msg']}" for each in faults[:_MOST_FAULTS]]
    return "; ".join([*found, f"and {len(faults) - len(found)} more"] if len(faults) > len(found) else found)
