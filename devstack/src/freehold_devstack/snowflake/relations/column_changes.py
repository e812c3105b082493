"""ALTER TABLE: what it does to columns.

https://docs.snowflake.com/en/sql-reference/sql/alter-table
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType, check_change, parse_data_type
from freehold_devstack.snowflake.grammar import Act, Action
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.relations.clustering import clustered_columns
from freehold_devstack.snowflake.relations.column_governance import (
    ColumnChange,
    columns_of_policies,
    parse_column_governance,
    renamed_in_policies,
)
from freehold_devstack.snowflake.relations.columns import (
    Column,
    check_unique,
    columns_of,
    find_column,
    with_column,
    with_columns,
)
from freehold_devstack.snowflake.relations.constraint_changes import (
    check_addable,
    parse_constraint_addition,
    parse_constraint_change,
    parse_constraint_removal,
    parse_constraint_renaming,
    parse_how,
)
from freehold_devstack.snowflake.relations.constraints import (
    CHECK,
    PRIMARY_KEY,
    constrained,
    constraints_of,
    references,
    released,
    with_constraint,
    with_renamed_column,
)
from freehold_devstack.snowflake.relations.definitions import (
    Definition,
    check_constant_defaults,
    completed,
    parse_column,
    usable_sequence,
)

Rows = Callable[[Context, CatalogObject], int]
"""How many rows a table has."""

_SEMI_STRUCTURED = frozenset({"ARRAY", "OBJECT", "VARIANT"})


# --- columns that come -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Addition:
    definition: Definition
    if_not_exists: bool


def _parse_add(parser: Parser, rows: Rows) -> Act:
    """Take the rest of ADD: a constraint, or `[COLUMN] [IF NOT EXISTS] <column> [, …]`."""
    if (act := parse_constraint_addition(parser)) is not None:
        return act
    parser.accept("COLUMN")
    return _add_columns(parser.list_of(lambda: _parse_addition(parser)), rows)


def _parse_addition(parser: Parser) -> _Addition:
    if_not_exists = parser.accept("IF", "NOT", "EXISTS")
    definition = parse_column(parser)
    if if_not_exists and (definition.column.has_default or definition.constraints):
        raise errors.unnumbered("IF NOT EXISTS can't be combined with a default, an identity or a constraint.")
    for constraint in definition.constraints:
        check_addable(constraint)
    return _Addition(definition, if_not_exists)


def _add_columns(additions: Sequence[_Addition], rows: Rows) -> Act:
    def act(context: Context, table: CatalogObject) -> None:
        there = {column.name for column in columns_of(table)}
        coming = [
            each.definition for each in additions if not (each.if_not_exists and each.definition.column.name in there)
        ]
        check_unique(definition.column.name for definition in coming)
        for definition in coming:
            if definition.column.name in there:
                raise errors.column_exists(definition.column.name)
            _check_filled(definition, table, rows(context, table))
        context.catalog.update(table, extended(context, table, coming))

    return act


def _check_filled(definition: Definition, table: CatalogObject, rows: int) -> None:
    """Refuse a column that the rows which are there would have no value for."""
    column = definition.column
    if not rows:
        return
    if column.identity is not None:
        raise errors.unnumbered(f"Identity column '{column.name}' cannot be added to non-empty table '{table.name}'.")
    required = not column.nullable or any(constraint.type == PRIMARY_KEY for constraint in definition.constraints)
    if required and column.default in {None, "NULL"}:
        raise errors.unnumbered(
            f"Non-nullable column '{column.name}' cannot be added to non-empty table '{table.name}' unless it has a "
            "non-null default value."
        )


def extended(context: Context, table: CatalogObject, definitions: Sequence[Definition]) -> CatalogObject:
    """The record of a table with more columns at its end.

    Raises:
        SqlError: 002263 for a default that is no constant; as `completed` and `constrained`.
    """
    new = [definition.column for definition in definitions]
    check_constant_defaults(new)
    old = columns_of(table)
    added = [replace(column, added=column.default is not None) for column in completed(context, table, new, old)]
    table = with_columns(table, (*old, *added))
    return constrained(context, table, (each for definition in definitions for each in definition.constraints))


# --- columns that go -------------------------------------------------------------------------------------------------


def _parse_drop(parser: Parser) -> Act:
    """Take the rest of DROP: a constraint, or `[COLUMN] [IF EXISTS] <name> [, …]`; then [CASCADE | RESTRICT]."""
    if (act := parse_constraint_removal(parser)) is not None:
        return act
    parser.accept("COLUMN")
    if_exists = parser.accept("IF", "EXISTS")
    names = parser.list_of(parser.identifier)
    return _drop_columns(names, parse_how(parser), if_exists=if_exists)


def _drop_columns(names: Sequence[str], how: str, *, if_exists: bool) -> Act:
    def act(context: Context, table: CatalogObject) -> None:
        there = {column.name for column in columns_of(table)}
        for name in names:
            if name not in there and not if_exists:
                raise errors.unnumbered(f"column '{name}' does not exist")
        shorter = shortened(context, table, [name for name in names if name in there], how)
        context.catalog.update(table, shorter)

    return act


def shortened(context: Context, table: CatalogObject, names: Iterable[str], how: str = "") -> CatalogObject:
    """The record of a table without some columns, and without the constraints that they are in.

    Args:
        how: CASCADE, RESTRICT or neither.

    Raises:
        SqlError: 001432 for the last columns, 011208 for what a virtual column uses, 999999 for what else is needed.
    """
    going = dict.fromkeys(names)
    kept = [column for column in columns_of(table) if column.name not in going]
    if not kept:
        raise errors.last_columns()
    for name in going:
        _check_unused(table, kept, name)
    gone = [constraint for constraint in constraints_of(table) if not going.keys().isdisjoint(constraint.columns)]
    if gone and (how == "RESTRICT" or (not how and any(each.type == CHECK and len(each.columns) > 1 for each in gone))):
        raise errors.unnumbered(f"Cannot drop a column of constraint '{gone[0].name}' of table '{table.name}'.")
    return with_columns(released(context, table, gone, restrict=False), kept)


def _check_unused(table: CatalogObject, kept: Iterable[Column], name: str) -> None:
    for column in kept:
        if name in column.uses:
            text = f"Cannot drop column '{name}' because virtual column {column.name} depends on it."
            raise errors.virtual_column(11208, text)
    if name in clustered_columns(table):
        raise errors.unnumbered(f"Cannot drop column '{name}' which belongs to a clustering key")
    if name in columns_of_policies(table):
        raise errors.unnumbered(f"Cannot drop column '{name}' which is associated with one or more policies.")


# --- columns that change ---------------------------------------------------------------------------------------------


def _parse_alter(parser: Parser, rows: Rows) -> Act:
    """Take the rest of { ALTER | MODIFY }: a constraint, or `[(] [COLUMN] <name> <change> [, …] [)]`."""
    if (act := parse_constraint_change(parser)) is not None:
        return act
    grouped = parser.accept("(")
    changes: list[tuple[str, ColumnChange]] = []
    governing: set[bool] = set()
    while not changes or parser.accept(","):
        parser.accept("COLUMN")
        token, name = parser.token, parser.identifier()
        governance = parse_column_governance(parser, name)
        governing.add(governance is not None)
        if len(governing) > 1:
            # Policies and tags have a statement of their own.
            raise parser.unexpected(token)
        changes.append((name, governance or _parse_column_change(parser, rows)))
    if grouped:
        parser.expect(")")
    return alter_columns(changes, owner_only=governing == {False})


def alter_columns(changes: Sequence[tuple[str, ColumnChange]], *, owner_only: bool) -> Act:
    """What changes columns, one after the other; policies and tags ask for rights of their own."""

    def act(context: Context, relation: CatalogObject) -> None:
        if owner_only:
            context.require(OWNERSHIP, relation)
        changed = relation
        for name, change in changes:
            column = find_column(columns_of(changed), name)
            changed = with_column(changed, change(context, changed, column))
        context.catalog.update(relation, changed)

    return act


def _parse_column_change(parser: Parser, rows: Rows) -> ColumnChange:
    if parser.accept("DROP", "DEFAULT"):
        return _drop_default
    if parser.accept("SET", "DEFAULT"):
        name = parser.name(parts=4)
        if len(name) == 1 or name[-1] != "NEXTVAL":
            raise errors.unsupported("SET DEFAULT of what is no sequence")
        return _set_sequence(name[:-1])
    if parser.accept("SET", "NOT", "NULL") or parser.accept("NOT", "NULL"):
        return _set_not_null(rows)
    if parser.accept("DROP", "NOT", "NULL"):
        return _drop_not_null
    if parser.accept("COMMENT"):
        return set_comment(parser.string())
    if parser.accept("UNSET", "COMMENT"):
        return set_comment(None)
    if not parser.accept("SET", "DATA", "TYPE"):
        parser.accept("TYPE")
    return _set_type(parse_data_type(parser))


def set_comment(comment: str | None) -> ColumnChange:
    """What gives a column a comment or takes it away."""
    return lambda _context, _relation, column: replace(column, comment=comment)


def _drop_default(_context: Context, _table: CatalogObject, column: Column) -> Column:
    if column.added:
        raise errors.unnumbered(f"Cannot drop the default of column '{column.name}' that was added with it.")
    return replace(column, default=None, sequence=None, identity=None)


def _set_sequence(name: Name) -> ColumnChange:
    def change(context: Context, _table: CatalogObject, column: Column) -> Column:
        if column.sequence is None:
            raise errors.unnumbered(f"Cannot set a default sequence for column '{column.name}' that has none.")
        return replace(column, sequence=usable_sequence(context, name).id)

    return change


def _set_not_null(rows: Rows) -> ColumnChange:
    def change(context: Context, table: CatalogObject, column: Column) -> Column:
        if column.expression is not None:
            raise errors.virtual_column(11207, f"Cannot set NOT NULL constraint on virtual column {column.name}.")
        if column.type.base in _SEMI_STRUCTURED and rows(context, table):
            raise errors.unnumbered(
                f"Column '{column.name}' of type {column.type} of a non-empty table must take NULL."
            )
        return replace(column, nullable=False)

    return change


def _drop_not_null(_context: Context, table: CatalogObject, column: Column) -> Column:
    if any(each.type == PRIMARY_KEY and column.name in each.columns for each in constraints_of(table)):
        raise errors.unnumbered(f"Column '{column.name}' of the primary key must not take NULL.")
    return replace(column, nullable=True)


def _set_type(new: DataType) -> ColumnChange:
    def change(_context: Context, _table: CatalogObject, column: Column) -> Column:
        check_change(column.name, column.type, new)
        return replace(column, type=new)

    return change


def _parse_rename(parser: Parser) -> Act:
    """Take the rest of RENAME COLUMN <old> TO <new>."""
    old = parser.identifier()
    parser.expect("TO")
    new = parser.identifier()

    def act(context: Context, table: CatalogObject) -> None:
        columns = columns_of(table)
        if all(column.name != old for column in columns):
            raise errors.missing("OBJECT", old)
        if any(column.name == new for column in columns):
            raise errors.column_exists(new)
        if any(old in column.uses for column in columns) or old in clustered_columns(table):
            raise errors.unnumbered(f"Cannot rename column '{old}' which an expression of table '{table.name}' uses.")
        _rename(context, table, old, new)

    return act


def _rename(context: Context, table: CatalogObject, old: str, new: str) -> None:
    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new if name == old else name for name in names)

    for reference in references(context, table):
        followed = replace(reference.constraint, referenced=renamed(reference.constraint.referenced))
        referring = context.catalog[reference.table.id]
        context.catalog.update(referring, with_constraint(referring, reference.constraint, followed))
    table = context.catalog[table.id]
    column = replace(find_column(columns_of(table), old), name=new)
    changed = renamed_in_policies(with_column(table, column, old), renamed)
    context.catalog.update(table, with_renamed_column(changed, old, new))


def actions(rows: Rows) -> tuple[Action, ...]:
    """The forms of ALTER TABLE about columns and constraints."""
    return (
        Action("ADD", lambda parser: _parse_add(parser, rows)),
        Action("DROP", _parse_drop),
        Action("ALTER", lambda parser: _parse_alter(parser, rows), None),
        Action("MODIFY", lambda parser: _parse_alter(parser, rows), None),
        Action("RENAME COLUMN", _parse_rename),
        Action("RENAME CONSTRAINT", parse_constraint_renaming),
    )
