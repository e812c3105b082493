"""SELECT as far as control needs it: literals, casts and functions without FROM, and table functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freehold_devstack.snowflake import bundles, errors
from freehold_devstack.snowflake.bodies import parse_expression
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.conversions import column, convert, parse_json, print_json
from freehold_devstack.snowflake.datatypes import DataType, data_type, parse_data_type
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.functions import FUNCTIONS, Function, register
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Parser, print_name
from freehold_devstack.snowflake.results import Cell, Result
from freehold_devstack.snowflake.table_functions import parse_select_from_function
from freehold_devstack.snowflake.tokens import Token, TokenKind

_TYPED_LITERALS = ("DATE", "TIME", "TIMESTAMP")
_WORDS: Sequence[tuple[str, str, Cell]] = (
    ("NULL", "VARCHAR", None),
    ("TRUE", "BOOLEAN", True),
    ("FALSE", "BOOLEAN", False),
)
"""The words that are values, and their types."""

register(
    Function("PARSE_JSON", data_type("VARIANT"), lambda _, given: parse_json(given[0]), least=1, most=1),
    *bundles.FUNCTIONS,
)


@dataclass(frozen=True)
class Expression:
    """What a SELECT computes, its type, and whether that changes something."""

    type: DataType
    value: Callable[[Context], Cell]
    acts: bool = False

    def cast(self, target: DataType) -> "Expression":
        def converted(context: Context) -> Cell:
            zone = str(context.session_parameter("TIMEZONE").value)
            return convert(self.value(context), self.type, target, zone)

        return Expression(target, converted, self.acts)


@dataclass(frozen=True)
class Item:
    """One item of a SELECT list, under the name of its column."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Select:
    """SELECT of expressions, without FROM."""

    items: Sequence[Item]

    @property
    def form(self) -> Form:
        acts = any(item.expression.acts for item in self.items)
        return Form("SELECT", detail=", ".join(item.name for item in self.items), acts=acts)

    def execute(self, context: Context) -> Result:
        columns = tuple(column(item.name, item.expression.type) for item in self.items)
        return Result(columns, [tuple(item.expression.value(context) for item in self.items)])


def parse_select(parser: Parser) -> Statement:
    """
    Raises:
        SqlError: 000002 for a query of which only Snowflake knows the answer.
    """
    if parser.ahead("FROM", "TABLE", "("):
        return parse_select_from_function(parser)
    try:
        select = _parse_items(parser)
        parser.end()
    except SqlError as error:
        if _is_beyond(parser.statement, error):
            raise errors.unsupported("SELECT") from error
        raise
    return select


def _is_beyond(text: str, error: SqlError) -> bool:
    """Whether a query has been refused for what Snowflake would have taken, as far as the library knows."""
    if error.number not in {errors.SYNTAX, errors.UNKNOWN_FUNCTION}:
        return False
    try:
        query = parse_expression(f"({text})")
    except SqlError:
        return False
    return error.number == errors.SYNTAX or not query.functions


def _parse_items(parser: Parser) -> Select:
    items = parser.list_of(lambda: _parse_item(parser))
    if parser.at("FROM"):
        raise errors.unsupported("SELECT FROM")
    return Select(items)


def _parse_item(parser: Parser) -> Item:
    """Take an expression and its alias; without one the column is called as the expression is written, in capitals."""
    first = parser.token
    expression = _parse_expression(parser)
    written = parser.slice(first).upper()
    aliased = parser.accept("AS") or not (parser.at_end() or parser.at(",") or parser.at("FROM"))
    return Item(parser.identifier() if aliased else written, expression)


def _parse_expression(parser: Parser) -> Expression:
    expression = _parse_primary(parser)
    while parser.accept("::"):
        expression = expression.cast(parse_data_type(parser))
    return expression


def _parse_primary(parser: Parser) -> Expression:
    if parser.token.kind is TokenKind.NUMBER or parser.at("-"):
        return _parse_number(parser)
    if parser.token.kind is TokenKind.STRING:
        return _constant("VARCHAR", parser.string())
    for word, kind, value in _WORDS:
        if parser.accept(word):
            return _constant(kind, value)
    if parser.at("[") or parser.at("{"):
        kind = "ARRAY" if parser.at("[") else "OBJECT"
        return _constant(kind, print_json(_parse_structure(parser)))
    if parser.accept("CAST", "("):
        operand = _parse_expression(parser)
        parser.expect("AS")
        target = parse_data_type(parser)
        parser.expect(")")
        return operand.cast(target)
    return _parse_call(parser)


def _parse_number(parser: Parser) -> Expression:
    literal = parser.literal()
    written = _constant("VARCHAR", literal.text)
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
            if key in members:
                raise errors.unnumbered(f"Duplicate field key '{key}'")
            parser.expect(":")
            members[key] = _parse_structure(parser)
        return members
    first, literal = parser.token, parser.literal()
    if literal.kind is TokenKind.STRING:
        return literal.value
    if literal.kind is TokenKind.NUMBER:
        return int(literal.text) if literal.text.lstrip("-").isdigit() else float(literal.text)
    for word, _, value in _WORDS:
        if first.keyword == word:
            return value
    raise parser.unexpected(first)


def _parse_call(parser: Parser) -> Expression:
    first = parser.token
    if first.keyword in FUNCTIONS:
        return _parse_arguments(parser, FUNCTIONS[parser.word()], first)
    name = parser.name(parts=4)
    if name[0] in _TYPED_LITERALS and parser.token.kind is TokenKind.STRING:
        return _constant("VARCHAR", parser.string()).cast(data_type(name[0]))
    if not parser.at("("):
        raise errors.invalid_identifier(print_name(name), first.line, first.position)
    raise errors.unknown_function(name[0]) if len(name) == 1 else errors.unknown_user_function(print_name(name))


def _parse_arguments(parser: Parser, function: Function, first: Token) -> Expression:
    parser.expect("(")
    arguments: list[Expression] = []
    while not parser.at(")"):
        if arguments:
            parser.expect(",")
        arguments.append(_parse_expression(parser))
    parser.expect(")")
    expected = min(max(len(arguments), function.least), function.most)
    if len(arguments) != expected:
        raise errors.argument_count(
            parser.slice(first), first.line, first.position, expected=expected, found=len(arguments)
        )
    return Expression(
        function.type,
        lambda context: function.call(context, tuple(argument.value(context) for argument in arguments)),
        function.acts or any(argument.acts for argument in arguments),
    )


def _constant(kind: str, value: Cell) -> Expression:
    return Expression(data_type(kind), lambda _: value)
