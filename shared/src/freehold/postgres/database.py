"""PostgresDatabase: databases on a PostgresCluster, each with its roles, Secrets and ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from freehold.identity import Identity, Name
from freehold.kinds.common import Reference
from freehold.kinds.fields import immutable, unsupported
from freehold.kinds.kind import Domain
from freehold.kinds.model import Model
from freehold.kinds.names import Requested
from freehold.kinds.resource import READY, Column, Resource, Rule, ruled
from freehold.kinds.utility.declaration import AccountReference, Utility
from freehold.postgres import names
from freehold.postgres.common import (
    CATEGORIES,
    CLUSTERS,
    DATABASES,
    LAST_COLUMNS,
    PHASE,
    KeySelector,
    LocalReference,
    Text,
    keyed,
)
from freehold.postgres.database_status import PostgresDatabaseStatus
from freehold.postgres.names import NAME_RULES

DATABASE_CLASS, ROLE_CLASS = "DATABASE", "ROLE"
"""Namespace classes on a cluster: databases have names of their own, and so have roles."""

RoleName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_$]{0,62}$", max_length=63)]
SchemaName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]{0,62}$", max_length=63)]
Extension = Annotated[str, StringConstraints(min_length=1, max_length=63)]


class PasswordConfig(Model):
    """Secrets with passwords, in place of generated ones. Each has the keys username (the role) and password, and the
    label cnpg.io/reload=true."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            Rule(
                "self.externalAdminSecretRef.name != self.externalRWSecretRef.name && "
                "(!has(self.externalROSecretRef) || "
                "self.externalROSecretRef.name != self.externalAdminSecretRef.name && "
                "self.externalROSecretRef.name != self.externalRWSecretRef.name)",
                "each role needs a Secret of its own: name different ones",
            ),
        )
    )

    external_admin_secret_ref: LocalReference
    """Secret of the owner."""
    external_rw_secret_ref: LocalReference = Field(alias="externalRWSecretRef")
    """Secret of the role for applications."""
    external_ro_secret_ref: LocalReference | None = Field(default=None, alias="externalROSecretRef")
    """Secret of the role that only reads, where there is one; by default its password is generated."""


class DatabaseMonitoring(Model):
    """What is measured of a database."""

    custom_queries_config_map: list[KeySelector] | None = unsupported(
        "list them in monitoring.customQueriesConfigMap of the PostgresCluster, with target_databases naming this one",
        max_length=100,
    )
    """Keys of ConfigMaps with further queries for metrics."""


def _provided(field: str, provider: str) -> Rule:
    return Rule(
        f"!has(self.{field}) || has(self.localeProvider) && self.localeProvider == '{provider}'",
        f"{field} needs localeProvider {provider}",
        field,
    )


class DatabaseDefinition(Model):
    """A database."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            _provided("icuLocale", "icu"),
            _provided("icuRules", "icu"),
            _provided("builtinLocale", "builtin"),
            Rule(
                "!has(self.allowConnections) || self.allowConnections || "
                "(!has(self.extensions) || size(self.extensions) == 0) && "
                "(!has(self.schemas) || size(self.schemas) == 0)",
                "allowConnections: false leaves no way to see to extensions and schemas: take these out, or set it to "
                "true",
                "allowConnections",
            ),
            Rule(
                "!has(self.roRoleName) || self.readOnlyRole",
                "roRoleName needs readOnlyRole: true",
                "roRoleName",
            ),
            Rule(
                "!has(self.passwordConfig) || !has(self.passwordConfig.externalROSecretRef) || self.readOnlyRole",
                "passwordConfig.externalROSecretRef needs readOnlyRole: true",
                "passwordConfig",
            ),
        )
    )

    name: Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9]*$", min_length=1, max_length=30)]
    """Name of the database. Objects are named after it, too: it has small letters and digits alone."""
    deletion_policy: Literal["Delete", "Retain"] = "Delete"
    """What becomes of the database and its roles when the resource is deleted, or no longer lists it."""
    adoption_policy: Literal["adopt", "fail-if-exists"] = "fail-if-exists"
    """What to do with a database or role of the same name that isn't ours: take it over, or leave it alone and say
    so."""
    admin_role_name: RoleName | None = None
    """Role that owns the database; by default the database's name with _admin."""
    rw_role_name: RoleName | None = None
    """Role for applications, which reads and writes; by default the database's name with _rw."""
    read_only_role: bool = False
    """Whether there is a role that only reads."""
    ro_role_name: RoleName | None = None
    """Its name; by default the database's name with _ro."""
    schemas: Annotated[list[SchemaName], Field(max_length=50)] | None = None
    """Schemas beside public that the roles may use. One that is taken out stays in the database."""
    extensions: Annotated[list[Extension], Field(max_length=100)] | None = None
    """Extensions. One that is taken out is dropped."""
    template: Text | None = immutable()
    """Database that it is made from."""
    encoding: Text | None = immutable()
    """Encoding of its characters."""
    locale: Text | None = immutable()
    """Locale of its texts."""
    locale_provider: Text | None = immutable()
    """What provides the locale: libc, icu or builtin."""
    locale_collate: Text | None = immutable()
    """Order of its texts (LC_COLLATE)."""
    locale_c_type: Text | None = immutable()
    """Classes of its characters (LC_CTYPE)."""
    icu_locale: Text | None = immutable()
    """Locale with localeProvider icu."""
    icu_rules: Text | None = immutable()
    """Further rules of order with localeProvider icu."""
    builtin_locale: Text | None = immutable()
    """Locale with localeProvider builtin."""
    collation_version: Text | None = immutable()
    """Version of the order that is written into the database."""
    is_template: bool | None = None
    """Whether everybody who may create databases may copy it."""
    allow_connections: bool | None = None
    """Whether anybody may connect. A new database is closed once its privileges are given."""
    connection_limit: int | None = Field(default=None, ge=-1)
    """Most connections at once; -1 for any number."""
    tablespace: Text | None = None
    """Tablespace of its tables."""
    password_config: PasswordConfig | None = immutable()
    """Passwords in place of generated ones."""
    monitoring: DatabaseMonitoring | None = None
    """What is measured of it."""

    @property
    def admin_role(self) -> str:
        """The role that owns it."""
        return self.admin_role_name or f"{self.name}_admin"

    @property
    def rw_role(self) -> str:
        """The role for applications."""
        return self.rw_role_name or f"{self.name}_rw"

    @property
    def ro_role(self) -> str | None:
        """The role that only reads; None where there is none."""
        return (self.ro_role_name or f"{self.name}_ro") if self.read_only_role else None

    @property
    def role_fields(self) -> dict[str, str]:
        """All its roles, by the field that names each."""
        found = {"adminRoleName": self.admin_role, "rwRoleName": self.rw_role, "roRoleName": self.ro_role}
        return {field: role for field, role in found.items() if role}


class PostgresDatabaseSpec(Model):
    """Databases on a PostgresCluster, each with a role that owns it, one for applications, and what these need to
    connect."""

    cluster_ref: Reference = immutable(required=True)
    """The PostgresCluster. One in another namespace must allow this one."""
    databases: Annotated[list[DatabaseDefinition], Field(min_length=1, max_length=10)] = Field(
        json_schema_extra=keyed("name")
    )
    """The databases."""
    paused: bool = False
    """Change nothing until this is false again."""


def cluster_of(spec: PostgresDatabaseSpec, namespace: str) -> Requested:
    """The PostgresCluster that databases are on.

    Args:
        spec: the spec.
        namespace: of the PostgresDatabase.
    """
    reference = spec.cluster_ref
    return Requested(CLUSTERS.kind, reference.namespace or namespace, reference.name, "clusterRef")


def _identities(spec: PostgresDatabaseSpec, _namespace: str, account: str) -> tuple[Identity, ...]:
    """A database or role has one owner on its cluster, whoever asks."""
    databases = {Identity(account, DATABASE_CLASS, Name((each.name,))) for each in spec.databases}
    roles = {
        Identity(account, ROLE_CLASS, Name((role,))) for each in spec.databases for role in each.role_fields.values()
    }
    return tuple(sorted(databases | roles))


def _faults(spec: PostgresDatabaseSpec) -> tuple[str, ...]:
    return (*_wrong_names(spec), *_twice(spec))


def _wrong_names(spec: PostgresDatabaseSpec) -> Iterator[str]:
    for index, each in enumerate(spec.databases):
        place = f"spec.databases[{index}]"
        if fault := names.database_fault(each.name):
            yield f"{place}.name: {fault}"
        for field, role in each.role_fields.items():
            if fault := names.role_fault(role):
                yield f"{place}.{field}: {fault}"
        for at, schema in enumerate(each.schemas or ()):
            if fault := names.schema_fault(schema):
                yield f"{place}.schemas[{at}]: {fault}"


def _twice(spec: PostgresDatabaseSpec) -> Iterator[str]:
    """A role of two databases, or two roles of one, are one role: which rights it has couldn't be told."""
    seen: dict[str, str] = {}
    for index, each in enumerate(spec.databases):
        for field, role in each.role_fields.items():
            place = f"spec.databases[{index}].{field}"
            if role in seen:
                yield f"{place}: {role} is {seen[role]}, too: name another role"
            seen.setdefault(role, place)


DATABASE = Utility(
    resource=Resource(
        path=DATABASES,
        spec=PostgresDatabaseSpec,
        status=PostgresDatabaseStatus,
        short_names=("pgdb",),
        columns=(
            READY,
            Column("CLUSTER", ".spec.clusterRef.name"),
            Column("DATABASES", ".spec.databases[*].name", priority=1),
            PHASE,
            *LAST_COLUMNS,
        ),
        name_rules=NAME_RULES,
        categories=CATEGORIES,
    ),
    domain=Domain.POSTGRES,
    account=AccountReference(CLUSTERS, cluster_of),
    identities=_identities,
    faults=_faults,
)
