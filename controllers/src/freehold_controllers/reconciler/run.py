"""One pass over one resource: the steps, in the order that makes a crash between any two of them harmless."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial

from freehold import fingerprint, planning
from freehold.claims import ClaimSpec
from freehold.identity import Name, Slot
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Object
from freehold.lifecycle.changes import with_changes
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
    listed,
)
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.upkeep import decide, drifted, paused
from freehold.observation import Depth, Observation
from freehold.snowflake.errors import SnowflakeError
from freehold_controllers.reconciler import dropping, finalizer, inputs, naming, references, standstill
from freehold_controllers.reconciler.batch import all_of
from freehold_controllers.reconciler.creation import create, with_owner
from freehold_controllers.reconciler.deletion import delete, take_away
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.managed import Managed, asked_now, status_of
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.ownership import hold, let_go, require_recorded
from freehold_controllers.reconciler.provider import Login
from freehold_controllers.reconciler.rehearsal import rehearse
from freehold_controllers.reconciler.remote import Remote
from freehold_controllers.reconciler.report import Found, Report
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.updating import update

_ROUNDS = 10
"""Decisions in one pass; an object that changes more often is looked at again later."""


class Run:
    """A pass over a resource.

    Attributes:
        report: what is told of it.
        looked_deep: whether all of the object was read.
    """

    def __init__(
        self, services: Services, found: Object, *, depth: Depth, not_before: float, stuck: str | None
    ) -> None:
        """
        Args:
            services: the outside world.
            found: the resource, as it is now.
            depth: how much is to be read of an object whose spec hasn't changed.
            not_before: monotonic time; how others have seen the object after it will do to find that all is well.
            stuck: hash of a spec that updates didn't bring about.
        """
        self._services = services
        self._kind = KINDS[found.key.kind]
        self._depth = depth
        self._not_before = not_before
        self._stuck = stuck
        self.report = Report(services, found)
        self.looked_deep = False

    async def delete(self) -> None:
        """Let the resource go, and drop its object if it is ours.

        Raises:
            Stopped: it can't go yet, and why.
            SnowflakeError: Snowflake said no, or didn't answer.
            ConfigurationError: there is no way into the account.
            ApiError: the API server doesn't let us.
        """
        found = self.report.found
        managed = Managed.read(found, self._kind)
        self.report.name = status_of(found).fully_qualified_name or managed.object.name
        await delete(self._services, managed)

    async def reconcile(self) -> None:
        """Make the object as the resource declares it.

        Raises:
            Stopped: it can't be, and why.
            SnowflakeError: Snowflake said no, or didn't answer.
            ConfigurationError: there is no way into the account.
            ApiError: the API server doesn't let us.
        """
        services, report = self._services, self.report
        # The manifest first: what isn't understood, or paused, must not lead to as much as a question. Until the
        # finalizer, steps only read: a crash leaves nothing.
        managed = Managed.read(report.found, self._kind)
        if stop := paused(managed.spec):
            raise Stopped(stop)
        # The account before the names: an identity is one in a proven account.
        login = await services.providers.login(managed.key, *managed.provider, winding_up=False)
        # The names before what is behind the references: without permission not even whether that is there is told.
        resolved = await naming.resolved(services, managed)
        # As written, which is all that admission knows as well.
        spec_hash = fingerprint.spec_hash(self._kind, managed.spec)
        # The references before the claim: who waits for them holds nothing that others may want.
        managed = await references.resolved(managed, login.account.name, services.get_for(managed.key))
        if not managed.spec.management_policies.observe_only:
            managed = await inputs.resolved(managed, services.secrets)
        report.references = references.verdicts(managed)
        report.applied = fingerprint.applied(self._kind, managed.spec)
        report.applied_hash = fingerprint.applied_hash(report.applied)
        report.name = listed([str(each) for each in resolved.names])
        details = planning.details(self._kind, managed.spec, report.tracked or ())

        def remote_of(name: Name | Slot) -> Remote:
            return services.remote(managed, login, self._kind.target_of(name), details)

        if managed.spec.management_policies.observe_only:
            await self._watch(managed, [remote_of(each) for each in resolved.names], login)
            return
        # The finalizer before the claim: from now on deletion passes by us, and after a crash no claim is left behind.
        if not services.read_only:
            path = self._kind.resource.path
            report.found = await finalizer.add(services.kube, path, report.found, services.manager)
        # The claim before any statement: two resources never work on one object. After a crash it is ours already.
        owned = await hold(services, managed, naming.identities(resolved, login), login.account.name)
        works: list[Callable[[], Awaitable[Found | None]]] = [
            partial(self._bring_about, managed, remote_of, each, spec_hash) for each in owned.holdings
        ]
        # After that what isn't asked for any more, so that whoever needs one of the two is never without.
        works += [partial(take_away, services, managed, each) for each in owned.surplus]
        found = await all_of(works)
        # Status last: it is worth nothing before, and after a crash here the next pass finds all in order.
        await report.ended(managed.spec, login, [each for each in found if each is not None])

    async def _bring_about(
        self, managed: Managed, remote_of: Callable[[Name | Slot], Remote], holding: Holding, spec_hash: str
    ) -> Found:
        """Make one of the things that the resource stands for as it declares it."""
        services, remote = self._services, remote_of(holding.spec.identity.identity.name)
        # Later it is known whose the object is, whoever owns it.
        if holding.spec.evidence is None:
            await require_recorded(services, managed, holding.spec.identity.identity)
        subject = replace(
            self._subject(managed, remote, holding.spec),
            order=managed.force_new,
            spec_hash=spec_hash,
            # Of an earlier pass: what it sent just before a crash may arrive only now.
            under_way=dropping.under_way(services, holding.uid, holding.spec, managed),
        )
        if not services.read_only:
            await standstill.end(remote, holding)
        work = (
            self._rehearse(managed, remote, subject)
            if services.read_only
            else self._converge(managed, remote, holding, subject)
        )
        end, seen = await work
        return Found(remote.target, end, seen)

    def _subject(self, managed: Managed, remote: Remote, claim: ClaimSpec | None) -> Subject:
        tracked, applied = self.report.tracked, self.report.applied
        account = claim.identity.account.key if claim else ""
        subject = Subject(
            kind=self._kind,
            spec=managed.spec,
            target=remote.target,
            claim=claim,
            role=remote.role,
            lacking=(account, self._kind.object_type) in self._services.lacking,
            passes=PASSES if self._stuck == self.report.applied_hash else 0,
        )
        return with_changes(subject, tracked, applied)

    async def _watch(self, managed: Managed, remotes: Sequence[Remote], login: Login) -> None:
        """Only look: who watches owns nothing."""
        report = self.report
        # The claims before the finalizer: after a crash in between, the next pass finds none and goes straight on.
        if not self._services.read_only and await let_go(self._services, managed):
            path = self._kind.resource.path
            report.found = await finalizer.remove(self._services.kube, path, report.found, self._services.manager)
        self.looked_deep = self._depth == "deep"
        found = []
        for remote in remotes:
            view = await remote.view(self._depth, not_before=self._not_before)
            decision = decide(self._subject(managed, remote, None), view)
            if isinstance(decision, Stop):
                raise Stopped(decision)
            if isinstance(view, Observation):
                found.append(Found(remote.target, InSync(), view))
        await report.ended(managed.spec, login, found)

    async def _rehearse(self, managed: Managed, remote: Remote, subject: Subject) -> tuple[InSync | Tell, Observation]:
        """Look at all of the object, and tell what would be sent."""
        evidence = subject.claim.evidence if subject.claim else None
        self.looked_deep, view = True, await remote.view("deep", evidence)
        self.report.drift[remote.target] = drifted(subject, view)
        return await rehearse(self._services, managed, remote, subject, view)

    async def _converge(
        self, managed: Managed, remote: Remote, holding: Holding, subject: Subject
    ) -> tuple[InSync | Tell, Observation]:
        """Decide, act, look, until there is nothing left to do. After a crash at any step, what it has written to the
        claim leads the next pass to the same decision, or to the one that follows."""
        report = self.report
        view: View | None = None
        # Of an object that is new to us, nothing is drift.
        everything = frozenset({*report.applied, *(report.tracked or ())})
        for _ in range(_ROUNDS):
            subject = replace(subject, claim=holding.spec)
            report.drift[remote.target] = drifted(subject, view)
            view = await with_owner(remote, holding.spec, view)
            match decide(subject, view), view:
                case Look(), _:
                    view = await self._look(remote, subject)
                    if view is Absence.UNPROVED and self._services.taken.holds(holding.uid, self._asked(remote)):
                        view = Hidden()
                case Create(), _:
                    # Remembered before they are sent: after a crash, a field that leaves the spec is still reset.
                    await report.track(subject.changed)
                    view = await self._create(managed, remote, holding)
                    unsent = planning.untold_by_create(self._kind, managed.spec)
                    subject = replace(subject, changed=everything, unsent=unsent)
                case Withdraw(), _:
                    # Before anything is altered: after a crash in the middle of that, nothing is waited for in vain.
                    await holding.withdraw()
                case Recreate(), Observation() as seen:
                    # All that may be in the way before the intent: what has to wait leaves none.
                    identity = holding.spec.identity.identity
                    await dropping.require_way(self._services, managed, identity, remote, subject)
                    view = await dropping.drop(self._services, managed, holding, remote, seen, "RECREATE")
                case Record(how=how), Observation() as seen:
                    # Before it is altered, which only evidence allows.
                    now, before = await remote.now(), holding.spec
                    held = fingerprint.held(self._kind, seen)
                    await holding.record(how, seen, remote.role, now, force_new=managed.force_new, holds=held)
                    self._nothing_redefined_yet(holding, before)
                    told_as = (Reason.ADOPTED, "was adopted") if how == "adopted" else (Reason.CREATED, "was created")
                    report.tell(told_as[0], f"{remote.target} {told_as[1]}")
                    subject = replace(subject, changed=everything, unsent=everything)
                    view = await remote.view("deep", holding.spec.evidence)
                case Update() as decided, Observation() as seen:
                    # Remembered first, as above. After a crash between statements the next pass finds what is left.
                    await report.track(subject.changed)
                    await self._update(managed, remote, holding, seen, decided)
                    report.updated(decided)
                    # What counts is what is seen now, not what was sent.
                    passes = subject.passes + 1
                    subject = replace(subject, tracked=report.applied, unsent=frozenset(), passes=passes)
                    view = await remote.view("deep", holding.spec.evidence)
                    if isinstance(view, Observation):
                        await holding.refilled(fingerprint.held(self._kind, view))
                case Stop() as stop, _:
                    raise Stopped(stop)
                case (InSync() | Tell()) as end, Observation() as seen:
                    return end, seen
        raise Stopped(Stop(Reason.RECONCILE_ERROR, f"{remote.target} keeps changing while it is worked on"))

    async def _update(
        self, managed: Managed, remote: Remote, holding: Holding, seen: Observation, decided: Update
    ) -> None:
        held = fingerprint.held(self._kind, seen)
        await holding.refill(held, fingerprint.put(self._kind, managed.spec))
        try:
            await update(self._services, managed, remote, holding, seen, decided)
        except SnowflakeError as error:
            if error.outcome_known:
                await holding.refilled(held)
            raise

    async def _look(self, remote: Remote, subject: Subject) -> View:
        """The first look of a pass. What others have seen is enough to find that there is nothing to do, no more."""
        self.looked_deep = bool(subject.changed) or self._depth == "deep"
        depth: Depth = "deep" if self.looked_deep else "shallow"
        evidence = subject.claim.evidence if subject.claim else None
        view = await remote.view(depth, evidence, not_before=self._not_before)
        if not isinstance(view, Observation) or isinstance(decide(subject, view), InSync):
            return view
        if (self._kind.surroundings or self._kind.disowned) and depth == "shallow":
            self.looked_deep = True
            return await remote.view("deep", evidence)
        return await remote.view(depth, evidence) if view.shared else view

    async def _create(self, managed: Managed, remote: Remote, holding: Holding) -> View:
        report, before = self.report, holding.spec
        within = self._services.attempts.within(self._kind.statement_limit)
        view = await create(remote, holding, managed.spec, within=within, force_new=managed.force_new)
        if isinstance(view, Hidden):
            self._services.taken.note(holding.uid, self._asked(remote))
        if holding.spec.evidence != before.evidence:
            self._nothing_redefined_yet(holding, before)
            if before.evidence and not before.intent:
                report.tell(Reason.DRIFT_CORRECTED, f"{remote.target} had disappeared and was created anew")
            else:
                report.tell(Reason.CREATED, f"{remote.target} was created")
        return view

    def _nothing_redefined_yet(self, holding: Holding, before: ClaimSpec) -> None:
        """What was nobody's until now has no CREATE OR ALTER of another process under way."""
        if before.evidence is None:
            self._services.attempts.over(holding.uid, "CREATE OR ALTER")

    def _asked(self, remote: Remote) -> Hashable:
        """What a CREATE is sent for: as long as it is the same, its answer is, too."""
        found = self.report.found
        return found.generation, asked_now(found), remote.role
