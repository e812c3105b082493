"""What PostgreSQL's errors ask of us."""

from __future__ import annotations

import pytest

from freehold.postgres.sqlstates import Remedy, failure


@pytest.mark.parametrize(
    ("sqlstate", "remedy"),
    [
        (None, Remedy.RETRY),
        ("08006", Remedy.RETRY),
        ("25006", Remedy.RETRY),
        ("28P01", Remedy.PEOPLE),
        ("28000", Remedy.PEOPLE),
        ("3D000", Remedy.RETRY),
        ("3F000", Remedy.RETRY),
        ("40001", Remedy.RETRY),
        ("40P01", Remedy.RETRY),
        ("42501", Remedy.PEOPLE),
        ("42601", Remedy.PEOPLE),
        ("42704", Remedy.RETRY),
        ("53300", Remedy.RETRY),
        ("55000", Remedy.PEOPLE),
        ("55006", Remedy.RETRY),
        ("57P01", Remedy.RETRY),
        ("57P03", Remedy.RETRY),
        ("2BP01", Remedy.PEOPLE),
        ("XX001", Remedy.PEOPLE),
        ("P0001", Remedy.RETRY),
    ],
)
def test_each_error_is_retried_or_told_to_people(sqlstate: str | None, remedy: Remedy) -> None:
    assert failure(sqlstate, applying=False).remedy is remedy


@pytest.mark.parametrize("sqlstate", ["28P01", "28000"])
def test_a_refused_log_in_while_a_password_is_being_applied_is_no_failure(sqlstate: str) -> None:
    assert failure(sqlstate, applying=True).remedy is Remedy.CREDENTIALS


def test_rights_that_lack_are_told_even_while_a_password_is_being_applied() -> None:
    assert failure("42501", applying=True).remedy is Remedy.PEOPLE


def test_people_are_told_the_code_to_look_up() -> None:
    assert failure("42501", applying=False).message.endswith("(SQLSTATE 42501)")
