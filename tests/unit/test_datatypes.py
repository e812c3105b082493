"""Data types: spellings, what is printed, which are the same, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold.datatypes import InvalidDataType, matches, parse, read, signature, widens

CANONICAL = st.recursive(
    st.sampled_from(
        ["NUMBER(38,0)", "VARCHAR(10)", "FLOAT", "TIMESTAMP_TZ(3)", "VECTOR(INT, 16)", "OBJECT", "BOOLEAN"]
    ),
    lambda inner: st.one_of(
        inner.map("ARRAY({})".format),
        inner.map("ARRAY({} NOT NULL)".format),
        st.tuples(inner, inner).map(lambda pair: "OBJECT(a {}, B {})".format(*pair)),
        inner.map("MAP(VARCHAR(16777216), {})".format),
    ),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("int", "NUMBER(38,0)"),
        ("Byteint", "NUMBER(38,0)"),
        ("DECIMAL", "NUMBER(38,0)"),
        ("dec(10)", "NUMBER(10,0)"),
        ("NUMBER ( 20 , 4 )", "NUMBER(20,4)"),
        ("double  precision", "FLOAT"),
        ("REAL", "FLOAT"),
        ("DECFLOAT", "DECFLOAT(38)"),
        ("text", "VARCHAR(16777216)"),
        ("STRING(7)", "VARCHAR(7)"),
        ("char varying(3)", "VARCHAR(3)"),
        ("CHAR", "VARCHAR(1)"),
        ("NCHAR(5)", "VARCHAR(5)"),
        ("VARBINARY", "BINARY(8388608)"),
        ("TIME", "TIME(9)"),
        ("datetime(3)", "TIMESTAMP_NTZ(3)"),
        ("timestamp without time zone", "TIMESTAMP_NTZ(9)"),
        ("TIMESTAMP WITH LOCAL TIME ZONE(6)", "TIMESTAMP_LTZ(6)"),
        ("TIMESTAMPTZ", "TIMESTAMP_TZ(9)"),
        ("vector(integer,16)", "VECTOR(INT, 16)"),
        ("VECTOR(FLOAT8, 256)", "VECTOR(FLOAT, 256)"),
        ("array", "ARRAY"),
        ("array(int not null)", "ARRAY(NUMBER(38,0) NOT NULL)"),
        ("map(text,int)", "MAP(VARCHAR(16777216), NUMBER(38,0))"),
        ('object(Id int, "a b" object(x date) not null)', 'OBJECT(Id NUMBER(38,0), "a b" OBJECT(x DATE) NOT NULL)'),
        ("geography", "GEOGRAPHY"),
        ("TYPE_OF_TOMORROW(3)", "TYPE_OF_TOMORROW(3)"),
    ],
)
def test_every_spelling_becomes_what_describe_prints(written: str, printed: str) -> None:
    assert str(parse(written)) == printed


@given(CANONICAL)
def test_what_is_printed_is_read_back_the_same(text: str) -> None:
    assert str(parse(text)) == text
    assert matches(parse(text), read(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "5",
        "NUMBER(39)",
        "NUMBER(10,38)",
        "NUMBER(2,3)",
        "NUMBER()",
        "NUMBER(1,2,3)",
        "NUMBER(-1)",
        "NUMBER(99999999999999999999)",
        "INT(5)",
        "VARCHAR(0)",
        "VARCHAR(134217729)",
        "TIME(10)",
        "BOOLEAN(1)",
        "GEOGRAPHY()",
        "TIMESTAMP",
        "TIMESTAMP(3)",
        "BLOB",
        "VECTOR",
        "VECTOR(INT)",
        "VECTOR(VARCHAR, 3)",
        "VECTOR(INT, 0)",
        "VECTOR(INT, 4097)",
        "MAP",
        "MAP(INT)",
        "ARRAY(INT, INT)",
        "ARRAY()",
        "OBJECT()",
        "OBJECT(INT)",
        "ARRAY(INT NOT)",
        "ARRAY(INT",
        "VARCHAR)",
        "VARCHAR(5) x",
        "VARCHAR; DROP",
        "VARCHAR COLLATE en",
        "INT COLLATE 'en'",
        '"VARCHAR"',
        "ARRAY(" * 2000 + "INT" + ")" * 2000,
    ],
)
def test_what_is_no_type_is_refused_but_read_where_snowflake_prints_it(text: str) -> None:
    with pytest.raises(InvalidDataType):
        parse(text)
    assert not read(text).known
    assert matches(read(text), read(text))


@pytest.mark.parametrize(
    ("desired", "live", "same"),
    [
        ("INT", "NUMBER(38,0)", True),
        ("STRING", "VARCHAR(16777216)", True),
        ("VARCHAR", "VARCHAR(134217728)", True),
        ("BINARY", "BINARY(67108864)", True),
        ("ARRAY(TEXT)", "ARRAY(VARCHAR(134217728))", True),
        ("VARCHAR(16777216)", "VARCHAR(134217728)", False),
        ("VARCHAR", "VARCHAR(10)", False),
        ("CHAR", "VARCHAR(1)", True),
        ("CHAR", "VARCHAR(16777216)", False),
        ("CHAR", "VARCHAR(134217728)", False),
        ("NUMBER(10)", "NUMBER(10,2)", False),
        ("VARCHAR(5)", "VARCHAR(5) COLLATE 'en-ci'", True),
        ("OBJECT(a INT)", "OBJECT(A NUMBER(38,0))", False),
        ("ARRAY(INT)", "ARRAY(NUMBER(38,0) NOT NULL)", False),
        ("ARRAY", "ARRAY(NUMBER(38,0))", False),
        ("type_of_tomorrow", "TYPE_OF_TOMORROW", True),
        ("INT", "something <else>", False),
    ],
)
def test_types_are_compared_by_what_the_spec_says(desired: str, live: str, *, same: bool) -> None:
    assert matches(parse(desired), read(live)) is same


def test_a_collation_stands_beside_the_type() -> None:
    assert parse("TEXT COLLATE 'en-ci'").collation == "en-ci"
    assert parse("TEXT COLLATE ''").collation == ""
    assert parse("TEXT").collation is None


@pytest.mark.parametrize(
    ("one", "other", "overload"),
    [
        (["INT"], ["NUMBER(10,2)"], False),
        (["VARCHAR(10)"], ["STRING"], False),
        (["CHAR"], ["TEXT"], False),
        (["DATETIME"], ["TIMESTAMP_NTZ(3)"], False),
        (["ARRAY(INT)"], ["ARRAY"], False),
        (["INT"], ["TEXT"], True),
        (["INT"], ["FLOAT"], True),
        (["INT", "TEXT"], ["TEXT", "INT"], True),
        (["INT"], [], True),
        (["VECTOR(INT, 16)"], ["VECTOR(INT, 8)"], True),
        (["TIMESTAMP_NTZ"], ["TIMESTAMP_LTZ"], True),
    ],
)
def test_overloads_differ_by_what_the_types_are_and_not_by_how_long(
    one: list[str], other: list[str], *, overload: bool
) -> None:
    assert (signature(one) != signature(other)) is overload


@pytest.mark.parametrize(
    ("live", "desired", "wider"),
    [
        ("VARCHAR(5)", "VARCHAR(6)", True),
        ("VARCHAR(5)", "STRING", True),
        ("VARCHAR(6)", "VARCHAR(5)", False),
        ("BINARY(5)", "VARBINARY(6)", True),
        ("NUMBER(5,2)", "DECIMAL(6,2)", True),
        ("NUMBER(5,2)", "NUMBER(6,3)", False),
        ("NUMBER(5,0)", "NUMBER(4,0)", False),
        ("NUMBER(5,0)", "FLOAT", False),
        ("TIME(3)", "TIME(9)", False),
        ("VECTOR(INT, 3)", "VECTOR(INT, 4)", False),
    ],
)
def test_texts_get_longer_and_numbers_more_digits(live: str, desired: str, *, wider: bool) -> None:
    assert widens(read(live), parse(desired)) is wider


@pytest.mark.parametrize(
    ("written", "statement"),
    [
        ("string", "VARCHAR"),
        ("varchar( 7 )", "VARCHAR(7)"),
        ("char", "VARCHAR(1)"),
        ("varbinary", "BINARY"),
        ("int", "NUMBER(38,0)"),
        ("array(text not null)", "ARRAY(VARCHAR NOT NULL)"),
        ("object(a text, b number(3))", "OBJECT(a VARCHAR, b NUMBER(3,0))"),
        ("map(text, map(int, binary(3)))", "MAP(VARCHAR, MAP(NUMBER(38,0), BINARY(3)))"),
    ],
)
def test_a_statement_invents_no_length(written: str, statement: str) -> None:
    assert parse(written).ddl == statement
