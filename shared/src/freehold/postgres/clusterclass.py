"""PostgresClusterClass: what a platform team sets up for clusters, and where they run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from freehold.kinds.common import ObjectName
from freehold.kinds.fields import immutable, unsupported
from freehold.kinds.kind import Domain
from freehold.kinds.model import Model
from freehold.kinds.resource import Column, Resource, Rule, only_when
from freehold.kinds.utility.declaration import Utility
from freehold.postgres import pgbouncer, setting_faults
from freehold.postgres.backup_storage import BackupStorage
from freehold.postgres.common import CATEGORIES, CLUSTER_CLASSES, LAST_COLUMNS, PHASE, Opaque, Phased, StringMap
from freehold.postgres.objects import CNPG_GROUP
from freehold.postgres.quantities import Quantity
from freehold.postgres.scheduling import Affinity, TopologySpread
from freehold.postgres.settings import Settings, Version, with_rules


class Metrics(Model):
    """Whether there are annotations that have Prometheus scrape pods."""

    enabled: bool = False
    """Whether there are."""


class ClassMonitoring(Model):
    """What is scraped by Prometheus."""

    postgresql_metrics: Metrics | None = None
    """The servers, at port 9187."""
    connection_pooler_metrics: Metrics | None = None
    """The connection poolers, at port 9127."""


class ClassConfig(Settings):
    """Settings that clusters may override."""

    model_config = with_rules(
        Rule(
            "!has(self.backup) || !has(self.backup.enabled) || !self.backup.enabled || has(self.backup.schedule)",
            "backup.schedule is needed while backup.enabled is true: write when, as in 0 2 * * *",
            "backup",
        ),
        Rule(
            "!has(self.monitoring) || !has(self.monitoring.connectionPoolerMetrics) || "
            "!self.monitoring.connectionPoolerMetrics.enabled || "
            "has(self.connectionPooler) && has(self.connectionPooler.enabled) && self.connectionPooler.enabled",
            "monitoring.connectionPoolerMetrics needs connectionPooler.enabled: there is nothing to scrape without",
            "monitoring",
        ),
    )

    instances: int = Field(default=1, ge=1, le=10)
    """Number of servers: one primary, the others its standbys."""
    storage: Quantity = "50Gi"
    """Size of each server's volume."""
    postgres_version: Version = "18"
    """Version of PostgreSQL: `17` for its latest minor release, or `17.6`. Clusters can't have an older one."""
    monitoring: ClassMonitoring | None = None
    """What is scraped by Prometheus."""


class PoolerSetup(Model):
    """How connection poolers (PgBouncer) are set up."""

    instances: int = Field(default=3, ge=1, le=10)
    """Number of poolers of each sort."""
    mode: Literal["session", "transaction"] = "transaction"
    """How long a client keeps its connection to the server. CloudNativePG has no mode statement."""
    config: StringMap | None = None
    """Parameters of PgBouncer, of those that CloudNativePG takes."""


class Cnpg(Model):
    """How CloudNativePG runs clusters. Clusters can't override it; changes reach all of them."""

    primary_update_method: Literal["restart", "switchover"] = "restart"
    """How the primary is updated: restarted, or after a standby has taken over, which needs one."""
    connection_pooler: PoolerSetup | None = None
    """How connection poolers are set up. Needed by clusters that have any."""
    backup: BackupStorage | None = None
    """Where backups go. Needed by clusters that take any."""
    storage_class: ObjectName | None = None
    """StorageClass of the volumes; by default the installation's default."""
    wal_storage_class: ObjectName | None = None
    """StorageClass of the volumes for the write-ahead log; by default the installation's default."""
    affinity: Affinity | None = None
    """Nodes for the servers, and how far these keep from one another."""
    topology_spread_constraints: Annotated[list[TopologySpread], Field(max_length=20)] | None = None
    """How evenly servers are spread."""


class PostgresClusterClassSpec(Model):
    """What clusters of this class are like, as long as they don't say otherwise, and how they are run."""

    provisioner: Literal["postgresql.cnpg.io"] = immutable(required=True)
    """What runs the clusters: postgresql.cnpg.io, which is CloudNativePG."""
    config: ClassConfig = immutable(default=ClassConfig())
    """Settings that clusters may override. Clusters rely on them; make another class for others."""
    cnpg: Cnpg | None = None
    """How CloudNativePG runs the clusters."""
    tls: Opaque | None = unsupported("certificates are CloudNativePG's own, and renewed by it; leave tls out")
    """Where certificates come from."""


class PostgresClusterClassStatus(Phased):
    """Whether the class can be used, and whether it is."""

    clusters: int | None = None
    """How many PostgresClusters are of this class. It isn't let go before there are none."""


def _faults(spec: PostgresClusterClassSpec) -> tuple[str, ...]:
    pooler = spec.cnpg.connection_pooler if spec.cnpg else None
    given = pooler.config or {} if pooler else {}
    return (
        *setting_faults.faults(spec.config, "spec.config"),
        *pgbouncer.faults(given, "spec.cnpg.connectionPooler.config"),
    )


_POOLED = (
    "has(self.config.connectionPooler) && has(self.config.connectionPooler.enabled) && "
    "self.config.connectionPooler.enabled"
)
_BACKED_UP = "has(self.config.backup) && has(self.config.backup.enabled) && self.config.backup.enabled"

CLUSTER_CLASS = Utility(
    resource=Resource(
        path=CLUSTER_CLASSES,
        spec=PostgresClusterClassSpec,
        status=PostgresClusterClassStatus,
        short_names=("pgclass",),
        columns=(
            Column("PROVISIONER", ".spec.provisioner"),
            Column("INSTANCES", ".spec.config.instances", "integer"),
            Column("STORAGE", ".spec.config.storage"),
            Column("VERSION", ".spec.config.postgresVersion"),
            PHASE,
            Column("CLUSTERS", ".status.clusters", "integer"),
            *LAST_COLUMNS,
        ),
        rules=(
            only_when(("cnpg",), f"self.provisioner == '{CNPG_GROUP}'", f"cnpg needs provisioner {CNPG_GROUP}"),
            Rule(
                f"self.provisioner != '{CNPG_GROUP}' || has(self.cnpg)",
                f"provisioner {CNPG_GROUP} needs cnpg: write cnpg: {{}}",
            ),
            Rule(
                f"!({_POOLED}) || has(self.cnpg) && has(self.cnpg.connectionPooler)",
                "config.connectionPooler.enabled needs cnpg.connectionPooler: write how poolers are set up, {} will do",
                "config",
            ),
            Rule(
                f"!({_BACKED_UP}) || has(self.cnpg) && has(self.cnpg.backup) && "
                "(has(self.cnpg.backup.volumeSnapshot) || has(self.cnpg.backup.barmanObjectStore))",
                "config.backup.enabled needs cnpg.backup.volumeSnapshot or cnpg.backup.barmanObjectStore: write where "
                "backups go",
                "config",
            ),
        ),
        categories=CATEGORIES,
    ),
    domain=Domain.POSTGRES,
    faults=_faults,
)
