"""ProviderConfig: an account, the credentials for it, and who may use them for what."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from freehold.kinds.account import authentication
from freehold.kinds.account.authentication import AuthenticationType, Credentials, OAuth, Proxy, WorkloadIdentity
from freehold.kinds.common import Name, Status
from freehold.kinds.fields import immutable
from freehold.kinds.model import Model
from freehold.kinds.resource import (
    AGE,
    READY,
    SNOWFLAKE_GROUP,
    VERSION,
    Column,
    GroupResource,
    Resource,
    Rule,
    duration_within,
)
from freehold.session_parameters import RESERVED

Names = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=513)]], Field(max_length=1000)]
Duration = Annotated[str, StringConstraints(pattern=r"^[0-9]+(s|m|h)$", max_length=7)]

_UNITS = {"s": 1, "m": 60, "h": 3600}


ABANDON_DEPENDENTS = "freehold.dev/abandon-dependents"
"""Annotation of a ProviderConfig: "true" frees all its resources that are being deleted, and leaves their objects."""

CONFIRMED_UNTIL = "freehold.dev/confirm-deletions-until"
"""Annotation of a ProviderConfig: time (RFC 3339) until which spec.deletion.maxPerHour doesn't hold."""


def interval(duration: str) -> timedelta:
    """The time that a `Duration` means."""
    return timedelta(seconds=int(duration[:-1]) * _UNITS[duration[-1]])


class Bucket(Model):
    """A token bucket of statements."""

    rate: int = Field(ge=1, le=10_000)
    """Statements a second."""
    burst: int = Field(ge=1, le=10_000)
    """Statements at once."""


PER_CONTROLLER = Bucket(rate=10, burst=20)
PER_ACCOUNT = Bucket(rate=50, burst=100)


class Budget(Model):
    """How many statements may be sent. Of several ProviderConfigs for one account, the smallest numbers hold."""

    per_controller: Bucket | None = None
    """By each process of a controller, to the account: 10 a second, 20 at once by default."""
    per_account: Bucket | None = None
    """By all of them together, to the account: 50 a second, 100 at once by default."""


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
    """Login name of the user. With OAuth it may be left out; with WorkloadIdentity the token says it."""
    role: Name | None = None
    """Role of the session; owns what is created. By default the user's default role."""
    warehouse: Name | None = None
    """Warehouse for the few queries that need one."""
    authentication_type: AuthenticationType
    """How to log in."""
    credentials: Credentials | None = None
    """The Secret to log in with."""
    oauth: OAuth | None = None
    """OAuth client credentials."""
    workload_identity: WorkloadIdentity | None = None
    """Workload identity. The installation must have one, and admit the namespace."""
    allowed_namespaces: Names | None = None
    """Namespaces whose resources may use this ProviderConfig. Empty means its own; "*" means all."""
    allowed_namespace_selector: LabelSelector | None = None
    """Labels of further namespaces that may use it."""
    allowed_databases: Names | None = None
    """Databases that resources may name, exactly as stored. Empty or "*" means all."""
    allowed_schemas: Names | None = None
    """Schemas that resources may name: SCHEMA in any allowed database, or DATABASE.SCHEMA. Empty or "*" means all."""
    allowed_roles: Names | None = None
    """Roles that resources may name: in useRole, and as account roles that they declare, hand out, give something to or
    make an owner. Empty means spec.role alone in useRole, and all elsewhere; "*" means all. Resources of other
    namespaces may grant spec.role, or something to it, only where it is listed."""
    allowed_kinds: Names | None = None
    """Kinds that may use this ProviderConfig. Empty or "*" means all."""
    allowed_ref_namespaces: Names | None = None
    """Namespaces that references of resources may point into, beside their own. Empty or "*" means all."""
    proxy: Proxy | None = None
    """HTTP proxy to Snowflake, and to the OAuth token endpoint."""
    budget: Budget | None = None
    """Statements a second."""
    deletion: Deletion | None = None
    """Defaults and caps of deletion."""
    resync_interval: Duration | None = None
    """Time between shallow observations, 10s to 24h; by default the installation's, 5m unless it sets another."""
    deep_resync_interval: Duration | None = None
    """Time between deep observations, 1m to 168h; 6h by default."""
    login_timeout_seconds: int | None = Field(default=None, ge=1, le=300)
    """Time limit of a log-in; 60 by default. What fails within fewer seconds than that may not tell why."""
    request_timeout_seconds: int | None = Field(default=None, ge=1, le=3600)
    """Time limit of a statement, after which Snowflake ends it. Only less than the installation's, 60 by default, makes
    a difference."""
    query_tag: Annotated[str, StringConstraints(pattern=r'^[^"\\\x00-\x1f]*$', max_length=1000)] | None = None
    """Text added to the query tag of every statement."""
    session_parameters: (
        Annotated[dict[str, Annotated[str, StringConstraints(max_length=1000)]], Field(max_length=50)] | None
    ) = None
    """Further parameters of the session, in capital letters. Those that Freehold itself sets or relies on are
    refused."""


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


PROVIDER_CONFIG = Resource(
    path=GroupResource(SNOWFLAKE_GROUP, VERSION, "providerconfigs", "ProviderConfig"),
    spec=ProviderConfigSpec,
    status=ProviderConfigStatus,
    short_names=("pcfg",),
    columns=(
        READY,
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
        *authentication.RULES,
        Rule(
            "!has(self.sessionParameters) || self.sessionParameters.all(name, name.matches('^[A-Z][A-Z0-9_]*$'))",
            "sessionParameters are written in capital letters: as in LOCK_TIMEOUT",
            "sessionParameters",
        ),
        Rule(
            f"!has(self.sessionParameters) || !self.sessionParameters.exists(name, name in {sorted(RESERVED)})",
            f"sessionParameters must not set {', '.join(sorted(RESERVED))}: Freehold sets them or relies on them",
            "sessionParameters",
        ),
        Rule("!(has(self.host) && has(self.region))", "set host or region, not both", "host"),
        duration_within("resyncInterval", "10s", "24h"),
        duration_within("deepResyncInterval", "1m", "168h"),
    ),
    categories=("freehold", "snowflake"),
)
