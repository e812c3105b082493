"""Database roles."""

from __future__ import annotations

from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import comment, immutable, own_name, ref, tags
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.resource import exactly_one
from freehold.kinds.roles import ownership_kept


class DatabaseRoleSpec(SnowflakeSpec):
    """A role inside a database, which holds privileges on that and on what it contains. It acts through the account
    roles that it is granted to."""

    database_name: Name | None = immutable()
    """The database's stored name. A single part: dots and quotes belong to the name."""
    database_ref: Reference | None = ref("Database", instead_of="database_name", parent=True)
    """The Database that holds the role, in place of its name."""
    name: Name = own_name()
    """The role's name as it is stored: case kept, never folded."""
    comment: str | None = comment()
    """A note for people."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


DATABASE_ROLE = Kind(
    spec=DatabaseRoleSpec,
    domain=Domain.ACCOUNT,
    object_type="DATABASE ROLE",
    level=Level.DATABASE,
    holds_data=False,
    short_names=("dbr",),
    database_column="",
    create_or_alter=True,
    rules=(exactly_one("databaseRef", "databaseName"),),
    volatile=frozenset({"is_inherited", "granted_to_roles", "granted_to_database_roles", "granted_database_roles"}),
    content=ownership_kept("DATABASE ROLE"),
)
