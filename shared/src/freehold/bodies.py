"""SQL that people write into a spec: the body of a policy, the query of a view, the statement of a task.

It is put into our statements as it stands, so it must be one whole piece that ends where it seems to end. Only its
structure is looked at; whether names and functions in it mean anything is Snowflake's to say. Words in strings, names
and comments never count. Lexical rules: "String & binary data types" (constants) and "Identifier requirements" in
Snowflake's SQL reference; block comments don't nest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from freehold import sql
from freehold.identifiers import needs_quotes, unquoted
from freehold.sql import Sql

_LEXEMES = re.compile(
    r"""
      (?P<space>\s+ | /\*.*?\*/)
    | (?P<remark>(?:--|//)[^\n]*)
    | (?P<string>'(?:[^'\\]|\\.|'')*+' | (?>\$\$.*?\$\$)(?![\w$]))
    | (?P<name>"(?:[^"]|"")*+")
    | (?P<open>'|"|\$\$|/\*)
    | (?P<word>[\w$]+)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_UNENDED = {"'": "a string", '"': "a quoted name", "$$": "a string in $$", "/*": "a comment"}
_LINE_ENDS = re.compile("\r(?!\n|$)|[\v\f\x85\u2028\u2029]")
"""What ends a line for some readers, and not for others."""

_PAIRS = {")": "(", "]": "[", "}": "{"}
_QUERIES = frozenset({"SELECT", "WITH"})
_BLOCKS = frozenset({"BEGIN", "DECLARE"})
_RESERVED_VERBS = frozenset({"ALTER", "CREATE", "DELETE", "DROP", "GRANT", "REVOKE", "UPDATE"})
_VERBS = frozenset({"BEGIN", "CALL", "COPY", "DECLARE", "EXECUTE", "INSERT", "MERGE", "TRUNCATE", "UNDROP", "USE"})
"""What begins a statement, but may be a column or a function as well."""
_INFIX = frozenset({
    "AND", "BETWEEN", "COLLATE", "ESCAPE", "ILIKE", "IN", "IS", "LIKE", "NOT", "OR", "REGEXP", "RLIKE",
})  # fmt: skip
_UNFINISHED = _INFIX | {"ALL", "ANY", "CASE", "DISTINCT", "ELSE", "EXISTS", "FROM", "THEN", "WHEN"}
"""Words after which an expression goes on."""


class InvalidBody(ValueError):
    """A text that would not be one whole piece of the statement that it is put into."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text that means something.

    Attributes:
        kind: string, name, word or sign.
        text: as written, words in upper case.
        line: that it begins in, from 1.
        depth: brackets around it; 0 for outermost brackets themselves.
        start: where it begins in the text.
        end: where what follows it begins.
    """

    kind: str
    text: str
    line: int
    depth: int
    start: int
    end: int

    @property
    def said(self) -> str:
        """It, for people; of a string only that it is one, for it may be a credential."""
        return "a string" if self.kind == "string" else self.text

    @property
    def ends_operand(self) -> bool:
        """Whether what comes before may be whole here."""
        return self.text in _PAIRS if self.kind == "sign" else self.kind != "word" or self.text not in _UNFINISHED

    @property
    def is_name(self) -> bool:
        """Whether it is a name, and no word that joins operands."""
        return self.kind == "name" or (self.kind == "word" and self.text not in _INFIX)


def expression(text: str, *, clauses: Collection[str] = ()) -> None:
    """Check the body of a masking or row access policy, or a condition.

    Args:
        text: as it is in the spec.
        clauses: keywords of what follows it in a statement as `KEYWORD = value`, in upper case: it may not bring its
            own.

    Raises:
        InvalidBody: it isn't one whole expression.
    """
    tokens = read(text)
    _refuse_separators(tokens, "an expression")
    first, last = tokens[0], tokens[-1]
    if first.text in _QUERIES:
        raise InvalidBody(f"an expression is needed, and {first.text} begins a query: put it in parentheses")
    if first.text in _RESERVED_VERBS or (first.text in _VERBS and len(tokens) > 1 and tokens[1].is_name):
        raise InvalidBody(f"an expression is needed, and {first.text} begins a statement")
    if comma := next((each for each in tokens if each.text == "," and not each.depth), None):
        raise InvalidBody(f"one expression is needed, and a comma in line {comma.line} separates two")
    if not last.ends_operand:
        raise InvalidBody(f"it ends with {last.text}, so what follows it would become part of it")
    if len(list(_words(tokens, "CASE"))) > len(list(_words(tokens, "END"))):
        raise InvalidBody("a CASE has no END")
    for before, keyword, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if keyword.text in clauses and not keyword.depth and before.ends_operand and after.text == "=":
            raise InvalidBody(
                f"{keyword.text} = in line {keyword.line} isn't part of an expression: it has its own field"
            )


def query(text: str) -> None:
    """Check the query of a view. One semicolon may end it.

    Raises:
        InvalidBody: it isn't one whole query.
    """
    tokens = _ended(read(text))
    _refuse_separators(tokens, "a query")
    first = next((each for each in tokens if each.text != "("), tokens[0])
    if first.text not in _QUERIES:
        raise InvalidBody(f"a query begins with SELECT or WITH, not with {first.said}")


def statement(text: str) -> None:
    """Check the statement of a task: any one, or one block. One semicolon may end it.

    Raises:
        InvalidBody: it isn't one whole statement.
    """
    tokens = _ended(read(text))
    if tokens[0].text not in _BLOCKS or len(tokens) == 1:
        _refuse_separators(tokens, "a statement that is no BEGIN ... END block")
    elif any(each.text == ";" for each in tokens) and tokens[-1].text != "END":
        raise InvalidBody(
            f"a block ends with END, and this one goes on with {tokens[-1].said} in line {tokens[-1].line}"
        )


def source(text: str) -> None:
    """Check the source of a function or procedure in any language, which goes into a statement as a string.

    Raises:
        InvalidBody: no string can hold it, or there is nothing in it.
    """
    _refuse_characters(text)
    if not text.strip():
        raise InvalidBody("it is empty")


def written(text: str) -> Sql:
    """A text that was found sound, as a part of a statement: a comment at its end hides nothing that follows it."""
    stripped = text.strip()
    last_line = stripped[stripped.rfind("\n") + 1 :]
    return sql.words(f"{stripped}\n" if "--" in last_line or "//" in last_line else stripped)


def canonical(text: str) -> tuple[str, ...]:
    """What means something in a text, alike for each of its spellings: words in upper case, names without needless
    quotes, neither blanks nor comments. A text that isn't sound stays as it is."""
    try:
        tokens = read(text)
    except InvalidBody:
        return (text,)
    return tuple(_name(each.text) if each.kind == "name" else each.text for each in tokens)


def unended(text: str) -> str:
    """A text without the semicolon that may end it and what follows that. One that isn't sound stays as it is."""
    try:
        tokens = read(text)
    except InvalidBody:
        return text
    return text if _ended(tokens) is tokens else text[: tokens[-1].start]


def body(create: str) -> str | None:
    """What a CREATE makes its object of, as somebody typed it: what follows the AS that ends the header, which is a
    reserved word. None where there is none."""
    try:
        tokens = read(create)
    except InvalidBody:
        return None
    end = next((each.end for each in tokens if each.kind == "word" and each.text == "AS" and not each.depth), None)
    return None if end is None else create[end:].strip()


def _name(quoted: str) -> str:
    name = unquoted(quoted)
    return quoted if needs_quotes(name) else name


def read(text: str) -> Sequence[Token]:
    """All that means something in a text: at least one token, all brackets paired."""
    _refuse_characters(text)
    tokens = tuple(_tokens(text))
    if not tokens:
        raise InvalidBody("it is empty, but for blanks and comments")
    return tokens


def _refuse_characters(text: str) -> None:
    if "\0" in text:
        raise InvalidBody("it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidBody("it isn't valid Unicode: it holds half of a surrogate pair") from error


def _tokens(text: str) -> Iterator[Token]:
    line, opened = 1, list[Token]()
    for lexeme in _LEXEMES.finditer(text):
        kind, found = str(lexeme.lastgroup), lexeme[0]
        if kind == "open":
            raise InvalidBody(f"{_UNENDED[found]} that begins in line {line} has no certain end")
        if kind == "remark" and _LINE_ENDS.search(found):
            raise InvalidBody(
                f"the comment in line {line} holds a line break that isn't LF: where it ends is uncertain"
            )
        if kind == "word" and "$$" in found:
            raise InvalidBody(f"$$ in line {line} stands right beside a word: whether it begins a string is uncertain")
        if kind not in ("space", "remark"):
            if found in _PAIRS and (not opened or opened.pop().text != _PAIRS[found]):
                raise InvalidBody(f"{found} in line {line} closes nothing")
            token = Token(
                kind, found.upper() if kind == "word" else found, line, len(opened), lexeme.start(), lexeme.end()
            )
            if found in _PAIRS.values():
                opened.append(token)
            yield token
        line += found.count("\n")
    if opened:
        raise InvalidBody(f"{opened[-1].text} in line {opened[-1].line} is never closed")


def _ended(tokens: Sequence[Token]) -> Sequence[Token]:
    """What stands before a final semicolon."""
    return tokens[:-1] if tokens[-1].text == ";" and len(tokens) > 1 else tokens


def _refuse_separators(tokens: Sequence[Token], what: str) -> None:
    for each in tokens:
        if each.text == ";":
            raise InvalidBody(f"; in line {each.line} ends {what}, and nothing may follow or be ended here")


def _words(tokens: Sequence[Token], word: str) -> Iterator[Token]:
    """Where a keyword stands; after a dot or a colon it is a name."""
    for before, each in zip((None, *tokens), tokens, strict=False):
        if each.kind == "word" and each.text == word and (before is None or before.text not in (".", ":")):
            yield each
