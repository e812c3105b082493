"""What is told of a pass over a resource: its status, written when it changed, and Events, when they are news."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from freehold import planning
from freehold.kinds.common import SnowflakeSpec, SnowflakeStatus
from freehold.kinds.property import Target
from freehold.kinds.registry import KINDS
from freehold.kinds.steps import Difference
from freehold.kube.conditions import says
from freehold.kube.objects import Object
from freehold.lifecycle.decision import InSync, Stop, Tell, Update
from freehold.lifecycle.reasons import Reason
from freehold.observation import Observation, Row
from freehold_controllers.reconciler import status
from freehold_controllers.reconciler.managed import asked_now, status_of
from freehold_controllers.reconciler.provider import Login
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.status import DRIFT_DETECTED, READY, REFERENCES_RESOLVED, SYNCED, Verdict, Verdicts


@dataclass(frozen=True, slots=True)
class Found:
    """One of the things that a resource stands for, at the end of a pass.

    Attributes:
        target: the object or slot.
        end: whether it is as declared.
        seen: what was seen of it last.
    """

    target: Target
    end: InSync | Tell
    seen: Observation


class Report:
    """Tells of one pass.

    Attributes:
        found: the resource, as it was read or written last.
        name: its object's name, for people; empty as long as it isn't known.
        references: what is told of its references.
        drift: what was changed from outside, by object or slot.
        applied: what the spec sets, as `fingerprint.applied` tells it.
        applied_hash: hash of that; empty before the references are resolved.
    """

    def __init__(self, services: Services, found: Object) -> None:
        self._services = services
        self._kind = KINDS[found.key.kind]
        self.found = found
        self.name = ""
        self.references: Verdicts = {REFERENCES_RESOLVED: None}
        self.drift: dict[Target, tuple[Difference, ...]] = {}
        self.applied: Mapping[str, str] = {}
        self.applied_hash = ""

    def __str__(self) -> str:
        return f"{self._kind.object_type.lower()} {self.name}".strip()

    @property
    def tracked(self) -> Mapping[str, str] | None:
        """The fields that were ever sent, each with a hash of its value; None where that isn't known."""
        return status_of(self.found).tracked_parameters

    async def track(self, changed: Collection[str]) -> None:
        """Remember the names of all fields that are about to be sent; of those that the user has changed no value, for
        after a crash it isn't known which one was applied last."""
        before = self.tracked or {}
        tracked = {**dict.fromkeys(self.applied, ""), **before, **dict.fromkeys(changed, "")}
        if tracked != before:
            await self._apply(status_of(self.found).model_copy(update={"tracked_parameters": tracked}))

    async def stopped(self, stop: Stop) -> None:
        """Tell why the pass has ended early."""
        verdicts = {**status.verdicts_of(stop, self.found), **self._drift_told()}
        if not stop.brief and not says(self.found, stop.message, reason=stop.reason):
            note = f"{stop.message} ({stop.trace})" if stop.trace else stop.message
            self.tell(stop.reason, note, type_="Normal" if stop.reason is Reason.RECONCILE_PAUSED else "Warning")
        await self._write(verdicts, {"plan": list(stop.plan) or None})

    async def ended(self, spec: SnowflakeSpec, login: Login, found: Sequence[Found]) -> None:
        """Tell that there is nothing left to do.

        Args:
            spec: of the resource.
            login: the way into the account.
            found: all that it stands for.
        """
        observe_only = spec.management_policies.observe_only
        state = f"{self} exists" if observe_only else f"{self} is as declared"
        left = {each.target: each.end.differences for each in found if isinstance(each.end, Tell)}
        if left:
            state = f"{self} is left as it is, though it differs from what is declared: see condition {DRIFT_DETECTED}"
            self.drift |= left
        verdicts: dict[str, Verdict | None] = {
            READY: Verdict("True", Reason.AVAILABLE, state),
            SYNCED: Verdict("True", Reason.RECONCILE_SUCCESS, state),
            **self._drift_told(),
        }
        facts: dict[str, object] = {
            "fully_qualified_name": self.name,
            "account": login.account.name,
            "show_output": self._kind.stable(_common(each.seen.row for each in found)),
            "plan": None,
            "last_handled_reconcile_now": asked_now(self.found),
        }
        for each in found:
            if each.seen.parameters is not None:
                facts["parameters"] = planning.left_alone(self._kind, spec, each.seen) or None
                facts["outputs"] = planning.outputs(self._kind, each.seen) or None
        if not observe_only:
            facts |= {"last_applied_spec_hash": self.applied_hash, "tracked_parameters": self.applied}
        await self._write(verdicts, facts)

    def updated(self, update: Update) -> None:
        """Tell what was altered."""
        wanted = [each for each in update.differences if each not in update.drift]
        for reason, differences in ((Reason.DRIFT_CORRECTED, update.drift), (Reason.UPDATED, wanted)):
            if differences:
                self.tell(reason, "; ".join(each.mended for each in differences))

    def tell(self, reason: Reason, note: str, *, type_: Literal["Normal", "Warning"] = "Normal") -> None:
        """Record an Event about the resource."""
        self._services.tell(self.found, reason, note, type_=type_)

    def _drift_told(self) -> dict[str, Verdict | None]:
        """What was changed from outside, for as long as it is, with an Event when it is news."""
        drifted = [(target, each) for target, differences in self.drift.items() for each in differences]
        if not drifted:
            return {}
        several = len(self.drift) > 1
        note = "; ".join(f"{target}: {each.advised}" if several else each.advised for target, each in drifted)
        if not says(self.found, note, type=DRIFT_DETECTED):
            self.tell(Reason.DRIFT_DETECTED, note, type_="Warning")
        return {DRIFT_DETECTED: Verdict("True", Reason.DRIFT_DETECTED, note)}

    async def _write(self, verdicts: Verdicts, facts: Mapping[str, object]) -> None:
        conditions = status.conditions(self.found, {**self.references, **verdicts}, self._services.now)
        update = {"observed_generation": self.found.generation, "conditions": conditions, **facts}
        await self._apply(status_of(self.found).model_copy(update=update))

    async def _apply(self, new: SnowflakeStatus) -> None:
        path = self._kind.resource.path
        self.found = await status.write(self._services.kube, path, self.found, new, self._services.manager)


def _common(rows: Iterable[Row]) -> Row:
    """One row for several: of a column in which they differ, all values."""
    columns: dict[str, dict[object, None]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, {})[value] = None
    return {
        name: ", ".join(map(str, values)) if len(values) > 1 else next(iter(values)) for name, values in columns.items()
    }
