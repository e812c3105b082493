"""What the reconcilers of utilities share: a pass over a resource, with its finalizer, claims, status and Events."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from pydantic import ValidationError

from freehold.claims import Holder
from freehold.identity import Identity
from freehold.kinds.common import Status
from freehold.kinds.model import Model
from freehold.kinds.utility.declaration import Utility
from freehold.kube.conditions import says
from freehold.kube.errors import NotFound
from freehold.kube.objects import Key, Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import PASSING, Reason
from freehold.lifecycle.wishes import abandoned
from freehold.resolve import describe
from freehold.snowflake.errors import CircuitOpen, ConfigurationError, SnowflakeError
from freehold_controllers.reconciler import finalizer, status
from freehold_controllers.reconciler.outcome import Stopped, deletion_stop_for, stop_for, undeletable
from freehold_controllers.reconciler.ownership import Owned, hold
from freehold_controllers.reconciler.reconcile import SLOW
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.status import DRIFT_DETECTED, READY, SYNCED, Verdict
from freehold_controllers.runtime.work import Done, Forget, Hold, Result, Unfinished

M = TypeVar("M", bound=Model)

_log = logging.getLogger(__name__)


class Pass:
    """A pass over a resource of a utility.

    Attributes:
        services: the outside world.
        utility: its declaration.
        found: the resource, as it was read or written last.
    """

    fills_slots = False

    def __init__(self, services: Services, utility: Utility, found: Object) -> None:
        self.services = services
        self.utility = utility
        self.found = found

    @property
    def key(self) -> Key:
        return self.found.key

    @property
    def holder(self) -> Holder:
        """Who it is as the holder of a claim."""
        found = self.found
        group = self.utility.resource.path.group
        return Holder(group=group, kind=self.utility.name, namespace=found.namespace, name=found.name, uid=found.uid)

    @property
    def abandoned(self) -> bool:
        """Whether a resource that is being deleted is to leave behind whatever it has made."""
        return abandoned(self.found.annotations)

    def spec(self, model: type[M]) -> M:
        """Its spec; of one that is being deleted, whatever it says.

        Raises:
            Stopped: it can't be used.
        """
        try:
            spec = model.model_validate(self.found.spec)
        except ValidationError as error:
            raise Stopped(Stop(Reason.VALIDATION_FAILED, f"the manifest can't be used: {describe(error)}")) from error
        # What admission asks, too; it may be off.
        if not self.found.deleting and (faults := self.utility.faults(spec)):
            raise Stopped(Stop(Reason.VALIDATION_FAILED, "; ".join(faults)))
        return spec

    async def own(self, identities: Sequence[Identity], account_name: str) -> Owned:
        """Hold the resource, and after that what it claims: no claim is left behind by a crash.

        Raises:
            Stopped: another resource holds a claim.
        """
        services, path = self.services, self.utility.resource.path
        if not services.read_only:
            self.found = await finalizer.add(services.kube, path, self.found, services.manager)
        return await hold(services, self, identities, account_name)

    async def release(self) -> None:
        """Give up all claims, and at last the resource, by which we come back here after a crash."""
        services = self.services
        for claim in await services.store.of_holder(self.holder):
            if claim.spec.holder.same(self.holder):
                await services.store.delete(claim)
        await finalizer.remove(services.kube, self.utility.resource.path, self.found, services.manager)

    async def ended(self, message: str, facts: Mapping[str, object], drift: str = "") -> None:
        """Tell that there is nothing left to do.

        Args:
            message: what is so, for people.
            facts: fields of the status.
            drift: what isn't as declared, and is left so; empty for nothing.
        """
        verdicts: dict[str, Verdict | None] = {
            READY: Verdict("True", Reason.AVAILABLE, message),
            SYNCED: Verdict("True", Reason.RECONCILE_SUCCESS, message),
        }
        if drift:
            verdicts[DRIFT_DETECTED] = Verdict("True", Reason.DRIFT_DETECTED, drift)
            if not says(self.found, drift, type=DRIFT_DETECTED):
                self.services.tell(self.found, Reason.DRIFT_DETECTED, drift, type_="Warning")
        await self._write(verdicts, facts)

    async def note(self, **facts: object) -> None:
        """Keep fields of the status, before what they are about is done."""
        await self._apply(facts)

    async def stopped(self, stop: Stop) -> None:
        """Tell why the pass has ended early."""
        if not stop.brief and not says(self.found, stop.message, reason=stop.reason):
            note = f"{stop.message} ({stop.trace})" if stop.trace else stop.message
            self.services.tell(self.found, stop.reason, note, type_="Warning")
        planned = {"plan": list(stop.plan)} if stop.plan else {}
        await self._write(status.verdicts_of(stop, self.found), planned)

    async def _write(self, verdicts: status.Verdicts, facts: Mapping[str, object]) -> None:
        conditions = status.conditions(self.found, verdicts, self.services.now)
        await self._apply({"observed_generation": self.found.generation, "conditions": conditions, **facts})

    async def _apply(self, facts: Mapping[str, object]) -> None:
        services, resource = self.services, self.utility.resource
        new = self._status().model_copy(update=facts)
        self.found = await status.write(services.kube, resource.path, self.found, new, services.manager)

    def _status(self) -> Status:
        model = self.utility.resource.status
        if model is None or not issubclass(model, Status):
            raise TypeError(f"{self.utility.name} has no status")
        try:
            return model.model_validate(self.found.status)
        except ValidationError:
            return model()


class UtilityReconciler(ABC):
    """Reconciles the resources of one utility."""

    utility: Utility

    def __init__(self, services: Services) -> None:
        """
        Args:
            services: the outside world.
        """
        self._services = services

    @abstractmethod
    async def bring_about(self, run: Pass) -> Done:
        """Do what a resource declares.

        Raises:
            Stopped: it can't be done, and why.
            SnowflakeError: Snowflake said no, or didn't answer.
            ConfigurationError: there is no way into the account.
            ApiError: the API server doesn't let us.
        """

    @abstractmethod
    async def let_go(self, run: Pass) -> None:
        """Undo what a resource did that is being deleted, and release it. The errors are those of `bring_about`."""

    async def __call__(self, key: Key, _not_before: float) -> Result:
        """Work on one resource.

        Raises:
            Unfinished: it isn't as it should be, for a cause that may go by itself; its status says so.
            ApiError: the API server doesn't let us.
        """
        services = self._services
        services.following.forget(key)
        try:
            found = await services.kube.get(self.utility.resource.path, key.name, key.namespace)
        except NotFound:
            return Forget()
        run, hold_ = Pass(services, self.utility, found), None
        try:
            if not found.deleting:
                return await self.bring_about(run)
            if finalizer.FINALIZER in found.finalizers:
                await self.let_go(run)
            return Done()
        except Stopped as stopped:
            stop = stopped.stop
        except (SnowflakeError, ConfigurationError) as error:
            stop = (deletion_stop_for if found.deleting else stop_for)(error, self.utility.name)
            hold_ = Hold(timedelta(seconds=error.retry_in)) if isinstance(error, CircuitOpen) else None
        if found.deleting:
            stop = undeletable(stop, read_only=services.read_only)
        await run.stopped(stop)
        if hold_:
            return hold_
        if stop.soon or stop.reason in PASSING:
            raise Unfinished(stop.message, slowly=stop.slowly)
        return Done(resync=SLOW)
