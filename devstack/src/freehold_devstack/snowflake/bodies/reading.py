"""How the text of a body is read, and what is found in it: tables, columns, functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.parser import Name, phrases
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize

DIALECT = "snowflake"

_MOST_TOKENS = 10_000
"""The library takes minutes for more than that, where they make one long chain."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a body begins in its statement, for what errors say: lines count from 1, positions from 0."""

    line: int = 1
    position: int = 0

    def syntax(self, token: str, line: int, position: int) -> SqlError:
        """The syntax error at a place in the body."""
        return errors.syntax(token, *self.in_statement(line, position))

    def invalid_identifier(self, name: str, line: int, position: int) -> SqlError:
        """The unknown column at a place in the body; line 0 stands for no place."""
        return errors.invalid_identifier(name, *(self.in_statement(line, position) if line else ()))

    def in_statement(self, line: int, position: int) -> tuple[int, int]:
        """A place in the body as one in the statement."""
        return self.line + line - 1, position + (self.position if line == 1 else 0)


START = Place()
"""Of a text that is no part of a statement."""


def parse(text: str, place: Place, *, is_query: bool, fold_quoted: bool) -> exp.Expr:
    """The one tree of a text, its identifiers folded as Snowflake folds them."""
    tokens = tokenize(text)
    if len(tokens) > _MOST_TOKENS:
        raise errors.unnumbered(f"A query or expression has more than {_MOST_TOKENS} tokens.")
    if is_query and tokens[0].keyword not in _STARTS:
        raise unexpected_start(text, place)
    _check_tokens(tokens, place)
    dialect = Dialect.get_or_raise(DIALECT)
    try:
        # To the library an expression might as well be a statement, or a command that it doesn't know.
        trees = dialect.parse(text) if is_query else dialect.parse_into(exp.Condition, text)
    except ParseError as error:
        found = error.errors[0]
        raise place.syntax(found["highlight"], found["line"], found["col"] - len(found["highlight"])) from None
    except SqlglotError:
        raise unexpected_start(text, place) from None
    if len(trees) != 1 or trees[0] is None or any(map(_is_incomplete, trees[0].walk())):
        raise unexpected_start(text, place)
    for identifier in trees[0].find_all(exp.Identifier):
        if not identifier.quoted and identifier.name.upper() in _NO_NAMES:
            raise place.syntax(identifier.name, *position_of(identifier))
        if not identifier.quoted or fold_quoted:
            identifier.set("this", identifier.name.upper())
        identifier.set("quoted", True)
    return trees[0]


_STARTS = ("SELECT", "WITH", "(")
"""How a query begins."""


def _is_incomplete(node: exp.Expr) -> bool:
    """Whether the library has let something pass that it should have missed."""
    match node:
        case exp.Dot():
            # Of dots that follow each other, a name with nothing in between.
            return isinstance(node.this, str)
        case exp.Select():
            return not node.expressions
        case exp.In():
            return not any(node.args.get(operand) for operand in ("expressions", "query", "unnest", "field"))
        case exp.Distinct():
            return isinstance(node.parent, exp.Func) and not node.expressions
        case exp.Fetch():
            return node.args.get("count") is None
        case exp.Rollup() | exp.Cube() | exp.GroupingSets():
            return not node.expressions
    return False


def position_of(identifier: exp.Expr) -> tuple[int, int]:
    """Line and position where an identifier stands in its text; line 0 and position -1 for what is not written."""
    line, column, start, end = map(identifier.meta_get, ("line", "col", "start", "end"))
    return (line, column - (end - start + 1)) if line else (0, -1)


_NO_NAMES = frozenset(
    phrases("""
        ALL, AND, AS, BETWEEN, BY, CASE, CROSS, DISTINCT, ELSE, FROM, FULL, GROUP, HAVING, IN, INNER, INTERSECT, IS,
        JOIN, LIKE, MINUS, NATURAL, NOT, NULL, ON, OR, ORDER, QUALIFY, SELECT, THEN, UNION, USING, VALUES, WHEN, WHERE,
        WITH
    """)
)
"""Words that the library takes for names where it meets them too early."""


_UNFINISHED = frozenset({",", *phrases("AS, BY, EXCLUDE, FETCH, FROM, IN, IS, ON, SAMPLE, TABLESAMPLE, USING")})
_ENDS = frozenset({",", ")", "]", "}", *phrases("FROM, GROUP, HAVING, ORDER, QUALIFY, UNION, WHERE")})


def _check_tokens(tokens: Sequence[Token], place: Place) -> None:
    """Refuse what the library overlooks: what has no beginning or no end, and a statement after the first."""
    for before, token in zip((None, *tokens), tokens, strict=False):
        headless = token.keyword in {",", "FROM"} and (before is None or before.keyword == "(")
        ends = token.keyword in _ENDS or token.kind is TokenKind.END
        if headless or token.keyword == ";" or (ends and before is not None and before.keyword in _UNFINISHED):
            raise place.syntax(token.text, token.line, token.position)


def unexpected_start(text: str, place: Place) -> SqlError:
    first = tokenize(text)[0]
    return place.syntax(first.text, first.line, first.position)


def tables_of(tree: exp.Query) -> tuple[Name, ...]:
    """The tables and views that a query reads, common table expressions left out."""
    sources = [source for scope in traverse_scope(tree) for source in scope.sources.values()]
    found = [source for source in sources if isinstance(source, exp.Table)]
    for table in found:
        if isinstance(table.this, exp.Var):
            raise errors.unsupported("SELECT FROM a stage")
    return distinct(name_of(table) for table in found if isinstance(table.this, exp.Identifier))


def name_of(named: exp.Column | exp.Table) -> Name:
    return tuple(part.name for part in named.parts)


def functions_of(tree: exp.Expr) -> tuple[Name, ...]:
    """The functions that are called and that are not known to be Snowflake's own."""
    return distinct(map(_function, tree.find_all(exp.Anonymous)))


def _function(call: exp.Anonymous) -> Name:
    name = call.this.name if isinstance(call.this, exp.Identifier) else str(call.this).upper()
    qualifier = call.parent.this if isinstance(call.parent, exp.Dot) and call.parent.expression is call else None
    return (*(part.name for part in qualifier.find_all(exp.Identifier)), name) if qualifier is not None else (name,)


_Item = TypeVar("_Item")


def distinct(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))
