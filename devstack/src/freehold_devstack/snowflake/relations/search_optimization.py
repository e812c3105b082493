"""The search optimization service on tables.

https://docs.snowflake.com/en/user-guide/search-optimization-service
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import MILLISECONDS_PER_MINUTE, Context
from freehold_devstack.snowflake.grammar import Act, Action
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.relations.columns import Column, columns_of, find_column
from freehold_devstack.snowflake.results import Result, number, text

SEARCH_OPTIMIZATION = "SEARCH OPTIMIZATION"
"""The property with what is optimized, and since when."""

_METHODS = ("EQUALITY", "FULL_TEXT", "GEO", "SUBSTRING")
_EVERYTHING = "*"
_WHOLE_TABLE = f"EQUALITY({_EVERYTHING})"
_MINUTES_TO_BUILD = 10

Targets = tuple[str, ...]


def targets(table: CatalogObject) -> Targets:
    """What is optimized, as METHOD(column); EQUALITY(*) alone stands for the whole table."""
    values: Any = table.properties.get(SEARCH_OPTIMIZATION)
    return tuple(values["on"]) if values else ()


def progress(context: Context, table: CatalogObject) -> int:
    """How far the service has come, in percent."""
    values: Any = table.properties.get(SEARCH_OPTIMIZATION)
    if not values:
        return 0
    minutes = (context.now - int(values["since"])) // MILLISECONDS_PER_MINUTE
    return min(100, 100 * minutes // _MINUTES_TO_BUILD)


def _parse_targets(parser: Parser) -> Targets:
    """Take [ON <method>(<column> [, …]) [, …]]."""
    if not parser.accept("ON"):
        return ()
    methods = parser.list_of(lambda: _parse_method(parser))
    return tuple(dict.fromkeys(target for method in methods for target in method))


def _parse_method(parser: Parser) -> Targets:
    method = parser.choose(*_METHODS)
    columns = [_EVERYTHING] if parser.accept("(", _EVERYTHING, ")") else parser.bracketed_list_of(parser.identifier)
    return tuple(f"{method}({column})" for column in columns)


def _check_columns(table: CatalogObject, wanted: Targets) -> None:
    for target in wanted:
        column = target.partition("(")[2][:-1]
        if column != _EVERYTHING:
            find_column(columns_of(table), column)


def _with_targets(context: Context, table: CatalogObject, on: Targets) -> CatalogObject:
    before: Any = table.properties.get(SEARCH_OPTIMIZATION)
    since = before["since"] if before else context.now
    values = {"on": on, "since": since} if on else None
    return replace(table, properties={**table.properties, SEARCH_OPTIMIZATION: values})


def _require(context: Context, table: CatalogObject) -> None:
    if not context.enabled(SEARCH_OPTIMIZATION):
        raise errors.unsupported(SEARCH_OPTIMIZATION)
    context.require(OWNERSHIP, table)
    if table.parent is not None:
        context.require(f"ADD {SEARCH_OPTIMIZATION}", context.catalog[table.parent])


def _parse_add(parser: Parser) -> Act:
    wanted = _parse_targets(parser)

    def act(context: Context, table: CatalogObject) -> None:
        _require(context, table)
        _check_columns(table, wanted)
        on = tuple(dict.fromkeys((*targets(table), *(wanted or (_WHOLE_TABLE,)))))
        context.catalog.update(table, _with_targets(context, table, on))

    return act


def _parse_drop(parser: Parser) -> Act:
    wanted = _parse_targets(parser)

    def act(context: Context, table: CatalogObject) -> None:
        _require(context, table)
        there = targets(table)
        for target in wanted or there[:1] or (SEARCH_OPTIMIZATION,):
            if target not in there:
                raise errors.unnumbered(f"Search optimization {target} is not on table '{table.name}'.")
        on = tuple(target for target in there if wanted and target not in wanted)
        context.catalog.update(table, _with_targets(context, table, on))

    return act


ACTIONS = (
    Action(f"ADD {SEARCH_OPTIMIZATION}", _parse_add, None),
    Action(f"DROP {SEARCH_OPTIMIZATION}", _parse_drop, None),
)
"""The forms of ALTER TABLE about search optimization."""


# --- DESCRIBE --------------------------------------------------------------------------------------------------------

_DESCRIPTION = (number("expression_id"), text("method"), text("target"), text("target_data_type"), text("active"))


@dataclass(frozen=True)
class Describe:
    """DESCRIBE SEARCH OPTIMIZATION ON <table>."""

    table: Name

    @property
    def form(self) -> Form:
        return Form("DESCRIBE", SEARCH_OPTIMIZATION, self.table)

    def execute(self, context: Context) -> Result:
        table = context.resolve(context.types["TABLE"], self.table, "DESCRIBE")
        active = "true" if progress(context, table) == 100 else "false"
        rows = [
            (at, method, column.name, str(column.type), active)
            for at, (method, column) in enumerate(_described(table), 1)
        ]
        return Result(_DESCRIPTION, rows)


def _described(table: CatalogObject) -> Iterator[tuple[str, Column]]:
    """What is optimized, column by column, also where that is the whole table."""
    columns = columns_of(table)
    for target in targets(table):
        method, _, name = target[:-1].partition("(")
        yield from ((method, column) for column in columns if target == _WHOLE_TABLE or column.name == name)


def _parse_describe(parser: Parser) -> Statement:
    parser.expect("ON")
    return Describe(parser.name(parts=3))


DESCRIBES: tuple[tuple[str, Callable[[Parser], Statement]], ...] = ((SEARCH_OPTIMIZATION, _parse_describe),)
"""The words after DESCRIBE, and what reads the rest."""
