"""What would become of one object: looked at, and decided as the controllers do."""

from __future__ import annotations

from freehold import planning
from freehold.claims import Evidence
from freehold.cli.plan.access import Login
from freehold.cli.plan.entries import Action, Entry
from freehold.kube.objects import Key
from freehold.lifecycle import lock_out
from freehold.lifecycle.decision import Absence, Create, Drop, InSync, Look, Recreate, Stop, Subject, Tell, Update
from freehold.lifecycle.foresight import Foreseen, foreseen, planned
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.removal import decide_deletion, kept_on_purpose
from freehold.lifecycle.upkeep import decide, paused
from freehold.observation import Observation
from freehold.snowflake.birth import owner_at_birth
from freehold.snowflake.contents import hindrance_inside
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.preflight import missing_parent
from freehold.snowflake.sight import Sight

_LEFT = frozenset({Reason.RECONCILE_PAUSED, Reason.DEPENDENCY_NOT_READY})
"""Reasons to leave an object as it is for now, which nobody has to do anything about."""


async def upkeep(
    resource: Key, sight: Sight, subject: Subject, login: Login, *, parent_planned: bool, force: bool
) -> Entry:
    """What would become of the object of a resource that stays.

    Args:
        resource: whose object it is.
        sight: the object.
        subject: what is known of it, with the claim that it has or would have.
        login: whom the controllers log in as.
        parent_planned: whether what contains it is made by the same plan.
        force: whether the user wants it dropped with all that is inside, where it is recreated.

    Raises:
        SnowflakeError: it can't be looked at.
    """
    if stop := paused(subject.spec):
        return Entry(resource, str(subject), Action.NONE, why=stop.message)
    view = await _view(sight, _evidence(subject))
    settled, decision = _decided(subject, view)
    if isinstance(decision, Stop):
        action = Action.NONE if decision.reason in _LEFT else Action.REFUSE
        return Entry(resource, str(subject), action, why=decision.message)
    if stop := await _in_the_way(sight, settled, decision, login, parent_planned=parent_planned, force=force):
        return Entry(resource, str(subject), Action.REFUSE, why=stop.message)
    return Entry(
        resource,
        str(subject),
        _action(subject, settled, decision),
        decision.differences if isinstance(decision, Update | Recreate | Tell) else (),
        tuple(each.shown for each in planned(settled, decision, view, force=force)),
        "it differs, and is left as it is" if isinstance(decision, Tell) else "",
        await _at_birth(sight) if isinstance(decision, Create | Recreate) and not parent_planned else (),
    )


async def removal(resource: Key, sight: Sight, subject: Subject, login: Login, *, force: bool) -> Entry | None:
    """What would become of the object of a resource that is deleted, or of a slot that one doesn't ask for any more;
    None where nothing would be sent for it.

    Args:
        resource: whose object it is.
        sight: the object.
        subject: what is known of it, with the user's wishes.
        login: whom the controllers log in as.
        force: whether the user wants it dropped with all that is inside.

    Raises:
        SnowflakeError: it can't be looked at.
    """
    decision = decide_deletion(subject, None)
    if isinstance(decision, Look):
        view = await sight.view_anyway(_evidence(subject))
        decision = decide_deletion(subject, view)
        row = view.row if isinstance(view, Observation) else None
        if isinstance(decision, Drop):
            stop = await _kept_by(sight, subject, login, force=force)
            statement = planning.drop(subject.kind, subject.target, row, force=force)
            if stop is None:
                return Entry(resource, str(subject), Action.DROP, statements=(statement.shown,))
            decision = stop
    if isinstance(decision, Stop):
        return Entry(resource, str(subject), Action.REFUSE, why=f"it isn't dropped: {decision.message}")
    return None


async def _view(sight: Sight, evidence: Evidence | None) -> Observation | Absence:
    try:
        return await sight.view("deep", evidence)
    except SnowflakeError as error:
        if error.error_class is not ErrorClass.MISSING:
            raise
    return await sight.view_anyway(evidence)


def _decided(subject: Subject, view: Observation | Absence) -> tuple[Subject, Foreseen]:
    if subject.claim is not None:
        return foreseen(subject, view)
    decision = decide(subject, view)
    # Who claims nothing only watches, and has nothing written.
    return subject, decision if isinstance(decision, InSync | Stop) else InSync()


async def _in_the_way(
    sight: Sight, subject: Subject, decision: Foreseen, login: Login, *, parent_planned: bool, force: bool
) -> Stop | None:
    """What the controllers would find before they sent anything."""
    if isinstance(decision, Create) and _evidence(subject) is None and not parent_planned:
        return await missing_parent(sight, subject.spec)
    if isinstance(decision, Recreate):
        if kept := kept_on_purpose(subject) or subject.unclear:
            return Stop(Reason.DELETE_BLOCKED, f"{subject} stays: {kept}")
        return await _kept_by(sight, subject, login, force=force)
    if isinstance(decision, Update):
        return lock_out.by_update(subject.kind, subject.target, decision.differences, login.user, login.fingerprint)
    return None


async def _kept_by(sight: Sight, subject: Subject, login: Login, *, force: bool) -> Stop | None:
    """What stands in the way of a DROP."""
    stop = lock_out.by_drop(subject.kind, subject.target, {login.user})
    return stop or await hindrance_inside(sight, subject, force=force)


async def _at_birth(sight: Sight) -> tuple[str, ...]:
    """What becomes of an object right when it is created."""
    owner = await owner_at_birth(sight)
    if owner in (None, sight.role):
        return ()
    fate = f"role {owner} would own it from birth on, by a future grant of OWNERSHIP, and Freehold would leave it alone"
    return (f"{fate}: have the ProviderConfig work as that role, or revoke the future grant",)


def _action(subject: Subject, settled: Subject, decision: Foreseen) -> Action:
    before, after = _evidence(subject), _evidence(settled)
    if after is not None and after.how == "adopted" and (before is None or before.created_on != after.created_on):
        return Action.ADOPT
    match decision:
        case Create():
            return Action.CREATE
        case Recreate():
            return Action.RECREATE
        case Update():
            return Action.ALTER
        case _:
            return Action.NONE


def _evidence(subject: Subject) -> Evidence | None:
    return subject.claim.evidence if subject.claim else None
