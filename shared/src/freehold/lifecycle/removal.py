"""What to do about the object of a resource that goes. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from freehold.claim_rules import HAND_OVER_ANNOTATION
from freehold.claims import ClaimSpec
from freehold.kinds.content import Content
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.lifecycle.decision import (
    Absence,
    Drop,
    HandOver,
    Heir,
    Look,
    Record,
    Release,
    Stop,
    Subject,
    View,
    attempt_unknown,
    awaited,
    grant_that_shows_all,
    is_roles_own,
    listed,
    made_by_unknown_attempt,
    make_visible,
    speaks_of,
    unseen,
)
from freehold.lifecycle.reasons import Reason
from freehold.observation import Observation


def decide_deletion(subject: Subject, view: View | None) -> Look | Record | Drop | HandOver | Release | Stop:
    """What to do about the object of a resource that is being deleted.

    Nothing but the claim counts here: references, provider and permissions may be gone.

    Args:
        subject: the resource; its claim may be None.
        view: what Snowflake shows; None when it wasn't asked yet.
    """
    claim, spec = subject.claim, subject.spec
    if claim is None or (claim.evidence is None and not attempt_unknown(claim)):
        return Release(False, f"{subject} was never Freehold's: nothing is dropped")
    if subject.under_way == "DROP":
        return awaited(subject)
    if subject.heir and not subject.abandoned:
        return _to_heir(subject, subject.heir)
    if kept := kept_on_purpose(subject):
        return Release(True, f"{subject} stays in Snowflake: {kept}")
    if subject.unclear:
        return Stop(Reason.DELETE_BLOCKED, f"{subject} may be meant to stay: {subject.unclear}. Correct or remove it")
    if spec.paused:
        return Stop(Reason.DELETE_BLOCKED, f"{subject} isn't dropped while spec.paused is true: set it to false")
    if subject.under_way == "CREATE OR ALTER":
        return awaited(subject)
    return Look() if view is None else _by_view(subject, claim, view)


def _by_view(subject: Subject, claim: ClaimSpec, view: View) -> Record | Drop | Release | Stop:
    """What becomes of what the user wants dropped."""
    if isinstance(view, Observation) and not view.dated:
        view = Absence.UNPROVED
    if isinstance(view, Observation):
        if speaks_of(claim.evidence, subject.kind, view):
            return Drop()
        if made_by_unknown_attempt(subject, view) and is_roles_own(subject, view):
            return Record("created")
    if view is not Absence.UNPROVED and subject.under_way and attempt_unknown(claim):
        return awaited(subject)
    if isinstance(view, Observation):
        return Release(False, f"{subject} is another object of the same name by now: nothing is dropped")
    if view is Absence.PROVED:
        return Release(False, f"{subject} is gone already")
    return Stop(
        Reason.NOT_VISIBLE,
        f"{unseen(subject)}, so that it can't be told whether it still exists. {make_visible(subject)}",
        soon=True,
    )


def _to_heir(subject: Subject, heir: Heir) -> HandOver | Stop:
    if heir.ready:
        return HandOver(heir.holder)
    # Nobody is told what others have in their namespaces, so it stays open which of the two it is.
    return Stop(
        Reason.DELETE_BLOCKED,
        f"{subject} is to be handed over to {heir.holder}, which isn't there, or doesn't stand for the same object: "
        f"apply it, or remove the annotation {HAND_OVER_ANNOTATION} to have the deletionPolicy decide",
        soon=True,
    )


def waits_for(subject: Subject, children: Sequence[str]) -> Stop | None:
    """What must go before an object that is to be dropped.

    Args:
        subject: the resource.
        children: resources whose objects lie inside.
    """
    if not children:
        return None
    return Stop(
        Reason.DELETE_BLOCKED,
        f"{subject} holds the objects of {listed(children)}: delete these first, then it is dropped",
    )


def in_the_way(kind: Kind, *, force: bool) -> tuple[Content, ...]:
    """What is to be looked for before a DROP.

    Args:
        kind: the object's kind.
        force: whether the user wants it dropped with all that is inside.
    """
    return tuple(each for each in kind.content if not (each.refused or (force and each.forced)))


def in_use(target: Target, content: Content, names: Sequence[str]) -> Stop:
    """What to do about an object that Snowflake keeps from being dropped.

    Args:
        target: the object.
        content: what was looked for.
        names: of what was found.
    """
    return Stop(Reason.DELETE_BLOCKED, f"{target} is in use by {listed(names)}: {content.remedy}", soon=True)


def kept_by_others(subject: Subject, names: Sequence[str]) -> Stop:
    """What to do about an object that others have put something on, without which Snowflake alone drops it.

    Args:
        subject: the resource.
        names: of what they have put there.
    """
    return Stop(
        Reason.DELETE_BLOCKED,
        f"{subject} has {listed(names)} on it, which others have set: take it off, then it is dropped",
        soon=True,
    )


def hindrance(subject: Subject, found: Sequence[tuple[Content, Sequence[str]]], *, complete: bool) -> Stop | None:
    """What stands in the way of a DROP that is decided.

    Args:
        subject: the resource.
        found: each thing that was looked for (`in_the_way`), with the names of what counts.
        complete: whether these are all, since the role sees everything.
    """
    go_ahead = f', or set the annotation freehold.dev/force-destroy: "true" to drop {subject} with all that is inside'
    for content, names in found:
        if names:
            return Stop(
                Reason.DELETE_BLOCKED,
                f"{subject} holds {listed(names)}: {content.remedy}{go_ahead if content.forced else ''}",
                soon=True,
            )
    if not complete and not all(content.told_to_all for content, _ in found):
        return Stop(
            Reason.DELETE_BLOCKED,
            f"role {subject.role} can't see whether {subject} is empty: run {grant_that_shows_all(subject)}{go_ahead}",
            soon=True,
        )
    return None


def not_taken_back(target: Target, role: str, view: Observation) -> Stop:
    """What to do about a grant that a REVOKE of ours leaves.

    Args:
        target: its slot.
        role: ours.
        view: what is there.
    """
    return Stop(
        Reason.DELETE_BLOCKED,
        f"{target} is still there after its REVOKE{granted_by(view)}: role {role} takes back only what it has granted "
        "itself. Have its grantor, or a role with MANAGE GRANTS, revoke it",
    )


def taken_along(role: str, view: Observation, *, manages_grants: bool) -> str:
    """What a REVOKE takes back besides what our role has granted, for people: with MANAGE GRANTS the grants of all.

    Args:
        role: ours.
        view: what fills the slot.
        manages_grants: whether the role has that privilege on the account.
    """
    grantors = view.row.get("granted_by")
    if not grantors or grantors == role or not manages_grants:
        return ""
    return f". With MANAGE GRANTS, role {role} takes back what every grantor has granted, who is {grantors}"


def granted_by(view: Observation) -> str:
    """Who has granted what fills a slot, for people: a role with MANAGE GRANTS revokes what all have granted."""
    grantors = view.row.get("granted_by")
    return f", granted by {grantors}" if grantors else ""


def kept_on_purpose(subject: Subject) -> str | None:
    """Why the user wants the object to stay."""
    claim, spec = subject.claim, subject.spec
    filling, slot = subject.kind.filling, subject.target.slot
    if filling and slot and filling.empty(slot, False) is None:
        return "it can only be given to somebody else"
    if subject.abandoned:
        return "an annotation of its resource, or of the ProviderConfig, abandons it"
    if spec.deletion_policy == "Orphan":
        return "deletionPolicy is Orphan"
    if spec.deletion_policy is None and subject.orphaned:
        return "deletionPolicy isn't set, and the ProviderConfig's deletion.default is Orphan"
    if spec.management_policies.observe_only:
        return "it is only observed"
    adopted = claim is not None and claim.evidence is not None and claim.evidence.how == "adopted"
    if adopted and subject.kind.holds_data and spec.deletion_policy is None:
        return "it was adopted and holds data, and deletionPolicy: Delete isn't written out"
    return None
