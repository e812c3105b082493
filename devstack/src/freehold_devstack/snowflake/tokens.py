"""Snowflake's lexical grammar: text in, tokens with their positions out."""

import enum
import re
from dataclasses import dataclass

from freehold_devstack.snowflake import errors


class TokenKind(enum.Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "quoted identifier"
    STRING = "string"
    NUMBER = "number"
    VARIABLE = "variable"
    OPERATOR = "operator"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        text: As written.
        value: What it means: a string without its escapes, a quoted identifier without its quotes, a word in capitals.
        line, position: Of its first character; lines count from 1, positions from 0, as Snowflake reports them.
        start: Offset of its first character in the statement.
        keyword: What grammar compares: of words and operators the value, else nothing.
    """

    kind: TokenKind
    text: str
    value: str
    line: int
    position: int
    start: int
    keyword: str = ""


_LEXEMES = re.compile(
    r"""
      (?P<space>\s+ | --[^\n]* | //[^\n]* | /\*.*?\*/)
    | (?P<string>'(?:[^'\\]|\\.|'')*')
    | (?P<dollar>\$\$.*?\$\$)
    | (?P<quoted>"(?:[^"]|"")*")
    | (?P<word>[A-Za-z_][A-Za-z0-9_$]*)
    | (?P<variable>\$[A-Za-z0-9_]+)
    | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<operator>=>|->|::|<=|>=|<>|!=|\|\||[-+*/%=<>().,;:?@&|^~!\[\]{}])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_LONGEST_NUMBER = 255
_OPENERS = ("'", '"', "$$", "/*")
_KINDS = {
    "string": TokenKind.STRING,
    "dollar": TokenKind.STRING,
    "quoted": TokenKind.QUOTED,
    "word": TokenKind.WORD,
    "variable": TokenKind.VARIABLE,
    "number": TokenKind.NUMBER,
    "operator": TokenKind.OPERATOR,
}
_KEYWORDS = frozenset({"word", "operator"})
_ESCAPE = re.compile(r"''|\\(?:([0-3]?[0-7]{1,2})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")
_NAMED_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def tokenize(sql: str) -> list[Token]:
    """Split a text into tokens, the last of which is END.

    Raises:
        SqlError: 001003 for a character that starts no token and for a string, identifier or comment without an end.
    """
    tokens: list[Token] = []
    offset, line, line_start = 0, 1, 0
    while offset < len(sql):
        lexeme = _LEXEMES.match(sql, offset)
        position = offset - line_start
        if lexeme is None or (lexeme["operator"] and sql.startswith("/*", offset)):
            if sql.startswith(_OPENERS, offset):
                raise errors.unterminated(line, position)
            raise errors.syntax(sql[offset], line, position)
        group, text = str(lexeme.lastgroup), lexeme[0]
        if group == "number" and len(text) > _LONGEST_NUMBER:
            raise errors.syntax(text[:_LONGEST_NUMBER], line, position)
        if group != "space":
            value = _value(group, text)
            keyword = value if group in _KEYWORDS else ""
            tokens.append(Token(_KINDS[group], text, value, line, position, offset, keyword))
        offset = lexeme.end()
        if newlines := text.count("\n"):
            line += newlines
            line_start = offset - len(text) + text.rindex("\n") + 1
    tokens.append(Token(TokenKind.END, "<EOF>", "", line, offset - line_start, offset))
    return tokens


def _value(group: str, text: str) -> str:
    match group:
        case "string":
            return _paired(_ESCAPE.sub(_unescape, text[1:-1]))
        case "dollar":
            return text[2:-2]
        case "quoted":
            return text[1:-1].replace('""', '"')
        case "word":
            return text.upper()
        case _:
            return text


def _paired(text: str) -> str:
    """A text in which two escapes that are halves of one character make that character."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16") if _HALF.search(text) else text
    except UnicodeDecodeError:
        raise errors.unnumbered("A string has a half of a surrogate pair without the other.") from None


def _unescape(match: re.Match[str]) -> str:
    octal, hexadecimal, unicode, other = match.groups()
    if octal:
        return chr(int(octal, 8))
    if hexadecimal or unicode:
        return chr(int(hexadecimal or unicode, 16))
    if other is None:
        return "'"
    # An escape that Snowflake doesn't know loses its backslash without a word.
    return _NAMED_ESCAPES.get(other, other)
