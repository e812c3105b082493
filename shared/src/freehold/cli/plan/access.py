"""The ways into the accounts that a plan looks at: as the controllers log in, or as the person who asks."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from freehold.kinds.account.authentication import Credentials, secret_name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG, ProviderConfigSpec
from freehold.kinds.secret_inputs import SecretKeyReference
from freehold.kube.errors import ApiError
from freehold.kube.objects import SECRETS
from freehold.login_policy import LoginPolicy
from freehold.resolve import Get, Provider
from freehold.snowflake.credentials import KeyPair
from freehold.snowflake.errors import ConfigurationError
from freehold.snowflake.settings import ConnectionSettings, settings_from

USER, ROLE = "SNOWFLAKE_USER", "SNOWFLAKE_ROLE"
"""Variables that say who looks, named as Snowflake's own command line has them."""

_CREDENTIALS = {
    "SNOWFLAKE_PRIVATE_KEY_RAW": "KeyPair",
    "SNOWFLAKE_TOKEN": "ProgrammaticAccessToken",
    "SNOWFLAKE_PASSWORD": "UsernamePassword",
}
"""Variables that hold what that user logs in with, and how."""


@dataclass(frozen=True, slots=True)
class Login:
    """A log-in for looking, and what the controllers would log in as.

    Attributes:
        settings: the log-in.
        role: the role that would own what is created.
        user: stored name of the user whom the ProviderConfig logs in as; empty before it did.
        fingerprint: of the key that it does so with; None where it has none, empty where that isn't known here.
    """

    settings: ConnectionSettings
    role: str
    user: str
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """Log-ins for looking.

    Attributes:
        get: reads resources, Secrets among them.
        policy: what may be connected to.
        environment: variables that say who looks, in place of the user of the ProviderConfig.
    """

    get: Get
    policy: LoginPolicy
    environment: Mapping[str, str] = field(repr=False)

    async def login(self, provider: Provider, use_role: str | None) -> Login:
        """The log-in for a resource.

        Args:
            provider: its ProviderConfig, whose account is proven.
            use_role: the role that it asks for.

        Raises:
            ConfigurationError: there is none.
            ApiError: there is no answer.
        """
        namespace, name = provider.namespace, provider.name
        found = await self.get(PROVIDER_CONFIG.path, namespace, name)
        status = found.status if found else {}
        working = use_role or provider.spec.role or str(status.get("role") or "")
        spec, secret = await self._credential(provider)
        settings = settings_from(
            spec,
            namespace=namespace,
            name=name,
            secret=secret,
            policy=self.policy,
            account_key=provider.account.key if provider.account else None,
        )
        credential = settings.credential
        key = credential.fingerprint if isinstance(credential, KeyPair) else None
        return Login(
            settings.acting_as(self.environment.get(ROLE) or working or None),
            working,
            str(status.get("user") or ""),
            "" if USER in self.environment else key,
        )

    async def secret(self, namespace: str, name: str) -> Mapping[str, bytes] | None:
        """Data of a Secret; None when there is none.

        Raises:
            ConfigurationError: the person may not read it.
        """
        try:
            found = await self.get(SECRETS, namespace, name)
        except ApiError as error:
            raise ConfigurationError(
                f"Secret {namespace}/{name} can't be read: {error.message}. Ask for that right, or log in yourself by "
                f"{USER} and one of {', '.join(_CREDENTIALS)}"
            ) from error
        values = found.raw.get("data") or {} if found else None
        return None if values is None else {key: base64.b64decode(value) for key, value in values.items()}

    async def _credential(self, provider: Provider) -> tuple[ProviderConfigSpec, Mapping[str, bytes] | None]:
        user = self.environment.get(USER)
        if user is None:
            name = secret_name(provider.spec.model_dump(by_alias=True, exclude_none=True))
            return provider.spec, await self.secret(provider.namespace, name) if name else None
        variable = next((each for each in _CREDENTIALS if self.environment.get(each)), None)
        if variable is None:
            raise ConfigurationError(
                f"{USER} is set, but none of {', '.join(_CREDENTIALS)}: set what {user} logs in with"
            )
        reference = SecretKeyReference(name="environment", key=variable)
        own = {
            "user": user,
            "authentication_type": _CREDENTIALS[variable],
            "credentials": Credentials(secret_ref=reference),
            "oauth": None,
            "workload_identity": None,
        }
        return provider.spec.model_copy(update=own), {variable: self.environment[variable].encode()}
