"""ProviderConfig: an account, the credentials for it, and who may use them for what."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from freehold.kinds.common import Name, ObjectName, Status
from freehold.kinds.fields import immutable, unsupported
from freehold.kinds.model import Model
from freehold.kinds.resource import AGE, SNOWFLAKE_GROUP, VERSION, Column, GroupResource, Resource, Rule

Names = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=513)]], Field(max_length=1000)]
Duration = Annotated[str, StringConstraints(pattern=r"^[0-9]+(s|m|h)$", max_length=10)]


ABANDON_DEPENDENTS = "freehold.dev/abandon-dependents"
"""Annotation of a ProviderConfig: "true" frees all its resources that are being deleted, and leaves their objects."""

CONFIRMED_UNTIL = "freehold.dev/confirm-deletions-until"
"""Annotation of a ProviderConfig: time (RFC 3339) until which spec.deletion.maxPerHour doesn't hold."""


class SecretKeyReference(Model):
    """A key of a Secret in the ProviderConfig's own namespace."""

    name: ObjectName
    """Name of the Secret."""
    key: Annotated[str, StringConstraints(min_length=1, max_length=253)]
    """Key in its data."""


class Credentials(Model):
    """What to log in with."""

    secret_ref: SecretKeyReference
    """The private key in PEM form, or the password."""
    passphrase_key: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = None
    """Key of the same Secret that holds the passphrase of an encrypted private key."""


class OAuth(Model):
    """OAuth client credentials."""

    client_id: str
    """Client id."""
    client_secret_ref: SecretKeyReference
    """Client secret."""
    token_request_url: Annotated[str, StringConstraints(pattern="^https://", max_length=2048)] = Field(
        alias="tokenRequestURL"
    )
    """Where tokens are asked for."""
    scope: str | None = None
    """Scope, usually session:role:<ROLE>."""


class WorkloadIdentity(Model):
    """A token of the platform instead of a secret."""

    provider: Literal["OIDC", "AWS", "GCP", "Azure"] = "OIDC"
    """Who issues the token."""
    token_file_path: str | None = None
    """File of the token, below /var/run/secrets/."""
    audience: str | None = None
    """Audience of the token."""
    entra_resource: str | None = None
    """Azure: resource id of the token."""


class Proxy(Model):
    """An HTTP proxy."""

    host: str
    """Its host."""
    port: int = Field(ge=1, le=65535)
    """Its port."""
    protocol: Literal["http", "https"] = "http"
    """How it is spoken to."""
    credentials_ref: SecretKeyReference | None = None
    """User and password."""
    no_proxy: str | None = None
    """Hosts that are reached directly."""


class Bucket(Model):
    """A token bucket of statements."""

    rate: int = Field(ge=1)
    """Statements a second."""
    burst: int = Field(ge=1)
    """Statements at once."""


class Budget(Model):
    """How many statements may be sent."""

    per_controller: Bucket | None = None
    """By each controller."""
    per_account: Bucket | None = None
    """By the installation, to the account."""


class Deletion(Model):
    """How objects are dropped."""

    default: Literal["Delete", "Orphan"] | None = None
    """deletionPolicy of resources that set none. An adopted object that holds data is dropped only where its resource
    itself says Delete."""
    max_per_hour: int | None = Field(default=None, ge=0)
    """Most objects that hold data that are dropped within an hour, over all controllers. Beyond that resources wait,
    until the hour has room again or the annotation freehold.dev/confirm-deletions-until says a time to come."""


class LabelSelectorRequirement(Model):
    """One requirement on a label."""

    key: str
    """Label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """How the label's value is compared."""
    values: list[str] | None = None
    """Values for In and NotIn."""


class LabelSelector(Model):
    """Labels that an object must have."""

    match_labels: dict[str, str] | None = None
    """Exact values."""
    match_expressions: list[LabelSelectorRequirement] | None = None
    """Requirements that must all hold."""


class ProviderConfigSpec(Model):
    """A Snowflake account, the credentials for it, and which namespaces, databases, schemas and roles may be used."""

    account: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = immutable()
    """The account as ORGANIZATION-ACCOUNT, or a legacy locator."""
    organization_name: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = immutable()
    """The organization, together with accountName in place of account."""
    account_name: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = immutable()
    """The account's name within the organization."""
    region: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = None
    """Region and cloud of a legacy locator, for example eu-central-1 or west-europe.azure."""
    host: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = None
    """Host to connect to, for private links. The installation's allowedHosts must admit it."""
    port: int | None = Field(default=None, ge=1, le=65535)
    """Port to connect to; 443 by default."""
    protocol: Literal["https"] = "https"
    """Snowflake is spoken to over TLS alone."""
    ca_bundle: (
        Annotated[str, StringConstraints(pattern="^\\s*-----BEGIN CERTIFICATE-----", max_length=65536)] | None
    ) = None
    """Certificates in PEM form to trust instead of the public ones."""
    user: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = immutable()
    """Login name of the user."""
    role: Name | None = None
    """Role of the session; owns what is created. By default the user's default role."""
    warehouse: Name | None = None
    """Warehouse for the few queries that need one."""
    authentication_type: Literal[
        "KeyPair", "UsernamePassword", "WorkloadIdentity", "ProgrammaticAccessToken", "OAuthToken",
        "OAuthClientCredentials",
    ]  # fmt: skip
    """How to log in."""
    credentials: Credentials | None = None
    """The Secret to log in with."""
    oauth: OAuth | None = unsupported("OAuth client credentials aren't built yet; use KeyPair")
    """OAuth client credentials."""
    workload_identity: WorkloadIdentity | None = unsupported("workload identity isn't built yet; use KeyPair")
    """Workload identity."""
    allowed_namespaces: Names | None = None
    """Namespaces whose resources may use this ProviderConfig. Empty means its own; "*" means all."""
    allowed_namespace_selector: LabelSelector | None = None
    """Labels of further namespaces that may use it."""
    allowed_databases: Names | None = None
    """Databases that resources may name, exactly as stored. Empty or "*" means all."""
    allowed_schemas: Names | None = None
    """Schemas that resources may name: SCHEMA in any allowed database, or DATABASE.SCHEMA. Empty or "*" means all."""
    allowed_roles: Names | None = None
    """Roles that resources may name in useRole. Empty means spec.role alone; "*" means all."""
    allowed_kinds: Names | None = None
    """Kinds that may use this ProviderConfig. Empty or "*" means all."""
    allowed_ref_namespaces: Names | None = None
    """Namespaces that references of resources may point into, beside their own. Empty or "*" means all."""
    proxy: Proxy | None = unsupported("proxies aren't built yet")
    """HTTP proxy."""
    budget: Budget | None = unsupported("budgets aren't built yet")
    """Statements a second."""
    deletion: Deletion | None = None
    """Defaults and caps of deletion."""
    resync_interval: Duration | None = unsupported("the interval is the installation's for now")
    """Time between shallow observations."""
    deep_resync_interval: Duration | None = unsupported("the interval is the installation's for now")
    """Time between deep observations."""
    login_timeout_seconds: int | None = unsupported("the limit is 60 s for now", ge=1)
    """Time limit of a log-in."""
    request_timeout_seconds: int | None = unsupported("the limit is 60 s for now", ge=1)
    """Time limit of a statement."""
    query_tag: str | None = unsupported("Freehold's own query tag is the only one for now", max_length=2000)
    """Text added to the query tag."""
    session_parameters: dict[str, str] | None = unsupported("session parameters are fixed for now")
    """Further parameters of the session."""


class VerifiedAccount(Model):
    """The account as the server named it after a log-in."""

    key: str
    """CURRENT_REGION() and CURRENT_ACCOUNT(), joined by a dot: what identities are computed from."""
    name: str
    """ORGANIZATION.ACCOUNT, for people."""
    region: str
    """CURRENT_REGION()."""
    locator: str
    """CURRENT_ACCOUNT()."""


class ProviderConfigStatus(Status):
    """What the last log-in found."""

    account: VerifiedAccount | None = None
    """The proven account. Written once, by the account controller."""
    user: str | None = None
    """CURRENT_USER()."""
    role: str | None = None
    """CURRENT_ROLE()."""
    version: str | None = None
    """CURRENT_VERSION()."""
    secret_resource_version: str | None = None
    """Version of the Secret that was logged in with."""
    # Counted one by one, by patches: never applied with the rest.
    recent_drops: list[datetime] | None = Field(default=None, exclude=True)
    """When objects that hold data were dropped in the past hour; only where spec.deletion.maxPerHour is set."""
    held_secret: str | None = None
    """Secret that is held by the finalizer freehold.dev/in-use, so that it doesn't go before what needs it."""


_BUILT = ("KeyPair", "UsernamePassword")

PROVIDER_CONFIG = Resource(
    path=GroupResource(SNOWFLAKE_GROUP, VERSION, "providerconfigs", "ProviderConfig"),
    spec=ProviderConfigSpec,
    status=ProviderConfigStatus,
    short_names=("pcfg",),
    columns=(
        Column("READY", '.status.conditions[?(@.type=="Ready")].status'),
        Column("ACCOUNT", ".status.account.name"),
        Column("USER", ".spec.user"),
        Column("ROLE", ".status.role"),
        Column("AUTH", ".spec.authenticationType"),
        Column("REASON", '.status.conditions[?(@.type=="Ready")].reason'),
        Column("MESSAGE", '.status.conditions[?(@.type=="Ready")].message', priority=1),
        AGE,
    ),
    rules=(
        Rule(
            "has(self.account) != (has(self.organizationName) && has(self.accountName)) && "
            "has(self.organizationName) == has(self.accountName)",
            "set exactly one of account, or organizationName with accountName",
        ),
        Rule(
            f"self.authenticationType in {list(_BUILT)}",
            "NotSupported: this release logs in by KeyPair or UsernamePassword",
            "authenticationType",
        ),
        Rule(
            f"!(self.authenticationType in {list(_BUILT)}) || has(self.credentials)",
            "KeyPair and UsernamePassword need credentials.secretRef",
            "credentials",
        ),
        Rule(
            f"!(self.authenticationType in {list(_BUILT)}) || has(self.user)",
            "KeyPair and UsernamePassword need user",
            "user",
        ),
        Rule(
            "self.authenticationType == 'KeyPair' || !has(self.credentials) || !has(self.credentials.passphraseKey)",
            "credentials.passphraseKey goes with authenticationType KeyPair only",
            "credentials",
        ),
        Rule("!(has(self.host) && has(self.region))", "set host or region, not both", "host"),
    ),
    categories=("freehold", "snowflake"),
)
