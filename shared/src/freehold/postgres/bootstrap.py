"""What a CloudNativePG Cluster is made from: nothing, a backup, or another Cluster that runs."""

from __future__ import annotations

from typing import Any

from freehold.postgres.credentials import SUPERUSER
from freehold.postgres.effective import Effective
from freehold.postgres.names import ClusterNames
from freehold.postgres.objects import present
from freehold.postgres.recovery import BootstrapFrom, RecoveryTarget, SnapshotSource

ORIGIN = "origin"
"""Name that a Cluster knows its source by."""

ARCHIVE_PLUGIN = "barman-cloud.cloudnative-pg.io"
"""CloudNativePG's plugin for backups in object storage."""

_TARGETS = {"time": "targetTime", "lsn": "targetLSN", "xid": "targetXID", "name": "targetName"}


def sources(effective: Effective, names: ClusterNames, superuser_secret: str) -> dict[str, Any]:
    """`bootstrap` and `externalClusters` of the Cluster.

    Without a database of its own, CloudNativePG would make one named app, with a role and a Secret. `postgres` is there
    already, and belongs to the superuser, whose Secret is ours.

    Args:
        effective: what the PostgresCluster comes to.
        names: of what is made for it.
        superuser_secret: name of the Secret with the superuser's password.
    """
    application = {"database": "postgres", "owner": SUPERUSER, "secret": {"name": superuser_secret}}
    source = effective.spec.bootstrap_from
    if source is None:
        return {"bootstrap": {"initdb": application}}
    if source.cluster:
        origin = _streaming(ClusterNames(names.namespace, source.cluster.name))
        return {
            "bootstrap": {"pg_basebackup": {"source": ORIGIN, **application}},
            "externalClusters": [origin],
        }
    recovery = {**application, **_recovery(source)}
    archive = {"externalClusters": [_archive(names, source.archive)]} if source.archive else {}
    return {"bootstrap": {"recovery": recovery}, **archive}


def _recovery(source: BootstrapFrom) -> dict[str, Any]:
    return present(
        source=ORIGIN if source.archive else None,
        volumeSnapshots=source.volume_snapshot and _snapshots(source.volume_snapshot),
        recoveryTarget=source.recovery_target and _target(source.recovery_target),
    )


def _snapshots(source: SnapshotSource) -> dict[str, Any]:
    return present(storage=_snapshot(source.storage), walStorage=source.wal_storage and _snapshot(source.wal_storage))


def _snapshot(name: str) -> dict[str, Any]:
    return {"name": name, "kind": "VolumeSnapshot", "apiGroup": "snapshot.storage.k8s.io"}


def _target(target: RecoveryTarget) -> dict[str, Any]:
    if target.type == "immediate":
        return {"targetImmediate": True}
    return present(**{_TARGETS[target.type]: target.postgres_value}, exclusive=target.exclusive)


def _archive(names: ClusterNames, server: str) -> dict[str, Any]:
    parameters = {"barmanObjectName": names.object_store, "serverName": server}
    return {"name": ORIGIN, "plugin": {"name": ARCHIVE_PLUGIN, "parameters": parameters}}


def _streaming(origin: ClusterNames) -> dict[str, Any]:
    """A Cluster that is copied while it runs, by the certificate that its own standbys have."""
    client = f"{origin.cluster}-replication"
    return {
        "name": ORIGIN,
        "connectionParameters": {
            "host": origin.host(origin.service("rw")),
            "user": "streaming_replica",
            "dbname": "postgres",
            "sslmode": "verify-full",
        },
        "sslKey": {"name": client, "key": "tls.key"},
        "sslCert": {"name": client, "key": "tls.crt"},
        "sslRootCert": {"name": f"{origin.cluster}-ca", "key": "ca.crt"},
    }
