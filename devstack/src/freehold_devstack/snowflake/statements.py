"""From a statement's text to its effect."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.alter import parse_alter, parse_comment
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import parse_create
from freehold_devstack.snowflake.drop import parse_describe, parse_drop, parse_undrop
from freehold_devstack.snowflake.grants import parse_grant, parse_revoke, parse_show_future_grants, parse_show_grants
from freehold_devstack.snowflake.object_type import Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Parser, phrases
from freehold_devstack.snowflake.results import Result
from freehold_devstack.snowflake.scripting import Blocks
from freehold_devstack.snowflake.select import parse_select
from freehold_devstack.snowflake.session_statements import parse_parameters, parse_use
from freehold_devstack.snowflake.show import parse_show, parse_show_parameters
from freehold_devstack.snowflake.stages.listing import parse_list
from freehold_devstack.snowflake.tags import parse_account_tags
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize

_NOT_BUILT = frozenset(
    phrases("""
        BEGIN, CALL, COMMIT, COPY, DECLARE, DELETE, EXECUTE, EXPLAIN, GET, INSERT, MERGE, PUT, REMOVE, RM, ROLLBACK,
        SET, TRUNCATE, UNSET, UPDATE, WITH
    """)
)
"""Statements that Snowflake has and the endpoint does not."""


def split(sql: str) -> list[list[Token]]:
    """The tokens of each statement in a request, every list ended by END; empty statements don't count."""
    statements: list[list[Token]] = [[]]
    blocks = Blocks()
    tokens = tokenize(sql)
    for token, following in pairwise([*tokens, tokens[-1]]):
        if token.kind is TokenKind.END or (token.text == ";" and not blocks.inside):
            end = Token(TokenKind.END, "<EOF>", "", token.line, token.position, token.start)
            statements[-1].append(end)
            statements.append([])
            blocks = Blocks()
        else:
            statements[-1].append(token)
            blocks.take(token, following)
    return [tokens for tokens in statements if len(tokens) > 1]


@dataclass(frozen=True)
class Piece:
    """One statement of a request, and where its text begins there."""

    text: str
    line: int
    position: int


MAX_TEXT = 1024**2
"""Characters. https://docs.snowflake.com/en/user-guide/query-size-limits only recommends not to send more."""


def divide(sql: str, count: int) -> list[Piece]:
    """The statements of a request.

    Args:
        count: MULTI_STATEMENT_COUNT: how many there must be; 0 for any number.

    Raises:
        SqlError: 000008 for another number, 999999 for a text that is too long. A request without any is left as it
            is.
    """
    if len(sql) > MAX_TEXT:
        raise errors.too_long(MAX_TEXT)
    if count == 1 and ";" not in sql:
        return [Piece(sql, 1, 0)]
    statements = split(sql)
    found = [Piece(sql[first.start : end.start].rstrip(), first.line, first.position) for first, *_, end in statements]
    if count and found and len(found) != count:
        raise errors.statement_count(len(found), count)
    return found


def parse(sql: str, types: Types, *, fold_quoted: bool = False) -> Statement:
    """Parse a request that must hold one statement.

    Raises:
        SqlError: 000900 for none, 000008 for several, 001003 for what is no statement, 000002 for what is not built.
    """
    statements = split(sql)
    if not statements:
        raise errors.empty_statement()
    if len(statements) > 1:
        raise errors.statement_count(len(statements), 1)
    parser = Parser(statements[0], source=sql, fold_quoted=fold_quoted)
    statement = _parse_statement(parser, types)
    parser.end()
    return statement


def _alter(parser: Parser, types: Types) -> Statement:
    for target in ("SESSION", "ACCOUNT"):
        if parser.accept(target):
            tags = target == "ACCOUNT" and (parser.ahead("SET", "TAG") or parser.ahead("UNSET", "TAG"))
            return parse_account_tags(parser) if tags else parse_parameters(parser, target)
    return parse_alter(parser, types)


def _show(parser: Parser, types: Types) -> Statement:
    if parser.accept("GRANTS"):
        return parse_show_grants(parser, types)
    if parser.accept("FUTURE", "GRANTS"):
        return parse_show_future_grants(parser, types)
    if parser.accept("PARAMETERS"):
        return parse_show_parameters(parser, types)
    return parse_show(parser, types)


def _select(parser: Parser, _types: Types) -> Statement:
    return parse_select(parser)


_GRAMMAR: Mapping[str, Callable[[Parser, Types], Statement]] = {
    "ALTER": _alter,
    "COMMENT": parse_comment,
    "CREATE": parse_create,
    "DESC": parse_describe,
    "DESCRIBE": parse_describe,
    "DROP": parse_drop,
    "GRANT": parse_grant,
    "LIST": parse_list,
    "LS": parse_list,
    "REVOKE": parse_revoke,
    "SELECT": _select,
    "SHOW": _show,
    "UNDROP": parse_undrop,
    "USE": parse_use,
}


def _parse_statement(parser: Parser, types: Types) -> Statement:
    verb = parser.token.value if parser.token.kind is TokenKind.WORD else ""
    if verb in _NOT_BUILT:
        raise errors.unsupported(verb)
    if verb not in _GRAMMAR:
        raise parser.unexpected()
    parser.advance()
    return _GRAMMAR[verb](parser, types)


def parse_in(context: Context, sql: str) -> Statement:
    """As `parse`, by the settings of a session."""
    fold_quoted = bool(context.session_parameter("QUOTED_IDENTIFIERS_IGNORE_CASE").value)
    return parse(sql, context.types, fold_quoted=fold_quoted)


def execute(sql: str, context: Context) -> Result:
    """Run one statement; the caller holds the catalog's transaction.

    Raises:
        SqlError: The refusal.
    """
    return parse_in(context, sql).execute(context)
