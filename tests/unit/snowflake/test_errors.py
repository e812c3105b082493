"""The error table: every number has one class, and what isn't listed falls back by text and SQLSTATE."""

from __future__ import annotations

import pytest

from freehold.snowflake import errors
from freehold.snowflake.errors import CLASS_OF, ErrorClass, SnowflakeError, advice, classify


def test_no_number_is_listed_twice() -> None:
    listed = [number for numbers in errors._NUMBERS.values() for number in numbers]

    assert sorted(listed) == sorted(set(listed))
    assert len(CLASS_OF) == len(listed)


def test_every_class_but_unknown_has_numbers() -> None:
    assert set(CLASS_OF.values()) == set(ErrorClass) - {ErrorClass.UNKNOWN}


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        (errors.SESSION_LOST, ErrorClass.SESSION),
        (errors.OUTCOME_UNKNOWN, ErrorClass.TRANSIENT),
        (errors.NAME_TAKEN, ErrorClass.EXISTS),
    ],
)
def test_numbers_that_code_branches_on_have_the_class_that_it_expects(
    numbers: frozenset[int], kind: ErrorClass
) -> None:
    assert {classify(number) for number in numbers} == {kind}


def test_advice_is_given_only_for_numbers_in_the_table() -> None:
    assert set(errors._ADVICE) <= set(CLASS_OF)


@pytest.mark.parametrize("number", [260009, 90101, 2032, 3022, 2040])
def test_numbers_that_other_programs_made_up_are_unknown(number: int) -> None:
    assert number not in CLASS_OF


@pytest.mark.parametrize(
    ("number", "sqlstate", "message", "kind"),
    [
        (2003, "42S02", "", ErrorClass.MISSING),
        (2043, None, "", ErrorClass.MISSING),
        (100072, "22000", "", ErrorClass.TERMINAL),
        (999999, "42501", "", ErrorClass.PERMISSION),
        (999999, "57014", "", ErrorClass.TRANSIENT),
        (999999, "28000", "", ErrorClass.AUTHENTICATION),
        (999999, "08006", "", ErrorClass.TRANSIENT),
        (999999, "99999", "", ErrorClass.UNKNOWN),
        (999999, "99999", "Object found is of type 'VIEW', not specified type 'TABLE'.", ErrorClass.EXISTS),
        (None, None, "", ErrorClass.UNKNOWN),
    ],
)
def test_an_answer_is_classed_by_number_then_text_then_sqlstate(
    number: int | None, sqlstate: str | None, message: str, kind: ErrorClass
) -> None:
    assert classify(number, sqlstate, message) is kind


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
        (errors.OutcomeUnknown("no answer", error_class=ErrorClass.TERMINAL), False),
        (errors.Unreachable("no log-in", error_class=ErrorClass.TRANSIENT), True),
    ],
)
def test_nothing_is_certain_about_a_write_unless_the_answer_says_so(error: SnowflakeError, known: bool) -> None:
    assert error.outcome_known is known


def test_an_error_prints_number_text_and_advice() -> None:
    error = SnowflakeError("No active warehouse selected.", number=606, sqlstate="57P03", query_id="01b2")

    assert str(error) == f"000606 (57P03): No active warehouse selected. {advice(606)}"


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
