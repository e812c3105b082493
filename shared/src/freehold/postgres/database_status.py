"""What is known of a PostgresDatabase."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from freehold.kinds.model import Model
from freehold.postgres.common import KeySelector, LocalReference, ObjectReference, Phased, keyed


class RoleStatus(Model):
    """A role that the cluster is asked for."""

    name: str
    """The role."""
    secret_ref: LocalReference | None = None
    """Secret with its password."""
    exists: bool
    """Whether it is wanted, or to be dropped."""


class DatabaseStatus(Model):
    """What is known of a database."""

    name: str
    """The database."""
    ready: bool
    """Whether it is as declared."""
    message: str | None = None
    """What it lacks, for people."""
    database_ref: ObjectReference | None = None
    """The CloudNativePG Database whose privileges have been given."""
    admin_user_secret_ref: KeySelector | None = None
    """Secret with the owner's password."""
    rw_user_secret_ref: KeySelector | None = None
    """Secret with the password of the role for applications."""
    ro_user_secret_ref: KeySelector | None = None
    """Secret with the password of the role that only reads."""
    config_map_ref: LocalReference | None = None
    """ConfigMap with what applications need to connect."""
    roles: list[RoleStatus] | None = None
    """Roles that the cluster is asked for."""


class PostgresDatabaseStatus(Phased):
    """What is known of the databases."""

    last_transition_time: datetime | None = None
    """When they last began to be made ready."""
    databases: list[DatabaseStatus] | None = Field(default=None, json_schema_extra=keyed("name"))
    """Each of them."""
