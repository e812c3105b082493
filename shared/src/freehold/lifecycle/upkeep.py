"""What to do about the object of a resource that stays. Pure."""

from __future__ import annotations

from freehold import create_or_alter, planning, recreation
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.filling import UNDATED
from freehold.kinds.property import Change
from freehold.kinds.steps import Difference
from freehold.lifecycle.decision import (
    PASSES,
    Absence,
    Create,
    Hidden,
    InSync,
    Look,
    Record,
    Recreate,
    Stop,
    Subject,
    Tell,
    Update,
    View,
    Withdraw,
    attempt_unknown,
    awaited,
    is_roles_own,
    is_users,
    made_by_unknown_attempt,
    make_visible,
    speaks_of,
    told,
    unseen,
)
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.removal import kept_on_purpose
from freehold.lifecycle.wishes import RECONCILE_NOW
from freehold.observation import Observation

_TAKE_OVER = "Set managementPolicies.adoptionPolicy to adopt"

_CORRECTED = frozenset({Change.ALTER, Change.REDEFINE})
_BEYOND_ALTER = frozenset({Change.RECREATE, Change.DESTRUCTIVE})


def decide(
    subject: Subject, view: View | None
) -> Look | Create | Record | Update | Recreate | Withdraw | Tell | InSync | Stop:
    """What to do about the object of a resource that isn't being deleted.

    Args:
        subject: the resource.
        view: what Snowflake shows; None when it wasn't asked yet.
    """
    if stop := paused(subject.spec):
        return stop
    evidence = subject.claim.evidence if subject.claim else None
    observe_only = subject.spec.management_policies.observe_only
    if subject.under_way == "DROP":
        return awaited(subject)
    if view is None:
        # A first CREATE needs no look: it is answered by what is there. What an earlier one may have made, or was
        # refused for, is seen, and a slot takes anything without a word of what was in it.
        tried = subject.claim is not None and subject.claim.mark is not None
        return Look() if evidence or observe_only or tried or subject.target.slot else Create()
    if observe_only:
        return _watched(subject, view)
    if isinstance(view, Hidden):
        return _taken_by_something_invisible(subject)
    if isinstance(view, Absence):
        return _vanished(subject, view) if evidence else Create()
    if not view.dated:
        return _unreadable(subject, view)
    if speaks_of(evidence, subject.kind, view):
        if subject.claim and subject.claim.intent:
            # It is still there, and nothing is under way any more.
            return Withdraw()
        return _unreadable(subject, view) if view.unreadable else _compare(subject, view)
    return _ours_or_a_strangers(subject, view)


def paused(spec: SnowflakeSpec) -> Stop | None:
    """Whether the user has stopped everything."""
    return Stop(Reason.RECONCILE_PAUSED, "spec.paused is true: nothing is sent") if spec.paused else None


def _watched(subject: Subject, view: View) -> InSync | Stop:
    if isinstance(view, Observation):
        return InSync()
    return Stop(Reason.OBSERVE_ONLY, f"{unseen(subject)}, and it is only observed. {make_visible(subject)}")


def _compare(subject: Subject, view: Observation) -> Update | Recreate | Tell | InSync | Stop:
    if why := subject.kind.disowned and subject.kind.disowned(view):
        return Stop(Reason.UNUSABLE, f"{subject} {why}")
    found = _found(subject, view)
    beyond = tuple(each for each in found if each.change in _BEYOND_ALTER)
    ailment = subject.kind.ailment(view)
    if (beyond or ailment) and _recreation_ordered(subject):
        return _recreate(subject, beyond, ailment)
    wanted = tuple(each for each in found if is_users(subject, each))
    if refused := tuple(each for each in wanted if each.change in _BEYOND_ALTER):
        return _refuse(subject, refused)
    detect_only = subject.spec.management_policies.drift_policy == "detect-only"
    drift = () if detect_only else tuple(each for each in found if each not in wanted and each.change in _CORRECTED)
    sent = tuple(each for each in found if each in drift or (each in wanted and each.change is not Change.TOLD))
    if not sent and ailment:
        order = recreation.order(subject.spec_hash, carried_out=_carried_out(subject))
        return Stop(Reason.UNUSABLE, f"{subject} can't be used: {ailment}. To replace it, {order}")
    if not sent:
        return Tell(found) if found else _in_use(subject, view)
    if subject.passes >= PASSES:
        return Stop(
            Reason.NOT_CONVERGING,
            f"{subject}: {told(sent)}, also after {subject.passes} updates. Something changes it back, or Snowflake "
            "stores another value: align the manifest or find who changes it",
            condition="Converging",
        )
    return Update(sent, drift, whole=sent == found)


def _in_use(subject: Subject, view: Observation) -> InSync | Stop:
    unready = subject.kind.unready(view)
    return Stop(Reason.DEPENDENCY_NOT_READY, f"{subject} {unready}") if unready else InSync()


def drifted(subject: Subject, view: View | None) -> tuple[Difference, ...]:
    """What was changed from outside on an object that is ours."""
    evidence = subject.claim.evidence if subject.claim else None
    if not isinstance(view, Observation) or view.unreadable or not view.dated:
        return ()
    if not speaks_of(evidence, subject.kind, view):
        return ()
    found = _found(subject, view)
    return tuple(each for each in found if not is_users(subject, each))


def _found(subject: Subject, view: Observation) -> tuple[Difference, ...]:
    """What differs, and what it takes in this account."""
    kind, target, spec = subject.kind, subject.target, subject.spec
    found = planning.differences(kind, spec, view, subject.tracked, subject.unsent)
    return create_or_alter.settled(kind, target, spec, view, found, lacking=subject.lacking)


def _recreation_ordered(subject: Subject) -> bool:
    """Whether the user wants another object for exactly this spec. An order that the object was made for is carried
    out: it stays in the manifest, and must not cost the object when somebody else changes that."""
    return subject.order == subject.spec_hash and not _carried_out(subject)


def _carried_out(subject: Subject) -> bool:
    evidence = subject.claim.evidence if subject.claim else None
    return evidence is not None and evidence.force_new == subject.spec_hash


def _recreate(subject: Subject, beyond: tuple[Difference, ...], ailment: str | None) -> Recreate | Stop:
    if kept := kept_on_purpose(subject):
        return Stop(Reason.IMMUTABLE_FIELD, f"{subject}: {told(beyond) or ailment}. It isn't recreated: {kept}")
    return awaited(subject) if subject.under_way else Recreate(beyond)


def _refuse(subject: Subject, refused: tuple[Difference, ...]) -> Stop:
    """The user wants what no statement leads to, or only one that loses data."""
    if any(each.change is Change.RECREATE for each in refused):
        message = recreation.refusal(
            (each.advised for each in refused), subject.spec_hash, carried_out=_carried_out(subject)
        )
        return Stop(Reason.IMMUTABLE_FIELD, f"{subject}: {message}")
    advised = ". ".join(each.advised for each in refused)
    order = recreation.order(subject.spec_hash, carried_out=_carried_out(subject))
    message = f"{subject}: {advised}. Nothing is sent that would lose data. Change the manifest back, or {order}"
    return Stop(Reason.DESTRUCTIVE_CHANGE, message)


def _ours_or_a_strangers(subject: Subject, view: Observation) -> Record | Stop:
    """The object isn't the one that the evidence speaks of, or there is no evidence."""
    if made_by_unknown_attempt(subject, view):
        if is_roles_own(subject, view):
            return Record("created")
        owner = f"role {view.owner}" if view.owner else "another role"
        return Stop(
            Reason.OWNED_BY_OTHER,
            f"{subject} belongs to {owner}, not to {subject.role}: a future OWNERSHIP grant may have taken it at "
            f"birth, or somebody else has put it there. GRANT OWNERSHIP on it to role {subject.role}, or use another "
            "name",
        )
    replaced = subject.claim is not None and subject.claim.evidence is not None
    if _adopts(subject) or _is_free(subject, view):
        if view.unreadable:
            return _unreadable(subject, view)
        refusal = subject.kind.adoptable(view)
        if refusal is None:
            return Record("adopted")
        return Stop(Reason.RESOURCE_ALREADY_EXISTS, f"{subject} can't be adopted: {refusal}")
    if replaced:
        return Stop(Reason.REPLACED, f"{subject} {_replaced(view)}. {_TAKE_OVER} to take it over")
    owner = f", owned by role {view.owner}" if view.owner else ""
    return Stop(
        Reason.RESOURCE_ALREADY_EXISTS,
        f"{subject} exists already{owner}, and Freehold hasn't made it: it is left alone. Use another name, or set "
        "managementPolicies.adoptionPolicy to adopt",
    )


def _replaced(view: Observation) -> str:
    if view.created_on == UNDATED:
        return "was set to something else, and not by Freehold: it is neither changed nor taken away"
    when = view.created_on.isoformat()
    return f"was replaced by another object at {when}, which isn't Freehold's: it is neither altered nor dropped"


def _unreadable(subject: Subject, view: Observation) -> Stop:
    owner = f", owned by role {view.owner}" if view.owner else ""
    return Stop(
        Reason.NOT_VISIBLE,
        f"role {subject.role} sees that {subject} is there{owner}, and may read nothing of it: "
        f"{view.unreadable}. Grant the role the ownership, or a privilege on it",
        soon=True,
    )


def _taken_by_something_invisible(subject: Subject) -> Stop:
    claim, also = subject.claim, "".join(f", or its {field}" for field in subject.kind.also_unique)
    if also:
        return Stop(
            Reason.RESOURCE_ALREADY_EXISTS,
            f"the name of {subject}{also}, is taken, a CREATE says, and {unseen(subject)}. Choose others, or ask whose "
            f"they are; once they are free, set the annotation {RECONCILE_NOW} to any new value",
        )
    if _adopts(subject) or (claim and (claim.evidence or attempt_unknown(claim))):
        return Stop(Reason.NOT_VISIBLE, f"{unseen(subject)}, but it exists: a CREATE says so. {make_visible(subject)}")
    return Stop(
        Reason.RESOURCE_ALREADY_EXISTS,
        f"the name of {subject} is taken by an object that role {subject.role} can't see, a CREATE says. Use another "
        f"name, or ask its owner; once the name is free, set the annotation {RECONCILE_NOW} to any new value",
    )


def _vanished(subject: Subject, view: Absence) -> Create | Stop:
    policies, spec = subject.spec.management_policies, subject.spec
    if subject.claim and subject.claim.intent:
        # By our own hand, or by another's while we were at it: its recreation was cut short, or its resource went and
        # came back.
        return Create()
    stop = spec.vanished_policy == "Stop" or (
        spec.vanished_policy is None and (subject.kind.holds_data or policies.drift_policy == "detect-only")
    )
    if not stop:
        return Create()
    again = "set vanishedPolicy to Recreate to have it made anew"
    if view is Absence.PROVED:
        undrop = (
            f"UNDROP {subject.kind.object_type} {subject.target.name} may bring it back, or "
            if subject.kind.history
            else ""
        )
        message = f"{subject} has disappeared from Snowflake: {undrop}{again}"
        return Stop(Reason.VANISHED, message, condition="DriftDetected")
    return Stop(Reason.NOT_VISIBLE, f"{unseen(subject)}: it may be gone. {make_visible(subject)}, or {again}")


def _is_free(subject: Subject, view: Observation) -> bool:
    """Whether what fills a slot is our role's own, which it may put something else in the place of."""
    filling, policies = subject.kind.filling, subject.spec.management_policies
    if subject.claim and subject.claim.evidence and policies.drift_policy == "detect-only":
        # Somebody has given it back to us since, which is drift.
        return False
    return filling is not None and filling.free(view.row, subject.role)


def _adopts(subject: Subject) -> bool:
    # Once: what replaced an object that was ours is somebody else's, whatever its name.
    owned = subject.claim is not None and subject.claim.evidence is not None
    named = not subject.kind.adopts.isdisjoint(subject.target.parts[-1:]) and not owned
    return named or subject.spec.management_policies.adoption_policy == "adopt"
