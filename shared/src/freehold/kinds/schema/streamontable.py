"""Streams on tables."""

from __future__ import annotations

from freehold import identifiers
from freehold.kinds import streams
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import checked, comment, ref, tags, unsupported
from freehold.kinds.in_schema import IN_SCHEMA_RULES, InSchemaSpec
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.resource import exactly_one, only_when
from freehold.kinds.streams import Point


class StreamOnTableSpec(InSchemaSpec):
    """What has changed in a table since the stream was read last. Only its comment can be altered."""

    table_name: Name | None = streams.source("TABLE", lambda spec: spec.table_name)
    """The table's stored name. It lies in the schema of the stream, unless sourceSchemaName says otherwise."""
    table_ref: Reference | None = ref(
        "Table", instead_of="table_name", within=("source_database_name", "source_schema_name")
    )
    """The Table, in place of its names."""
    source_database_name: Name | None = checked(identifiers.check, default=None)
    """Stored name of the table's database, by default that of the stream."""
    source_schema_name: Name | None = checked(identifiers.check, default=None)
    """Stored name of the table's schema, by default that of the stream."""
    at: Point | None = streams.point()
    """Where in the past it begins, as far as Time Travel reaches back. Acts at creation only. By default now."""
    append_only: bool | None = streams.mode("APPEND_ONLY")
    """Whether it tells of added rows alone. By default false."""
    show_initial_rows: bool | None = streams.initial_rows()
    """Whether it first tells all rows that are there. Acts at creation only."""
    comment: str | None = comment()
    """A note for people."""
    copy_grants: bool | None = unsupported("a stream is never replaced, so that its grants stay: leave it out")
    """Keep privileges when the stream is replaced."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


STREAM_ON_TABLE = Kind(
    spec=StreamOnTableSpec,
    domain=Domain.SCHEMA,
    object_type="STREAM",
    level=Level.SCHEMA,
    holds_data=True,
    short_names=("sot",),
    rules=(
        *IN_SCHEMA_RULES,
        exactly_one("tableRef", "tableName"),
        only_when(
            ("sourceDatabaseName", "sourceSchemaName"),
            "has(self.tableName)",
            "tableRef says where the table lies: leave sourceDatabaseName and sourceSchemaName out",
        ),
        only_when(
            ("sourceDatabaseName",),
            "has(self.sourceSchemaName)",
            "name the table's schema, too: set sourceSchemaName",
        ),
    ),
    volatile=streams.VOLATILE,
    adoptable=streams.adoptable("Table"),
    ailment=streams.ailment,
)
