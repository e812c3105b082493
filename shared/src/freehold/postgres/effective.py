"""What a cluster comes to: its own settings, and those of its class where it makes none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from freehold.kinds.model import Model
from freehold.postgres import images, pgbouncer, quantities, recovery, setting_faults, versions
from freehold.postgres.backup_storage import BarmanObjectStore, VolumeSnapshots
from freehold.postgres.cluster import ClusterMonitoring, PostgresClusterSpec
from freehold.postgres.clusterclass import ClassMonitoring, Cnpg, Metrics, PostgresClusterClassSpec
from freehold.postgres.names import Access
from freehold.postgres.settings import BackupSchedule, PoolerSwitches, Settings, SynchronousReplication

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Effective:
    """A cluster with all that its class says.

    Attributes:
        spec: what the cluster itself says.
        settings: all settings; None and empty where neither says anything.
        cnpg: how CloudNativePG runs it.
        class_version: version of PostgreSQL that the class has.
        postgresql_metrics: whether the servers are scraped.
        pooler_metrics: whether the poolers are.
    """

    spec: PostgresClusterSpec
    settings: Settings
    cnpg: Cnpg
    class_version: str
    postgresql_metrics: bool
    pooler_metrics: bool

    @property
    def instances(self) -> int:
        """Number of servers."""
        return self.settings.instances or 1

    @property
    def version(self) -> str:
        """Version of PostgreSQL."""
        return self.settings.postgres_version or self.class_version

    @property
    def image(self) -> str:
        """Image of the servers."""
        return self.settings.postgres_image or f"{images.DEFAULT}:{self.version}"

    @property
    def synchronous(self) -> SynchronousReplication | None:
        """Standbys that commits wait for; None where they wait for none."""
        found = self.settings.synchronous_replication
        return found if found and found.number else None

    @property
    def poolers(self) -> tuple[Access, ...]:
        """Which poolers there are; none to standbys where there are none of these."""
        switches = self.settings.connection_pooler or PoolerSwitches()
        if not switches.enabled:
            return ()
        standbys = switches.read_only is not False and self.instances > 1
        wanted: dict[Access, bool] = {"rw": switches.read_write is not False, "ro": standbys}
        return tuple(access for access, there in wanted.items() if there)

    @property
    def backs_up(self) -> bool:
        """Whether backups are taken."""
        return bool(self.settings.backup and self.settings.backup.enabled)

    @property
    def snapshots(self) -> VolumeSnapshots | None:
        """Snapshots that are taken as backups; None where none are."""
        return self.cnpg.backup.volume_snapshot if self.backs_up and self.cnpg.backup else None

    @property
    def archive(self) -> BarmanObjectStore | None:
        """Object storage that backups go to; None where none do."""
        return self.cnpg.backup.barman_object_store if self.backs_up and self.cnpg.backup else None

    @property
    def object_store(self) -> BarmanObjectStore | None:
        """Object storage that is written to or read from; None where there is none."""
        source = self.spec.bootstrap_from
        reads = source is not None and source.archive is not None
        return self.cnpg.backup.barman_object_store if (self.backs_up or reads) and self.cnpg.backup else None


def merge(class_: PostgresClusterClassSpec, cluster: PostgresClusterSpec) -> Effective:
    """What a cluster of a class comes to. A list or map of the cluster's takes the place of the class's, be it empty;
    switches of poolers and backups are taken one by one.

    Args:
        class_: spec of the class.
        cluster: spec of the cluster.
    """
    config = class_.config
    chosen = {
        name: getattr(config, name) if (own := getattr(cluster, name)) is None else own
        for name in Settings.model_fields
    }
    chosen["connection_pooler"] = _over(config.connection_pooler or PoolerSwitches(), cluster.connection_pooler)
    chosen["backup"] = _over(config.backup or BackupSchedule(), cluster.backup)
    given, switches = config.monitoring or ClassMonitoring(), cluster.monitoring or ClusterMonitoring()
    return Effective(
        cluster,
        Settings.model_construct(None, **chosen),
        class_.cnpg or Cnpg(),
        config.postgres_version,
        _chosen(switches.postgresql_metrics, given.postgresql_metrics),
        _chosen(switches.connection_pooler_metrics, given.connection_pooler_metrics),
    )


def _over(given: M, own: M | None) -> M:
    """A model with those fields of another that are set in it."""
    return given.model_copy(update={name: value for name, value in own or () if value is not None})


def _chosen(own: bool | None, given: Metrics | None) -> bool:
    return own if own is not None else bool(given and given.enabled)


def faults(effective: Effective, name: str) -> tuple[str, ...]:
    """Why a cluster can't be had as it is, one sentence each, for people. Each is mended in the cluster, or its class.

    Args:
        effective: what it comes to.
        name: of the cluster.
    """
    pooler = effective.cnpg.connection_pooler
    return (
        *setting_faults.faults(effective.settings, "spec"),
        *setting_faults.joint_faults(effective.settings, effective.image, effective.version),
        *_of_instances(effective),
        *_of_poolers(effective),
        *pgbouncer.faults((pooler.config or {}) if pooler else {}, "cnpg.connectionPooler.config of the class"),
        *_of_backups(effective),
        *_of_source(effective, name),
    )


def _of_instances(effective: Effective) -> Iterator[str]:
    if effective.cnpg.primary_update_method == "switchover" and effective.instances == 1:
        yield (
            "spec.instances: 1 leaves no standby to switch over to, as the class has it done at updates "
            "(cnpg.primaryUpdateMethod): set it to 2 or more"
        )
    own, least = versions.parse(effective.version), versions.parse(effective.class_version)
    common = min(len(own), len(least))
    if own[:common] < least[:common]:
        yield (
            f"spec.postgresVersion: {effective.version} is older than the class's {effective.class_version}: leave it "
            "out, or use a class that has the older version"
        )


def _of_poolers(effective: Effective) -> Iterator[str]:
    switches = effective.settings.connection_pooler or PoolerSwitches()
    metrics = effective.spec.monitoring
    if not switches.enabled:
        if metrics and metrics.connection_pooler_metrics:
            yield (
                "spec.monitoring.connectionPoolerMetrics: there is no pooler to scrape: set "
                "spec.connectionPooler.enabled, or take it out"
            )
        return
    if effective.cnpg.connection_pooler is None:
        yield (
            "spec.connectionPooler.enabled: the class doesn't say how poolers are set up (cnpg.connectionPooler): set "
            "it to false, or use another class"
        )
    if switches.read_only and effective.instances == 1:
        yield (
            "spec.connectionPooler.readOnly: there are no standbys with 1 instance: leave it out, or set "
            "spec.instances to 2 or more"
        )
    elif not effective.poolers:
        yield (
            "spec.connectionPooler: it leaves no pooler over: set readWrite, or readOnly with 2 instances or more, "
            "or set enabled to false"
        )


def _of_backups(effective: Effective) -> Iterator[str]:
    if not effective.backs_up:
        return
    if not (effective.settings.backup and effective.settings.backup.schedule):
        yield "spec.backup.schedule: it is needed while backups are enabled: write when, as in 0 2 * * *"
    if not (effective.snapshots or effective.archive):
        yield (
            "spec.backup.enabled: the class doesn't say where backups go (cnpg.backup): set it to false, or use "
            "another class"
        )


def _of_source(effective: Effective, name: str) -> Iterator[str]:
    source = effective.spec.bootstrap_from
    if source is None:
        return
    yield from recovery.faults(source)
    if source.archive and effective.object_store is None:
        yield (
            "spec.bootstrapFrom: the class has no object storage to read from (cnpg.backup.barmanObjectStore): use a "
            "class that has the one where the backups are"
        )
    if source.archive == name and effective.archive:
        yield (
            f"spec.bootstrapFrom: {name} would archive on top of the archive that it reads: give the new cluster "
            "another name, or set spec.backup.enabled to false"
        )
    if source.cluster and source.cluster.name == name:
        yield "spec.bootstrapFrom.cluster.name: a cluster can't be copied from itself: name another one"
    snapshot = source.volume_snapshot
    if snapshot and snapshot.wal_storage and effective.settings.wal_storage is None:
        yield (
            "spec.bootstrapFrom.volumeSnapshot.walStorage: there is no volume for it: set spec.walStorage to the "
            "size of that volume"
        )


def refused_change(before: Effective, after: Effective) -> tuple[str, ...]:
    """Why a cluster can't become another, for people: what it has by its class counts, too.

    Args:
        before: what it came to.
        after: what it would come to.
    """
    return tuple(
        fault
        for field, old, new in (
            ("storage", before.settings.storage, after.settings.storage),
            ("walStorage", before.settings.wal_storage, after.settings.wal_storage),
        )
        if (fault := _shrunk(field, old, new))
    )


def _shrunk(field: str, old: str | None, new: str | None) -> str | None:
    if old is None or (new is not None and quantities.parse(new) >= quantities.parse(old)):
        return None
    return (
        f"spec.{field}: {new or 'nothing'} is less than the {old} that there is: volumes only grow; set {old} or more"
    )


def advice(effective: Effective) -> tuple[str, ...]:
    """What is legal but likely wrong, for people."""
    return tuple(_advised(effective))


def _advised(effective: Effective) -> Iterator[str]:
    synchronous = effective.synchronous
    if synchronous and synchronous.data_durability == "required" and synchronous.number == effective.instances - 1:
        yield (
            "spec.synchronousReplication: every standby must answer, so that losing one stops all writes: lower "
            "number, or set dataDurability to preferred"
        )
    if effective.snapshots and not effective.archive:
        yield (
            "spec.backup.enabled: snapshots alone lose what was written since the last one: use a class with "
            "cnpg.backup.barmanObjectStore, too"
        )
    for index, line in enumerate(effective.settings.pg_hba or ()):
        words = line.split()
        if "trust" in words and words[0] != "local":
            yield f"spec.pgHBA[{index}]: trust lets anybody in from there without a password: use scram-sha-256"
