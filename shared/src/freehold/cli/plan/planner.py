"""What would be done about the objects of manifests: decided by the functions that decide for the controllers, on live
reads of cluster and account. Nothing is written to either."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from freehold import fingerprint, planning
from freehold.claim_contest import Awaiting, acquire
from freehold.claim_store import ClaimStore
from freehold.claims import Claim, ClaimSpec, new_claim
from freehold.cli import explanation
from freehold.cli.explanation import Verdict, explained
from freehold.cli.plan import prospect
from freehold.cli.plan.access import Access, Login
from freehold.cli.plan.entries import Action, Entry
from freehold.cli.plan.order import Circle, ranks
from freehold.cli.plan.resources import holder_of, overlaid
from freehold.identity import Identity
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.common import SnowflakeSpec, SnowflakeStatus
from freehold.kinds.kind import Kind
from freehold.kinds.references import references_of, secrets_of, with_names, with_secrets
from freehold.kinds.registry import KINDS
from freehold.kinds.secret_inputs import secret_input
from freehold.kube.client import Kube
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import SECRETS, Key, Object
from freehold.lifecycle import drop_cap, wishes
from freehold.lifecycle.changes import with_changes
from freehold.lifecycle.decision import Subject
from freehold.lifecycle.surplus import surplus_of
from freehold.recreation import FORCE_NEW_ANNOTATION
from freehold.resolve import Get, Provider, Resolved, Unresolved, live, resolve
from freehold.snowflake.client import Snowflake
from freehold.snowflake.errors import ConfigurationError, SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.secret_values import SecretValues
from freehold.snowflake.sight import Sight

TOGETHER = 8
"""Resources that are looked at at a time."""


class Refused(Exception):
    """A resource would not be worked on."""


@dataclass(slots=True)
class Planner:
    """Plans for the manifests of one command.

    Attributes:
        kube: the cluster.
        snowflake: the accounts.
        access: the ways into them.
        manifests: the resources as they would be.
        configs: the ProviderConfigs among the manifests, likewise.
        needs: what each of them refers to, and what its objects lie in.
        planned: what each of them stands for.
        entries: what is planned so far.
        drops: how many objects that hold data are planned to be dropped so far, by ProviderConfig.
    """

    kube: Kube
    snowflake: Snowflake
    access: Access
    manifests: Mapping[Key, Object]
    configs: Mapping[Key, Object] = field(default_factory=dict)
    needs: dict[Key, set[Key]] = field(default_factory=dict)
    planned: dict[Key, tuple[Identity, ...]] = field(default_factory=dict)
    entries: dict[Key, tuple[Entry, ...]] = field(default_factory=dict)
    drops: Counter[Key] = field(default_factory=Counter)

    @property
    def get(self) -> Get:
        """Reads resources as they would be."""
        return overlaid(live(self.kube), {**self.configs, **self.manifests})

    async def plan(self, tell: Callable[[], None]) -> Sequence[Entry]:
        """What would be done, in the order in which it can be.

        Args:
            tell: called when one resource more is planned for.

        Raises:
            ApiError: the cluster gives no answer.
        """
        for each in self.manifests.values():
            await self._take_in(each)
        for key, identities in self.planned.items():
            self.needs[key] |= {each for each in self.planned if any(map(self._holds(each), identities))}
        try:
            order = list(ranks(self.needs))
        except Circle as circle:
            return [Entry(key, "", Action.REFUSE, why=str(circle)) for key in circle.members]
        limit = asyncio.Semaphore(TOGETHER)

        async def one(key: Key) -> None:
            async with limit:
                self.entries[key] = await self._entries_of(self.manifests[key])
                tell()

        for rank in order:
            await asyncio.gather(*map(one, rank))
        return [entry for rank in order for key in rank for entry in self.entries[key]]

    async def prune(self, found: Object) -> Sequence[Entry]:
        """What would be sent if a resource were deleted that no manifest declares."""
        kind = KINDS[found.kind]
        try:
            spec = kind.spec.model_validate(found.spec)
            resolved = await self._resolved(kind, found.namespace, spec)
            login = await self.access.login(resolved.provider, spec.use_role)
            held = await explanation.held_by(ClaimStore(self.kube), holder_of(found))
            return [each async for each in self._removals(found, spec, resolved, login, held)]
        except (Refused, ConfigurationError, SnowflakeError, ValueError) as error:
            return [Entry(found.key, "", Action.REFUSE, why=str(error))]

    def _holds(self, outer: Key) -> Callable[[Identity], bool]:
        """Tells whether an object lies in one of a resource's."""
        return lambda inner: any(each.holds(inner) for each in self.planned[outer])

    async def _take_in(self, found: Object) -> None:
        """Remember what a resource refers to and stands for; nothing of one that can't be read, which is told later."""
        kind = KINDS[found.kind]
        self.needs[found.key] = set()
        try:
            spec = kind.spec.model_validate(found.spec)
            resolved = await resolve(kind, found.namespace, spec, self.get)
        except ValueError:
            return
        if isinstance(resolved, Resolved):
            self.planned[found.key] = resolved.identities or ()
        referred = references_of(spec, found.namespace)
        self.needs[found.key] = {Key(each.kind, each.namespace, each.name) for each in referred}

    async def _entries_of(self, found: Object) -> tuple[Entry, ...]:
        notes: list[str] = []
        try:
            return tuple([each async for each in self._foreseen(found, notes)])
        except (Refused, ConfigurationError, SnowflakeError) as error:
            return (Entry(found.key, "", Action.REFUSE, why=str(error), notes=tuple(notes)),)

    async def _foreseen(self, found: Object, notes: list[str]) -> AsyncIterator[Entry]:
        """The entries of a resource; what is to be known beside is added to the notes."""
        key, kind = found.key, KINDS[found.kind]
        await self._require_admission(found, notes)
        spec: SnowflakeSpec = kind.spec.model_validate(found.spec)
        resolved = await resolve(kind, key.namespace, spec, self.get)
        if not isinstance(resolved, Resolved) or resolved.identities is None:
            raise Refused("; ".join(self._unproven(resolved) or notes))
        self._require_way(key, resolved.identities)
        order = found.annotations.get(FORCE_NEW_ANNOTATION)
        spec_hash = fingerprint.spec_hash(kind, spec)
        spec = await self._with_secrets(found, await self._with_names(found, spec, notes))
        tracked = SnowflakeStatus.model_validate(found.status).tracked_parameters
        login = await self.access.login(resolved.provider, spec.use_role)
        details = planning.details(kind, spec, tracked or ())
        for identity in resolved.identities:
            target = kind.target_of(identity.name)
            claim = None if spec.management_policies.observe_only else await self._claim(identity, resolved, found)
            subject = Subject(kind, spec, target, claim, login.role, order=order, spec_hash=spec_hash)
            subject = await self._with_wishes(subject, found, resolved)
            entry = await prospect.upkeep(
                key,
                Sight(self.snowflake, login.settings, login.role, kind, target, _tag(found), details, spec),
                with_changes(subject, tracked, fingerprint.applied(kind, spec)),
                login,
                parent_planned=any(self._holds(each)(identity) for each in self.planned),
                force=wishes.force_destroyed(found.annotations),
            )
            entry = await self._with_cap(kind, entry, resolved.provider)
            yield replace(entry, notes=(*notes, *entry.notes))
        if not spec.management_policies.observe_only:
            held = await explanation.held_by(ClaimStore(self.kube), holder_of(found))
            surplus = surplus_of(held, resolved.identities).filled
            async for entry in self._removals(found, spec, resolved, login, surplus):
                yield entry

    async def _removals(
        self, found: Object, spec: SnowflakeSpec, resolved: Resolved, login: Login, claims: Iterable[Claim]
    ) -> AsyncIterator[Entry]:
        """What would be sent for claims of a resource that goes, or doesn't ask for what they are to any more."""
        kind, force = resolved.kind, wishes.force_destroyed(found.annotations)
        for claim in claims:
            target = kind.target_of(claim.spec.identity.identity.name)
            sight = Sight(self.snowflake, login.settings, login.role, kind, target, _tag(found))
            subject = await self._with_wishes(Subject(kind, spec, target, claim.spec, login.role), found, resolved)
            if entry := await prospect.removal(found.key, sight, subject, login, force=force):
                yield await self._with_cap(kind, entry, resolved.provider)

    async def _with_cap(self, kind: Kind, entry: Entry, provider: Provider) -> Entry:
        """An entry with what the ProviderConfig's cap of DROPs says of it."""
        if entry.action not in (Action.DROP, Action.RECREATE) or not kind.holds_data:
            return entry
        if (config := await self._config(provider)) is None:
            return entry
        before = self.drops[config.key]
        self.drops[config.key] += 1
        waits = drop_cap.refusal(config, self.kube.server_time, before=before)
        return replace(entry, notes=(*entry.notes, f"it waits: {waits.message}")) if waits else entry

    async def _require_admission(self, found: Object, notes: list[str]) -> None:
        """What admission would refuse, by its own functions."""
        kind = KINDS[found.kind]
        asked = explanation.Subject(kind, found.namespace, found.name, found.spec, found.annotations)
        stored = await live(self.kube)(kind.resource.path, found.namespace, found.name)
        findings = (await explained(ClaimStore(self.kube, get=self.get), asked, stored)).findings
        notes += [each.why for each in findings if each.verdict in (Verdict.NOTE, Verdict.UNKNOWN)]
        if refused := [each.why for each in findings if each.verdict is Verdict.REFUSED]:
            raise Refused("; ".join(refused))

    def _unproven(self, resolved: Resolved | Unresolved) -> tuple[str, ...]:
        """What to do where nobody has logged in yet, since the ProviderConfig is to be applied as well."""
        provider = resolved.provider
        config = self.configs.get(Key(PROVIDER_CONFIG.kind, provider.namespace, provider.name)) if provider else None
        if config is None or config.uid or not isinstance(resolved, Resolved):
            return ()
        what = f"ProviderConfig {config.namespace}/{config.name} is only among the manifests"
        return (f"{what}: apply it, and plan again when it is Ready; --offline prints the SQL until then",)

    def _require_way(self, key: Key, identities: Sequence[Identity]) -> None:
        """What stands in the way among the manifests themselves."""
        for needed in sorted(self.needs[key]):
            if any(each.action is Action.REFUSE for each in self.entries.get(needed, ())):
                raise Refused(f"it waits for {needed}, which is refused")
        for other, theirs in self.planned.items():
            if other < key and (both := set(theirs) & set(identities)):
                raise Refused(f"{min(both).fqn} is declared by {other} as well: leave one of the two out")

    async def _with_names(self, found: Object, spec: SnowflakeSpec, notes: list[str]) -> SnowflakeSpec:
        names = {}
        for requested in references_of(spec, found.namespace):
            kind = KINDS[requested.kind]
            key = Key(requested.kind, requested.namespace, requested.name)
            other = await self.get(kind.resource.path, requested.namespace, requested.name)
            if other is None:
                raise Refused(f"{requested} doesn't exist: give its file, too, or apply it first")
            names[requested.field] = await self._parts(kind, other)
            if key not in self.manifests and not _ready(other):
                notes.append(f"{requested} isn't ready, which the controllers wait for")
        return with_names(spec, names)

    async def _parts(self, kind: Kind, other: Object) -> tuple[str, ...]:
        return (await self._resolved(kind, other.namespace, kind.spec.model_validate(other.spec))).parts

    async def _resolved(self, kind: Kind, namespace: str, spec: SnowflakeSpec) -> Resolved:
        resolved = await resolve(kind, namespace, spec, self.get)
        if not isinstance(resolved, Resolved):
            raise Refused(str(resolved))
        return resolved

    async def _with_secrets(self, found: Object, spec: SnowflakeSpec) -> SnowflakeSpec:
        values = {}
        for each in secrets_of(spec) if not spec.management_policies.observe_only else ():
            text = SecretValues(found.namespace, await self.access.secret(found.namespace, each.name)).text(each)
            held = await self.get(SECRETS, found.namespace, each.name)
            values[each] = secret_input(each, text, held.uid if held else "")
        return with_secrets(spec, values) if values else spec

    async def _claim(self, identity: Identity, resolved: Resolved, found: Object) -> ClaimSpec:
        """The claim that a resource has or would have; a dry run, which admission has let pass."""
        account = resolved.provider.account
        asked = new_claim(identity, account.name if account else "", holder_of(found))
        outcome = await acquire(ClaimStore(self.kube, get=self.get), asked, dry_run=True)
        if isinstance(outcome, Awaiting):
            # With all that proves the object to be the other's, as when it is handed over.
            return outcome.claim.spec.model_copy(update={"holder": asked.spec.holder})
        ours = outcome.claim.spec.holder.same(asked.spec.holder)
        return outcome.claim.spec if ours else asked.spec

    async def _with_wishes(self, subject: Subject, found: Object, resolved: Resolved) -> Subject:
        config = await self._config(resolved.provider)
        return wishes.with_wishes(subject, holder_of(found), found.annotations, config)

    async def _config(self, provider: Provider) -> Object | None:
        return await self.get(PROVIDER_CONFIG.path, provider.namespace, provider.name)


def _ready(found: Object) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in conditions_of(found))


def _tag(found: Object) -> QueryTag:
    return QueryTag(kind=found.kind, namespace=found.namespace, name=found.name, uid=found.uid)
