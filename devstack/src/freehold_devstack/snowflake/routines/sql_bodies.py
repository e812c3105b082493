"""The bodies of SQL functions: what they may be, what they refer to and what comes out of them."""

from collections.abc import Iterable, Sequence

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies import Output, parse_expression, parse_query
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType
from freehold_devstack.snowflake.parser import Name, qualified
from freehold_devstack.snowflake.relations.columns import read_columns
from freehold_devstack.snowflake.routines.calls import check_called
from freehold_devstack.snowflake.routines.signature import Argument, Returns, spelled
from freehold_devstack.snowflake.tokens import tokenize

_BLOCK = ("BEGIN", "DECLARE")
"""How a block of Snowflake Scripting begins."""

_LONGEST = {"VARCHAR": "VARCHAR(134217728)", "BINARY": "BINARY(67108864)"}
"""What errors call the types that a function is declared with without a length."""


def check_function_body(
    context: Context, function: CatalogObject, body: str, arguments: Sequence[Argument], returns: Returns
) -> None:
    """Refuse a body that can't be worked out or doesn't come to what the function returns.

    Raises:
        SqlError: 001003 for what is neither an expression nor a query, 000002 for a block of Snowflake Scripting,
            000904, 002003, 002140, 002141 and 003001 for what it refers to, 090207 for what comes out; 999999 for a
            number of columns.
    """
    given = [Output(argument.name, argument.type) for argument in arguments]
    first = tokenize(body)[0]
    if first.value in _BLOCK:
        raise errors.unsupported("Snowflake Scripting in a SQL function")
    if returns.is_table or first.value in {"SELECT", "WITH"}:
        found = _query_outputs(context, function, body, given)
    else:
        found = (Output("", _expression_type(context, function, body, given)),)
    _check_columns(found, returns)


def _expression_type(context: Context, function: CatalogObject, body: str, given: Iterable[Output]) -> DataType | None:
    expression, home = parse_expression(body), _home(context, function)
    for called in expression.functions:
        check_called(context, qualified(called, home))
    relations = read_columns(context, (qualified(table, home) for table in expression.tables))
    return expression.type(given, relations, home)


def _query_outputs(context: Context, function: CatalogObject, body: str, given: Iterable[Output]) -> tuple[Output, ...]:
    query, home = parse_query(body), _home(context, function)
    return query.outputs(read_columns(context, (qualified(table, home) for table in query.tables)), home, given)


def _home(context: Context, function: CatalogObject) -> Name:
    """Where a body looks up names that are less than fully qualified: the function's own schema."""
    return context.catalog.path(function)[:-1]


# --- what comes out --------------------------------------------------------------------------------------------------


def _check_columns(found: Sequence[Output], returns: Returns) -> None:
    if returns.type is not None:
        if len(found) > 1:
            row = ", ".join(str(output.type or "VARIANT") for output in found)
            raise errors.return_type(_declared(returns.type), f"ROW({row})")
        _check_type(returns.type, found[0].type)
        return
    if len(found) != len(returns.columns):
        raise errors.return_columns(len(returns.columns), len(found))
    for (name, declared), output in zip(returns.columns, found, strict=True):
        _check_type(declared, output.type, name)


def _check_type(declared: DataType, found: DataType | None, column: str | None = None) -> None:
    """Nothing is converted but one number into another; what can't be told is let through."""
    if found is None or _family(declared) == _family(found) or (declared.base, found.base) == ("NUMBER", "FLOAT"):
        return
    raise errors.return_type(_declared(declared), str(found), column)


def _family(type_: DataType) -> str:
    # Which kind of timestamp an expression comes to is more than can be told.
    return "TIMESTAMP" if type_.base.startswith("TIMESTAMP") else type_.base


def _declared(type_: DataType) -> str:
    text = spelled(type_)
    return _LONGEST.get(text, text)
