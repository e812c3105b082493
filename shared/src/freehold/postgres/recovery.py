"""What a cluster can be made from instead of nothing: snapshots, object storage, or another cluster that runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, StringConstraints

from freehold.kinds.common import ObjectName
from freehold.kinds.model import Model
from freehold.kinds.resource import Rule, exactly_one, ruled
from freehold.postgres.common import LocalReference

_LATEST_TRANSACTION = 2**32 - 1
_LONGEST_RESTORE_POINT = 63
"""In bytes: PostgreSQL's MAXFNAMELEN without its terminator."""

_FORMS: Mapping[str, tuple[str, str]] = {
    "time": (
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})",
        "a time as in 2026-09-30T02:15:00Z",
    ),
    "lsn": ("[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}", "a position in the log as in 0/3000060"),
    "xid": ("[0-9]{1,10}", "a transaction's number below 2^32"),
    "name": (r"[^\x00-\x1f\x7f]{1,63}", "a restore point's name of up to 63 bytes"),
}
"""By type, the pattern of values and what they are, for people."""


class RecoveryTarget(Model):
    """Where recovery stops."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            Rule(
                "(self.type == 'immediate') == (!has(self.value) || self.value == '')",
                "recoveryTarget needs a value, unless its type is immediate, which takes none",
                "value",
            ),
            *(
                Rule(
                    f"self.type != '{type_}' || !has(self.value) || self.value.matches(r'^{form}$')",
                    f"value must be {what}",
                    "value",
                )
                for type_, (form, what) in _FORMS.items()
            ),
        )
    )

    type: Literal["time", "lsn", "xid", "name", "immediate"]
    """What value is: a time (RFC 3339), a position in the log, a transaction's number, a restore point's name, or
    nothing: as soon as the data is consistent."""
    value: Annotated[str, StringConstraints(max_length=64)] | None = None
    """Where to stop."""
    exclusive: bool | None = None
    """Whether to stop right before it instead of right after."""

    @property
    def postgres_value(self) -> str:
        """The value in PostgreSQL's own spelling: times have a blank and a numeric offset.

        Raises:
            ValueError: a time is none.
        """
        if self.type != "time" or self.value is None:
            return self.value or ""
        time = datetime.fromisoformat(self.value.upper())
        return time.isoformat(" ", "microseconds" if time.microsecond else "seconds")


class ArchivedServer(Model):
    """A cluster's backups in the object storage of the class."""

    server_name: Annotated[str, StringConstraints(min_length=1, max_length=253)]
    """Name that the cluster archived under, which is its own by default."""


class SnapshotSource(Model):
    """Snapshots of a server's volumes, in this namespace."""

    storage: ObjectName
    """VolumeSnapshot of the data."""
    wal_storage: ObjectName | None = None
    """VolumeSnapshot of the write-ahead log, where that had a volume of its own. Needs walStorage."""
    wal_archive: ArchivedServer | None = None
    """Archived log that goes on from the snapshot."""


class BootstrapFrom(Model):
    """What the cluster is made from. Its roles lose their passwords, but for those that databases declare."""

    model_config = ConfigDict(
        json_schema_extra=ruled(
            exactly_one("volumeSnapshot", "objectStorage", "cluster"),
            Rule(
                "!has(self.recoveryTarget) || !has(self.cluster)",
                "recoveryTarget needs volumeSnapshot or objectStorage: a cluster that runs is copied as it is",
                "recoveryTarget",
            ),
            Rule(
                "!has(self.recoveryTarget) || !has(self.volumeSnapshot) || has(self.volumeSnapshot.walArchive)",
                "recoveryTarget needs volumeSnapshot.walArchive: a snapshot alone can't be taken further",
                "recoveryTarget",
            ),
            Rule(
                "!has(self.recoveryTarget) || !has(self.objectStorage) || self.recoveryTarget.type in ['time', 'lsn']",
                "recoveryTarget must have type time or lsn with objectStorage: others don't tell which backup to take",
                "recoveryTarget",
            ),
        )
    )

    volume_snapshot: SnapshotSource | None = None
    """Snapshots of volumes."""
    object_storage: ArchivedServer | None = None
    """Backups in the object storage of the class."""
    cluster: LocalReference | None = None
    """A PostgresCluster in this namespace that runs, of the same major version: it is copied as it is."""
    recovery_target: RecoveryTarget | None = None
    """Where recovery stops. By default it takes all there is."""

    @property
    def archive(self) -> str | None:
        """Name of the server whose archive is read; None where none is."""
        found = self.object_storage or (self.volume_snapshot.wal_archive if self.volume_snapshot else None)
        return found.server_name if found else None


def faults(source: BootstrapFrom) -> tuple[str, ...]:
    """What is wrong with a source beyond what its schema tells, for people."""
    return tuple(_found(source.recovery_target))


def _found(target: RecoveryTarget | None) -> Iterator[str]:
    if target is None or target.value is None or target.type not in _FORMS:
        return
    fault = f"spec.bootstrapFrom.recoveryTarget.value: {target.value!r} must be {_FORMS[target.type][1]}"
    match target.type:
        case "time":
            try:
                target.postgres_value  # noqa: B018
            except ValueError:
                yield fault
        case "xid" if int(target.value) > _LATEST_TRANSACTION:
            yield fault
        case "name" if len(target.value.encode()) > _LONGEST_RESTORE_POINT:
            yield fault
