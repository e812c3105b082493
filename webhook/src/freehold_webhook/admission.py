"""The decision about a request: who owns the object, and what Freehold's controllers would refuse later.

A clean yes may rest on watched copies of parents. Whatever else comes out is decided once more on live reads.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import ValidationError

from freehold import fingerprint, permissions, planning, recreation, validation
from freehold.claim_store import ClaimStore
from freehold.claims import Account, ClaimSpec, Holder
from freehold.conflicts import Detail
from freehold.identifiers import InvalidName
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.kinds.resources import DECLARED, UTILITIES
from freehold.kinds.utility.declaration import Utility
from freehold.kube.conditions import STALLED, conditions_of
from freehold.kube.errors import ApiError
from freehold.kube.objects import Object
from freehold.login_policy import LoginPolicy
from freehold.permissions import Denied
from freehold.resolve import Get, Unresolved, astray, describe
from freehold.script import Policy
from freehold_webhook import messages, provider_configs
from freehold_webhook.claiming import claim
from freehold_webhook.metrics import DURATION, REQUESTS
from freehold_webhook.review import ALLOWED, Cause, Outcome, Request, Verdict, denied, undecided
from freehold_webhook.utilities import Utilities
from freehold_webhook.views import Seen, Unnameable, View, view

BUDGET = 3.0
"""Seconds for a decision; the API server waits 5."""

_RESOURCES = {
    (resource.path.group, resource.kind)
    for resource in (PROVIDER_CONFIG, *(each.resource for each in DECLARED.values()))
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """A resource that is created or updated.

    Attributes:
        kind: its kind.
        asker: who would hold its claims.
        new: its spec.
        old: its spec so far; None when it is created, or can't be read: then it is judged as if it were new.
        annotations: of the resource.
        dry_run: whether nothing may be written.
        stalled: whether the controller has refused the old spec, so that the object isn't as that says.
    """

    kind: Kind
    asker: Holder
    new: SnowflakeSpec
    old: SnowflakeSpec | None
    annotations: Mapping[str, str]
    dry_run: bool
    stalled: bool = False


class Admission:
    """Decides about requests, remembering nothing."""

    def __init__(
        self,
        store: ClaimStore,
        copies: Get,
        *,
        allowed_hosts: Sequence[str],
        workload_identity_namespaces: Collection[str] = (),
        allowed_privileged_roles: Collection[str] = (),
        conflict_detail: Detail = Detail.NAMESPACE,
        statements: Policy | None = None,
        budget: float = BUDGET,
    ) -> None:
        """
        Args:
            store: claims, and live reads.
            copies: reads parents and ProviderConfigs where they may be behind.
            allowed_hosts: what ProviderConfigs may point to, as `freehold.login_policy` takes it.
            workload_identity_namespaces: which may log in as Freehold's own workload, likewise.
            allowed_privileged_roles: what resources may work with, as `freehold.permissions.check` takes it.
            conflict_detail: what is told of an owner.
            statements: what the installation lets people run; anything by default.
            budget: seconds for a decision.
        """
        self._store = store
        self._copies = copies
        self._login_policy = LoginPolicy(tuple(allowed_hosts), frozenset(workload_identity_namespaces))
        self._allowed_privileged_roles = frozenset(allowed_privileged_roles)
        self._conflict_detail = conflict_detail
        self._budget = budget
        self._utilities = Utilities(store, conflict_detail, statements or Policy(), self._allowed_privileged_roles)

    async def review(self, request: Request) -> Verdict:
        """Decide about a request, in time and without raising."""
        started = time.monotonic()
        if request.object is None or (request.group, request.kind) not in _RESOURCES or request.sub_resource:
            return ALLOWED
        asker = Holder(
            group=request.group,
            kind=request.kind,
            namespace=request.namespace,
            name=request.object.name,
            uid=request.object.uid,
        )
        try:
            async with asyncio.timeout(self._budget):
                verdict = await self._decide(request, request.object, asker)
        except InvalidName as error:
            verdict = denied(Cause.INVALID, str(error))
        except ValidationError as error:
            why = f"this release can't read its spec: {describe(error)}"
            verdict = undecided(Cause.UNREADABLE_SPEC, messages.not_checked(asker, why))
        except TimeoutError:
            why = f"the API server didn't answer within {self._budget:g} s"
            verdict = undecided(Cause.NO_ANSWER, messages.not_checked(asker, why))
        except ApiError as error:
            verdict = undecided(Cause.NO_ANSWER, messages.not_checked(asker, str(error)))
        except Exception as error:
            # A fault of ours must be seen, but not by stopping everybody's work.
            _log.exception("a request could not be decided")
            verdict = undecided(Cause.FAULT, messages.not_checked(asker, f"internal error {error!r}"))
        if verdict.outcome is not Outcome.ALLOWED and _pauses(request):
            verdict = ALLOWED.warn(verdict.message, *verdict.warnings)
        _record(request, asker, verdict, time.monotonic() - started)
        return verdict

    async def _decide(self, request: Request, new: Object, asker: Holder) -> Verdict:
        old = request.old
        if (old is not None and old.spec == new.spec) or (new.deleting and not _moves(new, old)):
            return ALLOWED
        if request.kind == PROVIDER_CONFIG.kind:
            return provider_configs.decide(self._login_policy, asker.namespace, new, old)
        declared = UTILITIES.get(request.kind) or KINDS[request.kind]
        if old is None and await self._store.get(declared.resource.path, asker.namespace, asker.name):
            # The API server itself will answer that it exists.
            return ALLOWED
        if isinstance(declared, Utility):
            return await self._utilities.decide(declared, new, old, asker, dry_run=request.dry_run)
        before = _readable(declared, old) if old is not None else None
        spec = new.parsed(declared.spec)
        stalled = old is not None and any(each.type == STALLED for each in conditions_of(old))
        return await self._change(Change(declared, asker, spec, before, new.annotations, request.dry_run, stalled))

    async def _change(self, change: Change) -> Verdict:
        kind, fixed = change.kind, tuple[str, ...]()
        faults, faults_before = (validation.faults(kind, each) if each else () for each in (change.new, change.old))
        if faults and faults != faults_before:
            return denied(Cause.INVALID, "; ".join(faults))
        # What is wrong may not even be readable enough to be compared.
        old = None if faults or faults_before else change.old
        if old and (another := recreation.another(kind, old, change.new)):
            return denied(Cause.IDENTITY_CHANGED, another)
        if old and (fixed := recreation.changes(kind, old, change.new)):
            spec_hash = fingerprint.spec_hash(kind, change.new)
            if not recreation.ordered(change.annotations, spec_hash):
                return denied(Cause.IMMUTABLE_FIELD, recreation.refusal(fixed, spec_hash))
        # What can't be put into a statement is refused here, and not by a condition.
        planning.check_create(kind, change.new, change.old)
        views = await self._views(change, self._copies)
        verdict = await self._claim(change, *views)
        if verdict.outcome is not Outcome.ALLOWED:
            # Claims and their holders were read live; what was computed from copies must hold live as well.
            live = await self._views(change, self._store.get)
            if live != views:
                verdict = await self._claim(change, *live)
        # What was wrong before is warned of: whoever pauses or gives up the resource must not be held up.
        idle = planning.ineffective(kind, old, change.new) if old and not change.stalled else ()
        return verdict.warn(*map(messages.recreated, fixed), *faults, *idle, *planning.advice(kind, change.new))

    async def _views(self, change: Change, get: Get) -> tuple[Seen | None, Seen]:
        """What the resource stood for, and will stand for."""
        look = partial(view, change.kind, change.asker.namespace, get=get, live=self._store.get)
        return await look(change.old) if change.old else None, await look(change.new)

    async def _claim(self, change: Change, before: Seen | None, after: Seen) -> Verdict:
        """Check the allow-lists, and claim what a change adds to the resource's objects."""
        if isinstance(after, Unnameable):
            # What could not be named before stands for nothing: it may be paused or mended step by step.
            return ALLOWED.warn(after.why) if after == before else denied(Cause.INVALID, after.why)
        if isinstance(after, Unresolved):
            return self._without_provider(change, after)
        had = before if isinstance(before, View) else None
        verdict = ALLOWED
        if forbidden := self._forbidden(after):
            if had is None or forbidden != self._forbidden(had):
                return denied(forbidden.reason, forbidden.message)
            # It was so before, as above.
            verdict = verdict.warn(forbidden.message)
        # After the allow-lists: of what may not be referred to, not even the absence is told.
        if isinstance(after.resolved, Unresolved):
            return undecided(Cause.DEPENDENCY, messages.not_there_yet(str(after.resolved)))
        if stray := await self._astray(change, change.new):
            if change.old is None or stray != await self._astray(change, change.old):
                return denied(Cause.INVALID, stray)
            verdict = verdict.warn(stray)
        if change.new.management_policies.observe_only:
            return verdict
        provider = after.provider
        if provider.account is None:
            why = f"ProviderConfig {provider.namespace}/{provider.name} has not logged in to its account yet"
            return undecided(Cause.DEPENDENCY, messages.not_there_yet(why))
        if had and (pinned := await self._pinned(change.asker, had, provider.account)):
            return denied(Cause.IDENTITY_CHANGED, messages.pinned(pinned, provider.account))
        added = sorted(after.claimed - had.claimed if had else after.claimed)
        claimed = await claim(
            self._store, added, provider.account.name, change.asker, self._conflict_detail, dry_run=change.dry_run
        )
        return claimed.warn(*verdict.warnings) if claimed.outcome is Outcome.ALLOWED else claimed

    async def _astray(self, change: Change, spec: SnowflakeSpec) -> str | None:
        """What a spec refers to that lies elsewhere than it must."""
        try:
            return await astray(change.kind, change.asker.namespace, spec, self._store.get)
        except ValueError:
            # What has no name, or can't be read, is told by itself.
            return None

    def _without_provider(self, change: Change, missing: Unresolved) -> Verdict:
        """The verdict about a resource whose ProviderConfig isn't there yet, or can't be read.

        It may come further down in the same manifest, and nobody applies again what was denied. What the resource owns
        stays its own meanwhile: the controllers stop where the ProviderConfig turns out to be closed to it, or to lead
        to another account.
        """
        wanted, why = missing.requested, str(missing)
        if wanted.namespace != change.asker.namespace:
            # What is wrong with another namespace's is for those who run it.
            why = f"{wanted} doesn't exist yet, or can't be read"
        return undecided(Cause.DEPENDENCY, messages.not_there_yet(why))

    async def _pinned(self, asker: Holder, had: View, account: Account) -> ClaimSpec | None:
        """The claim to what a resource owns in another account, and would leave behind there."""
        was = had.provider.account
        if was is None or was.key == account.key or not had.claimed:
            return None
        # They are asked for together: one tells of all.
        found = await self._store.read(min(had.claimed).hash)
        return found.spec if found and found.spec.holder.same(asker) and found.spec.telling else None

    def _forbidden(self, seen: View) -> Denied | None:
        provider = seen.provider
        return permissions.check(
            provider.spec,
            (provider.namespace, provider.name),
            seen.usage,
            allowed_privileged_roles=self._allowed_privileged_roles,
        )


def _moves(new: Object, old: Object | None) -> bool:
    """Whether a resource gets another ProviderConfig, with whose rights its object would be dropped."""
    return old is not None and new.spec.get("providerRef") != old.spec.get("providerRef")


def _pauses(request: Request) -> bool:
    """Whether an update does nothing but pause the resource: nothing is sent for it then, whatever its spec says."""
    new, old = request.object, request.old
    return new is not None and old is not None and new.spec == {**old.spec, "paused": True}


def _readable(kind: Kind, resource: Object) -> SnowflakeSpec | None:
    """The spec of a resource; None when this release can't read it, which must not keep anybody from mending it."""
    try:
        return resource.parsed(kind.spec)
    except ValidationError:
        return None


def _record(request: Request, asker: Holder, verdict: Verdict, seconds: float) -> None:
    REQUESTS.labels(request.kind, request.operation, verdict.outcome.value, verdict.cause).inc()
    DURATION.labels(request.kind, request.operation).observe(seconds)
    level = logging.DEBUG if verdict.outcome is Outcome.ALLOWED else logging.INFO
    if not _log.isEnabledFor(level):
        return
    _log.log(
        level,
        "%s %s of %s: %s",
        verdict.outcome.value,
        request.operation,
        asker,
        verdict.message,
        extra={
            "operation": request.operation,
            "resource": str(asker),
            "verdict": verdict.outcome.value,
            "reason": verdict.cause,
            "user": request.user,
            "dry_run": request.dry_run,
            "review": request.uid,
            "seconds": round(seconds, 4),
        },
    )
