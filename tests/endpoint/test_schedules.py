"""Schedules of tasks: the answers to all of these were compared with an account by mlorek/frostlake's tests."""

import pytest

from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.tasks.schedules import check_schedule, is_completion_interval

INTERVALS = [
    "90 SECONDS", "10 SECOND", "90 S", "11 minutes", "1 HOUR", "2 HOURS", "1 H", "2 h", "3 m", "+5 M", "1 Minute",
    "10 SECONDS  ", "10 MINUTE\t", "10\tMINUTE", "10\nMINUTE", "11520 MINUTES", "192 HOURS", "691200 SECONDS",
]  # fmt: skip
NO_INTERVALS = [
    "0 SECONDS", "1 DAY", " 10 SECONDS ", "10  SECONDS", "5M", "1 MINS", "1 SEC", "1 HR", "-5 MINUTES", "+0 MINUTES",
    "\t10 MINUTE", "10\t\tMINUTE", "", "bad",
]  # fmt: skip
CRONS = [
    "*/7 * * * * UTC", "0 */2 * * * UTC", "30 9 * * 1-5 America/Los_Angeles", "0 12 * * SUN UTC", "15,45 * * * * UTC",
    "10-40/10 * * * * UTC", "0 0 * * */2 UTC", "5/15 * * * * UTC", "0 0 * * MON,3 UTC", "*/61 * * * * UTC",
    "0 0 * * * utc", "0 0 * * * Etc/GMT+5", "0   0  *  *  *   UTC", "0 0 * JAN-DEC/2 * UTC", "0 0 L * 1 UTC",
    "0 0 1,L * * UTC", "0 0 * * 5L UTC", "0 0 * * FRIL UTC", "0 0 31 2 * UTC",
]  # fmt: skip
NO_CRONS = [
    "0 0 ? * * UTC", "*/0 * * * * UTC", "10-5 * * * * UTC", "0 0 L-3 * * UTC", "0 24 * * * UTC", "0 0 1 13 * UTC",
    "0 0 1 0 * UTC", "0 0 0 * * UTC", "0 0 * * 1-5L UTC", "0 0 * * 7L UTC", "0,15, * * * * UTC", "* * * * * * UTC",
    "0 0 * * 7 UTC", "0 0 * * 1#2 UTC", "0 0 15W * * UTC", "61 * * * * UTC", "0 0 32 * * UTC", "0 0 * * L UTC",
    "* * * UTC", "",
]  # fmt: skip
NO_ZONES = {
    "* * * * *": "*",
    "* * * * * Mars/Phobos": "Mars/Phobos",
    "0 0 * * * +01:00": "+01:00",
    "0 0 * * * PST": "PST",
}


@pytest.mark.parametrize("schedule", [*INTERVALS, *(f"USING CRON {cron}" for cron in CRONS)])
def test_a_schedule_is_accepted(schedule: str) -> None:
    check_schedule(schedule)


@pytest.mark.parametrize("schedule", [*NO_INTERVALS, *(f"USING CRON {cron}" for cron in NO_CRONS)])
def test_what_is_no_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(SqlError, match=r"^Invalid schedule was specified\. Please refer to the docs"):
        check_schedule(schedule)


@pytest.mark.parametrize("cron", NO_ZONES)
def test_an_unknown_time_zone_is_named(cron: str) -> None:
    with pytest.raises(SqlError) as caught:
        check_schedule(f"USING CRON {cron}")
    assert f'"{NO_ZONES[cron]}" is not a recognized time zone.' in caught.value.message


@pytest.mark.parametrize("schedule", ["9 SECONDS", "1 SECONDS"])
def test_a_schedule_of_less_than_ten_seconds_is_refused(schedule: str) -> None:
    with pytest.raises(SqlError, match=r"^Cannot set schedule less than 10 seconds\.$"):
        check_schedule(schedule)


@pytest.mark.parametrize("schedule", ["11521 M", "193 H", "691201 SECONDS", "99999999999 MINUTES"])
def test_a_schedule_of_more_than_eight_days_is_refused(schedule: str) -> None:
    with pytest.raises(SqlError, match=r"^Cannot set schedule greater than 11,520 minutes\.$"):
        check_schedule(schedule)


def test_a_completion_interval_is_between_ten_seconds_and_a_day() -> None:
    assert all(map(is_completion_interval, ["10 SECOND", "86400 SECOND", "10 M", "1 H", "24 HOURS"]))
    assert not any(map(is_completion_interval, ["9 SECOND", "86401 SECOND", "1441 M", "10 MIN", "1.5 HOURS", "1 DAY"]))
