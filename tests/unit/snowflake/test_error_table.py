"""The table of Snowflake's answers: every row has one class, and what isn't listed falls back by text and SQLSTATE."""

from __future__ import annotations

import inspect
import re
from collections import Counter

import pytest

from freehold.snowflake import errors
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.error_table.table import SQLSTATES, TABLE, classify, find
from freehold_devstack.snowflake import errors as endpoint_errors

ROWS = [row for rows in TABLE.values() for row in rows]


def test_no_number_and_no_text_and_no_sqlstate_is_listed_twice() -> None:
    listed = Counter(each for row in ROWS for each in (*row.numbers, *filter(None, [row.pattern])))
    listed.update(state for states in SQLSTATES.values() for state in states)

    assert [each for each, times in listed.items() if times > 1] == []


def test_every_class_but_unknown_has_rows() -> None:
    assert set(TABLE) == set(ErrorClass) - {ErrorClass.UNKNOWN}


def test_a_row_is_known_by_number_or_by_text_and_says_what_is_the_matter() -> None:
    for row in ROWS:
        assert bool(row.numbers) != bool(row.pattern)
        assert row.about
        assert re.compile(row.pattern)


def test_advice_is_a_sentence() -> None:
    assert [row.advice for row in ROWS if row.advice and not re.fullmatch(r"[A-Z].*\.", row.advice)] == []


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [(errors.OUTCOME_UNKNOWN, ErrorClass.TRANSIENT), (errors.NAME_TAKEN, ErrorClass.EXISTS)],
)
def test_numbers_that_code_branches_on_have_the_class_that_it_expects(
    numbers: frozenset[int], kind: ErrorClass
) -> None:
    assert {classify(number) for number in numbers} == {kind}


def test_whatever_the_endpoint_refuses_has_a_row() -> None:
    """The endpoint's numbers were gathered on their own, from what Snowflake is known to answer."""
    source = inspect.getsource(endpoint_errors)
    answered = {int(number) for number in re.findall(r"(?:SqlError|LoginError)\(\s*(\d+)", source)}

    assert len(answered) > 90
    assert sorted(number for number in answered if find(number) is None) == []


@pytest.mark.parametrize("number", [260009, 90101, 2032, 3022])
def test_numbers_that_other_programs_made_up_are_unknown(number: int) -> None:
    assert classify(number) is ErrorClass.UNKNOWN


_LOCKS_OUT = (
    "SQL compilation error:\nNetwork policy NP cannot be activated. Requestor IP address/Token, 127.0.0.1, must be "
    "included in the allowed_ip_list or allowed network rules."
)


@pytest.mark.parametrize(
    ("number", "sqlstate", "message", "kind"),
    [
        (2003, "42S02", "", ErrorClass.MISSING),
        (2043, None, "", ErrorClass.MISSING),
        (100072, "22000", "", ErrorClass.TERMINAL),
        (-20000, "P0001", "Uncaught exception of type 'MINE' on line 2 at position 1", ErrorClass.TERMINAL),
        (3639, "01P01", "USER is deprecated, please use PERSON instead.", ErrorClass.TERMINAL),
        (999999, "42501", "", ErrorClass.PERMISSION),
        (999999, "57014", "", ErrorClass.TRANSIENT),
        (999999, "28000", "", ErrorClass.AUTHENTICATION),
        (999999, "08006", "", ErrorClass.TRANSIENT),
        (999999, "99999", "", ErrorClass.UNKNOWN),
        (999999, "99999", "Object found is of type 'VIEW', not specified type 'TABLE'.", ErrorClass.EXISTS),
        (999999, "99999", _LOCKS_OUT, ErrorClass.TERMINAL),
        (None, None, _LOCKS_OUT, ErrorClass.TERMINAL),
        (2003, "02000", "Object found is of type 'VIEW', not specified type 'TABLE'.", ErrorClass.MISSING),
        (
            999999,
            "99999",
            "Cannot drop Network rule A as it is associated with some network policies.",
            ErrorClass.CONFLICT,
        ),
        (None, None, "", ErrorClass.UNKNOWN),
    ],
)
def test_an_answer_is_classed_by_number_then_text_then_sqlstate(
    number: int | None, sqlstate: str | None, message: str, kind: ErrorClass
) -> None:
    assert classify(number, sqlstate, message) is kind
