"""How a ProviderConfig logs in: its fields, and which of them each authentication type has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from freehold.kinds.fields import unsupported
from freehold.kinds.model import Model
from freehold.kinds.resource import Rule
from freehold.kinds.secret_inputs import SecretKeyReference

AuthenticationType = Literal[
    "KeyPair", "UsernamePassword", "WorkloadIdentity", "ProgrammaticAccessToken", "OAuthToken",
    "OAuthClientCredentials",
]  # fmt: skip


class Credentials(Model):
    """What to log in with."""

    secret_ref: SecretKeyReference
    """The private key (PEM, DER, or base64 of either), the password, or the token."""
    passphrase_key: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = None
    """Key of the same Secret that holds the passphrase of an encrypted private key."""


class OAuth(Model):
    """OAuth client credentials."""

    client_id: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    """Client id."""
    client_secret_ref: SecretKeyReference
    """Client secret."""
    token_request_url: Annotated[str, StringConstraints(pattern="^https://", max_length=2048)] = Field(
        alias="tokenRequestURL"
    )
    """Where tokens are asked for, one for each log-in; redirects aren't followed. The installation's allowedHosts must
    admit its host."""
    scope: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = None
    """Scope to ask for; by default session:role:<ROLE> for the role of the session, and none where that isn't set."""


class WorkloadIdentity(Model):
    """A token of the platform instead of a secret."""

    provider: Literal["OIDC", "AWS", "GCP", "Azure"] = "OIDC"
    """Who issues the token."""
    token_file_path: str | None = unsupported("where the token is, the chart says alone: remove the field")
    """File of the token."""
    audience: str | None = unsupported("the chart's workloadIdentity.audience says it: remove the field")
    """Audience of the token."""
    entra_resource: str | None = unsupported("it goes with provider Azure: remove the field")
    """Azure: resource id of the token."""


class Proxy(Model):
    """An HTTP proxy."""

    host: Annotated[str, StringConstraints(min_length=1, max_length=253)]
    """Its host. The installation's allowedHosts must admit it."""
    port: int = Field(ge=1, le=65535)
    """Its port."""
    protocol: Literal["http", "https"] = "http"
    """How it is spoken to."""
    credentials_ref: SecretKeyReference | None = None
    """User and password for it, as USER:PASSWORD."""
    no_proxy: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = None
    """Hosts and domains that are reached directly, separated by commas."""


_SECRETS = (("credentials", "secretRef"), ("oauth", "clientSecretRef"), ("proxy", "credentialsRef"))
"""Fields that refer to a Secret, and where in them."""


def secret_name(spec: Mapping[str, Any]) -> str:
    """Name of the one Secret that a spec, as it is in the manifest, refers to; empty where it needs none."""
    references = ((spec.get(field) or {}).get(reference) or {} for field, reference in _SECRETS)
    return next((str(each["name"]) for each in references if each.get("name")), "")


def _needed(field: str, types: Sequence[str], remedy: str) -> Rule:
    return Rule(
        f"!(self.authenticationType in {[*types]}) || has(self.{field})",
        f"authenticationType {' and '.join(types)} must have {field}: {remedy}",
        field,
    )


def _only(field: str, types: Sequence[str], part: str = "") -> Rule:
    path = f"{field}.{part}" if part else field
    absent = f"!has(self.{field})" + (f" || !has(self.{path})" if part else "")
    return Rule(
        f"self.authenticationType in {[*types]} || {absent}",
        f"{path} goes with authenticationType {' or '.join(types)} only: remove it",
        field,
    )


def _one_secret() -> Iterator[Rule]:
    """A ProviderConfig has one Secret, so that it is watched, held and replaced as a whole."""
    for (one, inner), (other, other_inner) in combinations(_SECRETS, 2):
        first, second = f"{one}.{inner}", f"{other}.{other_inner}"
        absent = " || ".join(f"!has(self.{each})" for each in (one, first, other, second))
        yield Rule(
            f"{absent} || self.{first}.name == self.{second}.name",
            f"{first} and {second} must name the same Secret: put all that is secret into one",
            other,
        )


_WITH_SECRET = ("KeyPair", "UsernamePassword", "ProgrammaticAccessToken", "OAuthToken")
_WITH_USER = ("KeyPair", "UsernamePassword", "ProgrammaticAccessToken")
_BY_CLIENT = ("OAuthClientCredentials",)

RULES = (
    _needed("credentials", _WITH_SECRET, "name the Secret and the key in it in credentials.secretRef"),
    _only("credentials", _WITH_SECRET),
    _only("credentials", ("KeyPair",), "passphraseKey"),
    _needed("oauth", _BY_CLIENT, "write clientId, clientSecretRef and tokenRequestURL"),
    _only("oauth", _BY_CLIENT),
    _only("workloadIdentity", ("WorkloadIdentity",)),
    Rule(
        "!has(self.workloadIdentity) || self.workloadIdentity.provider == 'OIDC'",
        "NotSupported: this release logs in by workloadIdentity.provider OIDC only",
        "workloadIdentity",
    ),
    _needed("user", _WITH_USER, "write the login name of the user"),
    Rule(
        "self.authenticationType != 'WorkloadIdentity' || !has(self.user)",
        "WorkloadIdentity logs in as the user that Snowflake has for the token: remove user",
        "user",
    ),
    *_one_secret(),
)
"""Each type demands exactly its fields."""
