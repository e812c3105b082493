"""Texts that somebody may write to break out of the place where they stand, and pieces of SQL that hold such texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial

from freehold import bodies, datatypes, returned
from freehold.kinds.columns import column_type

LONGEST_NAME = 255

_FRAGMENTS = (
    "'", "''", '"', '""', "\\", "\\'", "\\\\", "$$", "$", ";", "--", "//", "/*", "*/", "\n", "\r\n", "\t", " ", ".",
    ",", "(", ")", "=", "%", "_", "{", "}", "{name}", "{{", "?", ":1", "&x", "<%", "@", "\u202e", "\u200b", "\u2028",
    "\x1b[2J", "\x7f", "é", "e\u0301", "\u05d0\u05d1", "\u0661", "\U0001f600", "\U0001f468\u200d\U0001f469", "ﬁ", "ß",
    "; DROP DATABASE X", "' OR 1=1 --", '"; DROP ROLE "R', "NULL", "DEFAULT", "COMMENT = 'x'", "x", "A", "0",
)  # fmt: skip


def hostile(rng: random.Random, *, longest: int = LONGEST_NAME, shortest: int = 1) -> str:
    """A text of fragments that mean something to some reader.

    Args:
        rng: chooses.
        longest: in characters.
        shortest: likewise.
    """
    if rng.random() < 0.03:  # as long as it may be
        return (rng.choice(_FRAGMENTS) * LONGEST_NAME)[: min(longest, LONGEST_NAME)].ljust(shortest, "x")
    text = "".join(rng.choices(_FRAGMENTS, k=rng.randint(1, 6)))
    return text[:longest].ljust(shortest, "x")


EXPRESSIONS = (
    "1", "-1.5e3", "'it''s; -- no comment'", r"'\\ \' \n'", "$$it's \"; */ /* -- x$$", "CURRENT_ROLE()", "TRUE",
    "CASE WHEN CURRENT_ROLE() IN ('R', $$S;$$) THEN 1 ELSE 2 END", "(1 + 2) * 3 /* ; ' */", "1 -- ; it's over",
    "'a' || $$b'$$", "IFF(1 = 1, 'x', 'y')", "(SELECT 1)", "'\u202e\U0001f600'",
)  # fmt: skip
QUERIES = (
    "SELECT 1 AS A", "SELECT 'it''s; --' AS \"a;b\"", "SELECT $$ ; ' -- \" $$ AS A", "SELECT 1 AS A /* ; */ -- '",
    "SELECT 1 AS A;", "WITH X AS (SELECT 1 AS A) SELECT A FROM X", "SELECT '\u202e\U0001f600' AS A",
)  # fmt: skip
STATEMENTS = (
    *QUERIES, "CALL P('x;', $$y'$$)", "BEGIN SELECT 1; SELECT ';'; END", "INSERT INTO T VALUES ('a;', 1)",
)  # fmt: skip
DATA_TYPES = (
    "NUMBER(38, 0)", "int", "VARCHAR(16777216)", "text", "BOOLEAN", "TIMESTAMP_NTZ(9)", "VARIANT", "DATE", "FLOAT",
    "BINARY(10)", "ARRAY", "OBJECT", "TIME(0)", "decimal(10,2)", " varchar ( 5 ) ", "double precision",
)  # fmt: skip
OTHERS = (
    # names
    "DB.S.N", '"d;b"."s.--"."n""\'"', "DB.R", '"d\'$$"."r\\"', "N", '"\u202e\U0001f600"."$$"."/*"',
    # schedules, addresses, characters, documents
    "10 MINUTES", "1 HOUR", "30 SECONDS", "USING CRON 0 9-17/2 * JAN MON,5L Europe/Berlin", "192.0.2.0/24",
    "198.51.100.7", "|", "'", "\\", ",", '"', "\t", "NONE", '{"a": "it\'s; -- $$"}', "{}", "AUTO",
)  # fmt: skip

_OF_SQL: Mapping[Callable[..., object], tuple[str, ...]] = {
    bodies.expression: EXPRESSIONS,
    bodies.query: QUERIES,
    bodies.statement: STATEMENTS,
    datatypes.parse: DATA_TYPES,
    column_type: DATA_TYPES,
    returned.parse: DATA_TYPES,
}


def written(check: Callable[[str], object]) -> tuple[str, ...]:
    """Texts with a grammar of their own, some of which a check of a declaration lets pass.

    Args:
        check: the check.
    """
    while isinstance(check, partial):
        check = check.func
    return _OF_SQL.get(check, OTHERS)


def is_sql(check: Callable[[str], object]) -> bool:
    """Whether a check is one of SQL or data types, which look at the structure alone."""
    return written(check) is not OTHERS
