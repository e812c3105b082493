"""PostgresCluster: a PostgreSQL server with its standbys, poolers and backups."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from freehold.identity import Identity, Name
from freehold.kinds.common import ObjectName
from freehold.kinds.fields import immutable, unsupported
from freehold.kinds.kind import Domain
from freehold.kinds.model import Model
from freehold.kinds.resource import READY, Column, Resource, Rule
from freehold.kinds.utility.declaration import KUBERNETES, Utility
from freehold.postgres import recovery, setting_faults
from freehold.postgres.cluster_status import PostgresClusterStatus
from freehold.postgres.common import (
    CATEGORIES,
    CLUSTERS,
    LAST_COLUMNS,
    PHASE,
    KeySelector,
    LocalReference,
    Opaque,
    grows,
)
from freehold.postgres.names import NAME_RULES
from freehold.postgres.recovery import BootstrapFrom
from freehold.postgres.settings import SETTINGS_RULES, Settings


class ClusterMonitoring(Model):
    """What is scraped by Prometheus. Each field is taken from the class where it isn't set."""

    postgresql_metrics: bool | None = None
    """Whether the servers are."""
    connection_pooler_metrics: bool | None = None
    """Whether the connection poolers are."""
    custom_queries_config_map: Annotated[list[KeySelector], Field(max_length=100)] | None = None
    """Keys of ConfigMaps with further queries for metrics, as CloudNativePG reads them."""


class PasswordConfig(Model):
    """Whose passwords are used in place of generated ones."""

    superuser_external_secret_ref: LocalReference
    """Secret with the keys username (postgres) and password, and the label cnpg.io/reload=true."""


class MajorUpgrade(Model):
    """Upgrades to another major version."""

    allow: bool = False
    """Whether a postgresVersion with the next major version is acted upon. All servers stop meanwhile."""
    strategy: Literal["pgUpgrade"] = "pgUpgrade"
    """How it is done: by pg_upgrade, in place."""


class PostgresClusterSpec(Settings):
    """A PostgreSQL cluster. What it doesn't set is its class's to say; an empty list or map means that there is none,
    whatever the class has."""

    class_: ObjectName = immutable(required=True, alias="class")
    """PostgresClusterClass that it belongs to."""
    cluster_deletion_policy: Literal["Delete", "Retain"] = "Retain"
    """What becomes of the servers and their data when the resource is deleted."""
    adoption_policy: Literal["adopt", "fail-if-exists"] = "fail-if-exists"
    """What to do with a CloudNativePG Cluster of the same name that isn't ours: take it over, or leave it alone and say
    so. One that this resource has left behind comes back by itself, unless bootstrapFrom is set."""
    monitoring: ClusterMonitoring | None = None
    """What is scraped by Prometheus."""
    bootstrap_from: BootstrapFrom | None = immutable()
    """What the cluster is made from, in place of nothing."""
    password_config: PasswordConfig | None = immutable()
    """A password for the superuser in place of a generated one."""
    postgres_major_upgrade_config: MajorUpgrade | None = None
    """Upgrades to another major version."""
    allowed_namespaces: Annotated[list[ObjectName], Field(max_length=1000)] | None = None
    """Namespaces beside its own whose PostgresDatabases may use it. "*" means all."""
    hibernated: bool = False
    """Whether the servers are stopped. Their volumes stay."""
    paused: bool = False
    """Change nothing until this is false again."""
    tls: Opaque | None = unsupported("certificates are CloudNativePG's own, and renewed by it; leave tls out")
    """Further names in the server's certificate."""
    blue_green: Opaque | None = unsupported("upgrades are done in place: set postgresMajorUpgradeConfig.allow")
    """Upgrades by way of a second cluster."""


def admits(spec: PostgresClusterSpec, own: str, namespace: str) -> bool:
    """Whether PostgresDatabases of a namespace may be on a cluster.

    Args:
        spec: of the cluster.
        own: the cluster's namespace.
        namespace: theirs.
    """
    return namespace == own or not {namespace, "*"}.isdisjoint(spec.allowed_namespaces or ())


def identity(namespace: str, name: str) -> Identity:
    """What a cluster claims: the CloudNativePG Cluster of its own name, which nobody else asks for. Its uid is the
    evidence."""
    return Identity(KUBERNETES, "POSTGRESCLUSTER", Name((namespace, name)))


def _faults(spec: PostgresClusterSpec) -> tuple[str, ...]:
    restored = recovery.faults(spec.bootstrap_from) if spec.bootstrap_from else ()
    return (*setting_faults.faults(spec, "spec"), *restored)


CLUSTER = Utility(
    resource=Resource(
        path=CLUSTERS,
        spec=PostgresClusterSpec,
        status=PostgresClusterStatus,
        short_names=("pgc",),
        columns=(
            READY,
            Column("CLASS", ".spec.class"),
            PHASE,
            Column("INSTANCES", ".status.instances", "integer"),
            Column("UP", ".status.readyInstances", "integer"),
            Column("PRIMARY", ".status.currentPrimary"),
            Column("VERSION", ".status.currentPgVersion", priority=1),
            *LAST_COLUMNS,
        ),
        rules=(
            *SETTINGS_RULES,
            grows("storage"),
            grows("walStorage"),
            Rule(
                "!has(oldSelf.postgresVersion) || has(self.postgresVersion) && "
                "int(self.postgresVersion.split('.')[0]) >= int(oldSelf.postgresVersion.split('.')[0])",
                "postgresVersion can't go back to an older major version, and can't be taken out again: set it to what "
                "it was, or a newer one",
                "postgresVersion",
            ),
        ),
        name_rules=NAME_RULES,
        categories=CATEGORIES,
    ),
    domain=Domain.POSTGRES,
    faults=_faults,
)
