"""What to do about one object: a pure function of the resource, its claim and what Snowflake shows.

It is asked again after each new fact, so that a decision never rests on more than was seen: before anything was
looked at (view None), after a look, and after a CREATE that was refused because the name is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from freehold import planning, sql
from freehold.claims import HAND_OVER_ANNOTATION, ClaimSpec, Holder
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.fields import Change, Target
from freehold.kinds.kind import Content, Difference, Kind
from freehold.observation import Observation
from freehold_controllers.reconciler.reasons import Reason

PASSES = 3
"""Updates in a row after which a field that still differs is reported and left alone."""


class Absence(Enum):
    """SHOW has no row of the object."""

    PROVED = "proved"
    """The role sees everything, or our own DROP has just succeeded: the object isn't there."""
    UNPROVED = "unproved"
    """It is absent or invisible; Snowflake shows no difference."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """CREATE was refused because the name is taken, yet SHOW has no row of it.

    Attributes:
        answer: what Snowflake said.
    """

    answer: str


View = Observation | Absence | Hidden


@dataclass(frozen=True, slots=True)
class Heir:
    """The resource that the user wants to have the object when this one goes.

    Attributes:
        holder: who that is.
        ready: whether it is there and stands for the object.
    """

    holder: Holder
    ready: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """What is known of a resource before Snowflake is looked at.

    Attributes:
        kind: its kind.
        spec: what it asks for.
        target: its object, as its claim names it.
        claim: its claim; None for resources that claim nothing.
        role: role of the session, which owns what is created.
        tracked: names of the fields that were ever sent.
        changed: whether the spec differs from the one that was applied last: no drift then.
        passes: updates in a row that left something different.
        abandoned: whether the user has asked to leave the object behind.
        under_way: the statement whose answer was lost and which may still be under way.
        heir: who is to have the object when this resource goes.
    """

    kind: Kind
    spec: SnowflakeSpec
    target: Target
    claim: ClaimSpec | None
    role: str
    tracked: frozenset[str] = frozenset()
    changed: bool = False
    passes: int = 0
    abandoned: bool = False
    under_way: Literal["CREATE", "DROP"] | None = None
    heir: Heir | None = None

    def __str__(self) -> str:
        return str(self.target)


@dataclass(frozen=True, slots=True)
class Look:
    """Observe, then decide."""


@dataclass(frozen=True, slots=True)
class Create:
    """Send the plain CREATE: Snowflake decides who comes first."""


@dataclass(frozen=True, slots=True)
class Record:
    """The object is ours: write the evidence, then decide again.

    Attributes:
        how: made by an earlier attempt of ours whose outcome wasn't known, or taken over.
    """

    how: Literal["created", "adopted"]


@dataclass(frozen=True, slots=True)
class Update:
    """Alter what differs.

    Attributes:
        differences: what differs.
        drift: whether it was changed from outside, and not by the user's manifest.
    """

    differences: tuple[Difference, ...]
    drift: bool


@dataclass(frozen=True, slots=True)
class Tell:
    """The object drifted; say so and leave it.

    Attributes:
        differences: what differs.
    """

    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class InSync:
    """The object is as declared; or it is only watched."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Drop the object, unless `hindrance` finds something in the way."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """Give the claim to the heir, without a statement.

    Attributes:
        to: the heir.
    """

    to: Holder


@dataclass(frozen=True, slots=True)
class Release:
    """Let the resource go without a statement: claim, then finalizer.

    Attributes:
        left: the object is ours and stays behind.
        why: for people.
    """

    left: bool
    why: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Send nothing and say why.

    Attributes:
        reason: of the condition.
        message: what is the matter and what to do.
        passing: the cause says nothing of the object, which may be as ready as it was.
        soon: it may go by itself, whatever else the reason means.
        condition: type of a further condition that it turns False.
        trace: ids for Event and log that differ each time.
    """

    reason: Reason
    message: str
    passing: bool = False
    soon: bool = False
    condition: str | None = None
    trace: str = ""


def decide(subject: Subject, view: View | None) -> Look | Create | Record | Update | Tell | InSync | Stop:
    """What to do about the object of a resource that isn't being deleted.

    Args:
        subject: the resource.
        view: what Snowflake shows; None when it wasn't asked yet.
    """
    if stop := paused(subject.spec):
        return stop
    evidence = subject.claim.evidence if subject.claim else None
    observe_only = subject.spec.management_policies.observe_only
    if view is None:
        return Look() if evidence or observe_only else Create()
    if observe_only:
        return _watched(subject, view)
    if isinstance(view, Hidden):
        return _taken_by_something_invisible(subject, view)
    if isinstance(view, Absence):
        return _vanished(subject, view) if evidence else Create()
    if evidence and evidence.created_on == view.created_on:
        return _compare(subject, view)
    return _ours_or_a_strangers(subject, view)


def paused(spec: SnowflakeSpec) -> Stop | None:
    """Whether the user has stopped everything."""
    return Stop(Reason.RECONCILE_PAUSED, "spec.paused is true: nothing is sent") if spec.paused else None


def decide_deletion(subject: Subject, view: View | None) -> Look | Record | Drop | HandOver | Release | Stop:
    """What to do about the object of a resource that is being deleted.

    Nothing but the claim counts here: references, provider and permissions may be gone.

    Args:
        subject: the resource; its claim may be None.
        view: what Snowflake shows; None when it wasn't asked yet.
    """
    claim, spec = subject.claim, subject.spec
    if claim is None or (claim.evidence is None and not _attempt_unknown(claim)):
        return Release(False, f"{subject} was never Freehold's: nothing is dropped")
    if subject.under_way == "DROP":
        # Whatever has the name when it arrives would go.
        return _awaited(subject)
    if subject.heir and not subject.abandoned:
        return _to_heir(subject, subject.heir)
    if kept := _kept_on_purpose(subject):
        return Release(True, f"{subject} stays in Snowflake: {kept}")
    if spec.paused:
        return Stop(Reason.DELETE_BLOCKED, f"{subject} isn't dropped while spec.paused is true: set it to false")
    if view is None:
        return Look()
    if isinstance(view, Observation):
        if claim.evidence and claim.evidence.created_on == view.created_on:
            return Drop()
        if _made_by_unknown_attempt(subject, view) and view.owner in (None, subject.role):
            return Record("created")
        return Release(False, f"{subject} is another object of the same name by now: nothing is dropped")
    if view is Absence.PROVED and subject.under_way and _attempt_unknown(claim):
        return _awaited(subject)
    if view is Absence.PROVED:
        return Release(False, f"{subject} is gone already")
    return Stop(
        Reason.NOT_VISIBLE,
        f"{_unseen(subject)}, so that it can't be told whether it still exists. {_make_visible(subject)}",
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


def _awaited(subject: Subject) -> Stop:
    return Stop(Reason.DELETING, f"a {subject.under_way} of {subject} whose answer was lost may still be under way")


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
        f"{subject} holds the objects of {_listed(children)}: delete these first, then it is dropped",
    )


def in_the_way(kind: Kind, *, force: bool) -> tuple[Content, ...]:
    """What is to be looked for before a DROP.

    Args:
        kind: the object's kind.
        force: whether the user wants it dropped with all that is inside.
    """
    return tuple(each for each in kind.content if not (force and each.forced))


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
                f"{subject} holds {_listed(names)}: {content.remedy}{go_ahead if content.forced else ''}",
                soon=True,
            )
    if not complete and not all(content.told_to_all for content, _ in found):
        return Stop(
            Reason.DELETE_BLOCKED,
            f"role {subject.role} can't see whether {subject} is empty: run {_grant(subject)}{go_ahead}",
            soon=True,
        )
    return None


def _kept_on_purpose(subject: Subject) -> str | None:
    """Why the user wants the object to stay."""
    claim, spec = subject.claim, subject.spec
    if subject.abandoned:
        return "its resource has the annotation freehold.dev/abandon-on-delete"
    if spec.deletion_policy == "Orphan":
        return "deletionPolicy is Orphan"
    if spec.management_policies.observe_only:
        return "it is only observed"
    adopted = claim is not None and claim.evidence is not None and claim.evidence.how == "adopted"
    if adopted and subject.kind.holds_data and spec.deletion_policy is None:
        return "it was adopted and holds data, and deletionPolicy: Delete isn't written out"
    return None


def _watched(subject: Subject, view: View) -> InSync | Stop:
    if isinstance(view, Observation):
        return InSync()
    return Stop(Reason.OBSERVE_ONLY, f"{_unseen(subject)}, and it is only observed. {_make_visible(subject)}")


def _compare(subject: Subject, view: Observation) -> Update | Tell | InSync | Stop:
    found = planning.differences(subject.kind, subject.spec, view, subject.tracked)
    if not found:
        return InSync()
    fixed = tuple(each for each in found if each.change is not Change.ALTER)
    if fixed:
        return Stop(
            Reason.IMMUTABLE_FIELD,
            f"{subject}: {told(fixed)}. No ALTER leads there: change the manifest back, or delete the resource and "
            "apply it again",
        )
    drift = not subject.changed
    if drift and subject.spec.management_policies.drift_policy == "detect-only":
        return Tell(found)
    if subject.passes >= PASSES:
        return Stop(
            Reason.NOT_CONVERGING,
            f"{subject}: {told(found)}, also after {subject.passes} updates. Something changes it back, or Snowflake "
            "stores another value: align the manifest or find who changes it",
            condition="Converging",
        )
    return Update(found, drift)


def _ours_or_a_strangers(subject: Subject, view: Observation) -> Record | Stop:
    """The object isn't the one that the evidence speaks of, or there is no evidence."""
    if _made_by_unknown_attempt(subject, view):
        if view.owner in (None, subject.role):
            return Record("created")
        return Stop(
            Reason.OWNED_BY_OTHER,
            f"{subject} belongs to role {view.owner}, not to {subject.role}: a future OWNERSHIP grant may have "
            f"taken it at birth. GRANT OWNERSHIP on it to role {subject.role}, or use another name",
        )
    replaced = subject.claim is not None and subject.claim.evidence is not None
    if _adopts(subject):
        refusal = subject.kind.adoptable(view)
        if refusal is None:
            return Record("adopted")
        return Stop(Reason.RESOURCE_ALREADY_EXISTS, f"{subject} can't be adopted: {refusal}")
    if replaced:
        return Stop(
            Reason.REPLACED,
            f"{subject} was replaced by another object at {view.created_on.isoformat()}, which isn't Freehold's: it is "
            "neither altered nor dropped. Set managementPolicies.adoptionPolicy to adopt to take it over",
        )
    owner = f", owned by role {view.owner}" if view.owner else ""
    return Stop(
        Reason.RESOURCE_ALREADY_EXISTS,
        f"{subject} exists already{owner}, and Freehold hasn't made it: it is left alone. Use another name, or set "
        "managementPolicies.adoptionPolicy to adopt",
    )


def _taken_by_something_invisible(subject: Subject, view: Hidden) -> Stop:
    claim = subject.claim
    if _adopts(subject) or (claim and (claim.evidence or _attempt_unknown(claim))):
        return Stop(Reason.NOT_VISIBLE, f"{_unseen(subject)}, but it exists: {view.answer}. {_make_visible(subject)}")
    return Stop(
        Reason.RESOURCE_ALREADY_EXISTS,
        f"the name of {subject} is taken by an object that role {subject.role} can't see: {view.answer}. Use another "
        "name, or ask its owner",
    )


def _vanished(subject: Subject, view: Absence) -> Create | Stop:
    policies, spec = subject.spec.management_policies, subject.spec
    stop = spec.vanished_policy == "Stop" or (
        spec.vanished_policy is None and (subject.kind.holds_data or policies.drift_policy == "detect-only")
    )
    if not stop:
        return Create()
    again = "set vanishedPolicy to Recreate to have it made anew"
    if view is Absence.PROVED:
        undrop = (
            f"UNDROP {subject.kind.object_type} {subject.target.name} may bring it back, or "
            if subject.kind.holds_data
            else ""
        )
        return Stop(Reason.VANISHED, f"{subject} has disappeared from Snowflake: {undrop}{again}")
    return Stop(Reason.NOT_VISIBLE, f"{_unseen(subject)}: it may be gone. {_make_visible(subject)}, or {again}")


def _adopts(subject: Subject) -> bool:
    # Once: what replaced an object that was ours is somebody else's, whatever its name.
    owned = subject.claim is not None and subject.claim.evidence is not None
    named = subject.target.parts[-1] in subject.kind.adopts and not owned
    return named or subject.spec.management_policies.adoption_policy == "adopt"


def _attempt_unknown(claim: ClaimSpec) -> bool:
    return claim.mark is not None and claim.mark.since is not None


def _made_by_unknown_attempt(subject: Subject, view: Observation) -> bool:
    """Whether an attempt of ours whose outcome wasn't known may have made the object."""
    mark = subject.claim.mark if subject.claim else None
    return mark is not None and mark.since is not None and view.created_on >= mark.since


def told(differences: Sequence[Difference]) -> str:
    """Differences for people: each field with both values."""
    return "; ".join(str(each) for each in differences)


def _unseen(subject: Subject) -> str:
    return f"role {subject.role} doesn't see {subject}"


def _make_visible(subject: Subject) -> str:
    return f"Grant the role a privilege on it, or run {_grant(subject)}"


def _grant(subject: Subject) -> str:
    return f"GRANT RESOLVE ALL ON ACCOUNT TO ROLE {sql.identifier(subject.role)}"


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
