"""From a ProviderConfig and its Secret to a log-in that the account controller has verified.

A ProviderConfig is used only as it was verified: with the same generation and the same values of its Secret. So a
wrong password is tried once, by the account controller, whoever waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from pydantic import ValidationError

from freehold.claims import Account
from freehold.kinds.account.providerconfig import (
    PROVIDER_CONFIG,
    ProviderConfigSpec,
    ProviderConfigStatus,
    interval,
)
from freehold.kube.conditions import conditions_of
from freehold.kube.objects import Key, Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold.login_policy import LoginPolicy
from freehold.resolve import describe
from freehold.snowflake.errors import ConfigurationError
from freehold.snowflake.settings import ConnectionSettings, settings_from
from freehold_controllers.reconciler.following import Following
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.secret import Secret, Secrets, secret_of


@dataclass(frozen=True, slots=True)
class Login:
    """A way into an account that works, or did when it was last looked at.

    Attributes:
        settings: for the session.
        role: the session's role.
        account: the proven account.
        user: stored name of the user that logs in.
    """

    settings: ConnectionSettings
    role: str
    account: Account
    user: str = ""

    def acting_as(self, role: str | None) -> Login:
        """The same for another role; None leaves the role as it is."""
        return self if role is None else replace(self, settings=self.settings.acting_as(role), role=role)


@dataclass(frozen=True, slots=True)
class Intervals:
    """How often objects are looked at without a reason, where a ProviderConfig says it.

    Attributes:
        resync: between shallow looks.
        deep: between deep ones.
    """

    resync: timedelta | None = None
    deep: timedelta | None = None


class Providers:
    """The ProviderConfigs, for those who use them."""

    def __init__(
        self,
        configs: Mapping[tuple[str, str], Object],
        secrets: Secrets,
        following: Following,
        policy: LoginPolicy,
    ) -> None:
        """
        Args:
            configs: live copies by namespace and name.
            secrets: their Secrets.
            following: is told who depends on what.
            policy: what the installation lets them log in to, and as.
        """
        self._configs = configs
        self._secrets = secrets
        self._following = following
        self._policy = policy
        self._used: dict[str, Login] = {}

    async def login(self, asker: Key, namespace: str, name: str, *, winding_up: bool = True) -> Login:
        """The verified log-in of a ProviderConfig; whoever asks is woken when that changes.

        Args:
            asker: the resource.
            namespace: the ProviderConfig's namespace.
            name: its name.
            winding_up: whether the asker is being deleted; only then one that is being deleted itself still serves.

        Raises:
            Stopped: there is none (now).
        """
        self._following.follow(asker, Key(PROVIDER_CONFIG.kind, namespace, name))
        config = self._configs.get((namespace, name))
        if config is None:
            raise _wait(f"ProviderConfig {namespace}/{name} doesn't exist: apply it, or correct spec.providerRef")
        if config.deleting and not winding_up:
            raise _wait(f"ProviderConfig {namespace}/{name} is being deleted: use another one in spec.providerRef")
        if config.deleting and config.uid in self._used:
            # Its Secret may be gone before the last resource that needs it, as when a namespace is deleted.
            return self._used[config.uid]
        status = _verified(config, asker)
        secret, settings = await self.settings(asker, config)
        if status.account is None:
            raise _unverified(config)
        account = Account(key=status.account.key, name=status.account.name)
        role = settings.role or status.role or ""
        # The role that we reason with is activated by name, also where it is the user's default: that may change.
        login = Login(settings.acting_as(role or None), role, account, status.user or "")
        # A Secret that was written anew with the same values needs no new proof.
        if secret.version != status.secret_resource_version and self._used.get(config.uid) != login:
            raise _unverified(config, " with its present Secret")
        self._remember(config, login)
        return login

    def intervals(self, namespace: str, name: str) -> Intervals:
        """What a ProviderConfig, if there is one, says of the intervals of its resources."""
        config = self._configs.get((namespace, name))
        given = [config and config.spec.get(field) for field in ("resyncInterval", "deepResyncInterval")]
        return Intervals(*(interval(each) if each else None for each in given))

    def _remember(self, config: Object, login: Login) -> None:
        if config.uid not in self._used:
            for gone in self._used.keys() - {each.uid for each in self._configs.values()}:
                del self._used[gone]
        self._used[config.uid] = login

    async def settings(self, asker: Key, config: Object) -> tuple[Secret, ConnectionSettings]:
        """The Secret and settings of a ProviderConfig, verified or not.

        Raises:
            ConfigurationError: they can't be used.
            ApiError: the Secret can't be read now.
        """
        try:
            spec = ProviderConfigSpec.model_validate(config.spec)
        except ValidationError as error:
            raise ConfigurationError(f"the manifest can't be used: {describe(error)}") from error
        secret = Secret(None, None)
        if name := secret_of(config):
            secret = await self._secrets.read(asker, config.namespace, name)
        account = config.status.get("account") or {}
        settings = settings_from(
            spec,
            namespace=config.namespace,
            name=config.name,
            secret=secret.data,
            policy=self._policy,
            account_key=account.get("key"),
            revision=revision(config, secret),
            as_of=time.monotonic(),
        )
        return secret, settings


def revision(config: Object, secret: Secret) -> str:
    """What changes with each change of a ProviderConfig or its Secret, whatever is changed."""
    uid = secret.head.uid if secret.head else ""
    return f"{config.uid}/{config.generation}/{uid}/{secret.version or ''}"


def _verified(config: Object, asker: Key) -> ProviderConfigStatus:
    """The status of a ProviderConfig that is ready for its own generation."""
    ready = next((each for each in conditions_of(config) if each.type == "Ready"), None)
    # A request for deletion counts the generation up, too, and changes nothing else.
    current = ready is not None and (ready.observed_generation == config.generation or config.deleting)
    if ready is not None and current and ready.status == "True":
        return ProviderConfigStatus.model_validate(config.status)
    if ready is None or not current:
        raise _unverified(config)
    # What is wrong in detail is the business of those who may read that namespace.
    told = f"{ready.reason}: {ready.message}" if config.namespace == asker.namespace else ready.reason
    raise _wait(f"ProviderConfig {config.namespace}/{config.name} isn't ready: {told}")


def _unverified(config: Object, what: str = "") -> Stopped:
    """The account controller is at it."""
    return _wait(f"ProviderConfig {config.namespace}/{config.name} isn't verified yet{what}", brief=True)


def _wait(message: str, *, brief: bool = False) -> Stopped:
    return Stopped(Stop(Reason.DEPENDENCY_NOT_READY, message, passing=True, brief=brief))
