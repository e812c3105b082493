"""Expressions: of policies, defaults, SQL functions, conditions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from sqlglot import exp

from freehold_devstack.snowflake.bodies.outputs import Output, Relations, outputs_of, quoted
from freehold_devstack.snowflake.bodies.reading import (
    DIALECT,
    START,
    Place,
    distinct,
    functions_of,
    name_of,
    parse,
    tables_of,
    unexpected_start,
)
from freehold_devstack.snowflake.datatypes import DataType
from freehold_devstack.snowflake.parser import Name

_GIVEN = "given"
"""The relation that an expression selects from: its columns are the arguments."""


@dataclass(frozen=True)
class Expression:
    """One expression.

    Attributes:
        text: As written.
        identifiers: The columns or arguments that it uses outside of subqueries, as far qualified as they are written.
        tables: What its subqueries read.
        functions: The functions that it calls and that are not known to be Snowflake's own, as far qualified as they
            are written.
    """

    text: str
    identifiers: tuple[Name, ...]
    tables: tuple[Name, ...]
    functions: tuple[Name, ...]
    _tree: exp.Expr = field(repr=False, compare=False)
    _place: Place = field(repr=False, compare=False)

    @property
    def is_literal(self) -> bool:
        """Whether it is a constant as written: a string, a number with or without a sign, TRUE, FALSE or NULL."""
        tree = self._tree.this if isinstance(self._tree, exp.Neg) else self._tree
        return isinstance(tree, exp.Literal | exp.Boolean | exp.Null)

    @property
    def is_plain(self) -> bool:
        """Whether it is a column or a cast, whose type is exactly known."""
        return isinstance(self._tree, exp.Column | exp.Cast)

    @property
    def unstable(self) -> str | None:
        """A function in it whose answer depends on more than its arguments; None where there is none."""
        found = next((call for call in self._tree.find_all(exp.Func) if _is_unstable(call)), None)
        return None if found is None else found.sql(DIALECT).partition("(")[0]

    @property
    def is_scalar(self) -> bool:
        """Whether it takes one row at a time: no aggregate, no window function, no subquery."""
        return self._tree.find(exp.AggFunc, exp.Window, exp.Query) is None

    def type(
        self, arguments: Iterable[Output], relations: Relations | None = None, container: Name = (_GIVEN, _GIVEN)
    ) -> DataType | None:
        """What comes out; None where it can't be told.

        Args:
            arguments: The columns or arguments that it may use.
            relations, container: As of `Query.outputs`.

        Raises:
            SqlError: 000904 for what is neither an argument nor a column.
        """
        query = exp.select(exp.alias_(self._tree.copy(), _GIVEN, quoted=True)).from_(exp.Table(this=quoted(_GIVEN)))
        known = {**(relations or {}), (*container, _GIVEN): tuple(arguments)}
        return outputs_of(query, known, container, self._place)[0].type


def _is_unstable(call: exp.Func) -> bool:
    return isinstance(call, exp.Rand | exp.Randn | exp.Randstr | exp.Uuid) or call.key.startswith(("current", "local"))


@lru_cache(maxsize=1_000)
def parse_expression(text: str, place: Place = START, *, fold_quoted: bool = False) -> Expression:
    """Read one expression.

    Args:
        place, fold_quoted: As of `parse_query`.

    Raises:
        SqlError: 001003 for what is no expression.
    """
    tree = parse(text, place, is_query=False, fold_quoted=fold_quoted)
    if not isinstance(tree, exp.Condition | exp.Subquery | exp.Interval):
        raise unexpected_start(text, place)
    outside = [column for column in tree.find_all(exp.Column, bfs=False) if column.find_ancestor(exp.Query) is None]
    tables = [table for query in tree.find_all(exp.Query) if query.parent_select is None for table in tables_of(query)]
    return Expression(text, distinct(map(name_of, outside)), distinct(tables), functions_of(tree), tree, place)
