"""SELECT as far as control needs it: literals, casts and functions without FROM, and table functions."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import bundles, errors
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.conversions import column, convert, parse_json, print_json
from freehold_devstack.snowflake.datatypes import DataType, data_type, parse_data_type
from freehold_devstack.snowflake.functions import FUNCTIONS, Function, register
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.results import Cell, Result
from freehold_devstack.snowflake.table_functions import parse_select_from_function
from freehold_devstack.snowflake.tokens import Token, TokenKind

_TYPED_LITERALS = ("DATE", "TIME", "TIMESTAMP")

register(
    Function("PARSE_JSON", data_type("VARIANT"), lambda _, given: parse_json(given[0]), least=1, most=1),
    *bundles.FUNCTIONS,
)


@dataclass(frozen=True)
class Expression:
    """One item of a SELECT list.

    Attributes:
        name: What its column is called.
    """

    name: str
    type: DataType
    value: Callable[[Context], Cell]

    def cast(self, target: DataType) -> "Expression":
        def converted(context: Context) -> Cell:
            zone = str(context.session_parameter("TIMEZONE").value)
            return convert(self.value(context), self.type, target, zone)

        return replace(self, type=target, value=converted)


@dataclass(frozen=True)
class Select:
    """SELECT of expressions, without FROM."""

    items: Sequence[Expression]

    @property
    def form(self) -> Form:
        return Form("SELECT", "", (), ", ".join(item.name for item in self.items))

    def execute(self, context: Context) -> Result:
        columns = tuple(column(item.name, item.type) for item in self.items)
        return Result(columns, [tuple(item.value(context) for item in self.items)])


def parse_select(parser: Parser) -> Statement:
    if parser.ahead("FROM", "TABLE", "("):
        return parse_select_from_function(parser)
    items: list[Expression] = []
    while not items or parser.accept(","):
        item = _parse_expression(parser)
        if parser.accept("AS") or not (parser.at_end() or parser.at(",") or parser.at("FROM")):
            item = replace(item, name=parser.identifier())
        items.append(item)
    if parser.at("FROM"):
        raise errors.unsupported("SELECT FROM")
    return Select(items)


def _parse_expression(parser: Parser) -> Expression:
    first = parser.token
    expression = _parse_primary(parser)
    while parser.accept("::"):
        expression = replace(expression.cast(parse_data_type(parser)), name=parser.slice(first))
    return expression


def _parse_primary(parser: Parser) -> Expression:
    first = parser.token
    if first.kind is TokenKind.NUMBER or parser.at("-"):
        return _parse_number(parser, first)
    if first.kind is TokenKind.STRING:
        return _constant(first.text, data_type("VARCHAR"), parser.string())
    for word, constant in (("NULL", None), ("TRUE", True), ("FALSE", False)):
        if parser.accept(word):
            return _constant(word, data_type("VARCHAR" if constant is None else "BOOLEAN"), constant)
    if parser.at("[") or parser.at("{"):
        kind = "ARRAY" if parser.at("[") else "OBJECT"
        structure = print_json(_parse_structure(parser))
        return _constant(parser.slice(first), data_type(kind), structure)
    if parser.accept("CAST", "("):
        operand = _parse_expression(parser)
        parser.expect("AS")
        target = parse_data_type(parser)
        parser.expect(")")
        return replace(operand.cast(target), name=parser.slice(first))
    return _parse_call(parser, first)


def _parse_number(parser: Parser, first: Token) -> Expression:
    literal = parser.literal()
    written = _constant(parser.slice(first), data_type("VARCHAR"), literal.text)
    digits, _, places = literal.text.lstrip("-").partition(".")
    if "E" in literal.text.upper():
        return written.cast(data_type("FLOAT"))
    precision = max(1, len(digits.lstrip("0")) + len(places))
    return written.cast(data_type(f"NUMBER({precision}, {len(places)})"))


def _parse_structure(parser: Parser) -> object:
    """Take an array or object of constants."""
    if parser.accept("["):
        items: list[object] = []
        while not parser.accept("]"):
            if items:
                parser.expect(",")
            items.append(_parse_structure(parser))
        return items
    if parser.accept("{"):
        members: dict[str, object] = {}
        while not parser.accept("}"):
            if members:
                parser.expect(",")
            key = parser.string()
            parser.expect(":")
            members[key] = _parse_structure(parser)
        return members
    literal = parser.literal()
    if literal.kind is TokenKind.STRING:
        return literal.value
    if literal.kind is TokenKind.NUMBER or literal.value in {"TRUE", "FALSE", "NULL"}:
        return json.loads(literal.text.lower())
    raise parser.unexpected()


def _parse_call(parser: Parser, first: Token) -> Expression:
    name = parser.word()
    if name in _TYPED_LITERALS and parser.token.kind is TokenKind.STRING:
        literal = _constant("", data_type("VARCHAR"), parser.string())
        return replace(literal.cast(data_type(name)), name=parser.slice(first))
    parser.expect("(")
    if name not in FUNCTIONS:
        raise errors.unknown_function(name)
    function = FUNCTIONS[name]
    arguments: list[Expression] = []
    while len(arguments) < function.most and not parser.at(")"):
        if arguments:
            parser.expect(",")
        arguments.append(_parse_expression(parser))
    if len(arguments) < function.least:
        raise parser.unexpected()
    parser.expect(")")
    return Expression(
        f"{name}{parser.slice(first)[len(name) :]}",
        function.type,
        lambda context: function.call(context, tuple(argument.value(context) for argument in arguments)),
    )


def _constant(name: str, kind: DataType, value: Cell) -> Expression:
    return Expression(name, kind, lambda _: value)
