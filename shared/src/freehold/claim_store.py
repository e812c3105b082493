"""Claims in the API server: reading, compare-and-set, and the contest for one of them.

Nothing is cached and nothing is listed on the way to a decision: a POST decides, and a refusal rests on live reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from freehold.claims import (
    CLAIM,
    HOLDER_LABEL,
    OWNER_ANNOTATION,
    Claim,
    ClaimSpec,
    Holder,
    Liveness,
    heir,
    liveness,
    sweepable,
    take,
)
from freehold.kinds.registry import KINDS
from freehold.kube.client import Kube
from freehold.kube.errors import AlreadyExists, ApiError, Conflict, NotFound
from freehold.kube.objects import Object
from freehold.resolve import Get, live, stands_for

ATTEMPTS = 5
"""How often a claim that changes while it is decided about is looked at again."""

LOOKS = 8
"""Of several claims, how many are looked at at a time."""

ROLLBACK = 1.0
"""Seconds for giving claims back when not all could be had; a caller that has run out of time waits no longer."""


class ClaimStore:
    """The claims of one cluster.

    Every method raises `freehold.kube.errors.ApiError` when there is no answer.
    """

    def __init__(self, kube: Kube, *, get: Get | None = None, now: Callable[[], datetime] | None = None) -> None:
        """
        Args:
            kube: the API server.
            get: how resources are read; by default live, which every decision needs.
            now: the API server's time; by default the client's `server_time`.
        """
        self._kube = kube
        self.get: Get = get or live(kube)
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
        selector = f"{HOLDER_LABEL}={holder.label}"
        return tuple([claim async for page in self.pages(label_selector=selector) for claim in page])

    async def pages(self, *, label_selector: str | None = None) -> AsyncGenerator[tuple[Claim, ...], None]:
        """All claims, or those with a label, page by page: for people, since no decision waits for a list."""
        async for page in self._kube.list(CLAIM.path, label_selector=label_selector):
            yield tuple(_claim(each) for each in page.objects)


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
class Awaiting:
    """Somebody else does and lets the asker in: the claim becomes the asker's when that resource goes.

    Attributes:
        claim: as it stands.
    """

    claim: Claim


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


async def acquire(store: ClaimStore, asked: Claim, *, dry_run: bool = False) -> Held | Awaiting | Refused | Undecided:
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
) -> tuple[Held | Awaiting, ...] | Refused | Undecided:
    """Get hold of several claims or of none: in sorted order, and what was created is given back when one isn't had,
    whether it is refused, the API server fails or the caller is cancelled.

    Args:
        store: where claims are.
        asked: new claims of one asker.
        dry_run: read the same, write nothing.

    Raises:
        ApiError: as `acquire`.
    """
    asked = sorted(asked, key=lambda claim: claim.name)
    if dry_run or len(asked) > 1:
        # Looked at first: what was taken from a holder that is gone, its evidence with it, can't be given back.
        seen = await _look_at_all(store, asked)
        if dry_run or not isinstance(seen, tuple):
            return seen
    had: list[Held | Awaiting] = []
    complete = False
    try:
        for each in asked:
            outcome = await acquire(store, each)
            if isinstance(outcome, Refused | Undecided):
                return outcome
            had.append(outcome)
        complete = True
        return tuple(had)
    finally:
        if not complete:
            await _give_back(store, [each for each in had if isinstance(each, Held)])


async def _look_at_all(store: ClaimStore, asked: Sequence[Claim]) -> tuple[Held | Awaiting, ...] | Refused | Undecided:
    """What would come of asking for several claims, whose number must not use up the time of a request."""
    limit = asyncio.Semaphore(LOOKS)

    async def look(each: Claim) -> Held | Awaiting | Refused | Undecided:
        async with limit:
            return await acquire(store, each, dry_run=True)

    had: list[Held | Awaiting] = []
    for outcome in await asyncio.gather(*map(look, asked)):
        if isinstance(outcome, Refused | Undecided):
            return outcome
        had.append(outcome)
    return tuple(had)


async def _give_back(store: ClaimStore, held: Sequence[Held]) -> None:
    # What can't be deleted binds nobody once the grace is over.
    with suppress(TimeoutError):
        async with asyncio.timeout(ROLLBACK):
            for each in held:
                if each.how is How.CREATED and each.claim.uid:
                    with suppress(ApiError):
                        await store.delete(each.claim)


async def judge(store: ClaimStore, claim: Claim) -> Liveness:
    """Whether a claim still binds, on live reads of its holder and of what that refers to."""
    holder = await _look_at_holder(store, claim)
    return liveness(claim, store.now(), holder_exists=holder.exists, still_computes=holder.computes)


async def sweep(store: ClaimStore, name: str) -> bool:
    """Remove a claim that binds nobody and of whose object nothing is known.

    Args:
        store: where claims are.
        name: hash of the identity.

    Returns:
        Whether it was removed; a claim that is changed or taken meanwhile stays.

    Raises:
        ApiError: the API server doesn't let the claim itself be read or deleted.
    """
    claim = await store.read(name)
    if claim is None or not sweepable(claim, await judge(store, claim)):
        return False
    try:
        await store.delete(claim)
    except Conflict:
        return False
    return True


async def _contest(
    store: ClaimStore, found: Claim, asker: Holder, *, dry_run: bool
) -> Held | Awaiting | Refused | Undecided:
    """Decide by the live rule about a claim that is there."""
    holder = await _look_at_holder(store, found)
    if found.spec.holder.same(asker):
        if holder.exists and holder.computes:
            return Held(found, How.KEPT)
        # About to be created, or to compute to this identity again: the grace must count from this request on.
    else:
        match liveness(found, store.now(), holder_exists=holder.exists, still_computes=holder.computes):
            case Liveness.LIVE:
                return Awaiting(found) if holder.heir and holder.heir.same(asker) else Refused(found)
            case Liveness.UNKNOWN:
                return Undecided(found, f"it isn't known whether {found.spec.holder} still stands for it")
    if not dry_run:
        found = await store.replace(found, take(found, asker, store.now()))
    return Held(found, How.TAKEN)


@dataclass(frozen=True, slots=True)
class _Holder:
    """What a claim's holder is found to be.

    Attributes:
        exists: whether there is such a resource, whatever its uid; None when that isn't known.
        computes: whether it still computes to the claim's identity; None when that isn't known.
        heir: the resource that it lets in.
    """

    exists: bool | None = None
    computes: bool | None = None
    heir: Holder | None = None


async def _look_at_holder(store: ClaimStore, claim: Claim) -> _Holder:
    holder = claim.spec.holder
    kind = KINDS.get(holder.kind)
    if kind is None or kind.resource.path.group != holder.group:
        return _Holder()
    try:
        resource = await store.get(kind.resource.path, holder.namespace, holder.name)
    except ApiError:
        return _Holder()
    if resource is None:
        return _Holder(exists=False)
    computes = await stands_for(resource, claim.spec.identity.identity, store.get)
    return _Holder(exists=True, computes=computes, heir=heir(holder, resource.annotations))


def _claim(stored: Object) -> Claim:
    return Claim(
        name=stored.name,
        resource_version=stored.resource_version,
        uid=stored.uid,
        created=stored.created,
        spec=ClaimSpec.model_validate(stored.spec),
    )


def _body(claim: Claim, spec: ClaimSpec) -> dict[str, object]:
    metadata: dict[str, object] = {
        "name": claim.name,
        "labels": {HOLDER_LABEL: spec.holder.label},
        "annotations": {OWNER_ANNOTATION: spec.holder.owner},
    }
    if claim.uid:
        metadata |= {"uid": claim.uid, "resourceVersion": claim.resource_version}
    return {
        "apiVersion": CLAIM.path.api_version,
        "kind": CLAIM.kind,
        "metadata": metadata,
        "spec": spec.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
