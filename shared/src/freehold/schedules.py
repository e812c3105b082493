"""Schedules of tasks, alerts and replication: an interval, or a cron expression with its time zone.

Rules: SCHEDULE in "CREATE TASK" of Snowflake's SQL reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_INTERVAL = re.compile(r"\+?(?P<number>[0-9]+)\s(?P<unit>HOURS?|H|MINUTES?|M|SECONDS?|S)\s*", re.IGNORECASE)
_CRON = re.compile(
    r"USING\s+CRON\s+(?P<fields>(?:\S+\s+){5})(?P<zone>[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*)\s*", re.IGNORECASE
)
_SECONDS = {"H": 3600, "M": 60, "S": 1}

SHORTEST, LONGEST = 10, 8 * 86_400
"""Seconds between which an interval lies."""


class InvalidSchedule(ValueError):
    """A text that is no schedule."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Run after run, so many seconds apart."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Cron:
    """At certain times.

    Attributes:
        fields: minute, hour, day of month, month and day of week, in upper case.
        zone: name of the time zone. Which ones there are is Snowflake's to say.
    """

    fields: tuple[str, ...]
    zone: str


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a cron expression.

    Attributes:
        name: for people.
        low: its lowest number.
        high: its highest number.
        words: what may stand for numbers, from the lowest on.
        last: what may stand for the last of a month, as a pattern.
    """

    name: str
    low: int
    high: int
    words: Sequence[str] = ()
    last: str = ""

    def check(self, text: str) -> None:
        for item in text.split(","):
            if not (self.last and re.fullmatch(self.last, item)) and not self._is_range(item):
                raise InvalidSchedule(f"{text!r} is no {self.name} of a cron expression")

    def _is_range(self, item: str) -> bool:
        """Whether it is `*`, a number or a range, each perhaps with a step."""
        span, slash, step = item.partition("/")
        if slash and not (step.isascii() and step.isdigit() and int(step)):
            return False
        numbers = [self._number(each) for each in span.split("-")] if span != "*" else [self.low]
        within = [each for each in numbers if each is not None and self.low <= each <= self.high]
        return len(within) == len(numbers) <= 2 and within == sorted(within)

    def _number(self, text: str) -> int | None:
        if text in self.words:
            return self.low + self.words.index(text)
        return int(text) if re.fullmatch("[0-9]{1,2}", text) else None


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31, last="L"),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 6, _DAYS, last=f"([0-6]|{'|'.join(_DAYS)})L"),
)


def parse(text: str) -> Interval | Cron:
    """Read a schedule; two that mean the same are equal.

    Raises:
        InvalidSchedule: it is none.
    """
    if interval := _INTERVAL.fullmatch(text):
        return _interval(interval, text)
    if cron := _CRON.fullmatch(text):
        fields = tuple(cron["fields"].upper().split())
        for field, each in zip(_FIELDS, fields, strict=True):
            field.check(each)
        return Cron(fields, cron["zone"])
    raise InvalidSchedule(
        f"{text!r} is no schedule: write '<n> MINUTES' (or HOURS, SECONDS), or 'USING CRON <minute> <hour> "
        "<day of month> <month> <day of week> <time zone>'"
    )


def check_fields(text: str) -> None:
    """Check the five fields of a cron expression as cron itself has them: nothing stands for the last of a month.

    Raises:
        InvalidSchedule: they are none.
    """
    fields = text.upper().split()
    if len(fields) != len(_FIELDS):
        raise InvalidSchedule(f"{text!r} has {len(fields)} fields instead of {len(_FIELDS)}")
    for field, each in zip(_FIELDS, fields, strict=True):
        replace(field, last="").check(each)


def _interval(found: re.Match[str], text: str) -> Interval:
    seconds = int(found["number"][:12]) * _SECONDS[found["unit"][0].upper()]
    if not SHORTEST <= seconds <= LONGEST:
        raise InvalidSchedule(f"{text!r} isn't between {SHORTEST} seconds and {LONGEST // 3600} hours")
    return Interval(seconds)
