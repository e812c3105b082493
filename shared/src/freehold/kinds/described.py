"""DESCRIBE where it answers with one row a property: functions, procedures, stages."""

from __future__ import annotations

from freehold.kinds.property import Observe
from freehold.observation import UNKNOWN, Observation

DETAIL = "describe"
"""Name of DESCRIBE among the details of a kind."""


def described(name: str, *, missing: object = UNKNOWN) -> Observe:
    """A property. NULL is what others than the owner see of what is theirs alone to know, and tells nothing.

    Args:
        name: the property.
        missing: its value where there is no such row.
    """

    def read(observation: Observation) -> object:
        rows = (observation.details or {}).get(DETAIL)
        if rows is None:
            return UNKNOWN
        value = next((row.get("value") for row in rows if row.get("property") == name), missing)
        return UNKNOWN if value in (None, "null") else value

    return read
