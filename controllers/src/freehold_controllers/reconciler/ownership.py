"""The claims of a resource: read live before anything is done, contested where admission hasn't done so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from freehold import conflicts
from freehold.claim_contest import Awaiting, Held, Refused, Undecided, acquire_all, spelt_otherwise
from freehold.claim_rules import GRACE
from freehold.claims import CLAIM, Claim, Holder, new_claim
from freehold.identity import Identity, Slot
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Key
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.surplus import surplus_of
from freehold_controllers.reconciler.finalizer import FINALIZER
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.services import Services


class Claimant(Protocol):
    """A resource that holds claims."""

    @property
    def key(self) -> Key: ...

    @property
    def holder(self) -> Holder: ...

    @property
    def fills_slots(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Owned:
    """What a resource holds.

    Attributes:
        holdings: the claims to all that it stands for, in their order.
        surplus: claims to slots that it doesn't ask for any more, and may have filled: to be taken away.
    """

    holdings: tuple[Holding, ...]
    surplus: tuple[Claim, ...] = ()


async def hold(services: Services, managed: Claimant, identities: Sequence[Identity], account_name: str) -> Owned:
    """Hold the claims to all that a resource stands for, or to nothing new.

    Args:
        services: the outside world.
        managed: the resource.
        identities: what it stands for now, sorted.
        account_name: ORGANIZATION.ACCOUNT.

    Raises:
        Stopped: another resource holds a claim, perhaps to hand it over; or this one holds another object already.
    """
    for each in identities:
        services.following.follow(managed.key, Key(CLAIM.kind, "", each.hash))
    read = await asyncio.gather(*(services.store.read(each.hash) for each in identities))
    wanted = [new_claim(each, account_name, managed.holder) for each in identities]
    ours = {
        claim.name: claim
        for claim, each in zip(read, wanted, strict=True)
        if claim is not None and claim.spec.holder.same(managed.holder) and not spelt_otherwise(claim.spec, each.spec)
    }
    asked = [each for each in wanted if each.name not in ours]
    surplus: Sequence[Claim] = ()
    if managed.fills_slots or asked or any(claim.spec.evidence is None for claim in ours.values()):
        # About to create or adopt: the claim pins the identity, so that an object which is ours already, under the name
        # that a reference or provider stood for earlier, stops everything.
        surplus = await _sort_out(services, managed, identities)
    outcome = await acquire_all(services.store, asked, dry_run=services.read_only)
    had = [each.claim for each in outcome if isinstance(each, Held)] if isinstance(outcome, tuple) else []
    if len(had) < len(asked):
        if len(identities) > 1:
            # All or nothing: what is held without use would be kept from others.
            await _give_up(services, await _listed(services, managed))
        raise Stopped(_refusal(services, managed, outcome))
    ours |= {claim.name: claim for claim in had}
    return Owned(
        tuple(Holding(services.store, ours[each.hash]) for each in identities),
        tuple(surplus),
    )


async def _sort_out(services: Services, managed: Claimant, identities: Sequence[Identity]) -> Sequence[Claim]:
    """Give up what a resource holds without use; answers with what is to be taken away."""
    found = surplus_of(await _held(services, managed, *(each.hash for each in identities)), identities)
    for each in found.pinned:
        pinned, now = each.spec.identity, identities[0]
        raise Stopped(
            Stop(
                Reason.IDENTITY_CHANGED,
                f"the resource owns {pinned.fqn} in account {pinned.account.name} ({pinned.account.key}), but computes "
                f"to {now.fqn} in {now.account} now: nothing is sent. Change the manifest, reference or provider back, "
                "or delete the resource and apply it again",
            )
        )
    await _give_up(services, found.idle)
    return found.filled


async def require_recorded(services: Services, managed: Managed, identity: Identity) -> None:
    """Wait until an object that a slot takes from whoever has made it is recorded as made by the resource that declares
    it: with another owner before that, it would be taken for a stranger's.

    Args:
        services: the outside world.
        managed: the resource of the slot.
        identity: of the slot.

    Raises:
        Stopped: it isn't recorded yet. The resource is woken when it may be.
    """
    moved = managed.kind.moves(identity.name) if isinstance(identity.name, Slot) else None
    if moved is None:
        return
    words, name = moved
    namespace_class = next((kind.object_class for kind in KINDS.values() if kind.object_type == words), words)
    object_ = Identity(identity.account, namespace_class, name)
    services.following.follow(managed.key, Key(CLAIM.kind, "", object_.hash))
    claim = await services.store.read(object_.hash)
    if claim is None or claim.spec.evidence is not None:
        return
    holder = claim.spec.holder
    services.following.follow(managed.key, Key(holder.kind, holder.namespace, holder.name))
    whose = str(holder) if holder.namespace == managed.object.namespace else f"a {holder.kind} in another namespace"
    message = f"{words.lower()} {object_.fqn} is declared by {whose}, which hasn't made it yet"
    raise Stopped(Stop(Reason.DEPENDENCY_NOT_READY, message, soon=True, brief=True))


async def _give_up(services: Services, claims: Iterable[Claim]) -> None:
    for each in claims if not services.read_only else ():
        if not each.spec.telling:
            await services.store.delete(each)


def _refusal(services: Services, managed: Claimant, outcome: tuple[Held | Awaiting, ...] | Refused | Undecided) -> Stop:
    """Why a claim isn't had; the resource is woken when its holder changes."""
    lacking = next(each for each in outcome if isinstance(each, Awaiting)) if isinstance(outcome, tuple) else outcome
    claim = lacking.claim
    services.following.follow(managed.key, _key_of_holder(claim))
    if isinstance(lacking, Awaiting):
        message = conflicts.awaited(claim, managed.holder, services.conflict_detail)
        return Stop(Reason.AWAITING_HAND_OVER, message)
    say = conflicts.contested if isinstance(lacking, Undecided) else conflicts.owned
    message = say(claim, managed.holder, services.conflict_detail)
    # Until then the claim binds whatever became of its holder, and nothing tells of the end of that.
    since = claim.held_since
    return Stop(Reason.CONFLICT_DETECTED, message, soon=since is not None and services.now - since < GRACE)


async def let_go(services: Services, managed: Managed) -> bool:
    """Give up what a resource holds that only watches by now; the objects stay as they are.

    Returns:
        Whether it holds nothing any more: what is unknown of an object, or under way, is not forgotten.
    """
    # Live while there is a finalizer: without it, nothing would bring us back to a claim that was overlooked.
    first = FINALIZER in managed.object.finalizers
    held = await (_listed(services, managed) if first else _held(services, managed))
    for each in held:
        if not each.spec.unsettled:
            await services.store.delete(each)
            if each.spec.evidence is not None:
                note = f"{each.spec.identity.fqn} is only observed from now on, and owned by no resource"
                services.tell(managed.object, Reason.RELEASED, note)
    return not any(each.spec.unsettled for each in held)


async def _held(services: Services, managed: Claimant, *known: str) -> Sequence[Claim]:
    """The claims of a resource; none, without a question, when it has no others than those that are known already."""
    # To list is to have the API server look at every claim there is.
    listed = services.reflectors[CLAIM.kind].synced.is_set()
    if listed and services.inventory.held_by(managed.holder) <= set(known):
        return ()
    return await _listed(services, managed)


async def _listed(services: Services, managed: Claimant) -> Sequence[Claim]:
    """The claims of a resource, live."""
    found = await services.store.of_holder(managed.holder)
    return [each for each in found if each.spec.holder.same(managed.holder)]


def _key_of_holder(claim: Claim) -> Key:
    holder = claim.spec.holder
    return Key(holder.kind, holder.namespace, holder.name)
