"""Why a resource is refused, or would be: what admission and the controllers look at, by the same functions on live
reads. Nothing is written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from freehold import conflicts, fingerprint, permissions, planning, recreation
from freehold.claim_contest import Awaiting, Held, How, Refused, acquire
from freehold.claim_rules import GRACE
from freehold.claim_store import ClaimStore
from freehold.claims import Claim, Holder, new_claim
from freehold.cli.manifests import faults, reasons
from freehold.conflicts import Detail
from freehold.identifiers import InvalidName
from freehold.identity import Identity
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kube.objects import NAMESPACES, Object
from freehold.lifecycle.surplus import surplus_of
from freehold.permissions import Usage
from freehold.resolve import Resolved, Unresolved, resolve


class Verdict(StrEnum):
    """What one look came to."""

    OK = "ok"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        verdict: what it came to.
        why: for people: what is there, and what to do about it.
    """

    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Subject:
    """A resource that is asked about.

    Attributes:
        kind: its kind.
        namespace: its namespace.
        name: its name.
        spec: as somebody would apply it; None for the one that is stored.
        annotations: likewise.
    """

    kind: Kind
    namespace: str
    name: str
    spec: Mapping[str, Any] | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind.name} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that was found about a resource.

    Attributes:
        subject: the resource.
        findings: in the order in which admission looks.
    """

    subject: Subject
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        """Whether everything could be looked at and nothing is in the way."""
        return all(each.verdict in (Verdict.OK, Verdict.NOTE) for each in self.findings)

    def document(self) -> dict[str, Any]:
        """For programs."""
        subject = self.subject
        return {
            "kind": subject.kind.name,
            "namespace": subject.namespace,
            "name": subject.name,
            "accepted": self.accepted,
            "findings": [{"verdict": each.verdict, "why": each.why} for each in self.findings],
        }


async def explanation(store: ClaimStore, subject: Subject) -> Explanation:
    """Look at a resource as admission would.

    Args:
        store: claims, and live reads.
        subject: the resource.

    Raises:
        ApiError: there is no answer.
    """
    return await explained(store, subject, await store.get(subject.kind.resource.path, subject.namespace, subject.name))


async def explained(store: ClaimStore, subject: Subject, stored: Object | None) -> Explanation:
    """The same for a resource that may be stored already, as it is there."""
    return Explanation(subject, tuple([each async for each in _findings(store, subject, stored)]))


async def _findings(store: ClaimStore, subject: Subject, stored: Object | None) -> AsyncIterator[Finding]:
    kind, given = subject.kind, subject.spec
    if given is None:
        if stored is None:
            yield Finding(Verdict.REFUSED, "there is no such resource: name another one, or a file of manifests")
            return
        given = stored.spec
    try:
        spec = kind.spec.model_validate(given)
        resolved = await resolve(kind, subject.namespace, spec, store.get)
        faulty = faults(kind, spec)
        wrong = (*_recreated(subject, spec, stored), *faulty)
        if not faulty:
            # Found wrong by trying, as admission does: a name that no statement can hold.
            planning.check_create(kind, spec)
    except (InvalidName, ValidationError) as error:
        for reason in reasons(error):
            yield Finding(Verdict.REFUSED, reason)
        return
    for each in wrong:
        yield Finding(Verdict.REFUSED, each)
    for each in planning.advice(kind, spec):
        yield Finding(Verdict.NOTE, each)
    if isinstance(resolved, Unresolved):
        yield Finding(Verdict.UNKNOWN, f"{resolved}: what the resource stands for isn't known before that is mended")
        return
    async for finding in _ownership(store, subject, stored, spec, resolved):
        yield finding


def _recreated(subject: Subject, spec: SnowflakeSpec, stored: Object | None) -> Iterator[str]:
    kind = subject.kind
    if stored is not None and (fixed := recreation.changes(kind, kind.spec.model_validate(stored.spec), spec)):
        spec_hash = fingerprint.spec_hash(kind, spec)
        if not recreation.ordered(subject.annotations, spec_hash):
            yield recreation.refusal(fixed, spec_hash)


async def _ownership(
    store: ClaimStore, subject: Subject, stored: Object | None, spec: SnowflakeSpec, resolved: Resolved
) -> AsyncIterator[Finding]:
    """What its ProviderConfig and the claims say."""
    yield await _allowed(store, subject, spec, resolved)
    provider, identities = resolved.provider, resolved.identities
    if spec.management_policies.observe_only:
        yield Finding(Verdict.OK, "it only observes, so it claims nothing")
        return
    if provider.account is None or identities is None:
        yield Finding(
            Verdict.UNKNOWN,
            f"ProviderConfig {provider.namespace}/{provider.name} has not logged in to its account yet: see its "
            "condition Ready",
        )
        return
    path = subject.kind.resource.path
    uid = stored.uid if stored else ""
    asker = Holder(group=path.group, kind=path.kind, namespace=subject.namespace, name=subject.name, uid=uid)
    for identity in identities:
        yield await _claimed(store, new_claim(identity, provider.account.name, asker))
    if stored is not None:
        others = surplus_of(await held_by(store, asker), identities)
        for claim in others.pinned:
            yield Finding(Verdict.REFUSED, _moved(claim, identities))
        for claim in others.filled:
            yield Finding(Verdict.NOTE, f"{claim.spec.identity.fqn} isn't asked for any more, and is taken away")


async def held_by(store: ClaimStore, holder: Holder) -> list[Claim]:
    """The claims of a resource.

    Raises:
        ApiError: there is no answer.
    """
    return [each for each in await store.of_holder(holder) if each.spec.holder.same(holder)]


async def _allowed(store: ClaimStore, subject: Subject, spec: SnowflakeSpec, resolved: Resolved) -> Finding:
    provider = resolved.provider
    found = await store.get(NAMESPACES, "", subject.namespace) if provider.spec.allowed_namespace_selector else None
    labels = found.labels if found else {}
    usage = Usage.of(subject.kind, subject.namespace, labels, spec, resolved.names)
    denied = permissions.check(provider.spec, (provider.namespace, provider.name), usage)
    if denied is None:
        return Finding(Verdict.OK, f"ProviderConfig {provider.namespace}/{provider.name} allows it")
    if denied.reason == "PrivilegedRoleNotAllowed":
        # What the installation allows is an option of its processes, which nobody can read here.
        return Finding(Verdict.UNKNOWN, f"unless the installation is told to allow it: {denied.message}")
    return Finding(Verdict.REFUSED, denied.message)


async def _claimed(store: ClaimStore, asked: Claim) -> Finding:
    """Who would get one claim."""
    outcome = await acquire(store, asked, dry_run=True)
    claimed = outcome.claim.spec.identity
    it, holder = f"{claimed.fqn} in account {claimed.account.name}", outcome.claim.spec.holder
    match outcome:
        case Held(how=How.CREATED):
            return Finding(Verdict.OK, f"nobody has claimed {it}")
        case Held(how=How.KEPT):
            return Finding(Verdict.OK, f"the resource owns {it}")
        case Held() if holder.same(asked.spec.holder):
            return Finding(Verdict.OK, f"{it} is its own, as it was before the resource went")
        case Held():
            return Finding(Verdict.OK, f"{it} is free to be taken: {holder} doesn't stand for it any more")
        case Awaiting():
            return Finding(Verdict.OK, f"{it} goes over to it when {holder} is deleted")
        case Refused():
            return Finding(Verdict.REFUSED, _owned(outcome.claim, asked.spec.holder, store.now()))
        case _:
            return Finding(
                Verdict.UNKNOWN, f"{it} is claimed by {holder}, and {outcome.why}: see to it that you may read that too"
            )


def _owned(claim: Claim, asker: Holder, now: datetime) -> str:
    since = claim.held_since
    new = since is None or now - since < GRACE
    yet = (
        f"; its owner has it for less than {GRACE.seconds} s, and whether it stays with that shows then" if new else ""
    )
    # Whoever reads claims may know whose they are.
    return conflicts.owned(claim, asker, Detail.FULL) + yet


def _moved(claim: Claim, identities: tuple[Identity, ...]) -> str:
    claimed = claim.spec.identity
    now = ", ".join(f"{each.fqn} in {each.account}" for each in identities)
    return (
        f"the resource owns {claimed.fqn} in {claimed.account.key}, but stands for {now} now: change the reference or "
        "provider back, or delete the resource and apply it again"
    )
