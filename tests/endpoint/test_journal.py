"""What the journal keeps, the questions that tests ask it, and what statements are said to have done."""

import re

import pytest
from snowflake.connector.errors import DatabaseError

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.redaction import redact
from tests.endpoint.conftest import Connect, rows


def last_effects(endpoint: SnowflakeEndpoint) -> list[str]:
    return endpoint.effects(endpoint.journal.since()[-1])


# --- entries ---------------------------------------------------------------------------------------------------------


async def test_an_entry_says_who_sent_what_when_and_how_it_was_understood(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint)
    await rows(connection, "CREATE DATABASE d COMMENT = 'c'", _statement_params={"QUERY_TAG": "t"})
    [entry] = endpoint.journal.statements("CREATE")
    assert (entry.account, entry.session, entry.user, entry.role) == (
        "DEVSTACK",
        connection.session_id,
        "OPERATOR",
        "OPERATOR",
    )
    assert (entry.query_tag, entry.outcome, str(entry.form)) == ("t", "ok", "CREATE DATABASE D")


async def test_an_entry_of_what_was_not_understood_has_no_form(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    with pytest.raises(DatabaseError):
        await rows(connection, "CREATE DATABASE d NO_SUCH")
    [entry] = endpoint.journal.statements("CREATE")
    assert (entry.form, entry.outcome) == (None, "001003")


# --- effects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "sql", "effects"),
    [
        ((), "CREATE ROLE a COMMENT = 'c'", ["create ROLE A {owner: 'USERADMIN', COMMENT: 'c'}"]),
        (("CREATE ROLE a COMMENT = 'c'",), "ALTER ROLE a SET COMMENT = 'd'", ["alter ROLE A {COMMENT: 'c' -> 'd'}"]),
        (("CREATE ROLE a COMMENT = 'c'",), "ALTER ROLE a SET COMMENT = 'c'", []),
        (("CREATE ROLE a",), 'ALTER ROLE a RENAME TO "b"', ["alter ROLE A {name: 'A' -> 'b'}"]),
        (("CREATE ROLE a",), "DROP ROLE a", ["drop ROLE A"]),
        (
            ("CREATE ROLE a", "CREATE ROLE b"),
            "GRANT ROLE a TO ROLE b",
            ["grant USAGE ON ROLE A TO ROLE B BY USERADMIN"],
        ),
        (
            ("CREATE ROLE a", "CREATE ROLE b", "GRANT ROLE a TO ROLE b"),
            "REVOKE ROLE a FROM ROLE b",
            ["revoke USAGE ON ROLE A FROM ROLE B BY USERADMIN"],
        ),
        ((), "SHOW ROLES", []),
        ((), "CREATE ROLE IF NOT EXISTS useradmin", []),
    ],
)
def test_effects_say_what_a_statement_has_changed(
    endpoint: SnowflakeEndpoint, before: tuple[str, ...], sql: str, effects: list[str]
) -> None:
    for statement in (*before, sql):
        endpoint.sql(statement, role="USERADMIN")
    assert last_effects(endpoint) == effects


def test_a_dropped_object_is_told_to_have_come_back(endpoint: SnowflakeEndpoint) -> None:
    for statement in ("CREATE DATABASE d", "CREATE SCHEMA d.s", "DROP SCHEMA d.s", "UNDROP SCHEMA d.s"):
        endpoint.sql(statement, role="SYSADMIN")
    assert last_effects(endpoint) == ["undrop SCHEMA D.S"]


def test_a_refused_statement_has_no_effects(endpoint: SnowflakeEndpoint) -> None:
    with pytest.raises(SqlError):
        endpoint.sql("DROP ROLE nope", role="USERADMIN")
    assert last_effects(endpoint) == []


# --- secrets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("CREATE USER u PASSWORD = 'it''s' TYPE = PERSON", "CREATE USER u PASSWORD = '***' TYPE = PERSON"),
        ("ALTER USER u SET password='x\\'y'", "ALTER USER u SET password='***'"),
        ("ALTER USER u SET PASSWORD = $$a b$$ COMMENT = 'c'", "ALTER USER u SET PASSWORD = '***' COMMENT = 'c'"),
        ("CREATE USER u PASSWORD 'x'", "CREATE USER u PASSWORD '***'"),
        ("CREATE USER u PASSWORD = 'never ends", "CREATE USER u PASSWORD = '***'"),
        ("CREATE USER u PASSWORD = bare, TYPE = PERSON", "CREATE USER u PASSWORD = '***', TYPE = PERSON"),
        (
            "CREATE STAGE s CREDENTIALS = (AWS_KEY_ID = 'k' AWS_SECRET_KEY = 's')",
            "CREATE STAGE s CREDENTIALS = (AWS_KEY_ID = '***' AWS_SECRET_KEY = '***')",
        ),
        ('ALTER USER u SET PASSWORD = "a b"', "ALTER USER u SET PASSWORD = '***'"),
        ("ALTER USER u SET PASSWORD /* c */ = -- d\n 'x'", "ALTER USER u SET PASSWORD /* c */ = -- d\n '***'"),
        ("ALTER USER u SET \"PASSWORD\" = 'x'", "ALTER USER u SET \"PASSWORD\" = '***'"),
        ("ALTER USER u UNSET PASSWORD", "ALTER USER u UNSET PASSWORD"),
        ("CREATE ROLE r COMMENT = 'no PASSWORD here'", "CREATE ROLE r COMMENT = 'no PASSWORD here'"),
    ],
)
def test_what_is_given_to_a_secret_is_hidden(sql: str, shown: str) -> None:
    assert redact(sql) == shown


async def test_no_secret_is_in_the_journal(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint)
    with pytest.raises(DatabaseError):
        await rows(connection, "ALTER USER nobody SET PASSWORD = 'swordfish'")
    assert "swordfish" not in repr(endpoint.journal.since())


# --- questions -------------------------------------------------------------------------------------------------------


def run(endpoint: SnowflakeEndpoint, *statements: str) -> None:
    for statement in statements:
        try:
            endpoint.sql(statement, role="USERADMIN")
        except SqlError:
            continue


def test_statements_of_a_verb_are_found_whatever_came_of_them(endpoint: SnowflakeEndpoint) -> None:
    run(endpoint, "CREATE ROLE a COMMENT = 'DROP'", "DROP DATABASE d", "drop  role NO_SUCH_THING PLEASE")
    endpoint.journal.no("DROP", "WAREHOUSE")
    endpoint.journal.no("UNDROP")
    endpoint.journal.no("DROP", since=3)
    with pytest.raises(AssertionError, match=r"no DROP, but there were:\n#2 .*DROP DATABASE d \[002003\]\n#3 "):
        endpoint.journal.no("DROP")
    with pytest.raises(AssertionError, match="no DROP ROLE, but there were:\n#3 "):
        endpoint.journal.no("DROP", "ROLE")


def test_objects_that_were_created_twice_are_found(endpoint: SnowflakeEndpoint) -> None:
    run(endpoint, "CREATE ROLE a", "CREATE ROLE a", "CREATE ROLE b")
    endpoint.journal.each_once("CREATE")
    run(endpoint, "DROP ROLE a", "CREATE ROLE IF NOT EXISTS a")
    endpoint.journal.each_once("CREATE", "DATABASE")
    with pytest.raises(AssertionError, match=r"each CREATE ROLE once, but there were:\n#1 .*\n#5 "):
        endpoint.journal.each_once("CREATE", "ROLE")


def test_statements_that_are_no_reads_are_found(endpoint: SnowflakeEndpoint) -> None:
    run(endpoint, "CREATE ROLE a")
    seen = endpoint.journal.next_sequence - 1
    run(endpoint, "SHOW ROLES", "DESC DATABASE d", "SELECT 1", "USE ROLE public", "SHOW")
    run(endpoint, "ALTER SESSION SET QUERY_TAG = 't'")
    endpoint.journal.only_reads(since=seen)
    acting = "SELECT SYSTEM$ENABLE_BEHAVIOR_CHANGE_BUNDLE('2026_08')::VARCHAR(9)"
    run(endpoint, acting)
    with pytest.raises(AssertionError, match=re.escape(acting)):
        endpoint.journal.only_reads(since=seen)
    with pytest.raises(AssertionError, match=r"only reads, but there were:\n#1 .*CREATE ROLE a"):
        endpoint.journal.only_reads()
