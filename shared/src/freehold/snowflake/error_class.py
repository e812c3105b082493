"""What a caller does about an error of Snowflake: one class for each way to go on."""

from __future__ import annotations

from enum import Enum
from typing import Self


class ErrorClass(Enum):
    """What a caller does about an error.

    Attributes:
        value: its name for people.
        action: what Freehold does.
    """

    action: str

    TERMINAL = "terminal-until-change", "waits for another manifest, reference or provider; looks again within the hour"
    SYNTAX = "syntax", "the same; it is a bug of Freehold's, or a feature newer than the account"
    UNSUPPORTED = "unsupported-edition-or-feature", "the same; upgrading the account helps, too"
    PERMISSION = "permission", "tries again, ever later up to 15 minutes: somebody has to grant something"
    MISSING = "missing-dependency", "tries again, ever later up to 15 minutes; never takes an object for gone by it"
    EXISTS = "already-exists", "the object is Freehold's by an attempt whose answer was lost, or adopted, or a conflict"
    CONFLICT = "conflict/in-use", "tries again, ever later up to 15 minutes; when deleting, dependants go first"
    AUTHENTICATION = (
        "authentication",
        "no log-in before Secret or provider change, or 30 minutes: failures lock the user",
    )
    SESSION = "session", "logs in anew, and repeats what only reads; what writes, after it has looked"
    THROTTLED = "throttled", "tries again after half a minute, then ever later up to 15 minutes"
    TRANSIENT = "transient", "looks what became of the statement and tries again, ever later up to 15 minutes"
    UNKNOWN = "unknown", "like throttled; such an answer is neither success nor absence"

    def __new__(cls, name: str, action: str) -> Self:
        member = object.__new__(cls)
        member._value_ = name
        member.action = action
        return member
