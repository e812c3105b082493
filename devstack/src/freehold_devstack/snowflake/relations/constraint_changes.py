"""ALTER TABLE: what it does to constraints.

https://docs.snowflake.com/en/sql-reference/sql/alter-table
"""

from collections.abc import Callable
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.relations.columns import parse_column_names
from freehold_devstack.snowflake.relations.constraint_definitions import parse_constraint
from freehold_devstack.snowflake.relations.constraints import (
    CHECK,
    FOREIGN_KEY,
    PRIMARY_KEY,
    UNIQUE,
    Constraint,
    constrained,
    constraints_of,
    find_constraint,
    find_key,
    released,
    with_constraint,
)

_Find = Callable[[CatalogObject], Constraint]

_RELY = {"RELY": True, "NORELY": False}


def parse_how(parser: Parser) -> str:
    """Take what ends DROP: CASCADE, RESTRICT or neither."""
    return next((word for word in ("CASCADE", "RESTRICT") if parser.accept(word)), "")


def parse_constraint_addition(parser: Parser) -> Act | None:
    """Take the rest of ADD, if a constraint comes next."""
    constraint = parse_constraint(parser)
    if constraint is None:
        return None
    check_addable(constraint)

    def act(context: Context, table: CatalogObject) -> None:
        context.catalog.update(table, constrained(context, table, (constraint,)))

    return act


def check_addable(constraint: Constraint) -> None:
    """Refuse what no table that is there takes: a CHECK that its rows would have to fulfil, as they must by default.

    Raises:
        SqlError: 999999.
    """
    if constraint.type == CHECK and not constraint.novalidate:
        raise errors.unnumbered("ENABLE VALIDATE is not supported for a CHECK constraint on an existing table.")


def parse_constraint_removal(parser: Parser) -> Act | None:
    """Take the rest of DROP, if a constraint comes next."""
    find = _parse_reference(parser)
    if find is None:
        return None
    how = parse_how(parser)

    def act(context: Context, table: CatalogObject) -> None:
        context.catalog.update(table, released(context, table, (find(table),), restrict=how == "RESTRICT"))

    return act


def parse_constraint_change(parser: Parser) -> Act | None:
    """Take the rest of ALTER, if a constraint comes next: [NOT ENFORCED] [NOVALIDATE] [RELY | NORELY].

    Of these only RELY is more than what is so anyway.
    """
    find = _parse_reference(parser)
    if find is None:
        return None
    for word in ("ENABLE", "ENFORCED", "VALIDATE"):
        if parser.at(word):
            raise errors.unsupported(f"ALTER CONSTRAINT {word}")
    said = parser.accept("NOT", "ENFORCED")
    said = parser.accept("NOVALIDATE") or said
    rely = next((value for word, value in _RELY.items() if parser.accept(word)), None)
    if rely is None and not said:
        raise parser.unexpected()

    def act(context: Context, table: CatalogObject) -> None:
        context.require(OWNERSHIP, table)
        constraint = find(table)
        if constraint.type == CHECK:
            raise errors.unnumbered(
                f"CHECK constraint '{constraint.name}' can only be enabled with or without VALIDATE."
            )
        if rely is not None:
            context.catalog.update(table, with_constraint(table, constraint, replace(constraint, rely=rely)))

    return act


def parse_constraint_renaming(parser: Parser) -> Act:
    """Take the rest of RENAME CONSTRAINT <old> TO <new>."""
    old = parser.identifier()
    parser.expect("TO")
    new = parser.identifier()

    def act(context: Context, table: CatalogObject) -> None:
        constraint = find_constraint(table, old)
        if any(each.name == new for each in constraints_of(table)):
            raise errors.unnumbered(f"constraint '{new}' already exists on table '{table.name}'")
        context.catalog.update(table, with_constraint(table, constraint, replace(constraint, name=new)))

    return act


def _parse_reference(parser: Parser) -> _Find | None:
    """Take { CONSTRAINT <name> | PRIMARY KEY [(…)] | UNIQUE (…) | FOREIGN KEY (…) }, if it comes next."""
    if parser.accept("CONSTRAINT"):
        name = parser.identifier()
        return lambda table: find_constraint(table, name)
    for kind in (PRIMARY_KEY, UNIQUE, FOREIGN_KEY):
        if parser.accept_phrase(kind):
            columns = () if kind == PRIMARY_KEY and not parser.at("(") else parse_column_names(parser)
            return _find_key(kind, columns)
    return None


def _find_key(kind: str, columns: tuple[str, ...]) -> _Find:
    return lambda table: find_key(table, kind, columns)
