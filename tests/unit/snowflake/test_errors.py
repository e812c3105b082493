"""Errors for people and for callers: what they print, advise and leave open."""

from __future__ import annotations

import pytest

from freehold.snowflake import errors
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError, advice


@pytest.mark.parametrize(
    ("error", "known"),
    [
        (SnowflakeError("exists", number=2002), True),
        (SnowflakeError("no privileges", number=999999, sqlstate="42501"), True),
        (SnowflakeError("Statement 01b2 not found", number=709, sqlstate="02000"), False),
        (SnowflakeError("internal error", number=695), False),
        (SnowflakeError("connection", number=999999, sqlstate="08006"), False),
        (SnowflakeError("session gone", number=390112), False),
        (SnowflakeError("unheard of", number=999999), False),
        (SnowflakeError("SQL compilation error:\nunheard of", number=999999, sqlstate="99999"), True),
        (errors.OutcomeUnknown("no answer", error_class=ErrorClass.TERMINAL), False),
        (errors.Unreachable("no log-in", error_class=ErrorClass.TRANSIENT), True),
    ],
)
def test_nothing_is_certain_about_a_write_unless_the_answer_says_so(error: SnowflakeError, known: bool) -> None:
    assert error.outcome_known is known


@pytest.mark.parametrize(
    ("number", "sqlstate", "message", "told"),
    [
        (606, "57P03", "No active warehouse selected.", "000606 (57P03): No active warehouse selected. Grant USAGE on"),
        (390101, None, "User access disabled", "390101: User access disabled. Enable the user: ALTER USER ..."),
        (
            2002,
            "42710",
            "SQL compilation error:\nObject 'X' already exists.",
            "002002 (42710): SQL compilation error: ",
        ),
        (None, None, "no answer", "no answer"),
    ],
)
def test_an_error_prints_number_text_and_advice_in_one_line(
    number: int | None, sqlstate: str | None, message: str, told: str
) -> None:
    text = str(SnowflakeError(message, number=number, sqlstate=sqlstate, query_id="01b2"))

    assert text.startswith(told)
    assert text.endswith(advice(number))
    assert "\n" not in text


@pytest.mark.parametrize(
    ("number", "lacking", "advised"),
    [
        (3001, "CREATE TABLE granted on SCHEMA D.S", 'Run GRANT CREATE TABLE ON SCHEMA D.S TO ROLE "R".'),
        (3001, 'OWNERSHIP granted on TABLE D."my s".T', 'Run GRANT OWNERSHIP ON TABLE D."my s".T TO ROLE "R".'),
        (3001, "CREATE DATABASE granted on ACCOUNT", 'Run GRANT CREATE DATABASE ON ACCOUNT TO ROLE "R".'),
        (3001, "CREATE ROLE granted on ACCOUNT FH1", 'Run GRANT CREATE ROLE ON ACCOUNT TO ROLE "R".'),
        (
            2003,
            "USAGE or any other privilege granted on DATABASE D",
            'If it exists, run GRANT USAGE ON DATABASE D TO ROLE "R".',
        ),
        (2003, "at least one privilege granted on TABLE D.S.T", ""),
    ],
)
@pytest.mark.parametrize("others", ["", " or one of your secondary roles"])
def test_a_grant_that_the_server_names_is_told_as_the_statement_to_run(
    number: int, lacking: str, advised: str, others: str
) -> None:
    message = f"SQL access control error:\nInsufficient. Your primary role R{others} must have {lacking}."

    assert advice(number, message) == advised


@pytest.mark.parametrize("name", ["R2", '"my role"'])
def test_a_role_that_the_server_quotes_is_quoted_once(name: str) -> None:
    message = f"Your primary role {name} must have USAGE granted on WAREHOUSE W."

    assert advice(3001, message).count('"') == 2


@pytest.mark.parametrize(
    ("message", "query", "told", "trace"),
    [
        ("SQL execution error", "01b2", "SQL execution error", "query 01b2"),
        (
            "Processing aborted by error 300010:2592348765; incident 1234567.",
            "01b2",
            "Processing aborted by error 300010:2592348765.",
            "query 01b2, incident 1234567",
        ),
        (
            "JWT token is invalid. [5d0c9e1a-0000-4000-8000-0123456789ab]",
            None,
            "JWT token is invalid.",
            (
                "an administrator gets the true cause by "
                "SELECT SYSTEM$GET_LOGIN_FAILURE_DETAILS('5d0c9e1a-0000-4000-8000-0123456789ab')"
            ),
        ),
        ("no answer", None, "no answer", ""),
    ],
)
def test_what_differs_each_time_is_told_apart(message: str, query: str | None, told: str, trace: str) -> None:
    error = SnowflakeError(message, query_id=query)
    assert str(error) == told
    assert error.trace == trace
