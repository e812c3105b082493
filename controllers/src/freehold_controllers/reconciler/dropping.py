"""Dropping an object that is provably ours: what has to go first, what stands in the way, and the DROP itself.

The object of a resource that goes and the one that is recreated are dropped alike.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Literal

from freehold import planning
from freehold.claims import CLAIM, ClaimSpec
from freehold.identity import Identity
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kinds.steps import Clearance
from freehold.kube.errors import Forbidden, NotFound
from freehold.kube.objects import DEFINITIONS, Key
from freehold.lifecycle import lock_out, wishes
from freehold.lifecycle.decision import Absence, Stop, Subject
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.removal import (
    granted_by,
    in_use,
    kept_by_others,
    kept_on_purpose,
    not_taken_back,
    waits_for,
)
from freehold.observation import Observation
from freehold.snowflake.contents import hindrance_inside, names
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.reconciler import drop_cap, standstill
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed, status_of
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.services import Services

_log = logging.getLogger(__name__)

_FOLLOWED = 5
"""Children whose end is waited for at a time."""


async def kind_goes(services: Services, path: GroupResource) -> bool:
    """Whether the kind's definition is being deleted, which takes all resources along and means no object.

    Raises:
        Stopped: it can't be read.
    """
    name = path.definition
    try:
        return (await services.kube.get(DEFINITIONS, name)).deleting
    except (Forbidden, NotFound) as error:
        message = (
            f"it can't be told whether kind {path.kind} itself is being deleted, which is to spare all objects:"
            f" {error.message}. Let Freehold read CustomResourceDefinition {name}"
        )
        raise Stopped(Stop(Reason.DELETE_BLOCKED, message, soon=True)) from error


async def with_wishes(services: Services, managed: Managed, subject: Subject) -> Subject:
    """As `freehold.lifecycle.wishes.with_wishes`. A live read: what is dropped can't be had back."""
    services.following.follow(managed.key, Key(PROVIDER_CONFIG.kind, *managed.provider))
    config = await services.store.get(PROVIDER_CONFIG.path, *managed.provider)
    return wishes.with_wishes(subject, managed.holder, managed.object.annotations, config)


def under_way(
    services: Services, uid: str, claim: ClaimSpec, managed: Managed
) -> Literal["CREATE", "DROP", "CREATE OR ALTER"] | None:
    """The statement of an earlier pass, or of another process, that may still have an effect."""
    limit = managed.kind.statement_limit
    if claim.intent is not None and services.attempts.under_way(uid, "DROP", limit):
        return "DROP"
    mark = claim.mark
    if mark is not None and mark.since is not None and services.attempts.under_way(uid, mark.attempt, limit):
        return "CREATE"
    wholly = claim.evidence is not None and (managed.kind.redefined or managed.spec.management_policies.create_or_alter)
    return "CREATE OR ALTER" if wholly and services.attempts.under_way(uid, "CREATE OR ALTER", limit) else None


def children(services: Services, managed: Managed, identity: Identity) -> list[str]:
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


async def hindrance_of(services: Services, managed: Managed, remote: Remote, subject: Subject) -> Stop | None:
    """What stands in the way of a DROP that is decided."""
    if stop := _logged_in_as(services, remote, subject):
        return stop
    # Before any statement: whoever waits for room comes by again and again.
    if stop := drop_cap.hindrance(services, managed):
        return stop
    if foreign := (await _clearance(managed, remote)).foreign:
        return kept_by_others(subject, foreign)
    return await hindrance_inside(remote, subject, force=managed.force_destroy)


def _logged_in_as(services: Services, remote: Remote, subject: Subject) -> Stop | None:
    if subject.kind.locks_out is None or subject.claim is None:
        return None
    account = subject.claim.identity.account.key
    configs = services.reflectors[PROVIDER_CONFIG.kind].store.values()
    users = {each.status.get("user") for each in configs if (each.status.get("account") or {}).get("key") == account}
    return lock_out.by_drop(subject.kind, subject.target, {remote.user, *users})


async def require_way(
    services: Services, managed: Managed, identity: Identity, remote: Remote, subject: Subject
) -> None:
    """Look for what keeps an object from being recreated: all that would, if its resource went.

    Raises:
        Stopped: something is in the way.
    """
    if await kind_goes(services, managed.kind.resource.path):
        stop: Stop | None = Stop(Reason.DELETE_BLOCKED, f"the definition of kind {managed.kind.name} is being deleted")
    elif kept := kept_on_purpose(wished := await with_wishes(services, managed, subject)) or wished.unclear:
        stop = Stop(Reason.DELETE_BLOCKED, f"{subject} stays: {kept}")
    else:
        inside = children(services, managed, identity)
        stop = waits_for(subject, inside) or await hindrance_of(services, managed, remote, subject)
    if stop is not None:
        raise Stopped(replace(stop, message=f"not dropped and created anew yet: {stop.message}"))


async def drop(
    services: Services,
    managed: Managed,
    holding: Holding,
    remote: Remote,
    seen: Observation,
    statement: Literal["DROP", "RECREATE"] = "DROP",
) -> Observation | Absence:
    """Send the plain DROP, and look what is there afterwards.

    Args:
        services: the outside world.
        managed: the resource.
        holding: its claim, whose evidence speaks of what was seen.
        remote: the object.
        seen: the incarnation that is to go.
        statement: what the intent says of it: whether another object follows under the same name.

    Raises:
        Stopped: too much was dropped in the past hour; or it has had no effect.
        SnowflakeError: it was refused, and the intent is withdrawn; or it may still be under way, as the intent says.
    """
    # Before the intent, so that what has to wait leaves none; one that is counted in vain after a crash does no harm.
    counted = await drop_cap.spend(services, managed)
    # The intent tells whoever finds the claim after a crash here that the object may be gone by our hand.
    await holding.intend(statement, seen.created_on)
    # Whatever was asked and written since the object was seen took its time.
    now = await remote.view_anyway(holding.spec.evidence)
    if not remote.is_same(now, seen):
        await _take_back(services, managed, holding, counted, now)
        return now
    # One that gets no answer counts from now on.
    services.attempts.begin(holding.uid, "DROP")
    try:
        for step in (await _clearance(managed, remote)).steps:
            await remote.take(step)
        async with _prepared(remote, holding):
            with remote.as_owner(seen):
                await remote.send(planning.drop(remote.kind, remote.target, seen.row, force=managed.force_destroy))
    except SnowflakeError as error:
        if not error.outcome_known:
            raise
        services.attempts.over(holding.uid, "DROP")
        # "Does not exist or not authorized" proves nothing: only another look can.
        missing = error.error_class is ErrorClass.MISSING
        now = await remote.view_anyway(holding.spec.evidence) if missing else seen
        await _take_back(services, managed, holding, counted, now)
        if remote.is_same(now, seen):
            raise await explained(remote, error) from error
        return now
    services.attempts.over(holding.uid, "DROP")
    after = await remote.view_anyway(holding.spec.evidence)
    if isinstance(after, Observation) and remote.is_same(after, seen):
        # REVOKE succeeds, too, where it takes nothing back: what others have granted.
        await _take_back(services, managed, holding, counted, after)
        raise Stopped(not_taken_back(remote.target, remote.role, after))
    services.tell(managed.object, Reason.DROPPED, f"{remote.target} was dropped{granted_by(seen)}")
    # Our own DROP has just said that this incarnation is gone.
    return Absence.PROVED if isinstance(after, Absence) else after


async def _clearance(managed: Managed, remote: Remote) -> Clearance:
    """What is to be taken off an object first."""
    kind, sent = remote.kind, status_of(managed.object).tracked_parameters or {}
    if kind.clear is None or kind.cleared not in sent:
        return Clearance()
    (field,) = (each for each in kind.fields if each.name == kind.cleared)
    rows = [row for detail in field.facts.details for row in await remote.query(kind.details[detail](remote.target))]
    return kind.clear(remote.target, tuple(rows), sent.keys())


@asynccontextmanager
async def _prepared(remote: Remote, holding: Holding) -> AsyncIterator[None]:
    """What hangs together with an object is made ready for its DROP, and put back, whatever comes of that."""
    kind = remote.kind
    rows = await remote.query(kind.details[kind.surroundings](remote.target)) if kind.around_drop else ()
    steps = kind.around_drop(remote.target, rows) if kind.around_drop else ()
    await holding.suspend(standstill.of(steps))
    try:
        for step in steps:
            if not step.resumes:
                await remote.take(step)
        yield
    finally:
        try:
            await standstill.end(remote, holding)
        except SnowflakeError as error:
            # Whether the object is gone must be told all the same, and the claim tells the next pass of this.
            _log.warning("not all runs again after a DROP: %s", error)


async def explained(remote: Remote, refusal: SnowflakeError) -> Exception:
    """Why a DROP was refused: by what uses the object, where that can be told; else the refusal itself."""
    if refusal.error_class is not ErrorClass.CONFLICT:
        return refusal
    for content in (each for each in remote.kind.content if each.refused):
        # The refusal says enough where this can't be asked, such as without a warehouse.
        with suppress(SnowflakeError):
            if found := await names(remote, content):
                return Stopped(in_use(remote.target, content, found))
    return refusal


async def _take_back(
    services: Services, managed: Managed, holding: Holding, counted: datetime | None, now: Observation | Absence
) -> None:
    """Write that the intended DROP has had no effect."""
    services.attempts.over(holding.uid, "DROP")
    await drop_cap.give_back(services, managed, counted)
    intent = holding.spec.intent
    # What was to be recreated and has gone by another's hand is to be made anew all the same: so the user has ordered.
    if not (intent and intent.statement == "RECREATE" and isinstance(now, Absence)):
        await holding.withdraw()
