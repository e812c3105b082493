"""What every step of the reconciler works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from freehold.claim_store import ClaimStore
from freehold.conflicts import Detail
from freehold.kinds.property import Target
from freehold.kinds.resource import GroupResource
from freehold.kube.client import Kube
from freehold.kube.events import Recorder
from freehold.kube.objects import Key, Object
from freehold.kube.reflector import Reflector
from freehold.lifecycle.reasons import Reason
from freehold.resolve import Get, live
from freehold.script import Policy
from freehold.snowflake.client import Snowflake
from freehold_controllers.reconciler.attempts import Attempts
from freehold_controllers.reconciler.following import Following
from freehold_controllers.reconciler.inventory import Inventory
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.provider import Login, Providers
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.secret import Secrets
from freehold_controllers.reconciler.taken import Taken


@dataclass(frozen=True, slots=True)
class Services:
    """The outside world, as the reconciler sees it.

    Attributes:
        kube: the API server.
        namespace: of the installation.
        manager: field manager of what is written there, `freehold-<domain>`.
        store: the claims.
        snowflake: the accounts.
        providers: the ways into them.
        secrets: reads Secrets that resources name.
        recorder: of Events.
        following: who is woken by what.
        inventory: the claims by container.
        reflectors: live copies of all our kinds, by kind.
        attempts: which statements may still be under way.
        allowed_privileged_roles: what the installation lets resources work with, as `permissions.check` takes it.
        conflict_detail: what is told of the owner of an object that a resource can't have.
        require_active: raises when another process may be working on the same objects.
        read_only: whether nothing is written but statuses: no statement, claim or finalizer.
        field_exports: whether the installation lets values of statuses be written elsewhere.
        statements: what the installation lets people run.
        lacking: accounts and object types that have no CREATE OR ALTER, as they have answered this process.
        taken: which names something invisible has.
    """

    kube: Kube
    namespace: str
    manager: str
    store: ClaimStore
    snowflake: Snowflake
    providers: Providers
    secrets: Secrets
    recorder: Recorder
    following: Following
    inventory: Inventory
    reflectors: Mapping[str, Reflector]
    attempts: Attempts
    allowed_privileged_roles: frozenset[str]
    conflict_detail: Detail
    require_active: Callable[[], None]
    read_only: bool = False
    field_exports: bool = False
    statements: Policy = field(default_factory=Policy)
    lacking: set[tuple[str, str]] = field(default_factory=set)
    taken: Taken = field(default_factory=Taken)

    @property
    def now(self) -> datetime:
        """The API server's time."""
        return self.kube.server_time

    def get_for(self, asker: Key) -> Get:
        """Reads resources from the live copies, and has the asker woken when they change."""
        fallback = live(self.kube)

        async def get(path: GroupResource, namespace: str, name: str) -> Object | None:
            self.following.follow(asker, Key(path.kind, namespace, name))
            found = self.reflectors[path.kind].store.get((namespace, name))
            return found or await fallback(path, namespace, name)

        return get

    def remote(self, managed: Managed, login: Login, target: Target, details: frozenset[str] = frozenset()) -> Remote:
        """The resource's object, as its role reaches it; `details` as `planning.details` has them."""
        acting = login.acting_as(managed.spec.use_role)
        return Remote(
            self.snowflake,
            acting.settings,
            acting.role,
            managed.kind,
            target,
            managed.tag,
            details,
            # Only further queries read what it was made of, and spec is complete where these are asked.
            managed.spec if details else None,
            require_active=self.require_active,
            user=acting.user,
        )

    def tell(self, about: Object, reason: Reason, note: str, *, type_: Literal["Normal", "Warning"] = "Normal") -> None:
        """Record an Event."""
        self.recorder.record(about, type_, reason, note)
