"""The contest for claims: a POST decides, and a refusal rests on live reads; nothing is listed on the way to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from freehold.claim_liveness import look_at_holder
from freehold.claim_rules import Liveness, liveness, take
from freehold.claim_store import ClaimStore
from freehold.claims import Claim, ClaimSpec
from freehold.kube.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound

ATTEMPTS = 5
"""How often a claim that changes while it is decided about is looked at again."""

LOOKS = 8
"""Of several claims, how many are looked at at a time."""

ROLLBACK = 1.0
"""Seconds for giving claims back when not all could be had; a caller that has run out of time waits no longer."""


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
            if outcome := await _contest(store, found, asked, dry_run=dry_run):
                return outcome
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


def spelt_otherwise(claim: ClaimSpec, asked: ClaimSpec) -> bool:
    """Whether a claim has another name for a place than who asks for it, such as another type of constraint: statements
    go by that name, and it can't be changed. What tells of the asker's own object is kept as it is.

    Args:
        claim: as it stands.
        asked: as it would be made anew.
    """
    keeps = claim.telling and claim.holder.same(asked.holder)
    return not keeps and claim.identity.fqn != asked.identity.fqn


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


async def _contest(
    store: ClaimStore, found: Claim, asked: Claim, *, dry_run: bool
) -> Held | Awaiting | Refused | Undecided | None:
    """Decide by the live rule about a claim that is there; None when it has made way for another one."""
    asker = asked.spec.holder
    holder = await look_at_holder(store, found)
    if found.spec.holder.same(asker):
        if holder.exists and holder.computes and not spelt_otherwise(found.spec, asked.spec):
            return Held(found, How.KEPT)
        # About to be created, or to compute to this identity again: the grace must count from this request on.
    else:
        match liveness(found, store.now(), holder_exists=holder.exists, still_computes=holder.computes):
            case Liveness.LIVE:
                return Awaiting(found) if holder.heir and holder.heir.same(asker) else Refused(found)
            case Liveness.UNKNOWN:
                return Undecided(found, f"it isn't known whether {found.spec.holder} still stands for it")
    if not dry_run:
        if spelt_otherwise(found.spec, asked.spec):
            # Who may not delete it takes it as it is; the controllers, who may, ask again before they send anything.
            with suppress(Forbidden):
                await store.delete(found)
                return None
        found = await store.replace(found, take(found, asker, store.now()))
    return Held(found, How.TAKEN)
