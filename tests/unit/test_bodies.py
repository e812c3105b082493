"""SQL in a spec: one whole piece of the statement that it is put into, or refused; what is legal is never refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold.bodies import InvalidBody, expression, query, statement, written
from freehold.kinds.kind import Kind
from freehold.validation import faults
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.tokens import tokenize
from tests.harness.declarations import MASKING_POLICY, TASK, VIEW

CLAUSES = ("COMMENT", "EXEMPT_OTHER_POLICIES")
policy = partial(expression, clauses=CLAUSES)

SOUND = (
    "val", "'***'", "NULL", "TRUE", "-1", "1.5", '"Val"', "$$***$$", "CURRENT_ROLE() = 'R'",
    "CASE WHEN CURRENT_ROLE() = 'R' THEN val ELSE '***' END",
    "CASE val WHEN 'a' THEN CASE WHEN TRUE THEN 1 END ELSE 2 END",
    "EXISTS (SELECT 1 FROM d.s.m WHERE role = CURRENT_ROLE() AND region = val)",
    "(SELECT MAX(x) FROM t)", "val IN (1, 2, 3)", "SHA2(val, 256)", "val::VARCHAR", "val:case.end::VARCHAR",
    "OBJECT_INSERT(val, 'a', '*', TRUE)", "TRANSFORM(val, x -> x * 2)", "[1, 2]", "{'a': 1}", "COUNT(*) > 1",
    # Words that the lists of other tools refuse, where they are harmless.
    "'DROP TABLE t; --'", "'it''s; $$ /* '", r"'a\'; DROP'", '"a;b--c/*"', "$$;'\"--$$", "target = 1",
    "REPLACE(val, 'GRANT ', '')", "INSERT(val, 1, 2, 'x')", "GET(val, 'update')", "TRUNCATE(val, 2)",
    "SYSTEM$TYPEOF(val)",
    "call = 1", "begin IS NULL", "copy AND use", "end > begin", "CASE WHEN end > 1 THEN 1 END",
    # Comments, and who looks like one.
    "val -- as it is", "val // as it is", "/* ; ' */ val", "val /* a\n-- b */", "-- first\nval", "val --\r\n", "a - -b",
    "/*/ still */ val", "a / b",
    # What has the name of a clause, and is none.
    "comment = 'x'", "a AND comment = 'x'", "CASE WHEN comment = 'x' THEN 1 END", "f(a) = comment", "(a comment = 1)",
    "'comment = 1'", "  val\n", "ÄÖ = 'ü'",
)  # fmt: skip
BROKEN = (
    ("", "is empty"), (" \n\t", "is empty"), ("-- nothing", "is empty"), ("/* nothing */", "is empty"),
    ("val\0", "NUL"), ("'\ud800'", "surrogate"),
    ("'a", "a string that begins in line 1 has no certain end"), ("'a''", "a string"), (r"'a\'", "a string"),
    ("a = '\n'\n'", "line 3"), ('"a', "a quoted name"), ('"a""', "a quoted name"), ("$$ a", r"a string in \$\$"),
    ("$$a$$b$$", "no certain end"), ("/* a", "a comment"), ("val /*/", "a comment"), ("val */", "ends with /"),
    ("/* a /* b */ c */", "ends with /"),
    ("f(a", r"\( in line 1 is never closed"), ("f(a\n))", r"\) in line 2 closes nothing"), (")", "closes nothing"),
    ("f(a]", r"\] in line 1 closes nothing"), ("[a)", r"\) in line 1"), ("{'a': [1}]", "} in line 1"),
    ("a) OR (b", r"\)"),
    ("f(')'", "never closed"), ("f(a --)\n", "never closed"),
    (";", "; in line 1"), ("val;", "; in line 1"), ("val; DROP TABLE t", "; in line 1"), ("val\n;\nval", "; in line 2"),
    ("(SELECT 1; SELECT 2)", "; in line 1"), ("'a'; --'", "; in line 1"), (r"'\\'; --'", "; in line 1"),
    ("val --\r; DROP TABLE t", "uncertain"), ("val // a\u2028; b", "uncertain"), ("val --\x0b'", "uncertain"),
    ("a$$'$$ EXEMPT_OTHER_POLICIES = TRUE --'", "uncertain"), ("$$a$$$", "no certain end"),
    ("SELECT 1", "SELECT begins a query"), ("select 1", "SELECT begins a query"),
    ("WITH a AS (SELECT 1) SELECT 1", "WITH begins a query"),
    ("/**/SELECT(1)", "SELECT begins a query"),
    ("DROP TABLE t", "DROP begins a statement"), ("drop\ttable t", "DROP begins"), ("CALL p()", "CALL begins"),
    ("EXECUTE IMMEDIATE 'x'", "EXECUTE begins"), ("GRANT ROLE a TO ROLE b", "GRANT begins"),
    ("ALTER USER u SET x = 1", "ALTER begins"), ("INSERT INTO t SELECT 1", "INSERT begins"),
    ("MERGE INTO t", "MERGE begins"),
    ('DROP "t"', "DROP begins"), ("CREATE OR REPLACE TABLE t", "CREATE begins"), ("BEGIN RETURN 1", "BEGIN begins"),
    ("a, b", "comma in line 1"), ("f(a, b), c", "comma in line 1"),
    ("val =", "ends with ="), ("val ||", r"ends with \|"), ("val AND", "ends with AND"), ("NOT", "ends with NOT"),
    ("val ::", "ends with :"), ("val.", "ends with ."), ("val IN", "ends with IN"), ("a *", r"ends with \*"),
    ("CASE WHEN a THEN", "ends with THEN"), ("CASE WHEN a THEN b", "CASE has no END"),
    ("CASE WHEN a THEN CASE WHEN b THEN c END", "CASE has no END"),
    ("CASE WHEN a THEN b ELSE t.end", "CASE has no END"),
    ("val EXEMPT_OTHER_POLICIES = TRUE", "EXEMPT_OTHER_POLICIES = in line 1"), ("val comment='x'", "COMMENT ="),
    ("f(a) /**/ COMMENT\n= 'x'", "COMMENT ="), ("CASE WHEN a THEN b END COMMENT = 'x'", "COMMENT ="),
    ("'a' COMMENT = 'x'", "COMMENT ="), ("val --\nCOMMENT = 'x'", "COMMENT = in line 2"),
    ("NULL COMMENT = ''", "COMMENT ="),
)  # fmt: skip


@pytest.mark.parametrize("text", SOUND)
def test_an_expression_passes(text: str) -> None:
    policy(text)


@pytest.mark.parametrize(("text", "why"), BROKEN)
def test_what_would_not_stay_one_expression_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidBody, match=why):
        policy(text)


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (query, "SELECT 1"),
        (query, "SELECT ';' AS a -- ;\n;"),
        (query, "WITH a AS (SELECT 1) SELECT * FROM a"),
        (query, "((SELECT 1) UNION (SELECT 2))"),
        (statement, "INSERT INTO t SELECT * FROM s;"),
        (statement, "CALL s.p()"),
        (statement, "BEGIN"),
        (statement, "BEGIN TRANSACTION"),
        (statement, "BEGIN\n  INSERT INTO t VALUES (1);\n  RETURN $$a;$$;\nEND;\n"),
        (statement, "DECLARE x INT; BEGIN x := 1; END"),
    ],
)
def test_queries_and_statements_pass(check: Callable[[str], None], text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("check", "text", "why"),
    [
        (query, "", "is empty"),
        (query, ";", "ends a query"),
        (query, "SELECT 1; SELECT 2", "; in line 1"),
        (query, "SELECT 1;;", "; in line 1"),
        (query, "DROP TABLE t", "begins with SELECT or WITH, not with DROP"),
        (query, "()", "not with"),
        (query, "SELECT (1", "never closed"),
        (statement, "SELECT 1; DROP TABLE t", "; in line 1"),
        (statement, "BEGIN SELECT 1; END; DROP TABLE t", "goes on with T in line 1"),
        (statement, "BEGIN TRANSACTION; DELETE FROM t; COMMIT;", "goes on with COMMIT"),
        (statement, "CALL p('a", "a string"),
    ],
)
def test_what_is_more_or_less_than_one_query_or_statement_is_refused(
    check: Callable[[str], None], text: str, why: str
) -> None:
    with pytest.raises(InvalidBody, match=why):
        check(text)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [(MASKING_POLICY, "body", "val;"), (VIEW, "statement", "DROP TABLE t"), (TASK, "sqlStatement", "a; b")],
)
def test_admission_and_reconciler_find_it_in_a_spec(kind: Kind, field: str, value: str) -> None:
    spec = {"databaseName": "D", "schemaName": "S", "name": "X", field: value}
    (fault,) = faults(kind, kind.spec.model_validate(spec))
    assert fault.startswith(f"spec.{field}: ")


PIECES = st.sampled_from(
    ["'", "''", '"', "$$", "$", "--", "//", "/*", "*/", "\n", "\r", ";", "(", ")", "[", "]", ",", "\\", "=", " ", "a",
     "END", "CASE", "COMMENT", "'x'", "1", "."]
)  # fmt: skip
FOLLOWING = " COMMENT = 'c'"


@given(st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=30))
def test_what_passes_keeps_apart_from_what_follows(text: str) -> None:
    """As another reader of SQL sees it, the endpoint's: the text's own tokens, then the clause's."""
    try:
        policy(text)
        own = tokenize(text)[:-1]
    except (InvalidBody, SqlError):
        return
    together = tokenize(written(text).text + FOLLOWING)[:-1]
    assert [each.text for each in together] == [each.text for each in own] + ["COMMENT", "=", "'c'"]


@pytest.mark.parametrize(
    "text", ["(" * 60_000, "'" * 60_001, "$" * 60_000, "/*" * 30_000, "CASE " * 12_000, "a-" * 30_000]
)
def test_the_longest_texts_are_read_in_no_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(InvalidBody):
        policy(text)
    assert time.process_time() - started < 1
