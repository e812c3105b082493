"""Each data type through the real driver: what its cells become in Python."""

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from snowflake.connector.errors import DatabaseError

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.results import Column
from tests.endpoint.conftest import Connect, http_client, log_in, rows

EAST = timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'it''s'", "it's"),
        ("'it'::VARCHAR(2)", "it"),
        ("NULL::DATE", None),
        ("42", 42),
        ("-1.50", Decimal("-1.50")),
        ("'12.345'::NUMBER(6, 2)", Decimal("12.35")),
        ("1.5::FLOAT", 1.5),
        ("1e3", 1000.0),
        ("'1.25E5'::DECFLOAT", Decimal(125000)),
        ("'-12345678901234567890123456789012345678'::NUMBER", -12345678901234567890123456789012345678),
        ("0.1234567890123456789012345678901234567", Decimal("0.1234567890123456789012345678901234567")),
        ("TRUE", True),
        ("'off'::BOOLEAN", False),
        ("DATE '2024-01-02'", date(2024, 1, 2)),
        ("'1969-12-31'::DATE", date(1969, 12, 31)),
        ("CAST('23:59:58.123' AS TIME)", time(23, 59, 58, 123000)),
        ("'2024-01-02 03:04:05.678901'::TIMESTAMP_NTZ", datetime(2024, 1, 2, 3, 4, 5, 678901)),  # noqa: DTZ001
        ("'2024-01-02 03:04:05'::TIMESTAMP_LTZ", datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("'2024-01-02 03:04:05 +0530'::TIMESTAMP_TZ", datetime(2024, 1, 2, 3, 4, 5, tzinfo=EAST)),
        ("'0AFF'::BINARY", bytearray(b"\x0a\xff")),
        ("'a'::VARIANT", '"a"'),
        ("[1, 2]::VECTOR(INT, 2)", [1, 2]),
        ("[1.5, 2]::VECTOR(FLOAT, 2)", [1.5, 2.0]),
    ],
)
async def test_a_cell_arrives_as_a_python_value(
    endpoint: SnowflakeEndpoint, connect: Connect, expression: str, value: object
) -> None:
    connection = await connect(endpoint, session_parameters={"TIMEZONE": "UTC"})
    [(cell,)] = await rows(connection, f"SELECT {expression}")
    assert (cell, type(cell)) == (value, type(value))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("PARSE_JSON('[1, null, \"x\"]')", [1, None, "x"]),
        ('PARSE_JSON(\'{"b": 1, "a": {}}\')::OBJECT', {"a": {}, "b": 1}),
        ("{'a': [TRUE, -1]}", {"a": [True, -1]}),
        ("['x', 2.5]", ["x", 2.5]),
        ("[.5, 1.]", [0.5, 1]),
    ],
)
async def test_a_semi_structured_cell_arrives_as_json(
    endpoint: SnowflakeEndpoint, connect: Connect, expression: str, value: object
) -> None:
    [(cell,)] = await rows(await connect(endpoint), f"SELECT {expression}")
    assert json.loads(cell) == value


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("'2024-02-30'::DATE", 100040),
        ("'x'::NUMBER", 100038),
        ("'NaN'::NUMBER", 100038),
        ("'1_000'::NUMBER", 100038),
        ("'1234'::NUMBER(3)", 100039),
        ("'999.5'::NUMBER(3)", 100039),
        ("'1e99999'::NUMBER", 100039),
        ("1e400", 100039),
        ("'20240102'::DATE", 100040),
        ("'maybe'::BOOLEAN", 100037),
        ("'25:00:00'::TIME", 100108),
        ("'yesterday'::TIMESTAMP", 100035),
        ("'abc'::VARCHAR(2)", 100078),
        ("'2024-01-02 03:04:05 +9900'::TIMESTAMP_TZ", 100035),
        ("'0G'::BINARY", 100115),
        ("'0A 0F'::BINARY", 100115),
        ("PARSE_JSON('{')", 100069),
        ('PARSE_JSON(\'{"a": 1, "a": 2}\')', 100069),
        ("PARSE_JSON('NaN')", 100069),
        ("{'a': 1, 'a': 2}", 999999),
        ("['a']::VECTOR(INT, 1)", 100071),
        ("[1.5]::VECTOR(INT, 1)", 100071),
        ("[1]::VECTOR(INT, 2)", 100071),
        ("[1]::OBJECT", 100071),
        ("TRUE::DATE", 2),
        ("DATE '2024-01-02'::NUMBER", 2),
        ("CURRENT_TIMESTAMP()::VARCHAR", 2),
        ("'a'::GEOGRAPHY", 2),
        ("PARSE_JSON()", 938),
        ("PARSE_JSON('1', '2')", 939),
        ("CURRENT_ROLE(1)", 939),
        ("a_column", 904),
        ("db.sch.f(1)", 2141),
        ("SYSTEM$NO_SUCH('a')", 2140),
        ("* FROM TABLE(no_such())", 2143),
    ],
)
async def test_a_value_that_does_not_fit_is_refused(
    endpoint: SnowflakeEndpoint, connect: Connect, expression: str, number: int
) -> None:
    connection = await connect(endpoint)
    with pytest.raises(DatabaseError) as caught:
        await rows(connection, f"SELECT {expression}")
    assert caught.value.errno == number


async def test_a_description_has_the_columns_and_no_rows(endpoint: SnowflakeEndpoint) -> None:
    async with http_client(endpoint) as http:
        headers = {"Authorization": f'Snowflake Token="{(await log_in(http))["token"]}"'}

        async def describe(sql: str) -> dict[str, Any]:
            body = {"sqlText": sql, "describeOnly": True}
            async with http.post("/queries/v1/query-request", json=body, headers=headers) as response:
                answer: dict[str, Any] = await response.json()
                return answer

        described = await describe("SELECT 1.5 AS n, 'a'::varchar(3)")
        assert [(each["name"], each["type"]) for each in described["data"]["rowtype"]] == [
            ("N", "fixed"),
            ("'A'::VARCHAR(3)", "text"),
        ]
        assert described["data"]["rowset"] == []
        assert (await describe("CREATE DATABASE d"))["code"] == "000007"
    assert endpoint.sql("SHOW DATABASES", role="ACCOUNTADMIN").rows == []


# seen: snowflakedb/snowflake-jdbc SFStatementType
@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("SELECT 1", 0x1000),
        ("ALTER SESSION SET QUERY_TAG = 't'", 0x4100),
        ("USE ROLE PUBLIC", 0x4300),
        ("SHOW DATABASES", 0x4400),
        ("DESC USER operator", 0x4500),
        ("CREATE DATABASE d", 0x6000),
        ("SELECT 1; SELECT 2", 0xA000),
    ],
)
async def test_drivers_are_told_what_kind_of_statement_they_sent(
    endpoint: SnowflakeEndpoint, sql: str, number: int
) -> None:
    async with http_client(endpoint) as http:
        headers = {"Authorization": f'Snowflake Token="{(await log_in(http))["token"]}"'}
        body = {"sqlText": sql, "parameters": {"MULTI_STATEMENT_COUNT": sql.count(";") + 1}}
        async with http.post("/queries/v1/query-request", json=body, headers=headers) as response:
            assert (await response.json())["data"]["statementTypeId"] == number


@pytest.mark.parametrize(("units", "spelled"), [(1500, "1.500"), (-1500, "-1.500"), (-1, "-0.001"), (0, "0.000")])
def test_times_before_1970_keep_their_sign(units: int, spelled: str) -> None:
    assert Column("T", "timestamp_ntz", scale=3).cell(units) == spelled
