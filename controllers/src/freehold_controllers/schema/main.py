"""The process `freehold-schema`."""

from __future__ import annotations

from freehold.kinds.kind import Domain
from freehold.kinds.utility.fieldexport import FIELD_EXPORT
from freehold.kinds.utility.sqlstatement import SQL_STATEMENT
from freehold_controllers.controller import start
from freehold_controllers.schema.fieldexport import FieldExports
from freehold_controllers.schema.sqlstatement import SQLStatements


def main() -> None:
    """Entry point."""
    start(Domain.SCHEMA, {FIELD_EXPORT.resource.path: FieldExports, SQL_STATEMENT.resource.path: SQLStatements})
