"""The constraints of tables: primary, unique and foreign keys and CHECK.

https://docs.snowflake.com/en/sql-reference/sql/create-table-constraint
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.bodies import Expression, Place, parse_expression
from freehold_devstack.snowflake.catalog import CatalogObject, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.relations.columns import Column, columns_of, find_column, outputs, with_columns
from freehold_devstack.snowflake.relations.governance import parse_columns

CONSTRAINTS = "CONSTRAINTS"
"""The property of a table that holds its constraints."""

PRIMARY_KEY, UNIQUE, FOREIGN_KEY, CHECK = "PRIMARY KEY", "UNIQUE", "FOREIGN KEY", "CHECK"

_DEFAULT_RULE = "NO ACTION"
_RULES = ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", _DEFAULT_RULE)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint.

    Attributes:
        type: PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK.
        name: Empty until the table is stored where the statement gives none.
        columns: The key's columns in order; of CHECK, those that it uses.
        table: What a foreign key refers to; a name until the statement is executed.
        referenced: The columns there; empty until the statement is executed where they are the primary key's.
        expression: Of CHECK, as written.
        rely, not_deferrable, immediate: RELY, NOT DEFERRABLE and INITIALLY IMMEDIATE.
    """

    type: str
    name: str = ""
    columns: tuple[str, ...] = ()
    table: int | Name | None = None
    referenced: tuple[str, ...] = ()
    match: str = "FULL"
    update_rule: str = _DEFAULT_RULE
    delete_rule: str = _DEFAULT_RULE
    expression: str | None = None
    rely: bool = False
    not_deferrable: bool = False
    immediate: bool = False
    comment: str | None = None

    @property
    def deferrability(self) -> str:
        """As SHOW IMPORTED KEYS prints it."""
        if self.not_deferrable:
            return "NOT DEFERRABLE"
        return "INITIALLY IMMEDIATE" if self.immediate else "INITIALLY DEFERRED"
