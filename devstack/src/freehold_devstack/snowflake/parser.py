"""A cursor over tokens with the steps that every statement's grammar is made of."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize

MAX_IDENTIFIER = 255
"""Characters, not bytes; quotes not counted."""

Name = tuple[str, ...]
"""The parts of a qualified name as stored: folded where they were bare, unquoted where they were quoted."""

_BARE = re.compile(r"[A-Z_][A-Z0-9_$]*")


def phrases(text: str) -> tuple[str, ...]:
    """The keywords of a comma-separated list, each of one or more words."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


Item = TypeVar("Item")
Meaning = TypeVar("Meaning")


class Vocabulary(Generic[Meaning]):
    """What phrases of one or more keywords stand for.

    Args:
        meanings: By the words, which blanks separate; the empty phrase doesn't count.
    """

    def __init__(self, meanings: Mapping[str, Meaning]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Meaning]]] = {}
        split = [(tuple(phrase.split()), meaning) for phrase, meaning in meanings.items() if phrase]
        for words, meaning in sorted(split, key=lambda entry: len(entry[0]), reverse=True):
            self._by_first.setdefault(words[0], []).append((words, meaning))

    def beginning_with(self, word: str) -> Sequence[tuple[tuple[str, ...], Meaning]]:
        """The words and meanings of the phrases that begin with this word, the longest first."""
        return self._by_first.get(word, ())


# https://docs.snowflake.com/en/sql-reference/reserved-keywords: those that can't name an object.
_RESERVED = frozenset(
    phrases("""
        ACCOUNT, ALL, ALTER, AND, ANY, AS, BETWEEN, BY, CHECK, COLUMN, CONNECT, CONSTRAINT, CREATE, CROSS, CURRENT,
        DATABASE, DELETE, DISTINCT, DROP, ELSE, EXISTS, FALSE, FOLLOWING, FOR, FROM, FULL, GRANT, GROUP, HAVING,
        ILIKE, IN, INCREMENT, INNER, INSERT, INTERSECT, INTO, IS, JOIN, LATERAL, LEFT, LIKE, MINUS, NATURAL, NOT,
        NULL, OF, ON, OR, ORDER, QUALIFY, REGEXP, REVOKE, RIGHT, RLIKE, ROW, ROWS, SAMPLE, SCHEMA, SELECT, SET,
        SOME, START, TABLE, TABLESAMPLE, THEN, TO, TRIGGER, TRUE, TRY_CAST, UNION, UNIQUE, UPDATE, USING, VALUES,
        VIEW, WHEN, WHENEVER, WHERE, WITH
    """)
)


@dataclass(frozen=True, slots=True)
class Literal:
    """The right-hand side of `PROPERTY = value`, before a property gives it a meaning.

    Attributes:
        kind: OPERATOR for what stands in brackets.
        text: As written.
        value: A string without its escapes, a word in capitals, a quoted identifier as stored, a number with its sign.
        name: The parts of a name; empty for what is none.
        items: The values in brackets: `(value, …)`.
        group: The assignments in brackets: `(NAME = value …)`, strings as names with their quotes; None for what is no
            such thing.
    """

    kind: TokenKind
    text: str
    value: str
    name: Name = ()
    items: tuple["Literal", ...] = ()
    group: tuple[tuple[str, "Literal"], ...] | None = None


def print_identifier(part: str) -> str:
    """The identifier as Snowflake prints it in qualified names: quoted only where it must be."""
    return part if _BARE.fullmatch(part) else '"' + part.replace('"', '""') + '"'


def print_name(parts: Sequence[str]) -> str:
    """The qualified name as Snowflake prints it."""
    return ".".join(map(print_identifier, parts))


def qualified(name: Name, schema: Name) -> Name:
    """The name of an object in full, which is looked up in a schema as far as it isn't qualified."""
    return (*schema[: len(schema) + 1 - len(name)], *name)


class Parser:
    """Reads one statement from left to right.

    Args:
        tokens: One statement's tokens, END last.
        source: The text that they were made of.
        fold_quoted: QUOTED_IDENTIFIERS_IGNORE_CASE of the session.
    """

    def __init__(self, tokens: Sequence[Token], *, source: str = "", fold_quoted: bool = False) -> None:
        self._tokens = tokens
        self._source = source
        self._next = 0
        self._fold_quoted = fold_quoted

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._next]

    @property
    def fold_quoted(self) -> bool:
        """QUOTED_IDENTIFIERS_IGNORE_CASE of the session."""
        return self._fold_quoted

    def unexpected(self, token: Token | None = None) -> SqlError:
        """The syntax error that a token is, by default the next one."""
        token = token or self.token
        if token.kind is TokenKind.VARIABLE:
            return errors.unknown_variable(token.text.upper(), token.line, token.position)
        return errors.syntax(token.text, token.line, token.position)

    def advance(self) -> Token:
        """Take the next token, whatever it is."""
        token = self.token
        if token.kind is not TokenKind.END:
            self._next += 1
        return token

    def at(self, *words: str) -> bool:
        """Whether the input goes on with these keywords or operators."""
        return self._matches(self._next, words)

    def ahead(self, *words: str) -> bool:
        """Whether these keywords or operators stand together anywhere in the rest of the input."""
        return any(self._matches(index, words) for index in range(self._next, len(self._tokens)))

    def _matches(self, index: int, words: Sequence[str]) -> bool:
        tokens = self._tokens
        if tokens[index].keyword != words[0]:
            return False
        if len(words) == 1:
            return True
        found = tokens[index : index + len(words)]
        return len(found) == len(words) and all(token.keyword == word for token, word in zip(found, words, strict=True))

    def accept(self, *words: str) -> bool:
        """Take these keywords or operators if they come next."""
        if self.at(*words):
            self._next += len(words)
            return True
        return False

    def accept_phrase(self, phrase: str) -> bool:
        """As `accept`, for several words in one text."""
        return self.accept(*phrase.split())

    def accept_any(self, vocabulary: Vocabulary[Meaning]) -> Meaning | None:
        """Take the longest of some phrases that comes next, and say what it stands for."""
        for words, meaning in vocabulary.beginning_with(self.token.keyword):
            if self.accept(*words):
                return meaning
        return None

    def choose_any(self, vocabulary: Vocabulary[Meaning]) -> Meaning:
        """As `accept_any`, where one of them has to come."""
        meaning = self.accept_any(vocabulary)
        if meaning is None:
            raise self.unexpected()
        return meaning

    def at_any(self, vocabulary: Vocabulary[Meaning]) -> bool:
        """Whether the input goes on with one of some phrases."""
        return any(self.at(*words) for words, _ in vocabulary.beginning_with(self.token.keyword))

    def accept_next_of_list(self) -> bool:
        """Take a comma, unless two words follow it: those begin another clause."""
        ahead = [token.kind for token in self._tokens[self._next + 1 : self._next + 3]]
        return {*ahead} - {TokenKind.WORD, TokenKind.QUOTED} != set() and self.accept(",")

    def list_of(self, take: Callable[[], Item]) -> list[Item]:
        """Take one or more of something, with commas between them."""
        items = [take()]
        while self.accept(","):
            items.append(take())
        return items

    def bracketed_list_of(self, take: Callable[[], Item]) -> list[Item]:
        """As `list_of`, in brackets."""
        self.expect("(")
        items = self.list_of(take)
        self.expect(")")
        return items

    def expect(self, *words: str) -> None:
        """Take these keywords or operators; anything else is a syntax error at the first that differs."""
        for word in words:
            if not self.accept(word):
                raise self.unexpected()

    def choose(self, *words: str) -> str:
        """Take one of these words."""
        for word in words:
            if self.accept(word):
                return word
        raise self.unexpected()

    def word(self) -> str:
        """Take any bare word, in capitals."""
        if self.token.kind is not TokenKind.WORD:
            raise self.unexpected()
        return self.advance().value

    def at_word(self) -> bool:
        """Whether the input goes on with a bare word."""
        return self.token.kind is TokenKind.WORD

    def at_assignment(self) -> bool:
        """Whether the input goes on with `NAME =`."""
        return self.at_word() and self._tokens[self._next + 1].text == "="

    def _at_string_assignment(self) -> bool:
        return self.token.kind is TokenKind.STRING and self._tokens[self._next + 1].text == "="

    def end(self) -> None:
        """The statement ends here."""
        if self.token.kind is not TokenKind.END:
            raise self.unexpected()

    def at_end(self) -> bool:
        return self.token.kind is TokenKind.END

    def identifier(self) -> str:
        """Take one identifier and fold it as the session does.

        Raises:
            SqlError: 001003 for a reserved word or an empty name, 999999 for one that is too long or holds NUL,
                000002 for the function IDENTIFIER.
        """
        token = self.token
        if self.at("IDENTIFIER", "(") and self._tokens[self._next + 2].kind in {TokenKind.STRING, TokenKind.VARIABLE}:
            raise errors.unsupported("IDENTIFIER()")
        if token.kind is TokenKind.WORD and token.value not in _RESERVED:
            name = token.value
        elif token.kind is TokenKind.QUOTED and token.value:
            name = token.value.upper() if self._fold_quoted else token.value
        else:
            raise self.unexpected()
        if len(name) > MAX_IDENTIFIER:
            raise errors.unnumbered(f"Identifier '{name[:20]}...' is longer than {MAX_IDENTIFIER} characters.")
        if "\0" in name:
            raise errors.unnumbered("Identifier contains a NUL character.")
        self.advance()
        return name

    def name(self, *, parts: int) -> Name:
        """Take a name of at most `parts` parts."""
        name = [self.identifier()]
        while len(name) < parts and self.accept("."):
            name.append(self.identifier())
        return tuple(name)

    def full_name(self, *, parts: int) -> Name:
        """Take a name with all of its parts."""
        start = self.token
        name = self.name(parts=parts)
        if len(name) < parts:
            raise self.unexpected(start)
        return name

    def names(self, *, parts: int) -> list[Name]:
        """Take `name [, …]`."""
        return self.list_of(lambda: self.name(parts=parts))

    def string(self) -> str:
        """Take a string literal."""
        if self.token.kind is not TokenKind.STRING:
            raise self.unexpected()
        return self.advance().value

    def integer(self) -> int:
        """Take a whole number without a sign, of 64 bits at most."""
        if self.token.kind is not TokenKind.NUMBER or not self.token.text.isdigit():
            raise self.unexpected()
        if (number := int(self.token.text)) >= 2**63:
            raise self.unexpected()
        self.advance()
        return number

    # --- text as written -----------------------------------------------------------------------------------------

    @property
    def statement(self) -> str:
        """The whole statement as written, comments and blanks around it left out."""
        return self.slice(self._tokens[0], self._tokens[-1])

    def slice(self, first: Token, end: Token | None = None) -> str:
        """The text from one token up to another, by default the next one, without blanks and comments before that."""
        last = self._tokens[(self._next if end is None else self._tokens.index(end)) - 1]
        return self._source[first.start : last.start + len(last.text)]

    def rest(self) -> str:
        """Take everything up to the end of the statement, as written."""
        if self.at_end():
            raise self.unexpected()
        first = self.token
        self._next = len(self._tokens) - 1
        return self.slice(first)

    def expression(self, *ends: str) -> str:
        """Take an expression as written: up to a comma, a bracket that closes, or some words, outside of brackets."""
        first, depth = self.token, 0
        while not self.at_end() and (depth or not any(self.at(*words.split()) for words in (",", ")", *ends))):
            depth += self.at("(") - self.at(")")
            self.advance()
        if self.token is first:
            raise self.unexpected()
        return self.slice(first)

    def bracketed(self) -> str:
        """Take what stands in brackets, which may hold brackets itself, as written and without the outer ones."""
        self.expect("(")
        first, depth = self.token, 1
        while True:
            depth += self.at("(") - self.at(")")
            if not depth:
                text = self.slice(first)
                self.expect(")")
                return text
            if self.at_end():
                raise self.unexpected()
            self.advance()

    # --- values --------------------------------------------------------------------------------------------------

    def literal(self) -> Literal:
        """Take a value: a string, a number, a word, a name, or values or assignments in brackets.

        Raises:
            SqlError: 001003 for anything else, 999999 for a name in brackets that is assigned to twice.
        """
        first = self.token
        if self.accept("("):
            return self._bracket(first)
        sign = "-" if self.accept("-") else ""
        token = self.token
        if token.kind is TokenKind.NUMBER or (token.kind is TokenKind.STRING and not sign):
            self.advance()
            return Literal(token.kind, sign + token.text, sign + token.value)
        if sign or token.kind not in {TokenKind.WORD, TokenKind.QUOTED}:
            raise self.unexpected()
        value = self.advance().value
        if token.kind is TokenKind.WORD and not self.at("."):
            return Literal(token.kind, token.text, value, (value,))
        self._next -= 1
        name = self.name(parts=4)
        return Literal(token.kind, self.slice(first), print_name(name) if len(name) > 1 else name[0], name)

    def _bracket(self, first: Token) -> Literal:
        items: list[Literal] = []
        group: list[tuple[str, Literal]] = []
        if self.at_assignment() or self._at_string_assignment():
            while not self.accept(")"):
                name = self.advance().text if self._at_string_assignment() else self.word()
                self.expect("=")
                if name in dict(group):
                    raise errors.duplicate_property(name)
                group.append((name, self.literal()))
                if self.accept(",") and self.at(")"):
                    raise self.unexpected()
            return Literal(TokenKind.OPERATOR, self.slice(first), "", group=tuple(group))
        while not self.accept(")"):
            if items:
                self.expect(",")
            items.append(self.literal())
        return Literal(TokenKind.OPERATOR, self.slice(first), "", items=tuple(items))


def parser_of(text: str) -> Parser:
    """A cursor over SQL that a value holds, such as the name of an object."""
    return Parser(tokenize(text), source=text)


def name_in(text: str, *, parts: int) -> Name:
    """The name that a text holds, of at most `parts` parts.

    Raises:
        SqlError: As of `Parser.name`; 001003 for anything after it.
    """
    parser = parser_of(text)
    name = parser.name(parts=parts)
    parser.end()
    return name
