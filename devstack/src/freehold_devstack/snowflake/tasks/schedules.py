"""When a task runs: intervals, and cron expressions with their time zone.

https://docs.snowflake.com/en/sql-reference/sql/create-task
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from zoneinfo import available_timezones

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.errors import SqlError

_INVALID = "Invalid schedule was specified."

_INTERVAL = re.compile(r"\+?(?P<count>\d{1,18})\s(?P<unit>H|HOURS?|M|MINUTES?|S|SECONDS?)\s*", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_SECONDS = {"H": 3600, "M": 60, "S": 1}
_SHORTEST, _LONGEST = 10, 11_520 * 60
_DAY = 86_400

_ZONES = frozenset(zone.upper() for zone in available_timezones())
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


def interval(text: str) -> int | None:
    """The seconds of `<number> { HOURS | MINUTES | SECONDS }`; None for what is no such thing."""
    match = _INTERVAL.fullmatch(text)
    return None if match is None else int(match["count"]) * _SECONDS[match["unit"][0].upper()]


def is_completion_interval(text: str) -> bool:
    """Whether a text is an interval from ten seconds to a day."""
    seconds = interval(text)
    return seconds is not None and _SHORTEST <= seconds <= _DAY


def check_schedule(text: str) -> None:
    """Refuse with 999999 what is neither an interval within the limits nor a cron expression with a time zone."""
    words = text.split()
    if [word.upper() for word in words[:2]] == ["USING", "CRON"]:
        _check_cron(words[2:])
        return
    seconds = interval(text)
    if not seconds:
        raise _invalid()
    if seconds < _SHORTEST:
        raise _refusal(f"Cannot set schedule less than {_SHORTEST} seconds.")
    if seconds > _LONGEST:
        raise _refusal(f"Cannot set schedule greater than {_LONGEST // 60:,} minutes.")


# --- cron ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Field:
    """One field of a cron expression.

    Attributes:
        names: Words that stand for numbers.
        last: What else the field takes, as a pattern.
    """

    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)
    last: str = ""

    def accepts(self, text: str) -> bool:
        return all(self._accepts_item(item) for item in text.upper().split(","))

    def _accepts_item(self, item: str) -> bool:
        if self.last and re.fullmatch(self.last, item):
            return True
        span, slash, step = item.partition("/")
        if slash and not (_NUMBER.fullmatch(step) and int(step)):
            return False
        if span == "*":
            return True
        bounds = [self._number(bound) for bound in span.split("-")]
        numbers = [bound for bound in bounds if bound is not None]
        return len(numbers) == len(bounds) <= 2 and numbers == sorted(numbers)

    def _number(self, text: str) -> int | None:
        if text in self.names:
            return self.names[text]
        number = int(text) if _NUMBER.fullmatch(text) else -1
        return number if self.low <= number <= self.high else None


_FIELDS = (
    _Field(0, 59),
    _Field(0, 23),
    _Field(1, 31, last="L"),
    _Field(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field(0, 6, {name: number for number, name in enumerate(_DAYS)}, rf"([0-6]|{'|'.join(_DAYS)})L"),
)


def _check_cron(words: list[str]) -> None:
    if len(words) < len(_FIELDS):
        raise _invalid()
    *fields, zone = words
    if zone.upper() not in _ZONES:
        raise _refusal(
            f'{_INVALID} "{zone}" is not a recognized time zone. '
            "Please specify time zones accepted by the TIMEZONE parameter."
        )
    if len(fields) != len(_FIELDS) or not all(map(_Field.accepts, _FIELDS, fields)):
        raise _invalid()


def _invalid() -> SqlError:
    return _refusal(f"{_INVALID} Please refer to the docs on what constitutes a valid schedule.")


def _refusal(text: str) -> SqlError:
    return errors.unnumbered(text, family="")
