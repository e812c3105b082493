"""Deleting a resource: what its claims prove to be ours is dropped, nothing else; then claim and finalizer go.

Nothing here needs the references, the permissions or the rest of the manifest: they may be gone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from freehold import fingerprint, planning
from freehold.claim_rules import heir
from freehold.claims import Claim, Holder
from freehold.identity import Identity
from freehold.kube.objects import Key
from freehold.lifecycle.decision import (
    Drop,
    HandOver,
    Heir,
    Look,
    Record,
    Release,
    Stop,
    Subject,
)
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.removal import decide_deletion, taken_along, waits_for
from freehold.observation import Observation
from freehold.resolve import stands_for
from freehold_controllers.reconciler import dropping, finalizer, standstill
from freehold_controllers.reconciler.batch import all_of
from freehold_controllers.reconciler.creation import with_owner
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped, require
from freehold_controllers.reconciler.rehearsal import withheld, withheld_end, withheld_release
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.services import Services

_ROUNDS = 4
"""Looks at an object that changes under our hands, until the next try."""


async def delete(services: Services, managed: Managed) -> None:
    """Drop the object of a resource if it is ours, and let the resource go.

    Raises:
        Stopped: the object can't be dropped now.
    """
    # Whoever set it dealt with the object before removing it; who never did so has sent nothing.
    if finalizer.FINALIZER not in managed.object.finalizers:
        if not services.read_only:
            await _release_unused_claims(services, managed)
        return
    path = managed.kind.resource.path
    # A kind that goes takes all its resources along, which nobody means for their objects. The claims stay and prove,
    # when kind and resources come back, whose the objects are.
    # Whoever abandons the object gives that up, and needs no answer.
    if managed.abandoned or not await dropping.kind_goes(services, path):
        held = await services.store.of_holder(managed.holder)
        ours = [each for each in held if each.spec.holder.same(managed.holder)]
        await all_of([partial(take_away, services, managed, each) for each in ours])
    if services.read_only:
        raise Stopped(withheld_release())
    # Last: without it, nothing would bring us back to what is left.
    await finalizer.remove(services.kube, path, managed.object, services.manager)


async def _release_unused_claims(services: Services, managed: Managed) -> None:
    """Another's finalizer holds the resource, and ours was never set or is removed: nothing is known to be ours."""
    for claim in await services.store.of_holder(managed.holder):
        if claim.spec.holder.same(managed.holder) and not claim.spec.telling:
            await services.store.delete(claim)


async def take_away(services: Services, managed: Managed, claim: Claim) -> None:
    """Deal with one claim of a resource that goes, or to a slot that a resource doesn't ask for any more.

    Args:
        services: the outside world.
        managed: the resource.
        claim: as it was read live just now.

    Raises:
        Stopped: what is claimed can't be taken away now.
        SnowflakeError: Snowflake said no, or didn't answer.
    """
    identity = claim.spec.identity.identity
    holding = Holding(services.store, claim)
    subject = Subject(
        kind=managed.kind,
        spec=managed.spec,
        target=managed.kind.target_of(identity.name),
        claim=claim.spec,
        role="",
        under_way=dropping.under_way(services, claim.uid, claim.spec, managed),
        heir=await _heir(services, managed, identity),
    )
    subject = await dropping.with_wishes(services, managed, subject)
    decision = decide_deletion(subject, None)
    if isinstance(decision, Look):
        # Before any statement: what is declared inside may still need the log-in that we would only take up.
        require(waits_for(subject, dropping.children(services, managed, identity)))
        decision = await _look_and_drop(services, managed, holding, subject)
    if services.read_only and isinstance(decision, Release | HandOver):
        require(withheld_end(subject, decision))
    elif isinstance(decision, Release):
        if claim.spec.evidence and holding.spec.intent is None:
            services.tell(managed.object, Reason.RELEASED, decision.why)
        # The claim before the finalizer: after a crash here, the next pass finds no claim and goes straight on.
        await holding.give_up()
    elif isinstance(decision, HandOver):
        await _hold(services, managed, decision.to)
        # After a crash here the next pass finds the claim to be another's.
        await holding.hand_over(decision.to)
        services.tell(managed.object, Reason.HANDED_OVER, f"{subject} stays in Snowflake: {decision.to} owns it now")
    elif isinstance(decision, Stop):
        raise Stopped(decision)


async def _heir(services: Services, managed: Managed, identity: Identity) -> Heir | None:
    """Who is to have an object, on live reads: what is given away can't be had back."""
    named = heir(managed.holder, managed.object.annotations)
    if named is None:
        return None
    services.following.follow(managed.key, Key(named.kind, named.namespace, named.name))
    found = await services.store.get(managed.kind.resource.path, named.namespace, named.name)
    if found is None or found.deleting:
        return Heir(named, ready=False)
    ready = await stands_for(found, identity, services.store.get)
    return Heir(named.model_copy(update={"uid": found.uid}), ready=ready is True)


async def _hold(services: Services, managed: Managed, to: Holder) -> None:
    """Hold an heir that may never have been worked on: deleted before that, it would leave what it was given behind."""
    path = managed.kind.resource.path
    await finalizer.add(services.kube, path, await services.kube.get(path, to.name, to.namespace), services.manager)


async def _look_and_drop(services: Services, managed: Managed, holding: Holding, subject: Subject) -> Release | Stop:
    remote = await _remote(services, managed, holding)
    if not services.read_only:
        await standstill.end(remote, holding)
    subject = replace(subject, role=remote.role)
    view = await remote.view_anyway(holding.spec.evidence)
    for _ in range(_ROUNDS):
        view = await with_owner(remote, holding.spec, view)
        match decide_deletion(replace(subject, claim=holding.spec), view), view:
            case ((Record() | Drop()), Observation() as seen) if services.read_only:
                require(await dropping.hindrance_of(services, managed, remote, subject))
                planned = planning.drop(managed.kind, subject.target, seen.row, force=managed.force_destroy)
                return withheld([planned], await _consequence(remote, seen))
            case ((Record() as record), Observation() as seen):
                # Before the DROP, which only evidence allows: after a crash here it is ours without a doubt.
                held = fingerprint.held(managed.kind, seen)
                await holding.record(record.how, seen, remote.role, await remote.now(), holds=held)
            case Drop(), Observation() as seen:
                # All that may be in the way before the intent: what has to wait leaves none.
                require(await dropping.hindrance_of(services, managed, remote, subject))
                view = await dropping.drop(services, managed, holding, remote, seen)
            case ((Release() | Stop() as end), _):
                return end
    return Stop(Reason.DELETING, f"{subject} keeps changing")


async def _consequence(remote: Remote, seen: Observation) -> str:
    """What a REVOKE does that it doesn't say itself."""
    manages_grants = remote.target.slot is not None and await remote.holds_on_account("MANAGE GRANTS")
    return taken_along(remote.role, seen, manages_grants=manages_grants)


async def _remote(services: Services, managed: Managed, holding: Holding) -> Remote:
    """The claimed object, by way of the present ProviderConfig, which must lead to the same account."""
    identity = holding.spec.identity
    login = await services.providers.login(managed.key, *managed.provider)
    if login.account.key != identity.account.key:
        raise Stopped(
            Stop(
                Reason.ACCOUNT_CHANGED,
                f"{identity.fqn} lives in account {identity.account.name} ({identity.account.key}), but ProviderConfig "
                f"{'/'.join(managed.provider)} leads to {login.account.name} ({login.account.key})",
            )
        )
    return services.remote(managed, login, managed.kind.target_of(identity.identity.name))
