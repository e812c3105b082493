"""The clustering key of tables.

https://docs.snowflake.com/en/user-guide/tables-clustering-keys
"""

from dataclasses import replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies import Expression, Place, parse_expression
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Given, Part
from freehold_devstack.snowflake.parser import Parser, print_name
from freehold_devstack.snowflake.relations.columns import columns_of, find_column, outputs

CLUSTER_BY = "CLUSTER BY"
"""The property that holds the key as SHOW prints it."""

_KEYS, _COLUMNS = "CLUSTER KEYS", "CLUSTER COLUMNS"
_SUSPENDED = "RECLUSTER SUSPENDED"
PROPERTIES = (CLUSTER_BY, _KEYS, _COLUMNS)
"""All properties of the key."""

_NONE: Given = dict.fromkeys(PROPERTIES)
_UNCLUSTERABLE = frozenset({"ARRAY", "GEOGRAPHY", "GEOMETRY", "OBJECT", "VARIANT", "VECTOR"})


def _parse(parser: Parser) -> Given:
    """Take `(expression [, …])`."""
    keys = parser.bracketed_list_of(lambda: _parse_key(parser))
    columns = dict.fromkeys(name[-1] for key in keys for name in key.identifiers)
    texts = tuple(key.text for key in keys)
    return {CLUSTER_BY: f"LINEAR({', '.join(texts)})", _KEYS: texts, _COLUMNS: tuple(columns)}


def _parse_key(parser: Parser) -> Expression:
    place, text = Place(parser.token.line, parser.token.position), parser.expression()
    key = parse_expression(text, place, fold_quoted=parser.fold_quoted)
    if key.functions:
        raise errors.unknown_function(print_name(key.functions[0]))
    if not key.is_scalar or key.unstable or not key.identifiers:
        raise errors.unnumbered(f"Invalid expression [{text}] in CLUSTER BY.")
    return key


CLAUSE = Part(CLUSTER_BY, _parse, _NONE)
"""The clause of CREATE TABLE."""


def clustered_columns(table: CatalogObject) -> tuple[str, ...]:
    """The columns that the key uses."""
    columns: Any = table.properties.get(_COLUMNS)
    return tuple(columns or ())


def check_key(table: CatalogObject) -> None:
    """Refuse a key that uses unknown or virtual columns or types that have no order.

    Raises:
        SqlError: 000904, 999999.
    """
    columns = columns_of(table)
    for name in clustered_columns(table):
        if find_column(columns, name).expression is not None:
            raise errors.unnumbered(f"Virtual column {name} can't be in a clustering key.")
    keys: Any = table.properties.get(_KEYS)
    for key in keys or ():
        data_type = parse_expression(key).type(outputs(columns))
        if data_type is not None and data_type.base in _UNCLUSTERABLE:
            raise errors.unnumbered(f"Expression [{key}] of type {data_type} can't be in a clustering key.")


def automatic_clustering(_context: Context, table: CatalogObject) -> str:
    """As SHOW TABLES prints it."""
    return "ON" if table.properties.get(CLUSTER_BY) and not table.properties.get(_SUSPENDED) else "OFF"


def suspended(table: CatalogObject) -> CatalogObject:
    """The record of a clone: its key is kept without being tended."""
    if not table.properties.get(CLUSTER_BY):
        return table
    return replace(table, properties={**table.properties, _SUSPENDED: True})


# --- ALTER TABLE -----------------------------------------------------------------------------------------------------


def _require_key(table: CatalogObject) -> None:
    if not table.properties.get(CLUSTER_BY):
        raise errors.unnumbered(f"Table '{table.name}' is not clustered")


def _parse_change(parser: Parser) -> Act:
    given = _parse(parser)

    def act(context: Context, table: CatalogObject) -> None:
        new = replace(table, properties={**table.properties, **given})
        check_key(new)
        context.catalog.update(table, new)

    return act


def _parse_drop(_parser: Parser) -> Act:
    def act(context: Context, table: CatalogObject) -> None:
        _require_key(table)
        context.catalog.update(table, replace(table, properties={**table.properties, **_NONE}))

    return act


def _tending(*, suspend: bool) -> Action:
    def parse(_parser: Parser) -> Act:
        def act(context: Context, table: CatalogObject) -> None:
            _require_key(table)
            context.catalog.update(table, replace(table, properties={**table.properties, _SUSPENDED: suspend}))

        return act

    return Action(f"{'SUSPEND' if suspend else 'RESUME'} RECLUSTER", parse)


ACTIONS = (
    Action(CLUSTER_BY, _parse_change),
    Action("DROP CLUSTERING KEY", _parse_drop),
    _tending(suspend=True),
    _tending(suspend=False),
)
"""The forms of ALTER TABLE about clustering."""
