"""Mode ReadOnly: what a pass would send, found by deciding as if claims had been written, and sending nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prometheus_client import Gauge

from freehold.claims import Evidence
from freehold.kube.objects import Key
from freehold.lifecycle.decision import (
    Absence,
    Create,
    HandOver,
    InSync,
    Recreate,
    Release,
    Stop,
    Subject,
    Tell,
    Update,
)
from freehold.lifecycle.foresight import foreseen, planned
from freehold.lifecycle.reasons import Reason
from freehold.metrics import REGISTRY
from freehold.observation import Observation
from freehold.snowflake.preflight import missing_parent
from freehold.sql import Sql
from freehold_controllers.reconciler import dropping
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped, require
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.updating import lock_out_by

_PLANNED = Gauge(
    "freehold_planned_statements",
    "Statements that mode ReadOnly keeps from being sent.",
    ["kind", "verb"],
    registry=REGISTRY,
)


async def rehearse(
    services: Services, managed: Managed, remote: Remote, subject: Subject, view: Observation | Absence
) -> tuple[InSync | Tell, Observation]:
    """Do all of a pass but what writes.

    Args:
        services: the outside world.
        managed: the resource.
        remote: its object.
        subject: what is known of it, with its claim or the one that it would have.
        view: all that there is.

    Returns:
        How the pass ends where there is nothing to write.

    Raises:
        Stopped: as the pass would; or by what it would send.
        SnowflakeError: what would be in the way can't be looked for.
    """
    settled, decision = foreseen(subject, view)
    match decision, view:
        case Stop() as stop, _:
            raise Stopped(stop)
        case (InSync() | Tell()) as end, Observation() if _evidence(settled) == _evidence(subject):
            return end, view
        case Recreate(), _ if settled.claim is not None:
            await dropping.require_way(services, managed, settled.claim.identity.identity, remote, settled)
        case Create(), _ if _evidence(settled) is None:
            require(await missing_parent(remote, managed.spec))
        case Update() as update, _:
            require(lock_out_by(remote, update))
    raise Stopped(withheld(planned(settled, decision, view, force=managed.force_destroy)))


def _evidence(subject: Subject) -> Evidence | None:
    return subject.claim.evidence if subject.claim else None


def withheld(statements: Sequence[Sql], consequence: str = "") -> Stop:
    """The end of a pass that would have sent something, or have written whose an object is.

    Args:
        statements: what it would have sent.
        consequence: what they would do that they don't say themselves, for people.
    """
    what = "what status.plan says isn't sent" if statements else "it isn't written whose the object is"
    message = f"the controllers run in mode ReadOnly: {what}{consequence}"
    return Stop(Reason.READ_ONLY, message, passing=True, plan=tuple(each.shown for each in statements))


def withheld_end(subject: Subject, decision: Release | HandOver) -> Stop | None:
    """The end of a deletion that would send nothing, but let go what may be ours."""
    if subject.claim is None or not subject.claim.telling:
        return None
    if isinstance(decision, HandOver):
        what = f"{subject} isn't handed over to {decision.to}"
    else:
        what = f"the resource isn't let go ({decision.why})"
    return Stop(Reason.READ_ONLY, f"the controllers run in mode ReadOnly: {what}")


def withheld_release() -> Stop:
    """The end of a deletion that has nothing left to do but to let the resource go."""
    return Stop(
        Reason.READ_ONLY, "the controllers run in mode ReadOnly: nothing is let go before they run in ReadWrite"
    )


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
