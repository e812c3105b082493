"""A text of several SQL statements that people write: split, and judged by the words that count.

The judgement is a guard rail against mistakes, and no boundary: a procedure that is called may do anything. The
boundary is the role that the statements run as.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from freehold import bodies
from freehold.bodies import InvalidBody, Token
from freehold.identity import digest
from freehold.sql import Sql

MOST = 100
"""Statements in a text: what has run is remembered of each."""

_TRANSACTION = frozenset({"", ";", "TRANSACTION", "WORK", "NAME"})
"""What follows a BEGIN that begins a transaction, and no block."""
_CONTROLS = frozenset({"IF", "FOR", "WHILE", "LOOP", "REPEAT"})
"""What follows an END that ends neither BEGIN nor CASE."""
_LEADS = frozenset({"", ";", "BEGIN", "THEN", "ELSE", "DO", "LOOP", "REPEAT"})
"""What a block inside a block follows."""

_READING = frozenset({"DESC", "DESCRIBE", "LIST", "LS", "SELECT", "SHOW", "WITH"})
_DESTRUCTIVE: tuple[tuple[str, ...], ...] = (
    *(("DROP",), ("TRUNCATE",), ("DELETE",), ("REMOVE",), ("RM",)),
    *(("OR", "REPLACE"), ("INSERT", "OVERWRITE"), ("EXECUTE", "IMMEDIATE")),
)
"""Words that lose something, or may: nobody sees what EXECUTE IMMEDIATE runs."""
_OF_PRIVILEGES = frozenset({"GRANT", "REVOKE"})
"""Statements in which these words are names of privileges."""

_SESSION = "it changes a session that other resources use: set useRole or context"
_SINGLE = "each statement commits by itself: write one BEGIN ... END block"
_FILES = "it would move files of the controller"
_REFUSED: Mapping[tuple[str, ...], str] = {
    ("BEGIN",): _SINGLE,
    ("START", "TRANSACTION"): _SINGLE,
    ("COMMIT",): _SINGLE,
    ("ROLLBACK",): _SINGLE,
    ("USE",): _SESSION,
    ("ALTER", "SESSION"): _SESSION,
    ("SET",): _SESSION,
    ("UNSET",): _SESSION,
    ("PUT",): _FILES,
    ("GET",): _FILES,
}
"""Beginnings of statements that are never run, and why."""

_VERBS = frozenset({
    *("ALTER", "BEGIN", "CALL", "COMMENT", "COPY", "CREATE", "DECLARE", "DELETE", "DROP", "EXECUTE", "GRANT", "INSERT"),
    *("MERGE", "REMOVE", "REVOKE", "TRUNCATE", "UNDROP", "UPDATE", *_READING),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Policy:
    """What an installation lets people run.

    Attributes:
        enabled: whether it runs anything.
        allowed: words that a statement may begin with; empty for any.
        denied: words one after the other that no statement may hold, such as `DROP DATABASE`.
    """

    enabled: bool = False
    allowed: frozenset[str] = frozenset()
    denied: tuple[str, ...] = ()

    @classmethod
    def of(cls, allowed: str, denied: str, *, enabled: bool) -> Self:
        """From lists with commas between their items."""
        return cls(enabled, frozenset(_items(allowed)), tuple(_items(denied)))

    def refusals(self, text: str) -> Iterator[str]:
        """What it doesn't let a text of sound statements do, for people."""
        for number, each in enumerate(statements(text), 1):
            if self.allowed and (not each.words or each.words[0] not in self.allowed):
                yield f"statement {number} begins with none of the words that this installation allows"
            for pattern in self.denied:
                if _holds(each.words, tuple(pattern.split())):
                    yield f"statement {number} holds {pattern}, which this installation doesn't allow"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a text. What it says is shown to nobody: there may be secrets in it.

    Attributes:
        text: as written, without what separates it from others.
        words: its keywords and bare names, in upper case; neither strings, quoted names nor comments.
        hash: of what it means, the same for each way to write it.
    """

    text: str = field(repr=False)
    words: tuple[str, ...] = field(repr=False)
    hash: str

    @property
    def verb(self) -> str:
        """What it does, in a word that is safe to show."""
        return self.words[0] if self.words and self.words[0] in _VERBS else "STATEMENT"

    @property
    def sql(self) -> Sql:
        """As it is sent."""
        return Sql(self.text, self.verb, (self.text,))


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a text, in their order.

    Raises:
        InvalidBody: where one ends is uncertain.
    """
    return tuple(_statement(text, each) for each in _split(bodies.read(text)))


def faults(text: str, *, allow_destructive: bool) -> Iterator[str]:
    """Why a text isn't run, for people.

    Args:
        text: of the statements.
        allow_destructive: whether its author knows that it loses something.
    """
    try:
        found = statements(text)
    except InvalidBody as error:
        yield str(error)
        return
    if len(found) > MOST:
        yield f"it has {len(found)} statements, and may have {MOST}: make several resources"
    for number, each in enumerate(found, 1):
        for beginning, why in _REFUSED.items():
            if each.words[: len(beginning)] == beginning and not _is_block(each):
                yield f"statement {number} ({' '.join(beginning)}) is refused: {why}"
        if not allow_destructive and (words := _destructive(each)):
            yield (
                f"statement {number} holds {words}, which may lose something: set dangerousAllowDestructive to true "
                "where that is meant"
            )


def reading_faults(text: str) -> Iterator[str]:
    """Why a text isn't one statement that only reads, for people."""
    try:
        found = statements(text)
    except InvalidBody as error:
        yield str(error)
        return
    if len(found) != 1:
        yield f"it is one statement, not {len(found)}"
    elif not found[0].words or found[0].words[0] not in _READING:
        yield f"it only reads, so it begins with one of {', '.join(sorted(_READING))}"
    elif "->>" in found[0].text:
        yield "->> leads to further statements, and it is one"


def _items(listed: str) -> Iterator[str]:
    """The items of a list, in upper case and with single blanks."""
    yield from filter(None, (" ".join(each.upper().split()) for each in listed.split(",")))


def _destructive(statement: Statement) -> str:
    if statement.words and statement.words[0] in _OF_PRIVILEGES:
        return ""
    return next((" ".join(each) for each in _DESTRUCTIVE if _holds(statement.words, each)), "")


def _holds(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether words stand one after the other among others."""
    return any(tuple(words[at : at + len(wanted)]) == tuple(wanted) for at in range(len(words)))


def _is_block(statement: Statement) -> bool:
    return statement.words[0] == "BEGIN" and statement.words[-1] == "END"


def _statement(text: str, tokens: Sequence[Token]) -> Statement:
    written = re.sub(r"\s+\Z", "", text[tokens[0].start : tokens[-1].end])
    words = tuple(token.text for before, token in _pairs(tokens) if token.kind == "word" and before not in (".", ":"))
    return Statement(written, words, digest("\0".join(bodies.canonical(written))))


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[str, Token]]:
    """Each token with the text before it; empty before the first."""
    return zip(("", *(each.text for each in tokens)), tokens, strict=False)


def _split(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of each statement: a semicolon ends one, except in a block of Snowflake Scripting."""
    current: list[Token] = []
    block = _Block()
    for at, token in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.text == ";" and token.kind == "sign" and not block.open:
            if current:
                yield current
            current, block = [], _Block()
            continue
        block.read(current, token, following)
        current.append(token)
    if block.open:
        raise InvalidBody("a block of BEGIN or DECLARE has no END")
    if current:
        yield current


@dataclass(slots=True)
class _Block:
    """Whether what is read lies in a block.

    Attributes:
        depth: how many BEGIN and CASE wait for their END.
        declaring: whether a DECLARE waits for its BEGIN.
    """

    depth: int = 0
    declaring: bool = False

    @property
    def open(self) -> bool:
        return self.declaring or self.depth > 0

    def read(self, before: Sequence[Token], token: Token, following: str) -> None:
        """Read a token of a statement.

        Args:
            before: what was read of it so far.
            token: the next one.
            following: text of the one after it.
        """
        if token.kind != "word":
            return
        last = before[-1].text if before else ""
        if token.text == "DECLARE" and (last in _LEADS or (last == "AS" and not self.open)):
            self.declaring = True
        elif token.text == "BEGIN" and self._begins(before, last, following):
            self.depth, self.declaring = self.depth + 1, False
        elif self.depth and token.text == "CASE" and last != "END":
            self.depth += 1
        elif self.depth and token.text == "END" and following not in _CONTROLS:
            self.depth -= 1

    def _begins(self, before: Sequence[Token], last: str, following: str) -> bool:
        if self.open:
            return last in _LEADS and following not in _TRANSACTION
        begins_body = last == "AS" and before[0].text in ("CREATE", "ALTER")
        return (not before or begins_body) and following not in _TRANSACTION
