"""Settings that a class gives its clusters and that a cluster may set for itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from freehold.kinds.model import Model
from freehold.kinds.resource import Rule, ruled
from freehold.postgres import images
from freehold.postgres.common import LocalReference, StringMap, positive
from freehold.postgres.quantities import Quantity

Resources = Annotated[dict[str, Quantity], Field(max_length=50)]

Version = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?$", max_length=8)]
"""A major version, or one with its minor."""


class ResourceClaim(Model):
    """A claim for a device."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=63)]
    """Name of the claim."""
    request: Annotated[str, StringConstraints(max_length=63)] | None = None
    """Which of its requests; by default all."""


class ResourceRequirements(Model):
    """What each instance gets of its node."""

    requests: Resources | None = None
    """What is set aside for it."""
    limits: Resources | None = None
    """What it can't exceed."""
    claims: Annotated[list[ResourceClaim], Field(max_length=50)] | None = None
    """Devices that it uses."""


class PoolerSwitches(Model):
    """Which connection poolers (PgBouncer) there are. Each switch is taken from the class where it isn't set."""

    enabled: bool | None = None
    """Whether there are any. By default not."""
    read_write: bool | None = None
    """Whether there is one to the primary. By default there is."""
    read_only: bool | None = None
    """Whether there is one to the standbys. By default there is wherever there are standbys."""


class BackupSchedule(Model):
    """When backups are taken. Each field is taken from the class where it isn't set."""

    enabled: bool | None = None
    """Whether any are taken. By default not."""
    schedule: Annotated[str, StringConstraints(pattern=r"^(\S+\s+){4}\S+$", max_length=128)] | None = None
    """When, as a cron expression of five fields, in UTC: `0 2 * * *` is every night at two."""


class SynchronousReplication(Model):
    """Standbys that every commit waits for."""

    method: Literal["any", "first"] = "any"
    """Whether any of the standbys will do, or the first ones in their order."""
    number: int = Field(ge=0, le=9)
    """How many standbys a commit waits for; fewer than there are instances. 0 for none, whatever the class says."""
    data_durability: Literal["required", "preferred"] = "required"
    """What happens while there are too few standbys: commits wait, or do with those that there are."""


class Settings(Model):
    """Settings of a cluster."""

    instances: int | None = Field(default=None, ge=1, le=10)
    """Number of servers: one primary, the others its standbys."""
    storage: Quantity | None = None
    """Size of each server's volume. It can only grow."""
    wal_storage: Quantity | None = None
    """Size of a volume of its own for the write-ahead log of each server. It can be added later, can only grow, and
    can't be removed."""
    postgres_version: Version | None = None
    """Version of PostgreSQL: `17` for its latest minor release, or `17.6`."""
    postgres_image: Annotated[str, StringConstraints(min_length=1, max_length=512)] | None = None
    """Image in place of CloudNativePG's own for that version. It has a tag, whose major version is that one."""
    image_pull_secrets: Annotated[list[LocalReference], Field(max_length=50)] | None = None
    """Secrets that images are pulled with, in the cluster's namespace."""
    resources: ResourceRequirements | None = None
    """What each server gets of its node."""
    postgresql_config: StringMap | None = None
    """Parameters of PostgreSQL (postgresql.conf). CloudNativePG sets some itself; those are refused."""
    pg_hba: (
        Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=4096)]], Field(max_length=200)] | None
    ) = Field(default=None, alias="pgHBA")
    """Lines of pg_hba.conf: who may connect from where, and how they prove who they are. They come before
    CloudNativePG's own last line."""
    connection_pooler: PoolerSwitches | None = None
    """Connection poolers in front of the cluster. How they are set up is the class's matter."""
    backup: BackupSchedule | None = None
    """Backups. Where they go is the class's matter."""
    synchronous_replication: SynchronousReplication | None = None
    """Standbys that commits wait for. By default none."""


SETTINGS_RULES = (
    positive("storage"),
    positive("walStorage"),
    Rule(
        f"!has(self.postgresImage) || self.postgresImage.matches(r'{images.PATTERN}')",
        "postgresImage must be an image with a tag, such as ghcr.io/cloudnative-pg/postgresql:17.6; a digest may "
        "follow, and a scheme (https://) doesn't belong to it",
        "postgresImage",
    ),
    Rule(
        "!has(self.postgresImage) || !self.postgresImage.matches(':latest(@|$)')",
        "postgresImage can't have the tag latest, which doesn't tell the version: use a tag such as 17.6",
        "postgresImage",
    ),
    Rule(
        "!has(self.postgresImage) || !has(self.postgresVersion) || self.postgresImage.matches("
        "'^[^@]*:' + self.postgresVersion.split('.')[0] + '([-._A-Za-z][^/@]*)?(@.*)?$')",
        "postgresImage has a tag of another major version than postgresVersion: set both to the same one",
        "postgresImage",
    ),
)


def with_rules(*rules: Rule) -> ConfigDict:
    """The configuration of a model of settings inside a spec."""
    return ConfigDict(json_schema_extra=ruled(*SETTINGS_RULES, *rules))
