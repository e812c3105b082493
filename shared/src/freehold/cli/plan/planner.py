"""What would be done about the objects of manifests: decided by the functions that decide for the controllers, on live
reads of cluster and account. Nothing is written to either."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from freehold import fingerprint, planning
from freehold.claim_contest import Awaiting, acquire
from freehold.claim_store import ClaimStore
from freehold.claims import ClaimSpec, Holder, new_claim
from freehold.cli import explanation
from freehold.cli.explanation import Verdict, explained
from freehold.cli.manifests import namespace_of
from freehold.cli.plan import prospect
from freehold.cli.plan.access import Access
from freehold.cli.plan.entries import Action, Entry
from freehold.cli.plan.order import Circle, ranks
from freehold.identity import Identity
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.common import SnowflakeSpec, SnowflakeStatus
from freehold.kinds.kind import Kind
from freehold.kinds.references import references_of, secrets_of, with_names, with_secrets
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kinds.secret_inputs import secret_input
from freehold.kube.client import Kube
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import SECRETS, Key, Object
from freehold.lifecycle import wishes
from freehold.lifecycle.changes import with_changes
from freehold.lifecycle.decision import Subject
from freehold.recreation import FORCE_NEW_ANNOTATION
from freehold.resolve import Get, Resolved, live, resolve
from freehold.snowflake.client import Snowflake
from freehold.snowflake.errors import ConfigurationError, SnowflakeError
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.secret_values import SecretValues
from freehold.snowflake.sight import Sight

TOGETHER = 8
"""Resources that are looked at at a time."""


class Refused(Exception):
    """A resource would not be worked on."""


def overlaid(get: Get, manifests: Mapping[Key, Object]) -> Get:
    """Reads resources as they would be once manifests are applied."""

    async def over(path: GroupResource, namespace: str, name: str) -> Object | None:
        return manifests.get(Key(path.kind, namespace, name)) or await get(path, namespace, name)

    return over


def applied_over(manifest: Mapping[str, Any], stored: Object | None) -> Object:
    """A resource as it would be once its manifest is applied: what others have annotated stays."""
    key = {"name": manifest["metadata"]["name"], "namespace": namespace_of(manifest)}
    before = stored.metadata if stored else {}
    annotations = {**(before.get("annotations") or {}), **(manifest["metadata"].get("annotations") or {})}
    metadata = {**before, **manifest["metadata"], **key, "annotations": annotations}
    return Object({**manifest, "metadata": metadata, "status": stored.status if stored else {}})


def holder_of(found: Object) -> Holder:
    """Who a resource is as the holder of a claim."""
    group = KINDS[found.kind].resource.path.group
    return Holder(group=group, kind=found.kind, namespace=found.namespace, name=found.name, uid=found.uid)


@dataclass(slots=True)
class Planner:
    """Plans for the manifests of one command.

    Attributes:
        kube: the cluster.
        snowflake: the accounts.
        access: the ways into them.
        manifests: the resources as they would be.
        needs: what each of them refers to, and what its objects lie in.
        planned: what each of them stands for.
        entries: what is planned so far.
    """

    kube: Kube
    snowflake: Snowflake
    access: Access
    manifests: Mapping[Key, Object]
    needs: dict[Key, set[Key]] = field(default_factory=dict)
    planned: dict[Key, tuple[Identity, ...]] = field(default_factory=dict)
    entries: dict[Key, tuple[Entry, ...]] = field(default_factory=dict)

    @property
    def get(self) -> Get:
        """Reads resources as they would be."""
        return overlaid(live(self.kube), self.manifests)

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
            settings, role = await self.access.settings(resolved.provider, spec.use_role)
            entries = []
            for claim in await ClaimStore(self.kube).of_holder(holder_of(found)):
                target = kind.target_of(claim.spec.identity.identity.name)
                sight = Sight(self.snowflake, settings, role, kind, target, _tag(found))
                subject = await self._with_wishes(Subject(kind, spec, target, claim.spec, role), found, resolved)
                force = wishes.force_destroyed(found.annotations)
                entries.append(await prospect.removal(found.key, sight, subject, force=force))
            return [each for each in entries if each is not None]
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
            raise Refused("; ".join(notes))
        self._require_way(key, resolved.identities)
        order = found.annotations.get(FORCE_NEW_ANNOTATION)
        spec_hash = fingerprint.spec_hash(kind, spec)
        spec = await self._with_secrets(found, await self._with_names(found, spec, notes))
        tracked = SnowflakeStatus.model_validate(found.status).tracked_parameters
        settings, role = await self.access.settings(resolved.provider, spec.use_role)
        details = planning.details(kind, spec, tracked or ())
        for identity in resolved.identities:
            target = kind.target_of(identity.name)
            claim = None if spec.management_policies.observe_only else await self._claim(identity, resolved, found)
            subject = Subject(kind, spec, target, claim, role, order=order, spec_hash=spec_hash)
            subject = await self._with_wishes(subject, found, resolved)
            entry = await prospect.upkeep(
                key,
                Sight(self.snowflake, settings, role, kind, target, _tag(found), details),
                with_changes(subject, tracked, fingerprint.applied(kind, spec)),
                parent_planned=any(self._holds(each)(identity) for each in self.planned),
                force=wishes.force_destroyed(found.annotations),
            )
            yield replace(entry, notes=tuple(notes))

    async def _require_admission(self, found: Object, notes: list[str]) -> None:
        """What admission would refuse, by its own functions."""
        kind = KINDS[found.kind]
        asked = explanation.Subject(kind, found.namespace, found.name, found.spec, found.annotations)
        stored = await live(self.kube)(kind.resource.path, found.namespace, found.name)
        findings = (await explained(ClaimStore(self.kube, get=self.get), asked, stored)).findings
        notes += [each.why for each in findings if each.verdict in (Verdict.NOTE, Verdict.UNKNOWN)]
        if refused := [each.why for each in findings if each.verdict is Verdict.REFUSED]:
            raise Refused("; ".join(refused))

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
        provider = resolved.provider
        config = await self.get(PROVIDER_CONFIG.path, provider.namespace, provider.name)
        return wishes.with_wishes(subject, holder_of(found), found.annotations, config)


def _ready(found: Object) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in conditions_of(found))


def _tag(found: Object) -> QueryTag:
    return QueryTag(kind=found.kind, namespace=found.namespace, name=found.name, uid=found.uid)
