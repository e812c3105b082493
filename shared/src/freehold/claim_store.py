"""Claims in the API server: reading, compare-and-set, and the contest for one of them.

Nothing is cached and nothing is listed on the way to a decision: a POST decides, and a refusal rests on live reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from freehold.claims import CLAIM, HOLDER_LABEL, Claim, ClaimSpec, Holder, Liveness, liveness, take
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.errors import AlreadyExists, ApiError, Conflict, NotFound
from freehold.kube.objects import Object
from freehold.resolve import Get, live, stands_for

ATTEMPTS = 5
"""How often a claim that changes while it is decided about is looked at again."""


class ClaimStore:
    """The claims of one cluster.

    Every method raises `freehold.kube.errors.ApiError` when there is no answer.
    """

    def __init__(self, kube: Kube, *, now: Callable[[], datetime] | None = None) -> None:
        """
        Args:
            kube: the API server.
            now: the API server's time; by default the client's `server_time`.
        """
        self._kube = kube
        self.get: Get = live(kube)
        self.now = now or (lambda: kube.server_time)

    async def read(self, name: str) -> Claim | None:
        """The claim of a hash as it stands now."""
        try:
            return _claim(await self._kube.get(CLAIM.path, name))
        except NotFound:
            return None

    async def create(self, claim: Claim) -> Claim:
        """Store a new claim: the hash is its name, so etcd decides who comes first.

        Raises:
            AlreadyExists: somebody did.
        """
        return _claim(await self._kube.create(CLAIM.path, _body(claim, claim.spec)))

    async def replace(self, claim: Claim, spec: ClaimSpec) -> Claim:
        """Change a claim by compare-and-set.

        Raises:
            Conflict: it changed since it was read.
            NotFound: it is gone.
        """
        return _claim(await self._kube.replace(CLAIM.path, _body(claim, spec)))

    async def delete(self, claim: Claim) -> None:
        """Remove a claim exactly as it was read; one that is gone already is fine.

        Raises:
            Conflict: it changed since it was read.
        """
        with suppress(NotFound):
            await self._kube.delete(CLAIM.path, claim.name, uid=claim.uid, resource_version=claim.resource_version)

    async def of_holder(self, holder: Holder) -> tuple[Claim, ...]:
        """All claims that a resource holds, whatever its identity may be by now."""
        pages = self._kube.list(CLAIM.path, label_selector=f"{HOLDER_LABEL}={holder.label}")
        return tuple([_claim(each) async for page in pages for each in page.objects])


class How(Enum):
    """How a claim came to be held."""

    CREATED = "created"
    TAKEN = "taken"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Held:
    """The asker holds the claim.

    Attributes:
        claim: as it stands; in a dry run as it stood, or as it would be created.
        how: how the asker came to hold it.
    """

    claim: Claim
    how: How


@dataclass(frozen=True, slots=True)
class Refused:
    """Somebody else does, and is known to.

    Attributes:
        claim: as it stands.
    """

    claim: Claim


@dataclass(frozen=True, slots=True)
class Undecided:
    """Whether somebody else does is not known; such a claim is never taken.

    Attributes:
        claim: as it stands.
        why: what is not known.
    """

    claim: Claim
    why: str


async def acquire(store: ClaimStore, asked: Claim, *, dry_run: bool = False) -> Held | Refused | Undecided:
    """Get hold of one claim.

    Args:
        store: where claims are.
        asked: the new claim (`claims.new_claim`), which names the asker.
        dry_run: read the same, write nothing.

    Raises:
        ApiError: the API server doesn't let the claim itself be read or written.
    """
    found = asked
    for _ in range(ATTEMPTS):
        try:
            if not dry_run:
                return Held(await store.create(asked), How.CREATED)
        except AlreadyExists:
            pass
        current = await store.read(asked.name)
        if current is None:
            if dry_run:
                return Held(asked, How.CREATED)
            continue
        found = current
        with suppress(Conflict, NotFound):
            return await _contest(store, found, asked.spec.holder, dry_run=dry_run)
    return Undecided(found, "its claim kept changing")


async def acquire_all(
    store: ClaimStore, asked: Sequence[Claim], *, dry_run: bool = False
) -> tuple[Held, ...] | Refused | Undecided:
    """Get hold of several claims or of none: in sorted order, and what was created is given back when one is refused.

    Args:
        store: where claims are.
        asked: new claims of one asker.
        dry_run: read the same, write nothing.

    Raises:
        ApiError: as `acquire`.
    """
    held: list[Held] = []
    for each in sorted(asked, key=lambda claim: claim.name):
        outcome = await acquire(store, each, dry_run=dry_run)
        if not isinstance(outcome, Held):
            await _give_back(store, held)
            return outcome
        held.append(outcome)
    return tuple(held)


async def _give_back(store: ClaimStore, held: Sequence[Held]) -> None:
    for each in held:
        if each.how is How.CREATED and each.claim.uid:
            # What can't be deleted binds nobody once the grace is over.
            with suppress(ApiError):
                await store.delete(each.claim)


async def _contest(store: ClaimStore, found: Claim, asker: Holder, *, dry_run: bool) -> Held | Refused | Undecided:
    """Decide by the live rule about a claim that is there."""
    exists, computes = await _look_at_holder(store, found)
    if found.spec.holder.same(asker):
        if exists and computes:
            return Held(found, How.KEPT)
        # About to be created, or to compute to this identity again: the grace must count from this request on.
    else:
        match liveness(found, store.now(), holder_exists=exists, still_computes=computes):
            case Liveness.LIVE:
                return Refused(found)
            case Liveness.UNKNOWN:
                return Undecided(found, f"it isn't known whether {found.spec.holder} still stands for it")
    if not dry_run:
        found = await store.replace(found, take(found, asker, store.now()))
    return Held(found, How.TAKEN)


async def _look_at_holder(store: ClaimStore, claim: Claim) -> tuple[bool | None, bool | None]:
    """Whether a claim's holder exists and whether it still computes to the claim's identity, as `liveness` asks."""
    holder = claim.spec.holder
    kind = KINDS.get(holder.kind)
    if kind is None:
        return None, None
    try:
        resource: Object | None = await store.get(kind.resource.path, holder.namespace, holder.name)
    except ApiError:
        return None, None
    if resource is None:
        return False, None
    return True, await stands_for(resource, claim.spec.identity.identity, store.get)


def _claim(stored: Object) -> Claim:
    return Claim(
        name=stored.name,
        resource_version=stored.resource_version,
        uid=stored.uid,
        created=stored.created,
        spec=ClaimSpec.model_validate(stored.spec),
    )


def _body(claim: Claim, spec: ClaimSpec) -> dict[str, object]:
    metadata: dict[str, object] = {"name": claim.name, "labels": {HOLDER_LABEL: spec.holder.label}}
    if claim.uid:
        metadata |= {"uid": claim.uid, "resourceVersion": claim.resource_version}
    return {
        "apiVersion": CLAIM.path.api_version,
        "kind": CLAIM.kind,
        "metadata": metadata,
        "spec": spec.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
