"""Texts of several statements: where one ends, and which are refused."""

from __future__ import annotations

import pytest

from freehold import script
from freehold.bodies import InvalidBody

BLOCK = "BEGIN LET x := 1; IF (x = 1) THEN INSERT INTO t VALUES (1); END IF; END"
CASES = "BEGIN CASE (x) WHEN 1 THEN SELECT 1; ELSE SELECT 2; END CASE; SELECT CASE WHEN a THEN 1 END; END"
NESTED = "DECLARE x INT; y INT; BEGIN FOR r IN c DO BEGIN SELECT 1; END; END FOR; WHILE (a) DO b := 1; END WHILE; END"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        (";;SELECT 1;;\n;SELECT 2\n", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';'; SELECT 'it''s; \\'; x'", ["SELECT ';'", "SELECT 'it''s; \\'; x'"]),
        ('SELECT "a;""b"; SELECT 2', ['SELECT "a;""b"', "SELECT 2"]),
        ("SELECT $$ a; 'b $$; SELECT 2", ["SELECT $$ a; 'b $$", "SELECT 2"]),
        ("-- one; two\nSELECT 1; // a; b\nSELECT /* ; */ 2", ["SELECT 1", "SELECT /* ; */ 2"]),
        (f"{BLOCK}; SELECT 2", [BLOCK, "SELECT 2"]),
        (f"{CASES}; SELECT 2", [CASES, "SELECT 2"]),
        (f"{NESTED}; SELECT 2", [NESTED, "SELECT 2"]),
        (f"CREATE TASK t AS {BLOCK}; SELECT 2", [f"CREATE TASK t AS {BLOCK}", "SELECT 2"]),
        ("BEGIN; SELECT 1; COMMIT", ["BEGIN", "SELECT 1", "COMMIT"]),
        ("BEGIN TRANSACTION; SELECT 1", ["BEGIN TRANSACTION", "SELECT 1"]),
        ("SELECT end, begin FROM t; SELECT 2", ["SELECT end, begin FROM t", "SELECT 2"]),
        ("SELECT CASE WHEN a THEN 1 END; SELECT 2", ["SELECT CASE WHEN a THEN 1 END", "SELECT 2"]),
    ],
)
def test_a_text_is_split_where_its_statements_end(text: str, found: list[str]) -> None:
    assert [each.text for each in script.statements(text)] == found


@pytest.mark.parametrize(
    "text", ["SELECT 'a; SELECT 2", "BEGIN SELECT 1;", "DECLARE x INT;", "SELECT (1; SELECT 2", "-- x"]
)
def test_a_text_of_which_no_end_is_certain_is_refused(text: str) -> None:
    with pytest.raises(InvalidBody):
        script.statements(text)
    assert list(script.faults(text, allow_destructive=True))


def test_the_hash_is_of_what_a_statement_means() -> None:
    one, other = script.statements("select  1 -- x\n; SELECT 1")
    (different,) = script.statements("SELECT 2")
    assert one.hash == other.hash != different.hash


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DROP TABLE t", "DROP"),
        ("ALTER TABLE t DROP COLUMN c", "DROP"),
        ("TRUNCATE TABLE t", "TRUNCATE"),
        ("DELETE FROM t", "DELETE"),
        ("REMOVE @s", "REMOVE"),
        ("CREATE OR REPLACE TABLE t (a INT)", "OR REPLACE"),
        ("INSERT OVERWRITE INTO t SELECT 1", "INSERT OVERWRITE"),
        ("EXECUTE IMMEDIATE 'x'", "EXECUTE IMMEDIATE"),
        ("BEGIN DELETE FROM t; END", "DELETE"),
        ("SELECT 1; DROP/**/TABLE t", "DROP"),
    ],
)
def test_what_may_lose_something_is_refused_unless_it_is_meant(text: str, words: str) -> None:
    (fault,) = script.faults(text, allow_destructive=False)
    assert f"holds {words}, which may lose something" in fault
    assert list(script.faults(text, allow_destructive=True)) == []


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t VALUES ('DROP TABLE x')",
        'SELECT "DROP" FROM t',
        "SELECT t.drop FROM t -- DROP",
        "GRANT DELETE, TRUNCATE ON TABLE t TO ROLE r",
        "UNDROP TABLE t",
    ],
)
def test_words_in_strings_names_and_privileges_lose_nothing(text: str) -> None:
    assert list(script.faults(text, allow_destructive=False)) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("USE ROLE x", "(USE) is refused: it changes a session"),
        ("ALTER SESSION SET a = 1", "(ALTER SESSION)"),
        ("SET x = 1", "(SET)"),
        ("SELECT 1; COMMIT", "statement 2 (COMMIT) is refused: each statement commits by itself"),
        ("BEGIN", "(BEGIN)"),
        ("PUT file:///etc/passwd @s", "(PUT) is refused: it would move files of the controller"),
        ("GET @s file:///tmp", "(GET)"),
    ],
)
def test_what_would_reach_others_is_refused(text: str, why: str) -> None:
    assert why in "; ".join(script.faults(text, allow_destructive=True))


@pytest.mark.parametrize(
    "text", ["SELECT 1", "show grants to role r;", "WITH x AS (SELECT 1) SELECT * FROM x", "LIST @s"]
)
def test_what_only_reads_may_observe(text: str) -> None:
    assert list(script.reading_faults(text)) == []


@pytest.mark.parametrize(
    "text", ["INSERT INTO t SELECT 1", "SELECT 1; SELECT 2", "(SELECT 1)->>DROP", "'x", "SHOW TABLES ->> DROP TABLE t"]
)
def test_what_does_more_may_not(text: str) -> None:
    assert list(script.reading_faults(text))


def test_an_installation_allows_words_and_denies_patterns() -> None:
    policy = script.Policy.of("insert, SELECT", "drop  database", enabled=True)
    assert list(policy.refusals("INSERT INTO t SELECT 1")) == []
    assert list(policy.refusals("UPDATE t SET a = 1"))
    open_to_all = script.Policy.of("", "drop database", enabled=True)
    assert list(open_to_all.refusals("UPDATE t SET a = 'DROP DATABASE'")) == []
    (denied,) = open_to_all.refusals("SELECT 1; DROP /* x */ database d")
    assert denied == "statement 2 holds DROP DATABASE, which this installation doesn't allow"


def test_a_statement_shows_its_verb_alone() -> None:
    (secret,) = script.statements("ALTER USER u SET PASSWORD = 'hunter2'")
    assert secret.sql.shown == "ALTER"
    assert "hunter2" not in f"{secret!r} {secret.sql!r}"
    assert "hunter2" not in secret.sql.redact("syntax error near ALTER USER u SET PASSWORD = 'hunter2'")
    (unknown,) = script.statements("hunter2 x")
    assert unknown.sql.shown == "STATEMENT"
