"""What stands inside a definition: the query of a view, the expression of a policy, a function, a task or a default.

The text is kept as it was written; it is only read for what it refers to and what comes out of it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import OptimizeError, ParseError, SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.datatypes import DataType, data_type
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.parser import Name, phrases
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize

_DIALECT = "snowflake"


@dataclass(frozen=True, slots=True)
class Output:
    """A column as a relation has it or a query returns it.

    Attributes:
        name: Empty where an expression has none.
        type: None where it can't be told.
    """

    name: str
    type: DataType | None


Relations = Mapping[Name, Sequence[Output]]
"""The columns of tables and views by their fully-qualified names."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a body begins in its statement, for what errors say: lines count from 1, positions from 0."""

    line: int = 1
    position: int = 0

    def syntax(self, token: str, line: int, position: int) -> SqlError:
        """The syntax error at a place in the body."""
        return errors.syntax(token, *self._in_statement(line, position))

    def invalid_identifier(self, name: str, line: int, position: int) -> SqlError:
        """The unknown column at a place in the body; line 0 stands for no place."""
        return errors.invalid_identifier(name, *(self._in_statement(line, position) if line else ()))

    def _in_statement(self, line: int, position: int) -> tuple[int, int]:
        return self.line + line - 1, position + (self.position if line == 1 else 0)


_START = Place()


# --- queries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """One SELECT, with or without WITH, UNION and the like.

    Attributes:
        text: As written.
        tables: What it reads, as far qualified as it is written.
    """

    text: str
    tables: tuple[Name, ...]
    _tree: exp.Query = field(repr=False, compare=False)
    _place: Place = field(repr=False, compare=False)

    def outputs(self, relations: Relations, container: Name, arguments: Iterable[Output] = ()) -> tuple[Output, ...]:
        """The columns that come out.

        Args:
            relations: The columns of all `tables`.
            container: Database and schema in which names that are less than fully qualified are looked up.
            arguments: What it may use besides columns; it hides columns of the same name that are not qualified.

        Raises:
            SqlError: 000904 for a column that no table has, 002028 for one that several have, 000002 for `*` of
                something whose columns can't be told.
        """
        tree = _with_arguments(self._tree.copy(), arguments)
        named = [select.this if isinstance(select, exp.Subquery) else select for select in tree.selects]
        outputs = _outputs(tree, relations, container, self._place)
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
            value = exp.cast(exp.null(), str(types[column.name] or "UNKNOWN"), dialect=_DIALECT)
            column.replace(exp.alias_(value, column.name, quoted=True) if column.parent is tree else value)
    return tree


def parse_query(text: str, place: Place = _START, *, fold_quoted: bool = False) -> Query:
    """Read one query.

    Args:
        place: Where the text begins in the statement.
        fold_quoted: QUOTED_IDENTIFIERS_IGNORE_CASE of the session.

    Raises:
        SqlError: 001003 for what is no query, 000002 for a query of what is neither a table nor a view.
    """
    tree = _parse(text, place, fold_quoted=fold_quoted)
    if not isinstance(tree, exp.Query):
        raise _unexpected_start(text, place)
    return Query(text, _tables(tree), tree, place)


# --- expressions -----------------------------------------------------------------------------------------------------

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
        return None if found is None else found.sql(_DIALECT).partition("(")[0]

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
        query = exp.select(exp.alias_(self._tree.copy(), _GIVEN, quoted=True)).from_(
            exp.Table(this=_identifier(_GIVEN))
        )
        known = {**(relations or {}), (*container, _GIVEN): tuple(arguments)}
        return _outputs(query, known, container, self._place)[0].type


def _is_unstable(call: exp.Func) -> bool:
    return isinstance(call, exp.Rand | exp.Randn | exp.Randstr | exp.Uuid) or call.key.startswith(("current", "local"))


def parse_expression(text: str, place: Place = _START, *, fold_quoted: bool = False) -> Expression:
    """Read one expression.

    Args:
        place, fold_quoted: As of `parse_query`.

    Raises:
        SqlError: 001003 for what is no expression.
    """
    tree = _parse(text, place, fold_quoted=fold_quoted)
    if not isinstance(tree, exp.Condition | exp.Subquery | exp.Interval):
        raise _unexpected_start(text, place)
    outside = [column for column in tree.find_all(exp.Column, bfs=False) if column.find_ancestor(exp.Query) is None]
    functions = [_function(call) for call in tree.find_all(exp.Anonymous)]
    tables = [table for query in tree.find_all(exp.Query) if query.parent_select is None for table in _tables(query)]
    return Expression(text, _distinct(map(_name, outside)), _distinct(tables), _distinct(functions), tree, place)


# --- reading ---------------------------------------------------------------------------------------------------------


def _parse(text: str, place: Place, *, fold_quoted: bool) -> exp.Expr:
    """The one tree of a text, its identifiers folded as Snowflake folds them."""
    _check_tokens(tokenize(text), place)
    try:
        trees = sqlglot.parse(text, dialect=_DIALECT)
    except ParseError as error:
        found = error.errors[0]
        raise place.syntax(found["highlight"], found["line"], found["col"] - len(found["highlight"])) from None
    except SqlglotError:
        raise _unexpected_start(text, place) from None
    if len(trees) != 1 or trees[0] is None:
        raise _unexpected_start(text, place)
    if any(isinstance(dot.this, str) for dot in trees[0].find_all(exp.Dot)):
        # The library takes dots that follow each other for a name with nothing in between.
        raise _unexpected_start(text, place)
    if any(not select.expressions for select in trees[0].find_all(exp.Select)):
        raise _unexpected_start(text, place)
    for identifier in trees[0].find_all(exp.Identifier):
        if not identifier.quoted and identifier.name.upper() in _NO_NAMES:
            raise place.syntax(identifier.name, identifier.meta_get("line") or 1, identifier.meta_get("start") or 0)
        if not identifier.quoted or fold_quoted:
            identifier.set("this", identifier.name.upper())
        identifier.set("quoted", True)
    return trees[0]


_NO_NAMES = frozenset(
    phrases("""
        ALL, AND, AS, BETWEEN, BY, CASE, CROSS, DISTINCT, ELSE, FROM, FULL, GROUP, HAVING, IN, INNER, INTERSECT, IS,
        JOIN, LIKE, MINUS, NATURAL, NOT, NULL, ON, OR, ORDER, QUALIFY, SELECT, THEN, UNION, USING, VALUES, WHEN, WHERE,
        WITH
    """)
)
"""Words that the library takes for names where it meets them too early."""


def _check_tokens(tokens: Sequence[Token], place: Place) -> None:
    """Refuse what the library overlooks: a comma or FROM without anything before it, a statement after the first."""
    for before, token in zip((None, *tokens), tokens, strict=False):
        lonely = token.value in {",", "FROM"} and (before is None or before.value in {",", "(", "FROM"})
        if token.kind in {TokenKind.OPERATOR, TokenKind.WORD} and (lonely or token.value == ";"):
            raise place.syntax(token.text, token.line, token.position)


def _unexpected_start(text: str, place: Place) -> SqlError:
    first = tokenize(text)[0]
    return place.syntax(first.text, first.line, first.position)


def _tables(tree: exp.Query) -> tuple[Name, ...]:
    """The tables and views that a query reads, common table expressions left out."""
    sources = [source for scope in traverse_scope(tree) for source in scope.sources.values()]
    found = [source for source in sources if isinstance(source, exp.Table)]
    for table in found:
        if isinstance(table.this, exp.Var):
            raise errors.unsupported("SELECT FROM a stage")
    return _distinct(_name(table) for table in found if isinstance(table.this, exp.Identifier))


def _name(named: exp.Column | exp.Table) -> Name:
    return tuple(part.name for part in named.parts)


def _function(call: exp.Anonymous) -> Name:
    name = call.this.name if isinstance(call.this, exp.Identifier) else str(call.this).upper()
    qualifier = call.parent.this if isinstance(call.parent, exp.Dot) and call.parent.expression is call else None
    return (*(part.name for part in qualifier.find_all(exp.Identifier)), name) if qualifier is not None else (name,)


_Item = TypeVar("_Item")


def _distinct(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


# --- what comes out --------------------------------------------------------------------------------------------------

_UNRESOLVED = re.compile(r"Ambiguous column '(?P<ambiguous>.*?)'|(?:Unknown column: |Column ')(?P<unknown>[^']*)")
_AT = re.compile(r"Line: (\d+), Col: (\d+)")


def _outputs(tree: exp.Query, relations: Relations, container: Name, place: Place) -> tuple[Output, ...]:
    schema = MappingSchema(_nested(relations), dialect=_DIALECT, normalize=False)
    try:
        qualified = qualify(_qualified(tree.copy(), container), _DIALECT, schema=schema, quote_identifiers=False)
        typed = annotate_types(qualified, schema=schema, dialect=_DIALECT)
    except OptimizeError as error:
        raise _unresolved(str(error), relations, place) from None
    except SqlglotError as error:
        raise errors.unsupported(str(error)) from None
    if any(select.is_star for select in typed.selects):
        raise errors.unsupported("SELECT * from what is neither a table nor a view")
    return tuple(Output(select.alias_or_name, _type(select)) for select in typed.selects)


def _qualified(tree: exp.Query, container: Name) -> exp.Query:
    """Give every table its full name and an alias: the library would fold the case of those that it makes up."""
    for scope in traverse_scope(tree):
        for table in (source for source in scope.sources.values() if isinstance(source, exp.Table)):
            if not isinstance(table.this, exp.Identifier):
                continue
            for level, name in zip(("catalog", "db"), container, strict=True):
                table.set(level, table.args.get(level) or _identifier(name))
            if not table.alias:
                table.set("alias", exp.TableAlias(this=_identifier(table.name)))
    return tree


def _nested(relations: Relations) -> dict[str, object]:
    """The relations as the library takes them: types by column by table by schema by database."""
    nested: dict[str, object] = {}
    for path, columns in relations.items():
        level: Any = nested
        for part in path:
            level = level.setdefault(part, {})
        level.update({column.name: str(column.type or "UNKNOWN") for column in columns})
    return nested


def _unresolved(message: str, relations: Relations, place: Place) -> SqlError:
    match, at = _UNRESOLVED.match(message), _AT.search(message)
    if match is None:
        return errors.unsupported(message)
    name = match["ambiguous"] or match["unknown"]
    holders = [columns for columns in relations.values() if any(column.name == name for column in columns)]
    if match["ambiguous"] or (len(holders) > 1 and "for table" not in message):
        return errors.ambiguous_column(name)
    line, end = (int(at[1]), int(at[2])) if at else (0, 0)
    return place.invalid_identifier(name, line, end - len(name))


def _type(select: exp.Expr) -> DataType | None:
    found = select.unalias()
    if isinstance(found, exp.Literal):
        return _literal_type(found)
    written = found.type.sql(_DIALECT) if found.type else "UNKNOWN"
    try:
        return data_type(written)
    except SqlError:
        return None


def _literal_type(literal: exp.Literal) -> DataType:
    """Of a constant, Snowflake tells the exact length."""
    if literal.is_string:
        return DataType("VARCHAR", (max(len(literal.name), 1),))
    whole, _, fraction = literal.name.partition(".")
    if not (whole + fraction).isdigit():
        return DataType("FLOAT")
    return DataType("NUMBER", (max(len(whole.lstrip("0")) + len(fraction), 1), len(fraction)))
