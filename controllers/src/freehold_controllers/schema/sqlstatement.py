"""SQLStatements: what people write is run once, and undone when its resource goes.

Whether a statement has run is told by the claim alone, which is written before each is sent. One whose answer was lost,
with a process or a connection, is never sent again before it is known that it hasn't run.
"""

from __future__ import annotations

from typing import Literal

from freehold import permissions
from freehold.claims import Claim, Evidence, Progress
from freehold.kinds.account.providerconfig import ABANDON_DEPENDENTS, PROVIDER_CONFIG
from freehold.kinds.utility.sqlstatement import (
    OUTCOME,
    SQL_STATEMENT,
    Context,
    ObserveResult,
    SQLStatementSpec,
    identity,
    limit_of,
    objects,
    text_hash,
)
from freehold.kube.objects import NAMESPACES, Key, Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold.permissions import Usage
from freehold.recreation import FORCE_NEW_ANNOTATION
from freehold.resolve import Unresolved, provider_of_spec
from freehold.snowflake.query_tag import QueryTag
from freehold.snowflake.settings import SessionContext
from freehold_controllers.reconciler.dropping import kind_goes
from freehold_controllers.reconciler.holding import Holding
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.provider import Login
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.utility import Pass, UtilityReconciler
from freehold_controllers.runtime.work import Done
from freehold_controllers.schema.running import MOST_ROWS, Runner
from freehold_controllers.schema.statement_decision import (
    Adopt,
    Anew,
    Effect,
    Finished,
    Purpose,
    Run,
    Settle,
    Subject,
    decide,
    hashes_of,
    settle,
    text_of,
)

_ROUNDS = 8
"""Decisions in one pass."""


class SQLStatements(UtilityReconciler):
    """Reconciles SQLStatements."""

    utility = SQL_STATEMENT

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._tried: dict[Key, tuple[int, set[Purpose]]] = {}

    async def bring_about(self, run: Pass) -> Done:
        spec = self._spec(run)
        if spec.paused:
            raise Stopped(Stop(Reason.RECONCILE_PAUSED, "spec.paused is true: nothing is sent"))
        login = await self._login(run, spec)
        runner = self._runner(run, spec, login)
        if spec.management_policies.observe_only:
            await self._watch(run, spec, runner, login)
        else:
            found = identity(login.account.key, run.found.namespace, run.found.name)
            owned = await run.own([found], login.account.name)
            (holding,) = owned.holdings
            await self._converge(run, spec, runner, holding, login)
        intervals = self._services.providers.intervals(*_provider(run, spec))
        return Done(every=intervals.resync)

    async def let_go(self, run: Pass) -> None:
        services = self._services
        spec = run.spec(SQLStatementSpec) if not run.abandoned else None
        if spec is not None and not await kind_goes(services, SQL_STATEMENT.resource.path):
            for claim in await services.store.of_holder(run.holder):
                if claim.spec.holder.same(run.holder):
                    await self._undo(run, spec, claim)
        if services.read_only:
            raise Stopped(Stop(Reason.READ_ONLY, "the controllers run in mode ReadOnly: the resource stays"))
        await run.release()

    async def _undo(self, run: Pass, spec: SQLStatementSpec, claim: Claim) -> None:
        """Undo what has run, or may have."""
        services, progress = self._services, claim.spec.progress
        begun = progress is not None and (progress.done or progress.sent or progress.purpose == "revert")
        if claim.spec.evidence is None and not begun:
            return
        if kept := await self._kept(run, spec, claim):
            services.tell(run.found, Reason.RELEASED, f"nothing is undone: {kept}")
            return
        self._spec(run)
        if spec.paused:
            message = "what has run isn't undone while spec.paused is true: set it to false"
            raise Stopped(Stop(Reason.DELETE_BLOCKED, message))
        if services.read_only:
            raise Stopped(Stop(Reason.READ_ONLY, "spec.revert would be run", plan=("run spec.revert",)))
        # What undoes it is any SQL, and admission lets a resource that is being deleted be changed at will.
        login = await self._login(run, spec, winding_up=True)
        self._require_account(claim, login)
        runner, holding = self._runner(run, spec, login), Holding(services.store, claim)
        effect = await runner.observe(spec)
        if progress and progress.sent:
            await self._settle_first(run, spec, holding, effect, progress)
        await runner.run(holding, spec, "revert", effect)
        services.tell(run.found, Reason.DROPPED, "spec.revert has run")

    async def _settle_first(
        self, run: Pass, spec: SQLStatementSpec, holding: Holding, effect: Effect | None, progress: Progress
    ) -> None:
        """Find out what became of the last statement, before it is undone: where it was to make something, it is enough
        that it is over."""
        subject = self._subject(run, spec, holding, effect)
        if progress.purpose == "revert":
            decision = settle(subject, progress)
            if isinstance(decision, Stop):
                raise Stopped(decision)
            await holding.progress(_settled(progress, ran=decision.ran))
        elif subject.under_way:
            raise Stopped(Stop(Reason.DELETING, "a statement whose answer was lost may still be running", soon=True))

    async def _kept(self, run: Pass, spec: SQLStatementSpec, claim: Claim) -> str | None:
        """Why what has run is not undone."""
        self._services.following.follow(run.key, Key(PROVIDER_CONFIG.kind, *_provider(run, spec)))
        config = await self._services.store.get(PROVIDER_CONFIG.path, *_provider(run, spec)) or Object({})
        default = (config.spec.get("deletion") or {}).get("default")
        evidence = claim.spec.evidence
        if config.annotations.get(ABANDON_DEPENDENTS) == "true":
            return f"the annotation {ABANDON_DEPENDENTS} of its ProviderConfig abandons it"
        if (spec.deletion_policy or default) == "Orphan":
            return "deletionPolicy is Orphan"
        if spec.management_policies.observe_only:
            return "it is only observed"
        if spec.revert is None:
            return "spec.revert isn't set"
        if evidence is not None and evidence.how == "adopted" and spec.deletion_policy is None:
            return "its effect was adopted, and deletionPolicy: Delete isn't written out"
        return None

    async def _watch(self, run: Pass, spec: SQLStatementSpec, runner: Runner, login: Login) -> None:
        effect = await runner.observe(spec)
        if effect is None or not effect.matched:
            raise Stopped(Stop(Reason.OBSERVE_ONLY, "spec.observe doesn't show the effect, and it is only observed"))
        await run.ended("spec.observe shows the effect", _facts(login, effect))

    async def _converge(
        self, run: Pass, spec: SQLStatementSpec, runner: Runner, holding: Holding, login: Login
    ) -> None:
        """Decide, act, look, until there is nothing left to do."""
        effect = await runner.observe(spec)
        for _ in range(_ROUNDS):
            decision = decide(self._subject(run, spec, holding, effect))
            if isinstance(decision, Stop):
                raise Stopped(decision)
            if isinstance(decision, Finished):
                await self._finish(run, spec, holding, login, effect, decision.drift)
                return
            if self._services.read_only:
                raise Stopped(_withheld(decision))
            match decision:
                case Settle(ran=ran):
                    await holding.progress(_settled(holding.spec.progress, ran=ran))
                    continue
                case Adopt():
                    await holding.record_run(self._evidence(run, login, "adopted", None))
                    self._services.tell(run.found, Reason.ADOPTED, "spec.observe shows the effect: it is adopted")
                    continue
                case Anew():
                    await self._undo_first(spec, runner, holding, effect)
                case Run(purpose=purpose):
                    await runner.run(holding, spec, purpose, effect)
                    await self._ran(run, spec, holding, purpose, login)
            effect = await runner.observe(spec)
        raise Stopped(Stop(Reason.RECONCILE_ERROR, "what is observed keeps changing while the statements are run"))

    async def _undo_first(
        self, spec: SQLStatementSpec, runner: Runner, holding: Holding, effect: Effect | None
    ) -> None:
        """Undo what another text has done. After a crash in between, the intent leads back here."""
        if holding.spec.intent is None:
            await holding.intend("RECREATE", self._services.now)
        if text_of(spec, "revert"):
            await runner.run(holding, spec, "revert", effect)
        await holding.begin_anew()

    async def _finish(
        self,
        run: Pass,
        spec: SQLStatementSpec,
        holding: Holding,
        login: Login,
        effect: Effect | None,
        drift: str,
    ) -> None:
        if holding.spec.progress is not None and not self._services.read_only:
            await holding.progress(None)
        if not drift:
            self._tried.pop(run.key, None)
        await run.ended(_state(holding), _facts(login, effect, spec, holding), drift)

    async def _ran(self, run: Pass, spec: SQLStatementSpec, holding: Holding, purpose: Purpose, login: Login) -> None:
        """Write that a text has run to its end."""
        if purpose == "execute":
            hashes = hashes_of(spec.execute)
            await holding.record_run(self._evidence(run, login, "created", hashes))
            self._services.tell(run.found, Reason.CREATED, f"spec.execute has run ({_statements(len(hashes))})")
        else:
            await holding.progress(None)
            self._services.tell(run.found, Reason.DRIFT_CORRECTED, f"spec.{purpose} has run")
        generation, tried = self._tried.setdefault(run.key, (run.found.generation, set()))
        if generation != run.found.generation:
            tried = set()
        self._tried[run.key] = run.found.generation, {*tried, purpose}

    def _evidence(
        self, run: Pass, login: Login, how: Literal["created", "adopted"], hashes: tuple[str, ...] | None
    ) -> Evidence:
        now = self._services.now
        order = run.found.annotations.get(FORCE_NEW_ANNOTATION)
        return Evidence(how=how, created_on=now, role=login.role, time=now, force_new=order, statements=hashes)

    def _subject(self, run: Pass, spec: SQLStatementSpec, holding: Holding, effect: Effect | None) -> Subject:
        progress, annotations = holding.spec.progress, run.found.annotations
        number = len(progress.done) + 1 if progress and progress.sent else None
        generation, tried = self._tried.get(run.key, (run.found.generation, set()))
        return Subject(
            spec=spec,
            claim=holding.spec,
            effect=effect,
            order=annotations.get(FORCE_NEW_ANNOTATION),
            answer=annotations.get(OUTCOME),
            under_way=number is not None and self._services.attempts.under_way(holding.uid, number, limit_of(spec)),
            tried=tried if generation == run.found.generation else (),
        )

    def _spec(self, run: Pass) -> SQLStatementSpec:
        """The spec, also of a resource that is being deleted, once all of it is known to be let in."""
        policy = self._services.statements
        if not policy.enabled:
            message = (
                "this installation runs no SQLStatements: have sqlStatements.enabled set in the values of its chart"
            )
            raise Stopped(Stop(Reason.NOT_SUPPORTED, message))
        spec = run.spec(SQLStatementSpec)
        if faults := SQL_STATEMENT.faults(spec) or SQL_STATEMENT.refusals(spec, policy):
            raise Stopped(Stop(Reason.VALIDATION_FAILED, "; ".join(faults)))
        return spec

    async def _login(self, run: Pass, spec: SQLStatementSpec, *, winding_up: bool = False) -> Login:
        """The way into the account, as far as the ProviderConfig allows it."""
        services, namespace = self._services, run.found.namespace
        login = await services.providers.login(run.key, *_provider(run, spec), winding_up=winding_up)
        get = services.get_for(run.key)
        provider = await provider_of_spec(namespace, spec, get)
        if isinstance(provider, Unresolved):
            raise Stopped(Stop(Reason.DEPENDENCY_NOT_READY, str(provider), passing=True))
        selects = provider.spec.allowed_namespace_selector is not None
        found = await get(NAMESPACES, "", namespace) if selects else None
        usage = Usage(SQL_STATEMENT, namespace, found.labels if found else {}, objects(spec), spec.use_role)
        allowed = services.allowed_privileged_roles
        if denied := permissions.check(
            provider.spec, (provider.namespace, provider.name), usage, allowed_privileged_roles=allowed
        ):
            raise Stopped(Stop(Reason(denied.reason), denied.message))
        return login

    def _runner(self, run: Pass, spec: SQLStatementSpec, login: Login) -> Runner:
        acting, found, context = login.acting_as(spec.use_role), run.found, spec.context or Context()
        names = tuple(filter(None, (context.database, context.schema_)))
        session = SessionContext(context.warehouse, names, limit_of(spec), MOST_ROWS)
        tag = QueryTag(SQL_STATEMENT.name, found.namespace, found.name, found.uid)
        return Runner(self._services, acting.settings.within(session), tag)

    def _require_account(self, claim: Claim, login: Login) -> None:
        account = claim.spec.identity.account
        if account.key != login.account.key:
            message = f"the statements have run in account {account.name}, and the ProviderConfig leads to another one"
            raise Stopped(Stop(Reason.ACCOUNT_CHANGED, message))


def _provider(run: Pass, spec: SQLStatementSpec) -> tuple[str, str]:
    return spec.provider_ref.namespace or run.found.namespace, spec.provider_ref.name


def _settled(progress: Progress | None, *, ran: bool) -> Progress | None:
    if progress is None:
        return None
    done = (*progress.done, progress.sent) if ran and progress.sent else progress.done
    return Progress(purpose=progress.purpose, done=done)


def _withheld(decision: Run | Settle | Anew | Adopt) -> Stop:
    plans = {Run: "run its statements", Settle: "go on with its statements", Anew: "undo and run its statements"}
    plan = plans.get(type(decision), "adopt what is there")
    return Stop(Reason.READ_ONLY, f"in mode ReadOnly nothing is sent; it would {plan}", plan=(plan,))


def _statements(count: int) -> str:
    return f"{count} statement{'s' if count > 1 else ''}"


def _state(holding: Holding) -> str:
    evidence = holding.spec.evidence
    adopted = evidence is not None and evidence.how == "adopted"
    return "the effect was there, and is adopted" if adopted else "spec.execute has run"


def _facts(
    login: Login, effect: Effect | None, spec: SQLStatementSpec | None = None, holding: Holding | None = None
) -> dict[str, object]:
    """What the status tells."""
    evidence = holding.spec.evidence if holding else None
    ran = len(evidence.statements or ()) if evidence else 0
    return {
        "account": login.account.name,
        "observe_result": ObserveResult(row_count=effect.rows, matched=effect.matched) if effect else None,
        "execute_hash": text_hash(spec) if spec and ran else None,
        "statements_run": f"{ran} of {ran}" if ran else None,
        "plan": None,
    }
