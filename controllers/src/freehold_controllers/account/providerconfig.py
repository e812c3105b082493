"""ProviderConfigs: log in, prove the account, keep the proof. Everybody else uses them only as they were verified here.

A refused credential is not tried again before it, or the ProviderConfig, changes: whoever was refused, the log-in guard
knows it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from freehold import confirmation
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG, ProviderConfigStatus, VerifiedAccount
from freehold.kinds.registry import KINDS
from freehold.kinds.resources import UTILITIES
from freehold.kube.conditions import STALLED, conditions_of
from freehold.kube.errors import NotFound
from freehold.kube.objects import Key, Object
from freehold.lifecycle.reasons import PASSING, Reason
from freehold.snowflake.errors import (
    CircuitOpen,
    ConfigurationError,
    LoginFailed,
    RoleNotGranted,
    SnowflakeError,
)
from freehold.snowflake.session import AccountFacts
from freehold_controllers.reconciler import finalizer, status
from freehold_controllers.reconciler.in_use import InUse, NotHeld, status_of
from freehold_controllers.reconciler.managed import provider_of
from freehold_controllers.reconciler.outcome import stop_for
from freehold_controllers.reconciler.provider import revision
from freehold_controllers.reconciler.reconcile import SLOW
from freehold_controllers.reconciler.rehearsal import withheld_release
from freehold_controllers.reconciler.secret import BINDING, Secret
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.status import (
    CIRCUIT_OPEN,
    CREDENTIALS_HELD,
    IN_USE,
    READY,
    SYNCED,
    Verdict,
    Verdicts,
    stays_ready,
)
from freehold_controllers.runtime.work import Done, Forget, Hold, Result, Unfinished

_log = logging.getLogger(__name__)

_UNTOLD: Verdicts = {IN_USE: None}
"""What a log-in tells nothing of."""

_FOLLOWED = 5
"""Users whose end is waited for at a time."""


class ProviderConfigs:
    """Reconciles ProviderConfigs."""

    def __init__(self, services: Services) -> None:
        """
        Args:
            services: the outside world.
        """
        self._services = services
        self._in_use = InUse(services.kube, services.manager, services.namespace)
        self._faults: dict[Key, str | None] = {}

    async def __call__(self, key: Key, _not_before: float) -> Result:
        """Work on one ProviderConfig, which takes looks of its own.

        Raises:
            Unfinished: it can't be verified, for a cause that may go by itself; its status says so.
            ApiError: the API server doesn't let us.
        """
        services = self._services
        services.following.forget(key)
        try:
            found = await services.kube.get(PROVIDER_CONFIG.path, key.name, key.namespace)
        except NotFound:
            self._faults.pop(key, None)
            return Forget()
        self._tell_fault(found)
        if found.deleting:
            return await self._let_go(found)
        # From now on it stays until nothing needs it any more.
        if not services.read_only:
            found = await finalizer.add(services.kube, PROVIDER_CONFIG.path, found, services.manager)
        return await self._verify(found)

    def _tell_fault(self, found: Object) -> None:
        """Tell once of a confirmation that can't be read: admission isn't asked about annotations alone."""
        fault = confirmation.fault(found.annotations)
        if fault and fault != self._faults.get(found.key):
            self._services.tell(found, Reason.VALIDATION_FAILED, fault, type_="Warning")
        self._faults[found.key] = fault

    async def _verify(self, found: Object) -> Done | Hold:
        services, before, beside = self._services, status_of(found), _UNTOLD
        version = before.secret_resource_version
        try:
            secret, settings = await services.providers.settings(found.key, found)
            # Before the first log-in: whatever that makes possible needs it in the end to be taken back.
            found, secret, beside = await self._hold(found, secret)
            before, version = status_of(found), secret.version
            facts = await services.snowflake.verify(replace(settings, revision=revision(found, secret)))
        except CircuitOpen as error:
            # Who is known not to answer isn't asked, so that nothing new is known but that.
            await self._write(found, {READY: None, SYNCED: None, STALLED: None, **beside}, before)
            return Hold(timedelta(seconds=error.retry_in))
        except (ConfigurationError, SnowflakeError) as error:
            return await self._tell_failure(found, before, error, version, beside)
        verdict = Verdict(
            "True",
            Reason.AVAILABLE,
            f"connection verified: user {facts.user} in role {facts.role} of account {facts.name}",
        )
        await self._write(found, {READY: verdict, SYNCED: verdict, **beside}, _verified(before, facts, version))
        return Done()

    async def _hold(self, found: Object, secret: Secret) -> tuple[Object, Secret, Verdicts]:
        if self._services.read_only:
            return found, secret, _UNTOLD
        try:
            return *(await self._in_use.hold(found, secret)), _UNTOLD
        except NotHeld as error:
            message = (
                f"{error}, so that the Secret may go before what needs it, as when the namespace is deleted: resources "
                f"would be stuck then. Make a RoleBinding {BINDING} in namespace {found.namespace} that binds the "
                "ClusterRole of this name, of the present chart, to the controllers"
            )
            # Whatever of it was done, is known by the status as it is now.
            live = await self._services.kube.get(PROVIDER_CONFIG.path, found.name, found.namespace)
            return live, secret, {**_UNTOLD, CREDENTIALS_HELD: Verdict("False", Reason.NOT_HELD, message)}

    async def _tell_failure(
        self,
        found: Object,
        before: ProviderConfigStatus,
        error: ConfigurationError | SnowflakeError,
        version: str | None,
        beside: Verdicts,
    ) -> Done:
        reason = Reason(error.reason) if isinstance(error, ConfigurationError | LoginFailed) else Reason.PING_FAILED
        trace = error.trace if isinstance(error, SnowflakeError) else ""
        _log.debug("%s: %s %s", found.key, error, trace)
        stop, verdict = stop_for(error, found.name), Verdict("False", reason, str(error))
        verdicts = {READY: verdict, SYNCED: verdict, **beside}
        if version == before.secret_resource_version and stays_ready(stop, found):
            # What has been verified is as good as it was: the service, or the way to it, has only failed to say so.
            verdicts[READY] = None
        new = before.model_copy(update={"secret_resource_version": version})
        # A grant is made in Snowflake, of which nothing tells us.
        if reason in PASSING or isinstance(error, RoleNotGranted):
            await self._write(found, verdicts, new, trace)
            raise Unfinished(str(error), slowly=stop.slowly)
        await self._write(found, {**verdicts, STALLED: replace(verdict, status="True")}, new, trace)
        return Done(resync=SLOW)

    async def _write(self, found: Object, verdicts: Verdicts, new: ProviderConfigStatus, trace: str = "") -> None:
        services, told = self._services, {each.message for each in conditions_of(found)}
        if cause := services.snowflake.breakers.cause(f"{found.namespace}/{found.name}"):
            verdicts = {**verdicts, CIRCUIT_OPEN: Verdict("True", Reason.CIRCUIT_OPEN, cause)}
        for verdict in filter(None, verdicts.values()):
            # Several conditions may say the same.
            if verdict.message not in told:
                told.add(verdict.message)
                note = f"{verdict.message} ({trace})" if trace else verdict.message
                services.tell(found, verdict.reason, note, type_="Normal" if verdict.status == "True" else "Warning")
        conditions = status.conditions(found, verdicts, services.now)
        new = new.model_copy(update={"observed_generation": found.generation, "conditions": conditions})
        await status.write(services.kube, PROVIDER_CONFIG.path, found, new, services.manager)

    async def _let_go(self, found: Object) -> Done | Hold:
        """Remove the finalizer once nothing uses the ProviderConfig. Until then a mended credential is taken up."""
        services = self._services
        users = sorted(self._users(found))
        if not users:
            return await self._go(found)
        for user in users[:_FOLLOWED]:
            services.following.follow(found.key, user)
        named = ", ".join(map(str, users[:_FOLLOWED]))
        found = await self._tell_use(found, f"{len(users)} resources still use it, and go first: {named}")
        try:
            await services.providers.settings(found.key, found)
        except ConfigurationError:
            # The Secret may go first, as with a whole namespace: who has logged in can do without.
            return Done(resync=SLOW)
        return await self._verify(found)

    async def _go(self, found: Object) -> Done:
        if self._services.read_only:
            await self._tell_use(found, withheld_release().message)
            return Done(resync=SLOW)
        try:
            await self._in_use.let_go(found)
        except NotHeld as error:
            await self._tell_use(found, str(error))
            raise Unfinished(str(error)) from error
        return Done()

    async def _tell_use(self, found: Object, message: str) -> Object:
        verdict = Verdict("True", Reason.IN_USE, message)
        verdicts = {READY: None, SYNCED: None, IN_USE: verdict, CREDENTIALS_HELD: None, CIRCUIT_OPEN: None}
        conditions = status.conditions(found, verdicts, self._services.now)
        new = status_of(found).model_copy(update={"conditions": conditions})
        return await status.write(self._services.kube, PROVIDER_CONFIG.path, found, new, self._services.manager)

    def _users(self, found: Object) -> Iterator[Key]:
        for name in (*KINDS, *(each.name for each in UTILITIES.values() if each.uses_provider)):
            reflector = self._services.reflectors[name]
            if not reflector.synced.is_set():
                raise Unfinished(f"it isn't known yet which {reflector.path.plural} use it")
            for each in reflector.store.values():
                if provider_of(each) == (found.namespace, found.name):
                    yield each.key


def _verified(before: ProviderConfigStatus, facts: AccountFacts, version: str | None) -> ProviderConfigStatus:
    account = VerifiedAccount(key=facts.key, name=facts.name, region=facts.region, locator=facts.locator)
    update = {
        # Written once: what is claimed hangs on its key. A log-in that ends in another account has failed before.
        "account": before.account or account,
        "user": facts.user,
        "role": facts.role,
        "version": facts.version,
        "secret_resource_version": version,
    }
    return before.model_copy(update=update)
