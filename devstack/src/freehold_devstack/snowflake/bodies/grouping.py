"""What GROUP BY and aggregate functions ask of a query's other columns.

https://docs.snowflake.com/en/sql-reference/constructs/group-by
"""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies.reading import Place, position_of

_OF_FUNCTIONS = (exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
"""What may stand between a function and its OVER."""


def check_grouping(query: exp.Query, place: Place) -> None:
    """Refuse columns that are neither grouped nor aggregated.

    Args:
        query: With every column qualified and every alias and number in GROUP BY resolved.

    Raises:
        SqlError: 001104 for a column beside GROUP BY, 000979 for one beside an aggregate function alone or in HAVING.
    """
    for scope in traverse_scope(query):
        if isinstance(scope.expression, exp.Select):
            _check(scope, scope.expression, place)


def _check(scope: Scope, select: exp.Select, place: Place) -> None:
    group = select.args.get("group")
    if group is None and all(_is_windowed(call) for call in scope.find_all(exp.AggFunc)):
        return
    if group is not None and group.args.get("all"):
        return
    grouped = frozenset(_keys(group.expressions)) if group is not None else frozenset()
    for column in _ungrouped(scope, select.selects, grouped):
        name = ".".join(filter(None, (column.table, column.name)))
        if group is None:
            raise errors.invalid_grouping(name)
        raise errors.ungrouped(name, *place.in_statement(*position_of(column.this)))
    having = select.args.get("having")
    for column in _ungrouped(scope, () if having is None else (having.this,), grouped):
        raise errors.invalid_grouping(f"{column.table}.{column.name}")


def _keys(keys: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    for key in keys:
        if isinstance(key, exp.Cube | exp.Rollup | exp.GroupingSets | exp.Tuple):
            yield from _keys(key.expressions)
        else:
            yield key.unnest()


def _ungrouped(scope: Scope, nodes: Iterable[exp.Expr], grouped: frozenset[exp.Expr]) -> Iterator[exp.Column]:
    """The query's own columns in some expressions, but for those that are grouped or aggregated.

    What a function that the library doesn't know makes of its arguments can't be told.
    """
    for node in nodes:
        if node in grouped or isinstance(node, exp.Query | exp.Anonymous):
            continue
        if isinstance(node, exp.Column):
            yield from (node,) if node.table in scope.sources else ()
        elif not isinstance(node, exp.AggFunc) or _is_windowed(node):
            yield from _ungrouped(scope, node.iter_expressions(), grouped)


def _is_windowed(call: exp.Expr) -> bool:
    outer = call.parent
    while isinstance(outer, _OF_FUNCTIONS):
        outer = outer.parent
    return isinstance(outer, exp.Window)
