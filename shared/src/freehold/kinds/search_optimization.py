"""Search optimization of a table: which searches on which columns are sped up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from freehold import bodies, sql
from freehold.kinds.property import Target
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

DETAIL = "search_optimization"
"""Name of the query below among the details of a kind."""

_METHOD = re.compile(r"\s*(EQUALITY|SUBSTRING|GEO|FULL_TEXT)\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)


def describe(target: Target) -> Sql:
    """What is optimized."""
    return sql.sql("DESCRIBE SEARCH OPTIMIZATION ON {name}", name=target.name)


def check(text: str) -> None:
    """Refuse what isn't METHOD(target).

    Raises:
        InvalidBody: it is something else. A star is refused: Snowflake prints the columns that it stands for.
    """
    match = _METHOD.fullmatch(text)
    if match is None:
        raise bodies.InvalidBody("EQUALITY, SUBSTRING, GEO or FULL_TEXT of one column is needed, as in EQUALITY(ID)")
    bodies.expression(match[2])
    if match[2].strip() == "*":
        raise bodies.InvalidBody("name the columns: Snowflake keeps no star")


class Targets(Codec):
    """Methods with their targets, whatever their order and spelling; none stands for the whole table."""

    def canonical(self, value: Iterable[str]) -> frozenset[str]:
        return frozenset(_spelling(each) for each in value)

    def read(self, raw: object) -> object:
        return raw

    def matches(self, desired: object, observed: object) -> bool:
        return desired == observed if desired else bool(observed)


def _spelling(text: str) -> str:
    return "".join(bodies.canonical(text))


def observed(observation: Observation) -> object:
    """What DESCRIBE lists."""
    rows = (observation.details or {}).get(DETAIL)
    if rows is None:
        return UNKNOWN
    return frozenset(_spelling(f"{row['method']}({row['target']})") for row in rows)


def alter(target: Target, desired: Sequence[str] | None, observed: object) -> Sequence[Sql]:
    """Add what is missing, then drop what is too much."""
    have = observed if isinstance(observed, frozenset) else frozenset[str]()
    if not desired:
        verb = "DROP" if desired is None else "ADD"
        return (target.alter(sql.words(f"{verb} SEARCH OPTIMIZATION")),) if have or verb == "ADD" else ()
    texts = {_spelling(each): each for each in desired}
    missing = [text for spelling, text in texts.items() if spelling not in have]
    surplus = sorted(have - texts.keys())
    return tuple(
        target.alter(
            sql.sql(
                "{verb} SEARCH OPTIMIZATION ON {those}",
                verb=sql.words(verb),
                those=sql.join(map(bodies.written, those), ", "),
            )
        )
        for verb, those in (("ADD", missing), ("DROP", surplus))
        if those
    )
