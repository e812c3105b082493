"""Mode ReadOnly: what a pass would send, found by deciding as if each step had been taken, and sending none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from prometheus_client import Gauge

from freehold import fingerprint, planning
from freehold.claims import Claim, Evidence
from freehold.kube.objects import Key
from freehold.metrics import REGISTRY
from freehold.observation import Observation
from freehold.sql import Sql
from freehold_controllers.reconciler.decision import (
    Create,
    Record,
    Recreate,
    Stop,
    Subject,
    Update,
    View,
    Withdraw,
)
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.upkeep import decide

_PLANNED = Gauge(
    "freehold_planned_statements",
    "Statements that mode ReadOnly keeps from being sent.",
    ["kind", "verb"],
    registry=REGISTRY,
)


def rehearse(subject: Subject, view: View) -> tuple[Sql, ...]:
    """What would be sent to make an object as declared. Pure.

    Args:
        subject: the resource, with its claim or the one that it would have.
        view: all that there is.

    Raises:
        Stopped: nothing would be sent, and why.
    """
    return tuple(_statements(subject, view))


def _statements(subject: Subject, view: View) -> Iterator[Sql]:
    kind, target, spec = subject.kind, subject.target, subject.spec
    match decide(subject, view), view:
        case Stop() as stop, _:
            raise Stopped(stop)
        case Create(), _:
            yield planning.create(kind, target, spec)
        case Recreate(), _:
            yield planning.drop(kind, target)
            yield planning.create(kind, target, spec)
        case Update(differences=differences), Observation() as seen:
            for step in planning.alter(kind, target, spec, seen, differences):
                yield step.statement
        case Record(how=how), Observation() as seen if subject.claim is not None:
            # As in a pass that has just adopted it: nothing is drift.
            everything = frozenset({*subject.tracked, *fingerprint.applied(kind, spec)})
            evidence = Evidence(how=how, created_on=seen.created_on, role=subject.role, time=seen.created_on)
            ours = subject.claim.model_copy(update={"evidence": evidence, "mark": None, "intent": None})
            yield from _statements(replace(subject, claim=ours, changed=everything), view)
        case Withdraw(), _ if subject.claim is not None:
            spared = subject.claim.model_copy(update={"intent": None})
            yield from _statements(replace(subject, claim=spared), view)


def withheld(statements: tuple[Sql, ...]) -> Stop:
    """The end of a pass that would have sent something."""
    what = "what status.plan says isn't sent" if statements else "the object isn't adopted"
    message = f"the controllers run in mode ReadOnly: {what}"
    return Stop(Reason.READ_ONLY, message, passing=True, plan=tuple(each.shown for each in statements))


def withheld_drop(claim: Claim, target_drop: Sql) -> Stop:
    """The end of the deletion of a resource whose object is ours, or may be."""
    message = f"{claim.spec.identity.fqn} is kept, and its resource with it, while the controllers run in mode ReadOnly"
    return Stop(Reason.DELETE_BLOCKED, message, plan=(target_drop.shown,))


class Plans:
    """The number of planned statements by kind and verb, as a metric."""

    def __init__(self) -> None:
        self._verbs: dict[Key, Counter[str]] = {}

    def note(self, key: Key, plan: tuple[str, ...]) -> None:
        """Take in what is planned for a resource now."""
        after = Counter(statement.split(maxsplit=1)[0] for statement in plan)
        before = self._verbs.pop(key, Counter())
        for verb in before | after:
            _PLANNED.labels(key.kind, verb).inc(after[verb] - before[verb])
        if after:
            self._verbs[key] = after
