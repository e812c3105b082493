"""Backups of a cluster: ScheduledBackups, and the ObjectStore that they go to or are read from."""

from __future__ import annotations

from typing import Any

from freehold.postgres.bootstrap import ARCHIVE_PLUGIN
from freehold.postgres.effective import Effective
from freehold.postgres.names import ClusterNames
from freehold.postgres.normal_form import METADATA, Absent, Leaf, Struct
from freehold.postgres.objects import OBJECT_STORES, SCHEDULED_BACKUPS, Owner, made, present

_SELECTOR = Struct({"name": Leaf(), "key": Leaf()})

SCHEDULE_FIELDS = Struct(
    {
        "metadata": METADATA,
        "spec": Struct(
            {
                "schedule": Leaf(lambda text: " ".join(str(text).split())),
                "suspend": Leaf(default=False),
                "target": Leaf(),
                "method": Leaf(default="barmanObjectStore"),
                "pluginConfiguration": Struct({"name": Leaf()}, absent=Absent.GONE),
                "backupOwnerReference": Leaf(default="none"),
            }
        ),
    }
)
"""What is compared, and may be written, of a ScheduledBackup that is there. Its cluster can't be changed."""

STORE_FIELDS = Struct(
    {
        "metadata": METADATA,
        "spec": Struct(
            {
                "configuration": Struct(
                    {
                        "destinationPath": Leaf(),
                        "endpointURL": Leaf(),
                        "s3Credentials": Struct({"accessKeyId": _SELECTOR, "secretAccessKey": _SELECTOR}),
                        "wal": Struct({"compression": Leaf(), "encryption": Leaf()}),
                    }
                ),
                "retentionPolicy": Leaf(),
            }
        ),
    }
)
"""What is compared, and may be written, of an ObjectStore that is there."""


def schedules(effective: Effective, owner: Owner) -> tuple[dict[str, Any], ...]:
    """The ScheduledBackups as they are to be; others of ours are to go.

    Args:
        effective: what the PostgresCluster comes to.
        owner: the PostgresCluster.
    """
    names = ClusterNames(owner.namespace, owner.name)
    methods: dict[str, dict[str, Any]] = {}
    if effective.snapshots:
        methods[names.snapshot_backup] = {"method": "volumeSnapshot"}
    if effective.archive:
        methods[names.archive_backup] = {"method": "plugin", "pluginConfiguration": {"name": ARCHIVE_PLUGIN}}
    return tuple(
        made(SCHEDULED_BACKUPS, name, owner, spec={**_schedule(effective, owner), **method})
        for name, method in methods.items()
    )


def _schedule(effective: Effective, owner: Owner) -> dict[str, Any]:
    """What all ScheduledBackups have. CloudNativePG wants seconds first."""
    schedule = effective.settings.backup.schedule if effective.settings.backup else None
    return {
        "schedule": f"0 {schedule}",
        "cluster": {"name": owner.name},
        **present(target=effective.cnpg.backup.target if effective.cnpg.backup else None),
        "backupOwnerReference": "cluster",
    }


def object_store(effective: Effective, owner: Owner) -> dict[str, Any] | None:
    """The ObjectStore as it is to be; None where none is written to or read from.

    Args:
        effective: what the PostgresCluster comes to.
        owner: the PostgresCluster.
    """
    store = effective.object_store
    if store is None:
        return None
    configuration = store.model_dump(by_alias=True, exclude_none=True, exclude={"retention_policy"})
    spec = present(configuration=configuration, retentionPolicy=store.retention_policy)
    return made(OBJECT_STORES, ClusterNames(owner.namespace, owner.name).object_store, owner, spec=spec)
