"""The claim of a resource: read live before anything is done, contested where admission hasn't done so."""

from __future__ import annotations

from collections.abc import Sequence

from freehold import conflicts
from freehold.claim_store import Awaiting, Held, Undecided, acquire
from freehold.claims import CLAIM, GRACE, Claim, new_claim
from freehold.identity import Identity
from freehold.kube.objects import Key
from freehold_controllers.reconciler.decision import Stop
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.services import Services


async def hold(services: Services, managed: Managed, identity: Identity, account_name: str) -> Holding:
    """Hold the claim to an object.

    Args:
        services: the outside world.
        managed: the resource.
        identity: the object that it stands for now.
        account_name: ORGANIZATION.ACCOUNT.

    Raises:
        Stopped: another resource holds it, perhaps to hand it over; or this one holds another object already.
    """
    services.following.follow(managed.key, Key(CLAIM.kind, "", identity.hash))
    claim = await services.store.read(identity.hash)
    ours = claim is not None and claim.spec.holder.same(managed.holder)
    if claim is not None and ours and claim.spec.evidence is not None:
        return Holding(services.store, claim)
    # About to create or adopt: the claim pins the identity, so that an object which is ours already, under the name
    # that a reference or provider stood for earlier, stops everything.
    await _let_go_of_others(services, managed, identity)
    if claim is not None and ours:
        return Holding(services.store, claim)
    outcome = await acquire(services.store, new_claim(identity, account_name, managed.holder))
    if isinstance(outcome, Held):
        return Holding(services.store, outcome.claim)
    services.following.follow(managed.key, _key_of_holder(outcome.claim))
    if isinstance(outcome, Awaiting):
        message = conflicts.awaited(outcome.claim, managed.holder, services.conflict_detail)
        raise Stopped(Stop(Reason.AWAITING_HAND_OVER, message))
    say = conflicts.contested if isinstance(outcome, Undecided) else conflicts.owned
    message = say(outcome.claim, managed.holder, services.conflict_detail)
    # Until then the claim binds whatever became of its holder, and nothing tells of the end of that.
    since = outcome.claim.held_since
    raise Stopped(Stop(Reason.CONFLICT_DETECTED, message, soon=since is not None and services.now - since < GRACE))


async def let_go(services: Services, managed: Managed) -> bool:
    """Give up what a resource holds that only watches by now; the objects stay as they are.

    Returns:
        Whether it holds nothing any more: what is unknown of an object, or under way, is not forgotten.
    """
    held = await _held(services, managed)
    for each in held:
        if not each.spec.unsettled:
            await services.store.delete(each)
            if each.spec.evidence is not None:
                note = f"{each.spec.identity.fqn} is only observed from now on, and owned by no resource"
                services.tell(managed.object, Reason.RELEASED, note)
    return not any(each.spec.unsettled for each in held)


async def _let_go_of_others(services: Services, managed: Managed, identity: Identity) -> None:
    for each in await _held(services, managed, identity.hash):
        if each.name == identity.hash:
            continue
        if each.spec.telling:
            pinned = each.spec.identity
            raise Stopped(
                Stop(
                    Reason.IDENTITY_CHANGED,
                    f"the resource owns {pinned.fqn} in account {pinned.account.name} ({pinned.account.key}), but "
                    f"computes to {identity.fqn} in {identity.account} now: nothing is sent. Change the reference or "
                    "provider back, or delete the resource and apply it again",
                )
            )
        await services.store.delete(each)


async def _held(services: Services, managed: Managed, *known: str) -> Sequence[Claim]:
    """The claims of a resource; none, without a question, when it has no others than those that are known already."""
    # To list is to have the API server look at every claim there is.
    listed = services.reflectors[CLAIM.kind].synced.is_set()
    if listed and services.inventory.held_by(managed.holder) <= set(known):
        return ()
    found = await services.store.of_holder(managed.holder)
    return [each for each in found if each.spec.holder.same(managed.holder)]


def _key_of_holder(claim: Claim) -> Key:
    holder = claim.spec.holder
    return Key(holder.kind, holder.namespace, holder.name)
