"""Bodies: what queries and expressions refer to, what comes out of them, and what is neither."""

import pytest

from freehold_devstack.snowflake.bodies import Output, Place, Relations, parse_expression, parse_query
from freehold_devstack.snowflake.datatypes import data_type
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.parser import Name


def outputs(**types: str) -> list[Output]:
    return [Output(name, data_type(written)) for name, written in types.items()]


RELATIONS: Relations = {
    ("D", "S", "T"): outputs(A="NUMBER(10,2)", B="VARCHAR(3)", V="VARIANT", **{"b c": "DATE"}),
    ("D", "S", "U"): outputs(A="INT"),
    ("D", "lower", "t"): outputs(a="TIME(3)"),
}


def described(query: str) -> list[tuple[str, str]]:
    return [(out.name, str(out.type)) for out in parse_query(query).outputs(RELATIONS, ("D", "S"))]


def number(query: str) -> int:
    with pytest.raises(SqlError) as caught:
        described(query)
    return caught.value.number


TABLES: dict[str, tuple[Name, ...]] = {
    "SELECT 1 AS one": (),
    "SELECT a FROM t": (("T",),),
    "SELECT t.a FROM d.s.t JOIN s.u USING (a)": (("D", "S", "T"), ("S", "U")),
    'SELECT "a" FROM "D"."lower"."t"': (("D", "lower", "t"),),
    "WITH c AS (SELECT a FROM t) SELECT a FROM c": (("T",),),
    "SELECT (SELECT max(a) FROM u) AS m FROM t": (("U",), ("T",)),
    "SELECT a FROM t UNION ALL SELECT a FROM u": (("T",), ("U",)),
    "(SELECT a FROM t)": (("T",),),
    "SELECT f.value AS x FROM t, LATERAL FLATTEN(INPUT => v) f": (("T",),),
}


@pytest.mark.parametrize("query", TABLES)
def test_a_query_names_the_tables_that_it_reads(query: str) -> None:
    assert set(parse_query(query).tables) == set(TABLES[query])


def test_columns_come_out_with_their_names_and_types() -> None:
    assert described("SELECT * FROM t") == [
        ("A", "NUMBER(10,2)"), ("B", "VARCHAR(3)"), ("V", "VARIANT"), ("b c", "DATE")
    ]  # fmt: skip
    assert described('SELECT x.a AS "Low", b::INT AS i FROM t x') == [("Low", "NUMBER(10,2)"), ("I", "NUMBER(38,0)")]
    assert described('SELECT "a" FROM "lower"."t"') == [("a", "TIME(3)")]
    assert described("SELECT 12.50 AS n, 'abc' AS s, TRUE AS b") == [
        ("N", "NUMBER(4,2)"), ("S", "VARCHAR(3)"), ("B", "BOOLEAN")
    ]  # fmt: skip


def test_an_expression_without_a_name_gives_a_nameless_column() -> None:
    assert described("SELECT a, a + 1 FROM t") == [("A", "NUMBER(10,2)"), ("", "NUMBER(10,2)")]
    assert described("SELECT a::VARCHAR FROM t") == [("", "VARCHAR(16777216)")]


REFUSED_QUERIES = {
    "": 1003,
    "SELEC 1": 1003,
    "SELECT a FROM": 1003,
    "SELECT a FROM t WHERE": 1003,
    "SELECT a,, b FROM t": 1003,
    "SELECT FROM t": 1003,
    "SELECT a FROM FROM t": 1003,
    "SELECT 1; SELECT 2": 1003,
    "SELECT 1;": 1003,
    "INSERT INTO t SELECT 1": 1003,
    "SHOW TABLES": 1003,
    "SELECT 'a": 1003,
    "SELECT nope FROM t": 904,
    "SELECT t.nope FROM t": 904,
    "SELECT y.a FROM t": 904,
    "SELECT a FROM t WHERE nope = 1": 904,
    'SELECT "a" FROM t': 904,
    "FROM t": 1003,
    "VALUES (1)": 1003,
    "SELECT a FROM t GROUP BY": 1003,
    "SELECT a FROM t GROUP BY HAVING a > 1": 1003,
    "SELECT a FROM t GROUP BY ROLLUP()": 1003,
    "SELECT a FROM t ORDER BY a,": 1003,
    "SELECT a FROM t JOIN u ON": 1003,
    "SELECT a FROM t JOIN u USING": 1003,
    "SELECT a FROM t, WHERE a > 1": 1003,
    "SELECT a IN () AS x FROM t": 1003,
    "SELECT a IS FROM t": 1003,
    "SELECT 1 AS": 1003,
    "SELECT * EXCLUDE FROM t": 1003,
    "SELECT a FROM t FETCH": 1003,
    "SELECT count(DISTINCT) AS n FROM t": 1003,
    "SELECT sum(a) OVER (PARTITION BY) AS s FROM t": 1003,
    "SELECT least(a,) AS s FROM t": 1003,
    "SELECT [a,] AS s FROM t": 1003,
    "SELECT b, count(*) AS n FROM t": 979,
    "SELECT b, sum(a) AS s FROM t GROUP BY a": 1104,
    "SELECT sum(a) AS s, sum(a) OVER (PARTITION BY b) AS p FROM t": 979,
    "SELECT * FROM t GROUP BY a": 1104,
    "SELECT a FROM t GROUP BY a HAVING b > 'x'": 979,
    "SELECT a FROM (SELECT a, count(*) AS n FROM t) x": 979,
    "SELECT * FROM TABLE(f(1))": 2,
    "SELECT $1 AS x FROM @stage": 2,
}


@pytest.mark.parametrize("query", REFUSED_QUERIES)
def test_what_is_no_query_over_these_tables_is_refused(query: str) -> None:
    assert number(query) == REFUSED_QUERIES[query]


GROUPED_QUERIES = [
    "SELECT a, count(*) AS n FROM t GROUP BY a",
    "SELECT a AS x, count(*) AS n FROM t GROUP BY 1",
    "SELECT a + 1 AS x, count(*) AS n FROM t GROUP BY x",
    "SELECT upper(b) AS u, a, max(v) AS m FROM t GROUP BY ALL",
    "SELECT a, b, grouping(a) AS g FROM t GROUP BY CUBE (a, b)",
    "SELECT a, b FROM t GROUP BY GROUPING SETS ((a, b), a)",
    "SELECT a, sum(sum(a)) OVER (ORDER BY a) AS s FROM t GROUP BY a",
    "SELECT b, count(*) OVER () AS n, lag(a) IGNORE NULLS OVER (ORDER BY b) AS l FROM t",
    "SELECT count(*) AS n, (SELECT max(u.a) FROM u) AS m FROM t HAVING count(*) > 1",
    "SELECT listagg(b, ',') WITHIN GROUP (ORDER BY b) AS l, my_aggregate(a) AS m FROM t",
    "SELECT f.value AS x, count(DISTINCT t.a) AS n FROM t, LATERAL FLATTEN(INPUT => v) f GROUP BY f.value",
]


@pytest.mark.parametrize("query", GROUPED_QUERIES)
def test_what_is_grouped_or_aggregated_is_taken(query: str) -> None:
    assert described(query)


def test_what_is_no_query_is_not_taken_for_a_command(caplog: pytest.LogCaptureFixture) -> None:
    for text in ("SHOW TABLES", "ALTER TABLE t", "GRANT x"):
        with pytest.raises(SqlError):
            parse_query(text)
        with pytest.raises(SqlError):
            parse_expression(text)
    assert not caplog.records


def test_errors_tell_the_place_in_the_statement() -> None:
    with pytest.raises(SqlError, match=r"error line 4 at position 1\n'T.B' in select clause is neither"):
        parse_query('SELECT\n "B" FROM t GROUP BY a', Place(3, 20)).outputs(RELATIONS, ("D", "S"))
    with pytest.raises(SqlError, match="line 4 at position 4 unexpected 'THEN'"):
        parse_query("SELECT a FROM\n t, THEN", Place(3, 20))
    with pytest.raises(SqlError, match="syntax error line 4 at position 8 unexpected 'x'"):
        parse_query("SELECT\n 1 AS a x frm t", Place(3, 20))
    with pytest.raises(SqlError, match="error line 3 at position 27\ninvalid identifier 'NOPE'"):
        parse_query("SELECT nope FROM t", Place(3, 20)).outputs(RELATIONS, ("D", "S"))


def test_quoted_names_fold_when_the_session_says_so() -> None:
    assert parse_query('SELECT "a" FROM "t"', fold_quoted=True).tables == (("T",),)
    assert parse_expression('"a"', fold_quoted=True).identifiers == (("A",),)


def test_an_expression_names_what_it_uses() -> None:
    expression = parse_expression("CASE WHEN f(val) THEN EXISTS (SELECT 1 FROM m WHERE r = 1) ELSE x.y END")
    assert expression.identifiers == (("VAL",), ("X", "Y"))
    assert expression.tables == (("M",),)
    assert expression.functions == (("F",),)


@pytest.mark.parametrize(("text", "expected"), [("'a'", True), ("-1", True), ("NULL", True), ("1 + 1", False)])
def test_a_literal_is_told_from_what_is_computed(text: str, expected: bool) -> None:
    assert parse_expression(text).is_literal is expected


@pytest.mark.parametrize("text", ["sum(a)", "row_number() OVER (ORDER BY a)", "(SELECT 1)", "EXISTS (SELECT 1)"])
def test_what_needs_more_than_one_row_is_not_scalar(text: str) -> None:
    assert not parse_expression(text).is_scalar


def test_an_expression_has_a_type_once_its_arguments_are_known() -> None:
    expression = parse_expression("CASE WHEN EXISTS (SELECT 1 FROM d.s.u WHERE u.a = n) THEN val ELSE '*' END")
    assert str(expression.type(outputs(VAL="VARCHAR(7)", N="INT"), RELATIONS)) == "VARCHAR(7)"
    assert str(parse_expression("val").type(outputs(VAL="VARCHAR(7)"))) == "VARCHAR(7)"
    assert parse_expression("f(1)").type(()) is None
    with pytest.raises(SqlError, match="invalid identifier 'OTHER'"):
        parse_expression("other").type(outputs(VAL="INT"))


@pytest.mark.parametrize("text", ["", "SELECT 1", "a b", "1, 2", "a;b", "a AND", "INSERT INTO t VALUES (1)"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(SqlError) as caught:
        parse_expression(text)
    assert caught.value.number == 1003


def test_a_column_that_several_tables_have_is_ambiguous() -> None:
    assert number("SELECT a FROM t, u") == 2028


@pytest.mark.parametrize("text", ["RANDOM()", "CURRENT_DATE", "UUID_STRING()", "a > CURRENT_TIMESTAMP()"])
def test_what_depends_on_more_than_its_arguments_is_told(text: str) -> None:
    assert parse_expression(text).unstable
    assert not parse_expression("UPPER(a)").unstable
