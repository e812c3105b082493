"""What a task runs, a statement or a block of Snowflake Scripting, and on which condition: texts, kept as written."""

from collections.abc import Sequence
from itertools import pairwise

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies import Place, parse_expression, parse_query
from freehold_devstack.snowflake.parser import Parser, phrases
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize

_VERBS = frozenset(
    phrases("""
        ALTER, CALL, COMMENT, COPY, CREATE, DELETE, DESC, DESCRIBE, DROP, EXECUTE, EXPLAIN, GET, GRANT, INSERT, LIST,
        LS, MERGE, PUT, REMOVE, REVOKE, RM, SELECT, SET, SHOW, TRUNCATE, UNDROP, UNSET, UPDATE, USE, WITH
    """)
)
"""The words that a statement begins with."""

_OPENING = ("BEGIN", "DECLARE")
_CLOSED_BY_NAME = ("IF", "FOR", "WHILE", "LOOP", "REPEAT")
"""What END may end besides blocks and CASE: these are told by the word after END, so their beginnings don't count."""
_TRANSACTION = ("TRANSACTION", "WORK", "NAME", ";")
_NO_BLOCK = (*_TRANSACTION, ",", ")", ".", "FROM", "<EOF>")
"""What follows a BEGIN that is a name or starts a transaction."""


class Blocks:
    """Follows the blocks of one statement, token by token."""

    def __init__(self) -> None:
        self._open = 0
        self._declaring = 0
        self._before: str | None = None

    @property
    def inside(self) -> bool:
        """Whether the last token stands in a block, where semicolons end no statement of the request."""
        return self._open > 0

    def take(self, token: Token, following: Token) -> None:
        """Go one token further."""
        word = token.value if token.kind is TokenKind.WORD else ""
        ahead = following.value if following.kind is TokenKind.WORD else following.text
        if not self.inside:
            self._enter(word, ahead)
        elif word == "END":
            self._open -= ahead not in _CLOSED_BY_NAME
        elif word == "BEGIN" and self._declaring:
            self._declaring -= 1
        elif word == "CASE" or (word == "BEGIN" and ahead not in _TRANSACTION):
            self._open += self._before != "END"
        elif word == "DECLARE":
            self.begin(word)
        self._before = word

    def begin(self, word: str) -> None:
        """Go into a block by its first word."""
        self._open += 1
        self._declaring += word == "DECLARE"

    def _enter(self, word: str, ahead: str) -> None:
        if self._before in {None, "AS"} and word in _OPENING and ahead not in _NO_BLOCK:
            self.begin(word)


def parse_body(parser: Parser) -> str:
    """Take everything up to the end: one statement or one block.

    Raises:
        SqlError: 001003 for what is neither, as far as that can be told; what the body refers to need not be there.
    """
    first = parser.token
    place = Place(first.line, first.position)
    text = parser.rest()
    if first.kind is TokenKind.WORD and first.value in _OPENING:
        check_block(text, place)
    elif first.text == "(" or first.value in {"SELECT", "WITH"}:
        parse_query(text, place, fold_quoted=parser.fold_quoted)
    elif first.kind is not TokenKind.WORD or first.value not in _VERBS:
        raise parser.unexpected(first)
    return text


def check_block(text: str, place: Place | None = None) -> None:
    """Refuse what is not one block, with or without a semicolon behind it.

    Args:
        place: Where the text begins in the statement; None for a text of its own.

    Raises:
        SqlError: 001003.
    """
    *tokens, end = tokenize(text)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    first = tokens[0] if tokens else end
    is_block = first.kind is TokenKind.WORD and first.value in _OPENING
    wrong = _block_end([*tokens, end]) if is_block else first
    if wrong is not None:
        raise (place or Place()).syntax(wrong.text, wrong.line, wrong.position)


def _block_end(tokens: Sequence[Token]) -> Token | None:
    """The token that stands where the one block that a text should be doesn't end; None if it does."""
    blocks = Blocks()
    blocks.begin(tokens[0].value)
    for token, following in pairwise(tokens[1:]):
        if not blocks.inside:
            return token
        blocks.take(token, following)
    return tokens[-1] if blocks.inside else None


_IN_CONDITIONS = frozenset(
    phrases("AND, CAST, IN, NOT, OR, SYSTEM$GET_PREDECESSOR_RETURN_VALUE, SYSTEM$STREAM_HAS_DATA, TRY_CAST")
)
"""The words that brackets may follow in a condition, which no warehouse evaluates."""


def parse_condition(parser: Parser) -> str:
    """Take the expression of WHEN, up to the AS that follows it or the end.

    Raises:
        SqlError: 001003 for what is no expression, 999999 for a function, column or query that it can't have.
    """
    first = parser.token
    text = parser.expression("AS")
    condition = parse_expression(text, Place(first.line, first.position), fold_quoted=parser.fold_quoted)
    called = [word.text for word, bracket in pairwise(tokenize(text)) if bracket.text == "(" and _is_function(word)]
    if called or condition.identifiers or condition.tables:
        raise errors.unnumbered(f"Invalid WHEN condition [{text}]: {', '.join(called) or 'a name'} is not supported.")
    return text


def _is_function(word: Token) -> bool:
    return word.kind is TokenKind.WORD and word.value not in _IN_CONDITIONS
