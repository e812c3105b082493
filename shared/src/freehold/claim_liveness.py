"""Whether claims still bind, on live reads of their holders; and the end of those that bind nobody."""

from __future__ import annotations

from dataclasses import dataclass

from freehold.claim_rules import Liveness, heir, liveness, sweepable
from freehold.claim_store import ClaimStore
from freehold.claims import Claim, Holder
from freehold.kinds.registry import KINDS
from freehold.kinds.resources import UTILITIES
from freehold.kube.errors import ApiError, Conflict
from freehold.resolve import stands_for


@dataclass(frozen=True, slots=True)
class Seen:
    """What a claim's holder is found to be.

    Attributes:
        exists: whether there is such a resource, whatever its uid; None when that isn't known.
        computes: whether it still computes to the claim's identity; None when that isn't known.
        heir: the resource that it lets in.
    """

    exists: bool | None = None
    computes: bool | None = None
    heir: Holder | None = None


async def look_at_holder(store: ClaimStore, claim: Claim) -> Seen:
    """What the holder of a claim is now; what can't be read isn't known."""
    holder = claim.spec.holder
    held_by = KINDS.get(holder.kind) or UTILITIES.get(holder.kind)
    if held_by is None or held_by.resource.path.group != holder.group:
        return Seen()
    try:
        resource = await store.get(held_by.resource.path, holder.namespace, holder.name)
    except ApiError:
        return Seen()
    if resource is None:
        return Seen(exists=False)
    computes = await stands_for(resource, claim.spec.identity.identity, store.get)
    return Seen(exists=True, computes=computes, heir=heir(holder, resource.annotations))


async def judge(store: ClaimStore, claim: Claim) -> Liveness:
    """Whether a claim still binds, on live reads of its holder and of what that refers to."""
    holder = await look_at_holder(store, claim)
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
