"""The constraints of tables: primary, unique and foreign keys and CHECK.

https://docs.snowflake.com/en/sql-reference/sql/create-table-constraint
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies import parse_expression
from freehold_devstack.snowflake.catalog import CatalogObject, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.parser import Name, print_identifier
from freehold_devstack.snowflake.relations.columns import Column, columns_of, find_column, outputs, with_columns
from freehold_devstack.snowflake.tokens import TokenKind, tokenize

CONSTRAINTS = "CONSTRAINTS"
"""The property of a table that holds its constraints."""

PRIMARY_KEY, UNIQUE, FOREIGN_KEY, CHECK = "PRIMARY KEY", "UNIQUE", "FOREIGN KEY", "CHECK"


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint.

    Attributes:
        type: PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK.
        name: Empty where the statement gives none, until the table is stored.
        columns: The key's columns in order; of CHECK, those that it uses.
        table: What a foreign key refers to; a name until the statement is executed.
        referenced: The columns there; empty where they are the primary key's, until the statement is executed.
        expression: Of CHECK, as written.
        novalidate: Of CHECK, whether the rows that are there need not fulfil it.
        immediate: INITIALLY IMMEDIATE.
    """

    type: str
    name: str = ""
    columns: tuple[str, ...] = ()
    table: int | Name | None = None
    referenced: tuple[str, ...] = ()
    match: str = "FULL"
    update_rule: str = "NO ACTION"
    delete_rule: str = "NO ACTION"
    expression: str | None = None
    novalidate: bool = False
    rely: bool = False
    deferrable: bool = False
    immediate: bool = False
    comment: str | None = None

    @property
    def signature(self) -> tuple[str, tuple[str, ...], str | None]:
        """What no two constraints of a table have in common."""
        return self.type, self.columns, self.expression

    @property
    def is_key(self) -> bool:
        """Whether a foreign key can refer to it."""
        return self.type in {PRIMARY_KEY, UNIQUE}

    def renamed(self, old: str, new: str) -> "Constraint":
        """The constraint after a column of its table has got a new name."""
        if old not in self.columns:
            return self
        columns = tuple(new if name == old else name for name in self.columns)
        expression = None if self.expression is None else _renamed_in(self.expression, old, new)
        return replace(self, columns=columns, expression=expression)

    @property
    def deferrability(self) -> str:
        """As SHOW IMPORTED KEYS prints it."""
        if not self.deferrable:
            return "NOT DEFERRABLE"
        return "INITIALLY IMMEDIATE" if self.immediate else "INITIALLY DEFERRED"


# --- keeping ---------------------------------------------------------------------------------------------------------


def keep(constraint: Constraint) -> dict[str, Value]:
    """The constraint as the catalog keeps it: without what is as by default."""
    said = {field.name: getattr(constraint, field.name) for field in fields(Constraint)}
    return {name: value for name, value in said.items() if name == "type" or value != _DEFAULTS[name]}


_DEFAULTS = {field.name: field.default for field in fields(Constraint)}


def constraints_of(table: CatalogObject) -> tuple[Constraint, ...]:
    """The constraints of a table, in the order of their making."""
    kept: Any = table.properties.get(CONSTRAINTS) or ()
    sequences = ("columns", "referenced")
    return tuple(
        Constraint(**{**values, **{name: tuple(values[name]) for name in sequences if name in values}})
        for values in kept
    )


def with_constraints(table: CatalogObject, constraints: Iterable[Constraint]) -> CatalogObject:
    """The record with these constraints instead."""
    kept = tuple(map(keep, constraints))
    return replace(table, properties={**table.properties, CONSTRAINTS: kept or None})


def with_constraint(table: CatalogObject, old: Constraint, new: Constraint) -> CatalogObject:
    """The record with one constraint in the place of another."""
    return with_constraints(table, (new if each == old else each for each in constraints_of(table)))


def with_renamed_column(table: CatalogObject, old: str, new: str) -> CatalogObject:
    """The record whose constraints call a column by its new name."""
    return with_constraints(table, (each.renamed(old, new) for each in constraints_of(table)))


def _renamed_in(expression: str, old: str, new: str) -> str:
    pieces, end = [], 0
    for token in tokenize(expression):
        if token.kind in {TokenKind.WORD, TokenKind.QUOTED} and token.value == old:
            pieces += [expression[end : token.start], print_identifier(new)]
            end = token.start + len(token.text)
    return "".join((*pieces, expression[end:]))


# --- making ----------------------------------------------------------------------------------------------------------


def constrained(context: Context, table: CatalogObject, constraints: Iterable[Constraint]) -> CatalogObject:
    """The record of a table with more constraints; the columns of its primary key take no NULL.

    Raises:
        SqlError: 000904 for a column, 002003 and 003001 for what a foreign key refers to, 011207 for a virtual column,
            999999 for a second primary key, a repeated constraint or a foreign key that fits no key.
    """
    for constraint in constraints:
        table = _constrain(context, table, constraint)
    return table


def _constrain(context: Context, table: CatalogObject, constraint: Constraint) -> CatalogObject:
    others = constraints_of(table)
    columns = columns_of(table)
    own = [find_column(columns, name) for name in constraint.columns]
    _check_repeated(table, others, constraint)
    if constraint.type == CHECK:
        _check_condition(constraint, columns)
    if constraint.type == FOREIGN_KEY:
        constraint = _referring(context, table, constraint, own)
    if constraint.type == PRIMARY_KEY:
        required = {column.name for column in own}
        table = with_columns(
            table, (replace(each, nullable=each.nullable and each.name not in required) for each in columns)
        )
    name = constraint.name or _generated_name(table, len(others))
    return with_constraints(table, (*others, replace(constraint, name=name)))


def _generated_name(table: CatalogObject, index: int) -> str:
    return f"SYS_CONSTRAINT_{uuid.uuid5(uuid.NAMESPACE_OID, f'{table.id} {table.name} {index}')}"


def _check_repeated(table: CatalogObject, others: Sequence[Constraint], constraint: Constraint) -> None:
    if constraint.type == PRIMARY_KEY and any(other.type == PRIMARY_KEY for other in others):
        raise errors.unnumbered(f"primary key already exists for table '{table.name}'")
    if constraint.name and any(other.name == constraint.name for other in others):
        raise errors.unnumbered(f"constraint '{constraint.name}' already exists on table '{table.name}'")
    if any(other.signature == constraint.signature for other in others):
        raise errors.unnumbered(f"constraint with the same signature already exists on table '{table.name}'")


def _check_condition(constraint: Constraint, columns: Sequence[Column]) -> None:
    condition = parse_expression(constraint.expression or "").type(outputs(columns))
    if condition is not None and condition.base != "BOOLEAN":
        raise errors.unnumbered(f"Invalid expression [{constraint.expression}] in CHECK constraint.")
    for column in columns:
        if column.expression is not None and constraint.columns == (column.name,):
            raise errors.virtual_column(11207, f"Cannot set CHECK constraint on virtual column {column.name}.")


def _referring(context: Context, table: CatalogObject, constraint: Constraint, own: Sequence[Column]) -> Constraint:
    """A foreign key with the id of the table and the columns that it refers to."""
    target = _target(context, table, constraint.table if isinstance(constraint.table, tuple) else ())
    keys = [other for other in constraints_of(target) if other.is_key]
    referenced = constraint.referenced or next((key.columns for key in keys if key.type == PRIMARY_KEY), ())
    columns = [find_column(columns_of(target), name) for name in referenced]
    if not any(key.columns == referenced for key in keys) or len(columns) != len(own):
        raise errors.unnumbered(f"Foreign key does not match a primary or unique key of table '{target.name}'.")
    for mine, theirs in zip(own, columns, strict=True):
        if mine.type != theirs.type or (not constraint.referenced and mine.name != theirs.name):
            raise errors.unnumbered(f"Column '{mine.name}' does not match column '{theirs.name}' that it refers to.")
    return replace(constraint, table=target.id, referenced=referenced)


def _target(context: Context, table: CatalogObject, name: Name) -> CatalogObject:
    object_type = context.types["TABLE"]
    container = context.container(object_type, name, "CREATE")
    if container.id == table.parent and name[-1] == table.name:
        return table
    target = context.resolve(object_type, name, "CREATE")
    context.require("REFERENCES", target)
    return target


# --- finding ---------------------------------------------------------------------------------------------------------


def find_constraint(table: CatalogObject, name: str) -> Constraint:
    """The constraint of this name.

    Raises:
        SqlError: 002003 when there is none.
    """
    for constraint in constraints_of(table):
        if constraint.name == name:
            return constraint
    raise errors.missing("CONSTRAINT", name)


def find_key(table: CatalogObject, kind: str, columns: tuple[str, ...]) -> Constraint:
    """The key of a kind on these columns; of the primary key, none need be named.

    Raises:
        SqlError: 002003 when there is none.
    """
    for constraint in constraints_of(table):
        if constraint.type == kind and (constraint.columns == columns or (kind == PRIMARY_KEY and not columns)):
            return constraint
    raise errors.missing("CONSTRAINT", f"{kind} ({', '.join(columns)})" if columns else kind)


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key with both ends; `key` is what it refers to."""

    constraint: Constraint
    table: CatalogObject
    target: CatalogObject
    key: Constraint


def foreign_keys(context: Context, table: CatalogObject) -> list[ForeignKey]:
    """The foreign keys of a table, but for those whose targets are gone."""
    found = []
    for constraint in constraints_of(table):
        target = context.catalog.get(constraint.table) if isinstance(constraint.table, int) else None
        if target is None or not context.catalog.is_live(target):
            continue
        keys = [key for key in constraints_of(target) if key.is_key and key.columns == constraint.referenced]
        found += [ForeignKey(constraint, table, target, key) for key in keys[:1]]
    return found


def references(context: Context, *targets: CatalogObject) -> list[ForeignKey]:
    """The foreign keys that refer to some tables."""
    wanted = {target.id for target in targets if any(constraint.is_key for constraint in constraints_of(target))}
    if not wanted:
        return []
    tables = (table for table in context.catalog.of_kind("TABLE") if table.properties.get(CONSTRAINTS))
    return [found for table in tables for found in foreign_keys(context, table) if found.target.id in wanted]


def released(context: Context, table: CatalogObject, going: Iterable[Constraint], *, restrict: bool) -> CatalogObject:
    """The record of a table without some constraints; the foreign keys that refer to these end as well.

    Raises:
        SqlError: 999999 when there are such foreign keys in spite of RESTRICT.
    """
    gone = set(going)
    for reference in references(context, table) if any(constraint.is_key for constraint in gone) else ():
        if reference.key not in gone:
            continue
        if restrict:
            raise errors.unnumbered("Cannot drop the constraint because of dependencies")
        if reference.table.id == table.id:
            gone.add(reference.constraint)
            continue
        referring = context.catalog[reference.table.id]
        kept = (each for each in constraints_of(referring) if each != reference.constraint)
        context.catalog.update(referring, with_constraints(referring, kept))
    return with_constraints(table, (each for each in constraints_of(table) if each not in gone))


def key_columns(table: CatalogObject, kind: str) -> frozenset[str]:
    """The columns of all keys of a kind."""
    keys = (constraint for constraint in constraints_of(table) if constraint.type == kind)
    return frozenset(column for key in keys for column in key.columns)
