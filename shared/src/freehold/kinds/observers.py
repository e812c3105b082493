"""Where live values of fields are read in an observation."""

from __future__ import annotations

from freehold.kinds.property import Observe
from freehold.observation import UNKNOWN, Observation


def column(name: str, *, missing: object = UNKNOWN) -> Observe:
    """A column of SHOW, read by name: accounts differ in which columns they have.

    Args:
        name: the column, in lower case.
        missing: the value where the account has no such column.
    """

    def read(observation: Observation) -> object:
        return observation.row.get(name, missing)

    return read


def parameter_value(key: str) -> Observe:
    """A row of SHOW PARAMETERS, which only a deep observation reads."""

    def read(observation: Observation) -> object:
        found = (observation.parameters or {}).get(key)
        return UNKNOWN if found is None else found.value

    return read


def option(word: str) -> Observe:
    """Membership in the `options` column, a list joined by comma and blank ("TRANSIENT, MANAGED ACCESS") or NULL."""

    def read(observation: Observation) -> object:
        listed = observation.row.get("options")
        return word in (str(listed).split(", ") if listed else [])

    return read


def own_parameter(key: str, level: str) -> Observe:
    """The same, but only where the object itself sets it: what it inherits counts as not set.

    Args:
        key: the parameter.
        level: of the object, as the column `level` has it: its type.
    """

    def read(observation: Observation) -> object:
        found = (observation.parameters or {}).get(key)
        return UNKNOWN if found is None else found.value if found.level == level else None

    return read


def described(detail: str, name: str) -> Observe:
    """A row of a DESCRIBE that lists properties and values, where `null` stands for none.

    Args:
        detail: the kind's name of that query.
        name: the property.
    """

    def read(observation: Observation) -> object:
        rows = (observation.details or {}).get(detail)
        found = next((row["value"] for row in rows or () if row["property"] == name), UNKNOWN)
        return None if found == "null" else found

    return read
