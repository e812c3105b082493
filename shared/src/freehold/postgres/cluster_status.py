"""What is known of a PostgresCluster."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from freehold.kinds.model import Model
from freehold.postgres.common import KeySelector, LocalReference, ObjectReference, Phased
from freehold.postgres.recovery import RecoveryTarget


class PoolerStatus(Model):
    """Which connection poolers there are."""

    enabled: bool
    """Whether there are any."""
    read_write_enabled: bool = False
    """Whether there is one to the primary."""
    read_only_enabled: bool = False
    """Whether there is one to the standbys; there is none without standbys."""


class RoleOwner(Model):
    """The PostgresDatabase that a role belongs to."""

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    uid: str
    """Its uid."""


class RoleConflict(Model):
    """A role that another PostgresDatabase has already."""

    role: str
    """The role."""
    claimed_by: RoleOwner
    """Whose it is."""
    attempted_by: RoleOwner
    """Who asks for it."""


class ManagedRolesStatus(Model):
    """The roles of all databases."""

    reconciled: list[str] | None = None
    """Roles that are as declared."""
    pending: list[str] | None = None
    """Roles that are being made or dropped."""
    failed: dict[str, str] | None = None
    """Roles that can't be, with the reason. They concern their own PostgresDatabase alone."""
    role_owners: dict[str, RoleOwner] | None = None
    """Whose role is whose."""
    conflicts: list[RoleConflict] | None = None
    """Roles that more than one asks for."""


class ClusterResources(Model):
    """What applications need to connect."""

    config_map_ref: LocalReference | None = None
    """ConfigMap with the endpoints."""
    super_user_secret_ref: KeySelector | None = None
    """Secret with the superuser's password."""


class ScheduleStatus(Model):
    """Backups of one sort."""

    enabled: bool
    """Whether they are taken."""
    last_schedule_time: datetime | None = None
    """When the last one was due."""
    next_schedule_time: datetime | None = None
    """When the next one is due."""


class BackupStatus(Model):
    """Backups."""

    volume_snapshot: ScheduleStatus | None = None
    """Snapshots of volumes."""
    object_store: ScheduleStatus | None = None
    """Backups in object storage."""


class RestoreSource(Model):
    """What the cluster was made from."""

    volume_snapshot: str | None = None
    """The VolumeSnapshot of the data."""
    object_storage: str | None = None
    """The server whose archive was read."""
    cluster: str | None = None
    """The PostgresCluster that was copied."""
    requested_recovery_target: RecoveryTarget | None = None
    """Where recovery was to stop."""


class CredentialSweep(Model):
    """How far the roles that came with the data have lost their passwords."""

    completed: bool = False
    """Whether all have."""
    cluster_uid: str | None = None
    """uid of the CloudNativePG Cluster that was swept."""


class RestoreStatus(Model):
    """A cluster that was made from another's data."""

    source: RestoreSource
    """What it was made from."""
    credential_sweep: CredentialSweep = CredentialSweep()
    """How far its old roles have lost their passwords."""


class ProvisionerWrite(Model):
    """The last change of what CloudNativePG is asked for."""

    generation: int
    """Generation of the CloudNativePG Cluster since."""
    time: datetime
    """When it was made."""
    answered: bool = False
    """Whether CloudNativePG has been seen at work since."""


class MajorUpgradeStatus(Model):
    """An upgrade to another major version."""

    phase: Literal["Held", "Upgrading", "Completed", "Failed"]
    """How far it is."""
    source_pg_version: str
    """Major version that it began with."""
    target_pg_version: str
    """Major version that it leads to."""
    started_at: datetime | None = None
    """When it began."""
    completed_at: datetime | None = None
    """When it was done."""


class PostgresClusterStatus(Phased):
    """What is known of the cluster.

    Its conditions beside Ready: Available (the database can be used, as CloudNativePG says) and Converged (it is as
    declared).
    """

    last_transition_time: datetime | None = None
    """When it last began to be made ready."""
    provisioner_ref: ObjectReference | None = None
    """The CloudNativePG Cluster."""
    provisioner_write: ProvisionerWrite | None = None
    """The last change of what it is asked for: whether it is healthy since can't be told at once."""
    connection_pooler_status: PoolerStatus | None = None
    """Connection poolers."""
    managed_roles_status: ManagedRolesStatus | None = None
    """Roles."""
    resources: ClusterResources | None = None
    """What applications need to connect."""
    backup_status: BackupStatus | None = None
    """Backups."""
    restore: RestoreStatus | None = None
    """What it was made from."""
    instances: int | None = None
    """Servers that there are."""
    ready_instances: int | None = None
    """Servers that are ready."""
    current_primary: str | None = None
    """Pod of the primary."""
    current_pg_version: str | None = None
    """Major version that the data has."""
    postgres_major_upgrade_status: list[MajorUpgradeStatus] | None = None
    """Upgrades to other major versions."""
