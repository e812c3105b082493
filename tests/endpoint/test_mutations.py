"""Whether the endpoint reads every token: with one token changed, a statement is refused or does something else.

Unlike the cases themselves this needs no driver: a mutant is tried inside a transaction that is undone, in the state in
which the statement was accepted and in the state that it left, where IF EXISTS and OR REPLACE show what they are for.
"""

import copy
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from freehold_devstack.snowflake.catalog import Change
from freehold_devstack.snowflake.effects import effects
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.statements import execute
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize
from tests.endpoint.bench import Bench, load

LEAST_KILLED = 0.95
MUTANTS_PER_STATEMENT = 24

_GENERATED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


# --- mutants ---------------------------------------------------------------------------------------------------------


def _misspelt(token: Token) -> str:
    match token.kind:
        case TokenKind.WORD | TokenKind.NUMBER:
            return token.text + token.text[-1]
        case TokenKind.STRING | TokenKind.QUOTED:
            return (
                token.text[:-2] + "zq" + token.text[-2:]
                if token.text.startswith("$$")
                else token.text[:-1] + "zq" + token.text[-1]
            )
        case _:
            return "%" if token.text != "%" else "="


def _retyped(token: Token) -> str:
    match token.kind:
        case TokenKind.WORD:
            return f"'{token.text}'"
        case TokenKind.NUMBER:
            return f'"{token.text}"'
        case TokenKind.STRING | TokenKind.QUOTED:
            return "7"
        case _:
            return "x"


def _mutants(sql: str) -> Iterator[tuple[str, str]]:
    """Every statement that differs in one token, with what was done to it."""
    tokens = tokenize(sql)[:-1]
    texts = [token.text for token in tokens]
    for index, token in enumerate(tokens):
        yield "drop", " ".join(texts[:index] + texts[index + 1 :])
        yield "duplicate", " ".join(texts[: index + 1] + texts[index:])
        yield "misspell", " ".join([*texts[:index], _misspelt(token), *texts[index + 1 :]])
        yield "retype", " ".join([*texts[:index], _retyped(token), *texts[index + 1 :]])
        if index and texts[index] != texts[index - 1]:
            yield "reorder", " ".join([*texts[: index - 1], texts[index], texts[index - 1], *texts[index + 1 :]])


def _plain(sql: str) -> str:
    """The statement with its blanks as mutants have them."""
    return " ".join(token.text for token in tokenize(sql)[:-1])


# --- what a statement does -------------------------------------------------------------------------------------------


def _observed(bench: Bench, *statements: str) -> list[object]:
    """What statements would do now, one after the other: refusal, or effects, result and what the session becomes."""
    session = vars(copy.deepcopy(bench.session))
    with bench.engine.context(bench.session).catalog.rehearsal() as changes:
        outcomes = [_outcome(bench, sql, changes) for sql in statements]
    vars(bench.session).update(session)
    return outcomes


def _outcome(bench: Bench, sql: str, changes: list[Change]) -> object:
    context, done = bench.engine.context(bench.session), len(changes)
    try:
        result = execute(sql, context)
    except SqlError as error:
        return (error.code, error.message)
    shown = [column.name for column in result.columns], result.rows, effects(changes[done:], context.catalog)
    return _GENERATED.sub("", repr((shown, bench.session)))


# --- the test --------------------------------------------------------------------------------------------------------


@dataclass
class _Tally:
    tried: int = 0
    survivors: list[str] = field(default_factory=list)

    def try_mutants(self, bench: Bench, sql: str) -> None:
        """Try some mutants of an accepted statement, always the same ones."""
        plain = " ".join(token.text for token in tokenize(sql)[:-1])
        first, again = _observed(bench, plain, plain)
        mutants = [mutant for mutant in _mutants(sql) if mutant[1] != plain]
        mutants.sort(key=lambda mutant: zlib.crc32(mutant[1].encode()))
        for what, mutant in mutants[:MUTANTS_PER_STATEMENT]:
            self.tried += 1
            if _observed(bench, mutant) == [first] and _observed(bench, plain, mutant) == [first, again]:
                self.survivors.append(f"{what}: {plain}\n  -> {mutant}")


@pytest.mark.parametrize("file", sorted({case.file for case in load()}))
def test_a_changed_token_is_refused_or_changes_the_effect(file: str) -> None:
    tally, seen = _Tally(), set[str]()
    for case in (case for case in load() if case.file == file):
        bench = Bench(case)
        for step in case.steps:
            bench.prepare(step)
            if "error" in step:
                continue
            if step["sql"] not in seen:
                seen.add(step["sql"])
                tally.try_mutants(bench, step["sql"])
            bench.run(step)
    killed = 1 - len(tally.survivors) / max(tally.tried, 1)
    assert killed >= LEAST_KILLED, f"{killed:.1%} of {tally.tried} mutants:\n" + "\n".join(tally.survivors)
