"""The decision about a utility: what its declaration says of the spec, what its ProviderConfig allows, and who has what
it claims."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from freehold import permissions
from freehold.claim_store import ClaimStore
from freehold.claims import Holder
from freehold.conflicts import Detail
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.model import Model
from freehold.kinds.utility.declaration import Utility
from freehold.kube.objects import NAMESPACES, Object
from freehold.permissions import Denied, Usage
from freehold.resolve import Provider, Unresolved, account_of, provider_of_spec
from freehold.script import Policy
from freehold_webhook import messages
from freehold_webhook.claiming import claim
from freehold_webhook.review import ALLOWED, Cause, Outcome, Verdict, denied, undecided


@dataclass(frozen=True, slots=True)
class Utilities:
    """Decides about resources of utilities.

    Attributes:
        store: claims, and live reads.
        detail: what is told of an owner.
        policy: what the installation lets people run.
        allowed_privileged_roles: what resources may work with, as `freehold.permissions.check` takes it.
    """

    store: ClaimStore
    detail: Detail
    policy: Policy
    allowed_privileged_roles: frozenset[str]

    async def decide(
        self, utility: Utility, new: Object, old: Object | None, asker: Holder, *, dry_run: bool
    ) -> Verdict:
        """Decide about a resource.

        Args:
            utility: its declaration.
            new: the resource as it would be stored.
            old: as it is stored; None when it is created.
            asker: who would hold its claims.
            dry_run: whether nothing may be written.

        Raises:
            pydantic.ValidationError: this release can't read its spec.
            ApiError: the API server doesn't answer.
        """
        spec, before = new.parsed(utility.resource.spec), _readable(utility, old)
        faults = self._faults(utility, spec)
        if faults and (before is None or faults != self._faults(utility, before)):
            return denied(Cause.INVALID, "; ".join(faults))
        if old and before and (refusal := utility.refused_change(old, new)):
            return denied(Cause.IMMUTABLE_FIELD, refusal)
        verdict = await self._permitted(utility, spec, before, asker)
        if verdict.outcome is Outcome.ALLOWED:
            claimed = await self._claimed(utility, spec, before, asker, dry_run=dry_run)
            verdict = claimed.warn(*verdict.warnings)
        # What was wrong before is warned of: whoever mends it step by step must not be held up.
        return verdict.warn(*faults, *utility.advice(spec))

    async def _claimed(
        self, utility: Utility, spec: Model, before: Model | None, asker: Holder, *, dry_run: bool
    ) -> Verdict:
        if before is not None and _claims(utility, before, asker) == _claims(utility, spec, asker):
            return ALLOWED
        account = await account_of(utility, spec, asker.namespace, self.store.get)
        if isinstance(account, Unresolved):
            return undecided(Cause.DEPENDENCY, messages.not_checked(asker, str(account)))
        had = utility.identities(before, asker.namespace, account.key) if before else ()
        added = [each for each in utility.identities(spec, asker.namespace, account.key) if each not in had]
        return await claim(self.store, added, account.name, asker, self.detail, dry_run=dry_run)

    def _faults(self, utility: Utility, spec: Model) -> tuple[str, ...]:
        faults = utility.faults(spec)
        # Of what isn't sound, nothing else can be told.
        return faults or utility.refusals(spec, self.policy)

    async def _permitted(self, utility: Utility, spec: Model, before: Model | None, asker: Holder) -> Verdict:
        if not isinstance(spec, SnowflakeSpec):
            return ALLOWED
        provider = await provider_of_spec(asker.namespace, spec, self.store.get)
        if isinstance(provider, Unresolved):
            return undecided(Cause.DEPENDENCY, messages.not_there_yet(str(provider)))
        found = await self.store.get(NAMESPACES, "", asker.namespace)
        usages = [
            Usage(utility, asker.namespace, found.labels if found else {}, utility.names(each), each.use_role)
            for each in (spec, before)
            if isinstance(each, SnowflakeSpec)
        ]
        forbidden = self._forbidden(provider, usages[0])
        if forbidden is None:
            return ALLOWED
        if len(usages) > 1 and usages[1] == usages[0]:
            return ALLOWED.warn(forbidden.message)
        return denied(forbidden.reason, forbidden.message)

    def _forbidden(self, provider: Provider, usage: Usage) -> Denied | None:
        key = (provider.namespace, provider.name)
        return permissions.check(provider.spec, key, usage, allowed_privileged_roles=self.allowed_privileged_roles)


def _claims(utility: Utility, spec: Model, asker: Holder) -> object:
    """What a spec claims, and where, before the account is known."""
    where = utility.account.of(spec, asker.namespace) if utility.account else None
    return where, utility.identities(spec, asker.namespace, "")


def _readable(utility: Utility, resource: Object | None) -> Model | None:
    try:
        return resource.parsed(utility.resource.spec) if resource else None
    except ValidationError:
        return None
