"""Versions of PostgreSQL, and what may become of one in a cluster that has data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

OLDEST = 14
"""Oldest major version that CloudNativePG runs."""


def parse(version: str) -> tuple[int, ...]:
    """Major version, and minor where it is given."""
    return tuple(int(each) for each in version.split("."))


def major(version: str) -> int:
    """The major version."""
    return parse(version)[0]


def fault(version: str) -> str | None:
    """Why a version can't be had, for people; None when it can."""
    if major(version) < OLDEST:
        return f"{version} is older than what CloudNativePG runs: use {OLDEST} or newer"
    return None


class Hold(Enum):
    """Why a cluster keeps its major version for now."""

    DOWNGRADE = "MajorDowngradeUnsupported"
    NOT_ALLOWED = "MajorUpgradeConfigRequired"
    TOO_FAR = "MajorUpgradeTooFar"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A change of the major version.

    Attributes:
        from_: major version of the data.
        to: major version that is wanted.
        hold: why it doesn't happen; None when it does.
    """

    from_: int
    to: int
    hold: Hold | None

    def __str__(self) -> str:
        match self.hold:
            case None:
                return f"PostgreSQL {self.from_} is upgraded to {self.to}; all servers stop meanwhile"
            case Hold.DOWNGRADE:
                remedy = f"set postgresVersion to {self.from_} or newer; data can't go back"
            case Hold.NOT_ALLOWED:
                remedy = "set postgresMajorUpgradeConfig.allow to true, which stops all servers for the upgrade"
            case Hold.TOO_FAR:
                remedy = f"set postgresVersion to {self.from_ + 1} first; one major version at a time"
        return f"PostgreSQL stays at {self.from_}, and isn't made {self.to}: {remedy}"


def upgrade(live: int | None, wanted: int, *, allowed: bool) -> Upgrade | None:
    """What becomes of another major version than the data has; None where it is the same, or there is no data yet.

    Args:
        live: major version of the data; None before there is any.
        wanted: major version in the spec.
        allowed: whether the spec lets it be upgraded.
    """
    if live is None or live == wanted:
        return None
    if wanted < live:
        return Upgrade(live, wanted, Hold.DOWNGRADE)
    if not allowed:
        return Upgrade(live, wanted, Hold.NOT_ALLOWED)
    return Upgrade(live, wanted, Hold.TOO_FAR if wanted > live + 1 else None)
