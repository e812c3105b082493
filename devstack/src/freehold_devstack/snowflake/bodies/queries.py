"""Queries: of views, of SQL functions, of tables made by them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sqlglot import exp

from freehold_devstack.snowflake.bodies.outputs import Output, Relations, outputs_of
from freehold_devstack.snowflake.bodies.reading import (
    DIALECT,
    START,
    Place,
    functions_of,
    parse,
    tables_of,
    unexpected_start,
)
from freehold_devstack.snowflake.parser import Name


@dataclass(frozen=True)
class Query:
    """One SELECT, with or without WITH, UNION and the like.

    Attributes:
        text: As written.
        tables: What it reads, as far qualified as it is written.
        functions: As of `Expression`.
    """

    text: str
    tables: tuple[Name, ...]
    functions: tuple[Name, ...]
    _tree: exp.Query = field(repr=False, compare=False)
    _place: Place = field(repr=False, compare=False)

    def outputs(self, relations: Relations, container: Name, arguments: Iterable[Output] = ()) -> tuple[Output, ...]:
        """The columns that come out.

        Args:
            relations: The columns of all `tables`.
            container: Database and schema in which names that are less than fully qualified are looked up.
            arguments: What it may use besides columns; it hides columns of the same name that are not qualified.

        Raises:
            SqlError: 000904 for a column that no table has, 002028 for one that several have, 000979 and 001104 for
                one that is neither grouped nor aggregated, 000002 for `*` of something whose columns can't be told.
        """
        tree = _with_arguments(self._tree.copy(), arguments)
        named = [select.this if isinstance(select, exp.Subquery) else select for select in tree.selects]
        outputs = outputs_of(tree, relations, container, self._place)
        if isinstance(tree.unnest(), exp.SetOperation) or any(select.is_star for select in named):
            return outputs
        is_named = [isinstance(select, exp.Column | exp.Alias) for select in named]
        return tuple(out if has else Output("", out.type) for out, has in zip(outputs, is_named, strict=True))

    @property
    def untrackable(self) -> str | None:
        """What in it no change tracking allows for; None where there is nothing.

        https://docs.snowflake.com/en/user-guide/streams-intro#streams-on-views
        """
        for found in self._tree.find_all(*_UNTRACKABLE):
            return next(what for kind, what in _UNTRACKABLE.items() if isinstance(found, kind))
        if any(union.args.get("distinct") for union in self._tree.find_all(exp.Union)):
            return "UNION without ALL"
        if not all(_is_source(query) for query in self._tree.find_all(exp.Select)):
            return "a subquery outside of FROM"
        return None


def _is_source(query: exp.Expr) -> bool:
    """Whether a query is the whole, or what another one selects from."""
    outer = query.parent
    while isinstance(outer, exp.Subquery | exp.SetOperation):
        outer = outer.parent
    return outer is None or isinstance(outer, exp.From | exp.Join | exp.CTE)


_UNTRACKABLE: Mapping[type[exp.Expr], str] = {
    exp.Group: "GROUP BY",
    exp.Distinct: "DISTINCT",
    exp.Qualify: "QUALIFY",
    exp.Limit: "LIMIT",
    exp.Fetch: "LIMIT",
    exp.Except: "EXCEPT",
    exp.Intersect: "INTERSECT",
    exp.AggFunc: "an aggregate function",
    exp.Window: "a window function",
}


def _with_arguments(tree: exp.Query, arguments: Iterable[Output]) -> exp.Query:
    """The query with a value of the right type in the place of each argument."""
    types = {argument.name: argument.type for argument in arguments}
    for column in list(tree.find_all(exp.Column)):
        if len(column.parts) == 1 and column.name in types:
            value = exp.cast(exp.null(), str(types[column.name] or "UNKNOWN"), dialect=DIALECT)
            column.replace(exp.alias_(value, column.name, quoted=True) if column.parent is tree else value)
    return tree


@lru_cache(maxsize=1_000)
def parse_query(text: str, place: Place = START, *, fold_quoted: bool = False) -> Query:
    """Read one query.

    Args:
        place: Where the text begins in the statement.
        fold_quoted: QUOTED_IDENTIFIERS_IGNORE_CASE of the session.

    Raises:
        SqlError: 001003 for what is no query, 000002 for a query of what is neither a table nor a view.
    """
    tree = parse(text, place, is_query=True, fold_quoted=fold_quoted)
    if not isinstance(tree, exp.Query):
        raise unexpected_start(text, place)
    return Query(text, tables_of(tree), functions_of(tree), tree, place)
