"""Whether Snowflake reads a statement as it was meant: as one statement, whose names and texts are those of the spec,
whatever stands in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from freehold.kinds.file_formats import characters
from freehold.sql import Sql
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.objects import load
from freehold_devstack.snowflake.statements import parse
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize
from tests.properties.specs import MARK

TYPES = load()
_OF_OTHERS = {
    2: "the endpoint doesn't have that yet",
    904: "SQL that people wrote names a column that isn't there",
    2025: "a list names a column twice, which Snowflake alone refuses so far",
    2263: "SQL that people wrote is no default",
    11201: "SQL that people wrote has another value each time",
    11202: "SQL that people wrote has a subquery",
    2023: "SQL that people wrote has another type",
}
"""Refusals of what isn't ours to know, by number."""
_OF_PEOPLE = ("Invalid expression [", "Invalid WHEN condition [", "Invalid collation specification")
"""Likewise of SQL that people wrote, by words."""
_TEXTS = frozenset({TokenKind.QUOTED, TokenKind.STRING})


_FORMS: tuple[Callable[[str], str], ...] = (
    str,
    lambda text: text.replace('"', '""'),  # a name in a text that is read as SQL again
    lambda text: text.replace("\\", "_"),  # a pattern of SHOW ... LIKE
    str.upper,  # a name as people write it in SQL, which folds it
    characters,  # an option of a file format, which may be an escape sequence
)
"""What a text may stand as in a string or a quoted name. What is compared without case is written in lower case."""


class Misread(AssertionError):
    """A statement isn't read as it was meant."""


def check(statement: Sql) -> None:
    """Whether a statement is one that the endpoint understands.

    Raises:
        Misread: it isn't.
    """
    try:
        parse(statement.text, TYPES)
    except SqlError as error:
        if error.number in _OF_OTHERS or any(each in error.message for each in _OF_PEOPLE):
            return
        raise Misread(f"{error.code} {error.message}\n{statement.text!r}") from error


def compare(tame: Sql, hostile: Sql, texts: Mapping[str, str]) -> None:
    """Whether a statement with hostile texts says the same as one with tame texts in their places.

    Args:
        tame: the one.
        hostile: the other.
        texts: the hostile text for each tame one.

    Raises:
        Misread: it doesn't.
    """
    check(hostile)
    meant, read = tokenize(tame.text), tokenize(hostile.text)
    if [each.kind for each in meant] != [each.kind for each in read]:
        raise Misread(f"it has other parts than {tame.text!r}\n{hostile.text!r}")
    # Lists may be sorted.
    left = Counter((each.kind, each.value) for each in read)
    for each in meant:
        found = next((value for value in _replaced(each, texts) if left[each.kind, value]), None)
        if found is None:
            raise Misread(f"nothing in it is {each.text!r} of {tame.text!r}\n{hostile.text!r}")
        left[each.kind, found] -= 1


def _replaced(token: Token, texts: Mapping[str, str]) -> Iterator[str]:
    """What a token may be with hostile texts in it."""
    value = token.value
    if token.kind in _TEXTS and MARK.casefold() in value.casefold():
        held = [(tame, hostile) for tame, hostile in texts.items() if tame.casefold() in value.casefold()]
        for form in _FORMS:
            found = value
            for tame, hostile in held:
                found = found.replace(tame, form(hostile)).replace(tame.lower(), form(hostile).lower())
            yield found
    else:
        yield value
