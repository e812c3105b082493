"""Where a class has the backups of its clusters go: snapshots of volumes, and object storage."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from freehold.kinds.common import ObjectName
from freehold.kinds.model import Model
from freehold.postgres.common import KeySelector, StringMap, Text


class VolumeSnapshots(Model):
    """Snapshots of the servers' volumes."""

    class_name: ObjectName | None = None
    """VolumeSnapshotClass of the data; by default the storage driver's own."""
    wal_class_name: ObjectName | None = None
    """VolumeSnapshotClass of the volumes for the write-ahead log; by default that of the data."""
    snapshot_owner_reference: Literal["none", "cluster"] = "none"
    """Whether snapshots go with the cluster, or outlive it."""
    online: bool = True
    """Whether snapshots are taken while the server runs."""
    labels: StringMap | None = None
    """Labels of the snapshots."""
    annotations: StringMap | None = None
    """Annotations of the snapshots."""


class S3Credentials(Model):
    """Keys for the object storage."""

    access_key_id: KeySelector
    """The access key's id."""
    secret_access_key: KeySelector
    """The access key itself."""


class WalArchive(Model):
    """How the write-ahead log is stored."""

    compression: Literal["gzip", "bzip2", "snappy"] | None = None
    """How it is compressed. By default not."""
    encryption: Literal["AES256", "aws:kms"] | None = None
    """How the storage encrypts it. By default as the bucket says."""


class BarmanObjectStore(Model):
    """Object storage that speaks S3, by the Barman Cloud plugin of CloudNativePG."""

    destination_path: Text
    """Where backups lie, as s3://bucket/path."""
    endpoint_url: Text | None = Field(default=None, alias="endpointURL")
    """URL of the storage; by default that of AWS."""
    s3_credentials: S3Credentials
    """Keys for it, from Secrets in each cluster's own namespace."""
    wal: WalArchive | None = None
    """How the write-ahead log is stored."""
    retention_policy: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*d$", max_length=8)] | None = None
    """How long backups are kept, as `30d`. By default for ever."""


class BackupStorage(Model):
    """Where backups go. With both, two backups are taken each time."""

    target: Literal["primary", "prefer-standby"] = "prefer-standby"
    """Which server backups are taken from."""
    volume_snapshot: VolumeSnapshots | None = None
    """Snapshots of volumes: fast, but without the log nothing between two of them can be had back."""
    barman_object_store: BarmanObjectStore | None = None
    """Object storage: any moment since the first backup can be had back."""
