"""One pass over one resource: the steps, in the order that makes a crash between any two of them harmless."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

from freehold import fingerprint, planning
from freehold.claims import ClaimSpec
from freehold.kinds.common import SnowflakeStatus
from freehold.kinds.kind import Difference
from freehold.kinds.registry import KINDS
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Object
from freehold.observation import Depth, Observation
from freehold_controllers.reconciler import dropping, finalizer, naming, references, status
from freehold_controllers.reconciler.creation import create
from freehold_controllers.reconciler.decision import (
    PASSES,
    Create,
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
    told,
)
from freehold_controllers.reconciler.deletion import delete
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed, asked_now, status_of
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.ownership import hold, let_go, still_filled
from freehold_controllers.reconciler.provider import Login
from freehold_controllers.reconciler.reasons import Reason
from freehold_controllers.reconciler.rehearsal import rehearse
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.status import DRIFT_DETECTED, READY, REFERENCES_RESOLVED, SYNCED, Verdict, Verdicts
from freehold_controllers.reconciler.updating import update
from freehold_controllers.reconciler.upkeep import decide, drifted, paused

_ROUNDS = 10
"""Decisions in one pass; an object that changes more often is looked at again later."""


class Run:
    """A pass over a resource.

    Attributes:
        applied_hash: hash of all that is to be sent; empty before the references are resolved.
        looked_deep: whether all of the object was read.
    """

    def __init__(self, services: Services, found: Object, *, depth: Depth, stuck: str | None) -> None:
        """
        Args:
            services: the outside world.
            found: the resource, as it is now.
            depth: how much is to be read of an object whose spec hasn't changed.
            stuck: hash of a spec that updates didn't bring about.
        """
        self._services = services
        self._found = found
        self._kind = KINDS[found.key.kind]
        self._depth = depth
        self._stuck = stuck
        self._name = ""
        self._references: Verdicts = {REFERENCES_RESOLVED: None}
        self._drift: tuple[Difference, ...] = ()
        self.applied_hash = ""
        self._values: Mapping[str, str] = {}
        self.looked_deep = False

    def __str__(self) -> str:
        return f"{self._kind.object_type.lower()} {self._name}".strip()

    async def delete(self) -> None:
        """Let the resource go, and drop its object if it is ours."""
        managed = Managed.read(self._found, self._kind)
        self._name = status_of(self._found).fully_qualified_name or managed.object.name
        await delete(self._services, managed)

    async def reconcile(self) -> None:
        """Make the object as the resource declares it.

        Raises:
            Stopped: it can't be, and why.
            SnowflakeError: Snowflake said no, or didn't answer.
            ConfigurationError: there is no way into the account.
            ApiError: the API server doesn't let us.
        """
        services = self._services
        # The manifest first: what isn't understood, or paused, must not lead to as much as a question.
        managed = Managed.read(self._found, self._kind)
        if stop := paused(managed.spec):
            raise Stopped(stop)
        # The account before the names: an identity is one in a proven account.
        login = await services.providers.login(managed.key, *managed.provider, winding_up=False)
        resolved = await naming.resolved(services, managed)
        # As written, which is all that admission knows as well.
        spec_hash = fingerprint.spec_hash(self._kind, managed.spec)
        managed = await references.resolved(managed, login.account.name, services.get_for(managed.key))
        self._references = references.verdicts(managed)
        self._values = fingerprint.applied(self._kind, managed.spec)
        self.applied_hash = fingerprint.applied_hash(self._values)
        target = self._kind.target(resolved.parts)
        self._name = target.name.text
        details = planning.details(self._kind, managed.spec, self._tracked)
        remote = services.remote(managed, login, target, details)
        if managed.spec.management_policies.observe_only:
            await self._watch(managed, remote, login)
            return
        # The finalizer before the claim: from now on deletion passes by us, and no claim is left behind.
        if not services.read_only:
            self._found = await finalizer.add(services.kube, self._kind.resource.path, self._found, services.manager)
        # The claim before any statement: two resources never work on one object.
        owned = await hold(services, managed, naming.identities(resolved, login), login.account.name)
        if owned.surplus:
            raise Stopped(still_filled(owned.surplus))
        (holding,) = owned.holdings
        subject = replace(
            self._subject(managed, remote, holding.spec),
            order=managed.force_new,
            spec_hash=spec_hash,
            under_way=dropping.under_way(services, holding.uid, holding.spec),
        )
        if services.read_only:
            end, seen = await self._rehearse(managed, remote, subject)
        else:
            end, seen = await self._converge(managed, remote, holding, subject)
        # Status last: it is worth nothing before, and after a crash here the next pass finds all in order.
        await self._report(managed, remote, login, end, seen)

    async def stop(self, stop: Stop) -> None:
        """Tell in status and Event why the pass has ended early."""
        before = conditions_of(self._found)
        verdicts = {**status.verdicts_of(stop, self._found), **self._drift_told()}
        if not any((each.reason, each.message) == (stop.reason, stop.message) for each in before):
            told_as: Literal["Normal", "Warning"] = "Normal" if stop.reason is Reason.RECONCILE_PAUSED else "Warning"
            note = f"{stop.message} ({stop.trace})" if stop.trace else stop.message
            self._services.tell(self._found, stop.reason, note, type_=told_as)
        await self._write(verdicts, {"plan": list(stop.plan) or None})

    @property
    def _tracked(self) -> Mapping[str, str]:
        """The fields that were ever sent, as `fingerprint.applied` tells them."""
        return status_of(self._found).tracked_parameters or {}

    def _subject(self, managed: Managed, remote: Remote, claim: ClaimSpec | None) -> Subject:
        tracked = status_of(self._found).tracked_parameters
        return Subject(
            kind=self._kind,
            spec=managed.spec,
            target=remote.target,
            claim=claim,
            role=remote.role,
            tracked=tracked or {},
            # Without values in status, which backups lose, a difference counts as drift: detect-only must hold.
            changed=fingerprint.changed(tracked, self._values) if tracked is not None else frozenset(),
            passes=PASSES if self._stuck == self.applied_hash else 0,
        )

    async def _watch(self, managed: Managed, remote: Remote, login: Login) -> None:
        """Only look: who watches owns nothing."""
        if not self._services.read_only and await let_go(self._services, managed):
            path = self._kind.resource.path
            self._found = await finalizer.remove(self._services.kube, path, self._found, self._services.manager)
        self.looked_deep = self._depth == "deep"
        view = await remote.view(self._depth)
        decision = decide(self._subject(managed, remote, None), view)
        if isinstance(decision, Stop):
            raise Stopped(decision)
        if isinstance(view, Observation):
            await self._report(managed, remote, login, InSync(), view)

    async def _rehearse(self, managed: Managed, remote: Remote, subject: Subject) -> tuple[InSync | Tell, Observation]:
        """Look at all of the object, and tell what would be sent."""
        evidence = subject.claim.evidence if subject.claim else None
        self.looked_deep, view = True, await remote.view("deep", evidence)
        self._drift = drifted(subject, view)
        return await rehearse(self._services, managed, remote, subject, view)

    async def _converge(
        self, managed: Managed, remote: Remote, holding: Holding, subject: Subject
    ) -> tuple[InSync | Tell, Observation]:
        """Decide, act, look, until there is nothing left to do."""
        view: View | None = None
        account = holding.spec.identity.account.key
        # Of an object that is new to us, nothing is drift.
        everything = frozenset({*self._values, *self._tracked})
        for _ in range(_ROUNDS):
            subject = replace(subject, claim=holding.spec)
            self._drift = drifted(subject, view)
            match decide(subject, view), view:
                case Look(), _:
                    self.looked_deep = bool(subject.changed) or self._depth == "deep"
                    view = await remote.view("deep" if self.looked_deep else "shallow", holding.spec.evidence)
                case Create(), _:
                    await self._track(subject.changed)
                    view = await self._create(managed, remote, holding)
                    subject = replace(subject, changed=everything)
                case Withdraw(), _:
                    await holding.withdraw()
                case Recreate(), Observation() as seen:
                    identity = holding.spec.identity.identity
                    await dropping.require_way(self._services, managed, identity, remote, subject)
                    view = await dropping.drop(self._services, managed, holding, remote, seen, "RECREATE")
                case Record(how=how), Observation() as seen:
                    now = await remote.now()
                    await holding.record(how, seen, remote.role, now, force_new=managed.force_new)
                    told_as = (Reason.ADOPTED, "was adopted") if how == "adopted" else (Reason.CREATED, "was created")
                    self._services.tell(self._found, told_as[0], f"{self} {told_as[1]}")
                    subject = replace(subject, changed=everything)
                    view = await remote.view("deep", holding.spec.evidence)
                case Update() as decided, Observation() as seen:
                    # Remembered before they are sent: after a crash, a field that leaves the spec is still reset.
                    await self._track(subject.changed)
                    await update(managed, remote, account, seen, decided, self._services.lacking)
                    self._tell_updated(decided)
                    # What counts is what is seen now, not what was sent.
                    subject = replace(subject, tracked=self._values, passes=subject.passes + 1)
                    view = await remote.view("deep", holding.spec.evidence)
                case Stop() as stop, _:
                    raise Stopped(stop)
                case (InSync() | Tell()) as end, Observation() as seen:
                    return end, seen
        raise Stopped(Stop(Reason.RECONCILE_ERROR, f"{self} keeps changing while it is worked on"))

    def _tell_updated(self, update: Update) -> None:
        wanted = [each for each in update.differences if each not in update.drift]
        for reason, differences in ((Reason.DRIFT_CORRECTED, update.drift), (Reason.UPDATED, wanted)):
            if differences:
                self._services.tell(self._found, reason, told(differences))

    async def _create(self, managed: Managed, remote: Remote, holding: Holding) -> View:
        before = holding.spec
        view = await create(remote, holding, managed.spec, managed.force_new)
        if holding.spec.evidence != before.evidence:
            if before.evidence and not before.intent:
                self._services.tell(self._found, Reason.DRIFT_CORRECTED, f"{self} had disappeared and was created anew")
            else:
                self._services.tell(self._found, Reason.CREATED, f"{self} was created")
        return view

    async def _track(self, changed: Collection[str]) -> None:
        """Remember the names of all fields that are about to be sent; of those that the user has changed no value, for
        after a crash it isn't known which one was applied last."""
        tracked = {**dict.fromkeys(self._values, ""), **self._tracked, **dict.fromkeys(changed, "")}
        if tracked != self._tracked:
            await self._apply(status_of(self._found).model_copy(update={"tracked_parameters": tracked}))

    async def _report(
        self, managed: Managed, remote: Remote, login: Login, end: InSync | Tell, seen: Observation
    ) -> None:
        observe_only = managed.spec.management_policies.observe_only
        state = f"{self} exists" if observe_only else f"{self} is as declared"
        if isinstance(end, Tell):
            state = f"{self} is left as it is, though it differs from what is declared: see condition {DRIFT_DETECTED}"
        verdicts: dict[str, Verdict | None] = {
            READY: Verdict("True", Reason.AVAILABLE, state),
            SYNCED: Verdict("True", Reason.RECONCILE_SUCCESS, state),
        }
        if isinstance(end, Tell):
            self._drift = end.differences
        verdicts |= self._drift_told()
        facts: dict[str, object] = {
            "fully_qualified_name": remote.target.name.text,
            "account": login.account.name,
            "show_output": self._kind.stable(seen.row),
            "plan": None,
            "last_handled_reconcile_now": asked_now(self._found),
        }
        if seen.parameters is not None:
            facts["parameters"] = planning.left_alone(self._kind, managed.spec, seen) or None
        if not observe_only:
            facts |= {"last_applied_spec_hash": self.applied_hash, "tracked_parameters": self._values}
        await self._write(verdicts, facts)

    def _drift_told(self) -> dict[str, Verdict | None]:
        """What was changed from outside, for as long as it is, with an Event when it is news."""
        if not self._drift:
            return {}
        note = told(self._drift)
        if not any((each.type, each.message) == (DRIFT_DETECTED, note) for each in conditions_of(self._found)):
            self._services.tell(self._found, Reason.DRIFT_DETECTED, note, type_="Warning")
        return {DRIFT_DETECTED: Verdict("True", Reason.DRIFT_DETECTED, note)}

    async def _write(self, verdicts: Verdicts, facts: Mapping[str, object] | None = None) -> None:
        conditions = status.conditions(self._found, {**self._references, **verdicts}, self._services.now)
        update = {"observed_generation": self._found.generation, "conditions": conditions, **(facts or {})}
        await self._apply(status_of(self._found).model_copy(update=update))

    async def _apply(self, new: SnowflakeStatus) -> None:
        path = self._kind.resource.path
        self._found = await status.write(self._services.kube, path, self._found, new, self._services.manager)
