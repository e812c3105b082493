"""A utility: the declaration of a resource type that stands for no object of Snowflake's. CRD, permissions, admission
and claims derive from it, as those of a kind do; what it does is its own reconciler's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freehold.identity import Identity, Slot
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Requested
from freehold.kinds.resource import GroupResource, Resource
from freehold.kube.objects import Object
from freehold.script import Policy

KUBERNETES = "kubernetes"
"""Key of the account that identities lie in where the objects are Kubernetes' own."""


@dataclass(frozen=True)
class AccountReference:
    """The resource that stands for the account that identities lie in.

    Attributes:
        path: its type.
        of: (spec, namespace) to the reference.
    """

    path: GroupResource
    of: Callable[[Any, str], Requested]


@dataclass(frozen=True)
class Utility:
    """A resource type with a reconciler of its own.

    Attributes:
        resource: what Kubernetes knows of it.
        domain: the controller that runs it.
        account: the resource whose uid tells the account of its identities; None where they are Kubernetes' own.
        identities: (spec, namespace, key of that account) to what a resource claims; sorted.
        faults: what is wrong with a spec beyond what its schema tells, one sentence each, for people.
        refusals: (spec, policy) to what the installation doesn't let a spec do, likewise.
        names: what a spec names beside, for the allow-lists of its ProviderConfig.
        refused_change: (old, new) resource to why the one isn't to become the other, for people.
        advice: what is legal in a spec but likely wrong, likewise.
        privileged: whether it gives so much that nobody may declare it by the role `edit`.
    """

    resource: Resource
    domain: Domain
    account: AccountReference | None = None
    identities: Callable[[Any, str, str], tuple[Identity, ...]] = lambda _spec, _namespace, _account: ()
    faults: Callable[[Any], tuple[str, ...]] = lambda _spec: ()
    refusals: Callable[[Any, Policy], tuple[str, ...]] = lambda _spec, _policy: ()
    names: Callable[[Any], tuple[Slot, ...]] = lambda _spec: ()
    refused_change: Callable[[Object, Object], str | None] = lambda _old, _new: None
    advice: Callable[[Any], tuple[str, ...]] = lambda _spec: ()
    privileged: bool = False

    @property
    def name(self) -> str:
        """CamelCase kind."""
        return self.resource.kind

    @property
    def object_class(self) -> str:
        """The namespace class of its identities."""
        return self.name.upper()

    @property
    def uses_provider(self) -> bool:
        """Whether it works with a ProviderConfig."""
        return "provider_ref" in self.resource.spec.model_fields


Declared = Kind | Utility
"""What people declare, and is reconciled for them."""
