"""SELECT from the table functions of INFORMATION_SCHEMA, with the filters and the order that reading them takes.

`SELECT { * | <column> [[AS] <alias>] [, …] } FROM TABLE([[<database>.]INFORMATION_SCHEMA.]<function>(<arguments>))
[WHERE <column> { = '<text>' | IS [NOT] NULL } [AND …]] [ORDER BY <column> [ASC | DESC] [, …]]`
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.functions import TABLE_FUNCTIONS, TableFunction
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.results import Column, Result, text
from freehold_devstack.snowflake.tokens import Token, TokenKind

INFORMATION_SCHEMA = "INFORMATION_SCHEMA"
_SHARED = "SNOWFLAKE"
"""The database that every account has."""

# --- the statement ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """A column as the statement names it.

    Attributes:
        column: None for all columns.
        called: What the result calls it.
        token: Where it stands.
    """

    column: str | None
    called: str
    token: Token


@dataclass(frozen=True)
class Condition:
    """What a row must fulfil: a value that is equal, or is NULL or not."""

    item: Item
    value: str | None
    negated: bool = False

    def holds(self, cell: Scalar) -> bool:
        return (cell is not None and cell == self.value) if self.value is not None else (cell is None) != self.negated


@dataclass(frozen=True)
class SelectFromFunction:
    """SELECT … FROM TABLE(<function>(…)) [WHERE …] [ORDER BY …]."""

    items: Sequence[Item]
    function: Name
    arguments: Mapping[str, str]
    conditions: Sequence[Condition] = ()
    order: Sequence[tuple[Item, bool]] = ()

    @property
    def form(self) -> Form:
        return Form("SELECT", self.function[-1], self.function, ", ".join(self.arguments.values()))

    def execute(self, context: Context) -> Result:
        self._check_place(context)
        function = TABLE_FUNCTIONS[self.function[-1]]
        tests = [(_index(function, condition.item), condition) for condition in self.conditions]
        keys = [(_index(function, item), descending) for item, descending in self.order]
        picked = [column for item in self.items for column in _picked(function, item)]
        if context.current("WAREHOUSE") is None:
            raise errors.no_warehouse()
        rows = [
            row
            for row in function.rows(context, self.arguments)
            if all(condition.holds(row[index]) for index, condition in tests)
        ]
        for index, descending in reversed(keys):
            rows.sort(key=lambda row: (row[index] is None, str(row[index] or "")), reverse=descending)
        columns = tuple(column for _, column in picked)
        return Result(columns, [tuple(row[index] for index, _ in picked) for row in rows])

    def _check_place(self, context: Context) -> None:
        """The function is in the information schema of a database that is written before it, or of the current one."""
        if len(self.function) == 1:
            current = context.current("SCHEMA")
            if current is None or current.name != INFORMATION_SCHEMA:
                raise errors.unknown_table_function(self.function[-1])
        elif self.function[0] != _SHARED:
            context.resolve(context.types["SCHEMA"], self.function[:-1], "SELECT")


def _picked(function: TableFunction, item: Item) -> Iterable[tuple[int, Column]]:
    if item.column is None:
        return [(index, text(name)) for index, name in enumerate(function.columns)]
    return [(_index(function, item), text(item.called))]


def _index(function: TableFunction, item: Item) -> int:
    if item.column not in function.columns:
        raise errors.invalid_identifier(item.token.text, item.token.line, item.token.position)
    return function.columns.index(item.column)


# --- parsing ---------------------------------------------------------------------------------------------------------


def parse_select_from_function(parser: Parser) -> Statement:
    """Read what follows SELECT.

    Raises:
        SqlError: 001003; 002143 for an unknown function; 002018 for an argument that is no text in quotes; 999999 for
            arguments that the function doesn't take.
    """
    items = parser.list_of(lambda: _parse_item(parser))
    parser.expect("FROM", "TABLE", "(")
    name = parser.name(parts=3)
    if name[-1] not in TABLE_FUNCTIONS or (len(name) > 1 and name[-2] != INFORMATION_SCHEMA):
        raise errors.unknown_table_function(".".join(name))
    arguments = _parse_arguments(parser, name[-1])
    parser.expect(")")
    conditions = _parse_conditions(parser) if parser.accept("WHERE") else []
    order = _parse_order(parser) if parser.accept("ORDER", "BY") else []
    return SelectFromFunction(items, name, arguments, conditions, order)


def _parse_column(parser: Parser) -> Item:
    token = parser.token
    name = parser.identifier()
    return Item(name, name, token)


def _parse_item(parser: Parser) -> Item:
    token = parser.token
    if parser.accept("*"):
        return Item(None, "*", token)
    item = _parse_column(parser)
    if parser.accept("AS") or not (parser.at(",") or parser.at("FROM")):
        return Item(item.column, parser.identifier(), token)
    return item


def _parse_arguments(parser: Parser, name: str) -> dict[str, str]:
    function = TABLE_FUNCTIONS[name]
    parser.expect("(")
    given: list[tuple[str, str]] = []
    while not parser.accept(")"):
        if given:
            parser.expect(",")
        word = ""
        if function.named:
            word = parser.word()
            parser.expect("=>")
        given.append((word, _parse_constant(parser)))
    for signature in function.signatures:
        if {word for word, _ in given} == {*signature} and len(given) == len(signature):
            return dict(given)
        if not function.named and len(given) == len(signature):
            return dict(zip(signature, (value for _, value in given), strict=True))
    expected = " or ".join(f"({', '.join(signature)})" for signature in function.signatures)
    raise errors.unnumbered(f"Invalid arguments of table function {name}, expected {expected}.")


def _parse_constant(parser: Parser) -> str:
    if parser.token.kind is not TokenKind.STRING:
        raise errors.variable_argument(parser.token.text)
    return parser.string()


def _parse_conditions(parser: Parser) -> list[Condition]:
    conditions: list[Condition] = []
    while not conditions or parser.accept("AND"):
        column = _parse_column(parser)
        if parser.accept("IS"):
            negated = parser.accept("NOT")
            parser.expect("NULL")
            conditions.append(Condition(column, None, negated))
        else:
            parser.expect("=")
            conditions.append(Condition(column, parser.string()))
    return conditions


def _parse_order(parser: Parser) -> list[tuple[Item, bool]]:
    def take() -> tuple[Item, bool]:
        return _parse_column(parser), not parser.accept("ASC") and parser.accept("DESC")

    return parser.list_of(take)
