"""Schedules as Snowflake takes them."""

from __future__ import annotations

import pytest

from freehold.schedules import Cron, Interval, InvalidSchedule, parse

INTERVALS = [
    "90 SECONDS", "10 SECOND", "90 S", "11 minutes", "1 HOUR", "2 HOURS", "1 H", "2 h", "3 m", "+5 M", "1 Minute",
    "10 SECONDS  ", "10 MINUTE\t", "10\tMINUTE", "10\nMINUTE", "11520 MINUTES", "192 HOURS", "691200 SECONDS",
]  # fmt: skip
CRONS = [
    "*/7 * * * * UTC", "0 */2 * * * UTC", "30 9 * * 1-5 America/Los_Angeles", "0 12 * * SUN UTC", "15,45 * * * * UTC",
    "10-40/10 * * * * UTC", "0 0 * * */2 UTC", "5/15 * * * * UTC", "0 0 * * MON,3 UTC", "*/61 * * * * UTC",
    "0 0 * * * utc", "0 0 * * * Etc/GMT+5", "0   0  *  *  *   UTC", "0 0 * JAN-DEC/2 * UTC", "0 0 L * 1 UTC",
    "0 0 1,L * * UTC", "0 0 * * 5L UTC", "0 0 * * FRIL UTC", "0 0 31 2 * UTC",
]  # fmt: skip
NONE = [
    "0 SECONDS", "9 SECONDS", "1 DAY", " 10 SECONDS ", "10  SECONDS", "5M", "1 MINS", "1 SEC", "-5 MINUTES", "",
    "11521 M", "193 H", "99999999999999999999 MINUTES", "USING CRON",
    *(
        f"USING CRON {each}"
        for each in (
            "0 0 ? * * UTC", "*/0 * * * * UTC", "10-5 * * * * UTC", "0 0 L-3 * * UTC", "0 24 * * * UTC", "* * * UTC",
            "0 0 1 13 * UTC", "0 0 1 0 * UTC", "0 0 0 * * UTC", "0 0 * * 1-5L UTC", "0 0 * * 7L UTC", "0 0 32 * * UTC",
            "0,15, * * * * UTC", "* * * * * * UTC", "0 0 * * 7 UTC", "0 0 * * 1#2 UTC", "0 0 15W * * UTC",
            "61 * * * * UTC", "0 0 * * L UTC", "* * * * *", "0 0 * * * +01:00", "1-2-3 * * * * UTC", "*/ * * * * UTC",
            "*/² * * * * UTC",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("text", [*INTERVALS, *(f"USING CRON {cron}" for cron in CRONS)])
def test_a_schedule_is_read(text: str) -> None:
    parse(text)


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchedule):
        parse(text)


def test_schedules_that_mean_the_same_are_equal() -> None:
    assert parse("60 MINUTES") == parse("1 h") == Interval(3600)
    cron = Cron(("0", "9", "*", "*", "MON"), "Europe/Berlin")
    assert parse("using cron 0  9 * * mon Europe/Berlin") == parse("USING CRON 0 9 * * MON Europe/Berlin") == cron
    assert parse("USING CRON 0 9 * * MON Europe/Paris") != cron


def test_the_field_that_is_wrong_is_named() -> None:
    with pytest.raises(InvalidSchedule, match="'25' is no hour"):
        parse("USING CRON 0 25 * * * UTC")
