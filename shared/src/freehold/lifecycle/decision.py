"""The words of the reconciler's decisions: what is known of a resource, what Snowflake shows, and what to do about it.

`upkeep` decides about resources that stay, `removal` about those that go. Both are asked again after each new fact, so
that a decision never rests on more than was seen: before anything was looked at (view None), after a look, and after a
CREATE that was refused because the name is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from freehold import fingerprint, sql
from freehold.claims import ClaimSpec, Evidence, Holder
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.steps import Difference
from freehold.lifecycle.reasons import Reason
from freehold.observation import UNKNOWN, Observation

PASSES = 3
"""Updates in a row after which a field that still differs is reported and left alone."""


class Absence(Enum):
    """SHOW has no row of the object."""

    PROVED = "proved"
    """The role sees everything, SHOW ... HISTORY tells of its end, or our own DROP has just succeeded."""
    UNPROVED = "unproved"
    """It is absent or invisible; Snowflake shows no difference."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """CREATE was refused because the name is taken, yet SHOW has no row of it."""


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
        changed: names of the fields whose difference is the user's doing and no drift, as `fingerprint.changed` tells.
        unsent: names of the fields whose value may not have been sent yet, which counts where nothing else tells.
        order: hash that orders the object's recreation; None when the user has ordered none.
        spec_hash: hash of the spec as written, which such an order must name.
        lacking: whether the account has no CREATE OR ALTER of the kind.
        passes: updates in a row that left something different.
        abandoned: whether the user has asked to leave the object behind.
        unclear: what of the annotations may mean that the object is to stay, and can't be read; for people.
        orphaned: whether the ProviderConfig has objects stay whose resources don't say what becomes of them.
        under_way: the statement which may still be under way, since no answer to it is known.
        heir: who is to have the object when this resource goes.
    """

    kind: Kind
    spec: SnowflakeSpec
    target: Target
    claim: ClaimSpec | None
    role: str
    tracked: Collection[str] = frozenset()
    changed: frozenset[str] = frozenset()
    unsent: frozenset[str] = frozenset()
    order: str | None = None
    spec_hash: str = ""
    lacking: bool = False
    passes: int = 0
    abandoned: bool = False
    unclear: str | None = None
    orphaned: bool = False
    under_way: Literal["CREATE", "DROP", "CREATE OR ALTER"] | None = None
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
        differences: what is to be altered.
        drift: those of them that were changed from outside, and not by the user's manifest.
        whole: whether nothing else differs, which is to be left as it is.
    """

    differences: tuple[Difference, ...]
    drift: tuple[Difference, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Recreate:
    """Drop the object, unless something is in the way, and create it again: the user has ordered exactly that.

    Attributes:
        differences: what no statement leads to.
    """

    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Write that a DROP which was intended has had no effect, then decide again."""


@dataclass(frozen=True, slots=True)
class Tell:
    """The object isn't as declared, by nobody's wish that we may carry out; say so and leave it.

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
        slowly: the first try, too, is to wait.
        brief: somebody is at it already, so that there is nothing to warn of.
        condition: type of a further condition that it turns False.
        trace: ids for Event and log that differ each time.
        plan: statements, as people may see them, that mode ReadOnly keeps from being sent.
    """

    reason: Reason
    message: str
    passing: bool = False
    soon: bool = False
    slowly: bool = False
    brief: bool = False
    condition: str | None = None
    trace: str = ""
    plan: tuple[str, ...] = ()


def awaited(subject: Subject) -> Stop:
    """A statement may still be under way, and would hit whatever has the name when it arrives."""
    return Stop(Reason.DELETING, f"a {subject.under_way} of {subject} may still be under way, which must be over first")


def is_users(subject: Subject, difference: Difference) -> bool:
    """Whether a difference is a user's doing, and no drift. A part of an item that isn't followed by itself counts with
    the item."""
    name = difference.name
    item, bracket, _ = name.partition("]")
    if not subject.changed.isdisjoint((name, *difference.causes)):
        return True
    if name in subject.unsent and difference.observed is UNKNOWN:
        return True
    return name not in subject.tracked and item + bracket in subject.changed


def speaks_of(evidence: Evidence | None, kind: Kind, view: Observation) -> bool:
    """Whether evidence is of what is seen: this incarnation of an object, or in a slot what we have put there."""
    if evidence is None or evidence.created_on != view.created_on:
        return False
    return evidence.holds is None or fingerprint.held(kind, view) in evidence.holds


def attempt_unknown(claim: ClaimSpec) -> bool:
    return claim.mark is not None and claim.mark.since is not None


def made_by_unknown_attempt(subject: Subject, view: Observation) -> bool:
    """Whether an attempt of ours whose outcome wasn't known may have made the object, and not one of another kind."""
    mark, kind = subject.claim.mark if subject.claim else None, subject.kind
    if mark is None or mark.since is None:
        return False
    if held := fingerprint.held(kind, view):
        # The slot was empty before the attempt, and it is filled with what that was to fill it with.
        return held in (mark.holds or ())
    late = mark.until is not None and view.created_on > mark.until
    return view.created_on >= mark.since and not late and kind.adoptable(view) is None


def is_roles_own(subject: Subject, view: Observation) -> bool:
    """Whether an object belongs to the role of the session, as all does that it creates. What is in a slot has no
    owner. Where Snowflake doesn't tell, that isn't proved."""
    return subject.target.slot is not None or view.owner == subject.role


def told(differences: Sequence[Difference]) -> str:
    """Differences for people: each field with both values."""
    return "; ".join(str(each) for each in differences)


def unseen(subject: Subject) -> str:
    return f"role {subject.role} doesn't see {subject}"


def make_visible(subject: Subject) -> str:
    return f"Grant the role a privilege on it, or run {grant_that_shows_all(subject)}"


def grant_that_shows_all(subject: Subject) -> str:
    return f"GRANT RESOLVE ALL ON ACCOUNT TO ROLE {sql.identifier(subject.role)}"


def listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
