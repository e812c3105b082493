"""What every object in a schema has: the names that lead to it."""

from __future__ import annotations

from freehold.kinds.common import Name, Reference, SnowflakeSpec
from freehold.kinds.fields import immutable, own_name, ref
from freehold.kinds.resource import Rule, exactly_one


class InSchemaSpec(SnowflakeSpec):
    """An object in a schema."""

    database_name: Name | None = immutable()
    """The database's stored name. A single part: dots and quotes belong to the name."""
    database_ref: Reference | None = ref("Database", instead_of="database_name", parent=True)
    """The Database that holds the object, in place of its name."""
    schema_name: Name | None = immutable()
    """The schema's stored name."""
    schema_ref: Reference | None = ref("Schema", instead_of="schema_name", parent=True)
    """The Schema that holds the object, in place of its name."""
    name: Name = own_name()
    """The object's name as it is stored: case kept, never folded."""


IN_SCHEMA_RULES: tuple[Rule, ...] = (exactly_one("databaseRef", "databaseName"), exactly_one("schemaRef", "schemaName"))
"""The rules that go with it."""
