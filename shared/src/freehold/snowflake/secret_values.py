"""The credential of a ProviderConfig, out of its Secret's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.kinds.secret_inputs import SecretKeyReference
from freehold.login_policy import LoginPolicy
from freehold.snowflake import credentials
from freehold.snowflake.credentials import Credential
from freehold.snowflake.errors import ConfigurationError, NotSupported, SecretNotFound


@dataclass(frozen=True, slots=True)
class SecretValues:
    """What a Secret holds, for whoever refers to a key of it.

    Attributes:
        namespace: the Secret's.
        data: values by key; None when there is no such Secret.
    """

    namespace: str
    data: Mapping[str, bytes] | None = field(repr=False)

    def source(self, reference: SecretKeyReference) -> str:
        """Where a value is, for messages."""
        return f"Secret {self.namespace}/{reference.name}, key {reference.key}"

    def value(self, reference: SecretKeyReference) -> bytes:
        """The value of a key.

        Raises:
            SecretNotFound: there is none.
        """
        name, key = f"{self.namespace}/{reference.name}", reference.key
        if self.data is None:
            raise SecretNotFound(f"Secret {name} doesn't exist: create it with the key {key}")
        if key not in self.data:
            raise SecretNotFound(f"Secret {name} has no key {key}: it has {', '.join(sorted(self.data)) or 'none'}")
        if not self.data[key].strip():
            raise SecretNotFound(f"Secret {name}: the value of key {key} is empty")
        return self.data[key]

    def text(self, reference: SecretKeyReference) -> str:
        """The value of a key as it was typed.

        Raises:
            SecretNotFound: there is none.
            ConfigurationError: it is no text.
        """
        return credentials.text(self.value(reference), self.source(reference))


def credential(spec: ProviderConfigSpec, values: SecretValues, policy: LoginPolicy) -> Credential:
    """What a ProviderConfig logs in with.

    Raises:
        ConfigurationError: it can't be used; the message names the field, or Secret and key.
    """
    if spec.authentication_type == "WorkloadIdentity":
        return _workload_identity(spec, policy)
    if spec.authentication_type == "OAuthClientCredentials":
        return _client_credentials(spec, values)
    if spec.credentials is None:
        raise ConfigurationError("spec.credentials is missing: name the Secret and the key that hold the credential")
    if spec.user is None and spec.authentication_type != "OAuthToken":
        raise ConfigurationError("spec.user is missing: write the login name of the user")
    reference = spec.credentials.secret_ref
    value, source = values.value(reference), values.source(reference)
    match spec.authentication_type:
        case "UsernamePassword":
            return credentials.Password(source, credentials.text(value, source))
        case "ProgrammaticAccessToken":
            return credentials.ProgrammaticAccessToken(source, credentials.token(value, source))
        case "OAuthToken":
            return credentials.OAuthToken(source, credentials.token(value, source))
    passphrase = None
    if spec.credentials.passphrase_key:
        passphrase = values.value(reference.model_copy(update={"key": spec.credentials.passphrase_key}))
    return credentials.key_pair(value, passphrase, source)


def _client_credentials(spec: ProviderConfigSpec, values: SecretValues) -> credentials.ClientCredentials:
    if spec.oauth is None:
        raise ConfigurationError("spec.oauth is missing: write clientId, clientSecretRef and tokenRequestURL")
    reference = spec.oauth.client_secret_ref
    return credentials.ClientCredentials(
        source=values.source(reference),
        client_id=spec.oauth.client_id,
        client_secret=values.text(reference),
        token_url=spec.oauth.token_request_url,
        scope=spec.oauth.scope,
    )


def _workload_identity(spec: ProviderConfigSpec, policy: LoginPolicy) -> credentials.WorkloadIdentity:
    if spec.workload_identity and spec.workload_identity.provider != "OIDC":
        raise NotSupported(
            f"spec.workloadIdentity.provider {spec.workload_identity.provider} isn't supported yet: use OIDC"
        )
    if policy.token_file is None:
        raise NotSupported(
            "this installation of Freehold has no workload identity: ask who runs it to set workloadIdentity.enabled, "
            "or use a Secret"
        )
    return credentials.WorkloadIdentity(f"the workload identity token {policy.token_file}", policy.token_file)
