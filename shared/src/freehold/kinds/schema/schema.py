"""Schemas."""

from __future__ import annotations

from collections.abc import Sequence

from freehold import sql
from freehold.kinds.common import Name, Reference
from freehold.kinds.containers import CONTAINER_PRIVILEGES, CONTAINER_RULES, ContainerSpec, content_of, telemetry_advice
from freehold.kinds.fields import comment, custom, immutable, keyword, own_name, parameter, ref, tags
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.observers import option
from freehold.kinds.property import Place, Target
from freehold.kinds.resource import Rule, exactly_one
from freehold.kinds.values import Boolean
from freehold.sql import Sql


def _switch_managed_access(target: Target, desired: bool | None, _observed: object) -> Sequence[Sql]:
    return (target.alter(sql.words("ENABLE MANAGED ACCESS" if desired else "DISABLE MANAGED ACCESS")),)


class SchemaSpec(ContainerSpec):
    """A schema: the container of tables, views, stages, tasks and the other objects of a database."""

    database_name: Name | None = immutable()
    """The database's stored name. A single part: dots and quotes belong to the name."""
    database_ref: Reference | None = ref("Database", instead_of="database_name", parent=True)
    """The Database that holds the schema, in place of its name."""
    name: Name = own_name()
    """The schema's name as it is stored: case kept, never folded."""
    transient: bool | None = keyword("TRANSIENT", place=Place.BEFORE_TYPE)
    """Without Fail-safe, and with at most one day of Time Travel."""
    managed_access: bool | None = custom(
        alter=_switch_managed_access,
        observe=option("MANAGED ACCESS"),
        source="show.options",
        codec=Boolean(),
        clause=lambda value: sql.words("WITH MANAGED ACCESS") if value else None,
        place=Place.AFTER_NAME,
    )
    """Leave all grants on objects inside to the schema's owner; owners of the objects can't grant any more."""
    pipe_execution_paused: bool | None = parameter("PIPE_EXECUTION_PAUSED")
    """Whether all pipes inside are paused."""
    comment: str | None = comment()
    """A note for people."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


SCHEMA = Kind(
    spec=SchemaSpec,
    domain=Domain.SCHEMA,
    object_type="SCHEMA",
    level=Level.DATABASE,
    create_or_alter=True,
    holds_data=True,
    history=True,
    parameters=True,
    privileges=CONTAINER_PRIVILEGES,
    rules=(
        exactly_one("databaseRef", "databaseName"),
        Rule("self.name != 'INFORMATION_SCHEMA'", "INFORMATION_SCHEMA is reserved by Snowflake", "name"),
        *CONTAINER_RULES,
    ),
    content=content_of("SCHEMA"),
    # Every new database has a schema PUBLIC, made by nobody's CREATE SCHEMA.
    adopts=frozenset({"PUBLIC"}),
    advice=telemetry_advice,
)
