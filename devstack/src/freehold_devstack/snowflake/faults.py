"""Faults on demand: what goes wrong with the next statements that match a pattern."""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from freehold_devstack.snowflake.errors import UNKNOWN_NUMBER, UNKNOWN_SQLSTATE, SqlError

Action = Literal["error", "delay", "hang", "drop-before", "drop-after"]


class Fault(BaseModel):
    """One fault.

    A log-in is matched as the text `LOGIN <login name>`. The drop actions are taken for every HTTP attempt, repeats of
    the driver included; the others once for each statement.
    """

    model_config = ConfigDict(extra="forbid")

    match: str = ".*"
    """Regular expression that the text has to contain, regardless of case."""
    action: Action
    """error: refuse without executing. delay: execute later. hang: neither execute nor answer until it is aborted or
    its time is up. drop-before, drop-after: cut the connection without, or after, executing."""
    times: int = Field(default=1, ge=1)
    """How many matches it hits."""
    skip: int = Field(default=0, ge=0)
    """How many matches it spares first."""
    number: int = UNKNOWN_NUMBER
    """error: the number."""
    sqlstate: str = UNKNOWN_SQLSTATE
    """error: the SQLSTATE."""
    message: str = "Injected fault."
    """error: the message."""
    seconds: float = Field(default=1, ge=0)
    """delay: for how long."""

    @field_validator("match")
    @classmethod
    def _check_pattern(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        return pattern

    def error(self) -> SqlError:
        return SqlError(self.number, self.sqlstate, self.message)


class Faults:
    """The faults that are waiting for a match."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def add(self, fault: Fault) -> None:
        self._waiting.append(fault.model_copy())

    def clear(self) -> None:
        self._waiting.clear()

    def take(self, text: str, *actions: Action) -> Fault | None:
        """The fault that hits a text now, if one of these actions is due."""
        for fault in self._waiting:
            if fault.action in actions and re.search(fault.match, text, re.IGNORECASE):
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                if not fault.times:
                    self._waiting.remove(fault)
                return fault
        return None
