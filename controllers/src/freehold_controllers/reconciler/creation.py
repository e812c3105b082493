"""Creating an object: Snowflake's answer to the plain CREATE decides who comes first; a mark tells of the attempt."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TypeVar

from freehold import fingerprint, planning
from freehold.claims import ClaimSpec
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.steps import Step
from freehold.lifecycle.decision import Hidden, Stop, View, attempt_unknown
from freehold.lifecycle.reasons import Reason
from freehold.observation import Observation
from freehold.snowflake import birth
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import NAME_TAKEN, SnowflakeError
from freehold.snowflake.preflight import missing_parent, missing_sight
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.outcome import Stopped, require
from freehold_controllers.reconciler.remote import Remote

V = TypeVar("V")

_log = logging.getLogger(__name__)


async def create(
    remote: Remote, holding: Holding, spec: SnowflakeSpec, *, within: timedelta, force_new: str | None = None
) -> View:
    """Try to create the object.

    Args:
        remote: the object.
        holding: its claim.
        spec: what it is to be.
        within: how long after its mark an attempt may still have an effect.
        force_new: the order to recreate it that the resource carries.

    Returns:
        What is there now: with evidence in the claim when the CREATE succeeded, without when the name was taken.

    Raises:
        SnowflakeError: it was refused for another reason than its name, or may have succeeded: the mark says so until
            it is found out.
        Stopped: it isn't tried, since what is to contain the object isn't there; or it succeeded, but the object isn't
            ours.
    """
    earlier = holding.spec.mark
    # Before the mark: what can't be put into a statement is no attempt.
    statement = planning.create(remote.kind, remote.target, spec)
    if holding.spec.evidence is None:
        require(await missing_parent(remote, spec))
        require(await missing_sight(remote))
    # Without the mark, an object that this attempt made before a crash would be taken for a stranger's.
    put = fingerprint.put(remote.kind, spec)
    await holding.begin_attempt(await remote.now(), within, put)
    if remote.target.slot is not None and (seen := await remote.look("shallow")) is not None:
        # GRANT succeeds, too, where somebody has granted the same since the slot was seen empty.
        await holding.refuse_attempt(earlier)
        return seen
    try:
        await remote.send(statement)
    except SnowflakeError as error:
        if not error.outcome_known:
            raise
        # Written before anything else is looked at: what is there now can't be from this attempt. After a crash right
        # here the attempt counts as unknown, which an object older than it can't be mistaken for.
        await holding.refuse_attempt(earlier)
        if error.number not in NAME_TAKEN:
            error.remedy = _remedy(remote, error) or error.remedy
            raise
        _log.info("%s: %s", remote.target, error)
        return await remote.look("deep") or Hidden()
    # At once, since it is created_on and owner that make the object ours: after a crash here, the mark and these tell.
    seen = await remote.look("shallow")
    if seen is None and remote.target.slot is not None:
        raise Stopped(Stop(Reason.RECONCILE_ERROR, f"{remote.target} was accepted by Snowflake, and isn't shown"))
    seen = await birth.owned(remote, seen) if seen and seen.dated else None
    if seen is None or (remote.target.slot is None and seen.owner != remote.role):
        raise Stopped(_taken_at_birth(remote, seen))
    # Of a slot what we have put there: somebody else may have been quicker than our look.
    await holding.record("created", seen, remote.role, await remote.now(), force_new=force_new, holds=put)
    await _finish(remote, holding, spec)
    return await remote.view("deep", holding.spec.evidence)


async def with_owner(remote: Remote, claim: ClaimSpec, view: V) -> V | Observation:
    """What was seen, with the owner of what an attempt of unknown outcome may have made: it tells whether it has."""
    if isinstance(view, Observation) and attempt_unknown(claim):
        return await birth.owned(remote, view)
    return view


def _remedy(remote: Remote, error: SnowflakeError) -> str:
    """What helps when a role may not fill a slot, or not create an object in what is to contain it, which is the one
    that is named then."""
    if error.error_class is not ErrorClass.PERMISSION:
        return ""
    if remote.kind.filling and remote.target.slot:
        return remote.kind.filling.refused(remote.target.slot)
    if f"operate on {remote.kind.level.name.lower()} " not in error.message:
        return ""
    if role := remote.kind.created_by:
        return f"Only {role} may: name it in useRole, and in allowedRoles of the ProviderConfig."
    return f"Run {planning.grant_to_create(remote.kind, remote.target, remote.role)}."


async def _finish(remote: Remote, holding: Holding, spec: SnowflakeSpec) -> None:
    """The steps that belong to the birth of an object. They are lost in a crash, for later they could hit what others
    have made in the meantime."""
    for step in remote.kind.after_create(remote.target, spec) if remote.kind.after_create else ():
        try:
            if await remote.needs(step):
                await _take(remote, holding, step)
        except SnowflakeError as error:
            _log.warning("%s was left out after creation: %s", step.statement, error)


async def _take(remote: Remote, holding: Holding, step: Step) -> None:
    """Take a step, unless what it acts on is somebody's by now: the object is known to all since it was created."""
    if step.claims is None:
        await remote.take(step)
    elif other := await holding.beside(*step.claims):
        await remote.take(step)
        # Not after an error, when the statement may still be under way: it is over before the claim stops to bind.
        await other.give_up()
    else:
        _log.warning("%s was left out after creation: another resource claims what it acts on", step.statement)


def _taken_at_birth(remote: Remote, seen: Observation | None) -> Stop:
    fate = f"belongs to role {seen.owner}" if seen and seen.owner else f"can't be seen by role {remote.role}"
    return Stop(
        Reason.OWNED_BY_OTHER,
        f"{remote.target} was created and {fate}: a future OWNERSHIP grant has taken it at birth, so that Freehold "
        f"leaves it alone. Run GRANT OWNERSHIP ... TO ROLE {remote.role}, or declare it under a "
        "ProviderConfig of that role",
    )
