"""What a pass over a resource would come to, found by deciding as if claims had been written. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freehold import altering, create_or_alter, fingerprint, planning
from freehold.claims import Evidence
from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.lifecycle.decision import (
    Absence,
    Create,
    InSync,
    Look,
    Record,
    Recreate,
    Stop,
    Subject,
    Tell,
    Update,
    Withdraw,
)
from freehold.lifecycle.upkeep import decide
from freehold.observation import Observation
from freehold.sql import Sql

Foreseen = Create | Update | Recreate | Tell | InSync | Stop
"""What is decided in the end."""


def foreseen(subject: Subject, view: Observation | Absence) -> tuple[Subject, Foreseen]:
    """What a pass decides once it has written to the claim what it sees, and that claim. Pure."""
    decision, claim = decide(subject, view), subject.claim
    if isinstance(decision, Withdraw) and claim is not None:
        return foreseen(replace(subject, claim=claim.model_copy(update={"intent": None})), view)
    if isinstance(decision, Record) and claim is not None and isinstance(view, Observation):
        evidence = Evidence(how=decision.how, created_on=view.created_on, role=subject.role, time=view.created_on)
        ours = claim.model_copy(update={"evidence": evidence, "mark": None, "intent": None})
        # As in a pass that has just adopted it: nothing is drift.
        everything = frozenset({*subject.tracked, *fingerprint.applied(subject.kind, subject.spec)})
        return foreseen(replace(subject, claim=ours, changed=everything, unsent=everything), view)
    if isinstance(decision, Look | Record | Withdraw):
        raise TypeError(f"{decision} of {subject}, which has been looked at and has a claim")
    return subject, decision


def planned(subject: Subject, decision: Foreseen, view: Observation | Absence, *, force: bool = False) -> Sequence[Sql]:
    """The statements by which a decision is carried out. Pure.

    Args:
        subject: the resource.
        decision: what is decided.
        view: what there is.
        force: whether the user wants an object dropped with all that is inside.
    """
    kind, target, spec = subject.kind, subject.target, subject.spec
    match decision, view:
        case ((Create() | Recreate()), _):
            row = view.row if isinstance(view, Observation) else None
            dropped = [planning.drop(kind, target, row, force=force)] if isinstance(decision, Recreate) else []
            finish = kind.after_create(target, spec) if kind.after_create else ()
            return [*dropped, planning.create(kind, target, spec), *(each.statement for each in finish)]
        case Update() as update, Observation() as seen:
            if whole := as_a_whole(kind, target, spec, seen, update):
                return [whole]
            return [each.statement for each in altering.alter(kind, target, spec, seen, update.differences)]
    return []


def as_a_whole(kind: Kind, target: Target, spec: SnowflakeSpec, seen: Observation, decided: Update) -> Sql | None:
    """The CREATE OR ALTER that the user wants in place of ALTER, or that nothing else does the work of; None where it
    isn't wanted, or would say more than was decided, such as drift that is only to be told. Pure."""
    wanted = spec.management_policies.create_or_alter and decided.whole
    if not (wanted or create_or_alter.redefines(decided.differences)):
        return None
    return create_or_alter.statement(kind, target, spec, seen, decided.differences)
