"""Deleting a resource: what its claims prove to be ours is dropped, nothing else; then claim and finalizer go.

Nothing here needs the references, the permissions or the rest of the manifest: they may be gone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from freehold import planning
from freehold.claims import CLAIM, Claim, heir
from freehold.identity import Identity
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Key
from freehold.observation import Observation
from freehold.resolve import stands_for
from freehold.snowflake.errors import ErrorClass, SnowflakeError
from freehold_controllers.reconciler import finalizer
from freehold_controllers.reconciler.decision import (
    Absence,
    Drop,
    HandOver,
    Heir,
    Look,
    Record,
    Release,
    Stop,
    Subject,
)
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.removal import decide_deletion, hindrance, in_the_way, waits_for
from freehold_controllers.reconciler.services import Services

_CRDS = GroupResource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)

_ROUNDS = 4
"""Looks at an object that changes under our hands, until the next try."""

_FOLLOWED = 5
"""Children whose end is waited for at a time."""


async def delete(services: Services, managed: Managed) -> None:
    """Drop the object of a resource if it is ours, and let the resource go.

    Raises:
        Stopped: the object can't be dropped now.
    """
    if finalizer.FINALIZER not in managed.object.finalizers:
        await _release_unused_claims(services, managed)
        return
    path = managed.kind.resource.path
    # A kind that goes takes all its resources along, which nobody means for their objects. The claims stay and prove,
    # when kind and resources come back, whose the objects are.
    if not (await services.kube.get(_CRDS, f"{path.plural}.{path.group}")).deleting:
        for claim in await services.store.of_holder(managed.holder):
            if claim.spec.holder.same(managed.holder):
                await _delete_object(services, managed, claim)
    # Last: without it, nothing would bring us back to what is left.
    await finalizer.remove(services.kube, path, managed.object, services.manager)


async def _release_unused_claims(services: Services, managed: Managed) -> None:
    """Another's finalizer holds the resource, and ours was never set or is removed: nothing is known to be ours."""
    for claim in await services.store.of_holder(managed.holder):
        if claim.spec.holder.same(managed.holder) and not claim.spec.telling:
            await services.store.delete(claim)


async def _delete_object(services: Services, managed: Managed, claim: Claim) -> None:
    """Deal with one claim, as it was read live just now."""
    identity = claim.spec.identity.identity
    holding = Holding(services.store, claim)
    subject = Subject(
        kind=managed.kind,
        spec=managed.spec,
        target=managed.kind.target(identity.parts),
        claim=claim.spec,
        role="",
        abandoned=managed.abandoned,
        under_way=_under_way(services, claim),
        heir=await _heir(services, managed, identity),
    )
    decision = decide_deletion(subject, None)
    if isinstance(decision, Look):
        # Before any statement: what is declared inside may still need the log-in that we would only take up.
        _require(waits_for(subject, _children(services, managed, identity)))
        decision = await _look_and_drop(services, managed, holding, subject)
    if isinstance(decision, Release):
        if claim.spec.evidence and holding.spec.intent is None:
            services.tell(managed.object, Reason.RELEASED, decision.why)
        # The claim before the finalizer: after a crash here, the next pass finds no claim and goes straight on.
        await holding.give_up()
    elif isinstance(decision, HandOver):
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


def _under_way(services: Services, claim: Claim) -> Literal["CREATE", "DROP"] | None:
    """The statement of an earlier pass, or of another process, that may still have an effect."""
    mark, intent = claim.spec.mark, claim.spec.intent
    if intent is not None and services.attempts.under_way(claim.uid, "DROP"):
        return "DROP"
    if mark is not None and mark.since is not None and services.attempts.under_way(claim.uid, mark.attempt):
        return "CREATE"
    return None


async def _look_and_drop(services: Services, managed: Managed, holding: Holding, subject: Subject) -> Release | Stop:
    remote = await _remote(services, managed, holding)
    subject = replace(subject, role=remote.role)
    view = await remote.view_anyway()
    for _ in range(_ROUNDS):
        match decide_deletion(replace(subject, claim=holding.spec), view), view:
            case ((Record() as record), Observation() as seen):
                await holding.record(record.how, seen, remote.role, await remote.now())
            case Drop(), Observation() as seen:
                _require(await _hindrance(remote, managed, subject))
                view = await _drop(services, managed, holding, remote, seen)
            case ((Release() | Stop() as end), _):
                return end
    return Stop(Reason.DELETING, f"{subject} keeps changing")


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
    return services.remote(managed, login, managed.kind.target(identity.identity.parts))


async def _drop(
    services: Services, managed: Managed, holding: Holding, remote: Remote, seen: Observation
) -> Observation | Absence:
    """Send the plain DROP, and look what is there afterwards."""
    # The intent tells whoever finds the claim after a crash here that the object may be gone by our hand.
    await holding.intend_drop(seen.created_on)
    # Whatever was asked and written since the object was seen took its time.
    now = await remote.view_anyway()
    if isinstance(now, Absence) or now.created_on != seen.created_on:
        return now
    # One that gets no answer counts from now on.
    services.attempts.forget(holding.uid)
    try:
        await remote.send(planning.drop(remote.target))
    except SnowflakeError as error:
        if error.outcome_known:
            await holding.withdraw_drop()
        if error.error_class is not ErrorClass.MISSING:
            raise
        # "Does not exist or not authorized" proves nothing: only another look can.
        return await remote.view_anyway()
    services.tell(managed.object, Reason.DROPPED, f"{remote.target} was dropped")
    after = await remote.view_anyway()
    # Our own DROP has just said that this incarnation is gone.
    return Absence.PROVED if isinstance(after, Absence) else after


async def _hindrance(remote: Remote, managed: Managed, subject: Subject) -> Stop | None:
    wanted = in_the_way(remote.kind, force=managed.force_destroy)
    if not wanted:
        return None
    found = []
    for content in wanted:
        rows = await remote.query(content.query(remote.target))
        found.append((content, [content.name(row) for row in rows if content.counts(row)]))
    return hindrance(subject, found, complete=True) or hindrance(subject, found, complete=await remote.sees_all())


def _children(services: Services, managed: Managed, identity: Identity) -> list[str]:
    """The resources whose objects lie inside. We are woken when one of the first goes.

    Raises:
        Stopped: not all claims and resources are known yet.
    """
    for kind in (CLAIM.kind, *KINDS):
        if not services.reflectors[kind].synced.is_set():
            message = f"it isn't known yet what lies inside {identity.fqn}: resources of kind {kind} are still listed"
            raise Stopped(Stop(Reason.DELETING, message))
    found = [
        (name, Key(holder.kind, holder.namespace, holder.name))
        for name, holder in services.inventory.inside(identity)
        if (holder.namespace, holder.name) in services.reflectors[holder.kind].store
    ]
    for name, key in found[:_FOLLOWED]:
        services.following.follow(managed.key, Key(CLAIM.kind, "", name))
        services.following.follow(managed.key, key)
    here = managed.object.namespace
    return [str(key) if key.namespace == here else f"a {key.kind} in another namespace" for _, key in found]


def _require(stop: Stop | None) -> None:
    if stop is not None:
        raise Stopped(stop)
