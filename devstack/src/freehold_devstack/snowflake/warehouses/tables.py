"""The tables attached to interactive warehouses, of which there can be none here."""

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Value, listed, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import parse_names
from freehold_devstack.snowflake.grammar import Act, Given
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.warehouses.kinds import INTERACTIVE, TABLES, require_type

_MAX_TABLES = 100


def refuse_tables(context: Context, tables: Value, verb: str) -> None:
    """No table here is an interactive one, so that none can be attached to a warehouse."""
    names = list(map(texts, listed(tables)))
    if len(names) > _MAX_TABLES:
        raise errors.unnumbered(f"At most {_MAX_TABLES} tables can be attached to a warehouse.")
    for name in names:
        table = context.resolve_reference("TABLE", name, verb)
        raise errors.unnumbered(f"Table '{context.print_path(table)}' is not an interactive table.")


def parse_tables(parser: Parser) -> Given:
    """Take `(<table> [, …])`."""
    parser.expect("(")
    tables = tuple(parse_names(parser))
    parser.expect(")")
    return {TABLES: tables}


def attach_tables(parser: Parser) -> Act:
    """ADD TABLES and DROP TABLES."""
    tables = parse_tables(parser)[TABLES]

    def act(context: Context, warehouse: CatalogObject) -> None:
        require_type(warehouse, INTERACTIVE, "{ ADD | DROP } TABLES")
        refuse_tables(context, tables, "ALTER")

    return act
