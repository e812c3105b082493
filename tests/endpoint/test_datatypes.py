"""Data types: every spelling, what is printed for it, what is refused, and which changes a column can undergo."""

import pytest

from freehold_devstack.snowflake.datatypes import check_change, data_type
from freehold_devstack.snowflake.errors import SqlError

PRINTED = {
    "NUMBER": "NUMBER(38,0)",
    "number(10)": "NUMBER(10,0)",
    "decimal(10, 2)": "NUMBER(10,2)",
    "DEC": "NUMBER(38,0)",
    "NUMERIC(38,37)": "NUMBER(38,37)",
    "INT": "NUMBER(38,0)",
    "INTEGER": "NUMBER(38,0)",
    "BIGINT": "NUMBER(38,0)",
    "SMALLINT": "NUMBER(38,0)",
    "TINYINT": "NUMBER(38,0)",
    "BYTEINT": "NUMBER(38,0)",
    "FLOAT": "FLOAT",
    "FLOAT4": "FLOAT",
    "FLOAT8": "FLOAT",
    "DOUBLE": "FLOAT",
    "DOUBLE PRECISION": "FLOAT",
    "REAL": "FLOAT",
    "DECFLOAT": "DECFLOAT(38)",
    "DECFLOAT(38)": "DECFLOAT(38)",
    "VARCHAR": "VARCHAR(16777216)",
    "VARCHAR(134217728)": "VARCHAR(134217728)",
    "STRING": "VARCHAR(16777216)",
    "TEXT(7)": "VARCHAR(7)",
    "NVARCHAR": "VARCHAR(16777216)",
    "NVARCHAR2(3)": "VARCHAR(3)",
    "CHAR VARYING(5)": "VARCHAR(5)",
    "NCHAR VARYING": "VARCHAR(16777216)",
    "CHAR": "VARCHAR(1)",
    "CHARACTER(4)": "VARCHAR(4)",
    "NCHAR": "VARCHAR(1)",
    "BINARY": "BINARY(8388608)",
    "VARBINARY(10)": "BINARY(10)",
    "BOOLEAN": "BOOLEAN",
    "DATE": "DATE",
    "TIME": "TIME(9)",
    "TIME(0)": "TIME(0)",
    "TIMESTAMP": "TIMESTAMP_NTZ(9)",
    "TIMESTAMP(3)": "TIMESTAMP_NTZ(3)",
    "DATETIME": "TIMESTAMP_NTZ(9)",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ(9)",
    "TIMESTAMPNTZ(6)": "TIMESTAMP_NTZ(6)",
    "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP_NTZ(9)",
    "TIMESTAMP_LTZ(3)": "TIMESTAMP_LTZ(3)",
    "TIMESTAMPLTZ": "TIMESTAMP_LTZ(9)",
    "TIMESTAMP WITH LOCAL TIME ZONE": "TIMESTAMP_LTZ(9)",
    "TIMESTAMP_TZ": "TIMESTAMP_TZ(9)",
    "TIMESTAMPTZ": "TIMESTAMP_TZ(9)",
    "TIMESTAMP(3) WITH TIME ZONE": "TIMESTAMP_TZ(3)",
    "VARIANT": "VARIANT",
    "OBJECT": "OBJECT",
    "ARRAY": "ARRAY",
    "GEOGRAPHY": "GEOGRAPHY",
    "GEOMETRY": "GEOMETRY",
    "UUID": "UUID",
    "FILE": "FILE",
    "VECTOR(int,16)": "VECTOR(INT, 16)",
    "VECTOR(FLOAT8, 4096)": "VECTOR(FLOAT, 4096)",
    'OBJECT(k VARCHAR NOT NULL, "b b" INT)': 'OBJECT(k VARCHAR(16777216) NOT NULL, "b b" NUMBER(38,0))',
    "ARRAY(INT)": "ARRAY(NUMBER(38,0))",
    "ARRAY(VARCHAR(3) NOT NULL)": "ARRAY(VARCHAR(3) NOT NULL)",
    "MAP(VARCHAR, MAP(INT, FLOAT NOT NULL))": "MAP(VARCHAR(16777216), MAP(NUMBER(38,0), FLOAT NOT NULL))",
}

REFUSED = {
    "VARAINT": 2040,
    "BOOL": 2040,
    "BLOB": 2040,
    '"NUMBER"': 1003,
    "INT(10)": 1003,
    "BIGINT(5)": 1003,
    "FLOAT(24)": 1003,
    "BOOLEAN(1)": 1003,
    "DATE()": 1003,
    "GEOGRAPHY()": 1003,
    "NUMBER()": 1003,
    "NUMBER(a)": 1003,
    "NUMBER(3,2,1)": 1003,
    "NUMBER(0)": 999999,
    "NUMBER(39)": 999999,
    "NUMBER(38,38)": 999999,
    "NUMBER(2,3)": 999999,
    "DECFLOAT(37)": 999999,
    "VARCHAR(0)": 999999,
    "VARCHAR(134217729)": 999999,
    "BINARY(67108865)": 999999,
    "TIME(10)": 999999,
    "TIMESTAMP WITH ZONE": 1003,
    "VECTOR": 1003,
    "VECTOR(INT)": 1003,
    "VECTOR(STRING, 4)": 999999,
    "VECTOR(INT, 4097)": 999999,
    "VECTOR(INT, -1)": 1003,
    "OBJECT()": 1003,
    "OBJECT(k)": 1003,
    "OBJECT(k INT, k INT)": 2025,
    "ARRAY(INT, INT)": 1003,
    "MAP(VARCHAR)": 1003,
    "MAP(DATE, INT)": 999999,
    "MAP(NUMBER(3,1), INT)": 999999,
    "VARCHAR(3) NOT": 1003,
}

CHANGES = {
    ("STRING", "VARCHAR"): None,
    ("VARCHAR(3)", "TEXT(4)"): None,
    ("NUMBER(3,1)", "NUMBER(5,1)"): None,
    ("NUMBER(5,1)", "NUMBER(3,1)"): None,
    ("VARCHAR(4)", "VARCHAR(3)"): 40050,
    ("NUMBER(3,1)", "NUMBER(3,2)"): 40052,
    ("NUMBER(3,1)", "VARCHAR"): 2108,
    ("FLOAT", "NUMBER"): 2108,
    ("TIMESTAMP_NTZ", "TIMESTAMP_LTZ"): 2108,
    ("OBJECT", "OBJECT(k INT)"): 2108,
    ("TIME(3)", "TIME(9)"): 999999,
    ("BINARY(3)", "BINARY(4)"): 999999,
    ("VECTOR(INT, 3)", "VECTOR(INT, 4)"): 999999,
}


@pytest.mark.parametrize("written", PRINTED)
def test_a_type_is_printed_in_its_one_form(written: str) -> None:
    assert str(data_type(written)) == PRINTED[written]
    assert str(data_type(PRINTED[written])) == PRINTED[written]


@pytest.mark.parametrize("written", REFUSED)
def test_what_is_no_type_is_refused(written: str) -> None:
    with pytest.raises(SqlError) as caught:
        data_type(written)
    assert caught.value.number == REFUSED[written]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_column_changes_its_type_only_where_no_value_has_to_change(old: str, new: str) -> None:
    expected = CHANGES[old, new]
    if expected is None:
        check_change("C", data_type(old), data_type(new))
        return
    with pytest.raises(SqlError) as caught:
        check_change("C", data_type(old), data_type(new))
    assert caught.value.number == expected


def test_a_default_length_is_told_from_a_written_one() -> None:
    assert not data_type("VARCHAR").written
    assert data_type("VARCHAR(16777216)").written
    assert data_type("VARCHAR") == data_type("VARCHAR(16777216)")


@pytest.mark.parametrize(("written", "bare"), [("NUMBER(3,1)", "NUMBER"), ("VECTOR(INT, 3)", "VECTOR(INT, 3)")])
def test_signatures_print_types_without_arguments(written: str, bare: str) -> None:
    assert data_type(written).bare == bare
