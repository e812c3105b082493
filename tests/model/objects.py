"""Objects in the account, whoever may see them: what they are called, what they are, what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from freehold.identity import Identity, Name
from freehold.kinds.registry import KINDS
from tests.model.account import FACTS, OURS, Account, time_of

FAMILIES = (("Warehouse",), ("AccountRole",), ("Database",), ("Database", "Schema"), ("Database", "Schema", "Table"))
"""Kinds that are declared together, each inside the one before."""

_BY_TYPE = {KINDS[name].object_type: name for family in FAMILIES for name in family}


@dataclass(frozen=True, slots=True)
class Thing:
    """What an object is called.

    Attributes:
        kind: kind of its resources.
        parts: stored name parts, outermost first.
    """

    kind: str
    parts: tuple[str, ...]

    @classmethod
    def read(cls, type_: str, name: str) -> Thing:
        """From a statement: its type in SQL, and its name in quotes."""
        return cls(_BY_TYPE[type_], tuple(part.strip('"') for part in name.split(".")))

    @property
    def type(self) -> str:
        return KINDS[self.kind].object_type

    @property
    def name(self) -> str:
        """In SQL."""
        return ".".join(f'"{part}"' for part in self.parts)

    @property
    def identity(self) -> Identity:
        return Identity(FACTS.key, KINDS[self.kind].object_class, Name(self.parts))

    @property
    def containers(self) -> tuple[Thing, ...]:
        """The database and the schema that it lies in."""
        kinds = ("Database", "Schema")
        return tuple(Thing(kinds[at], self.parts[: at + 1]) for at in range(len(self.parts) - 1))

    def holds(self, other: Thing) -> bool:
        return self in other.containers


@dataclass(frozen=True, slots=True)
class Incarnation:
    """An object that is there.

    Attributes:
        born: its created_on, which no other object has.
        owner: role.
        comment: its comment.
        transient: whether it is a transient one.
        columns: types of a table's columns.
    """

    born: datetime
    owner: str
    comment: str
    transient: bool
    columns: tuple[tuple[str, str], ...] = ()


def there(account: Account, thing: Thing) -> Incarnation | None:
    """The object of a name."""
    row = next((row for row in _shown(account, thing.type) if _parts(row) == thing.parts), None)
    if row is None:
        return None
    transient = "TRANSIENT" in (*str(row.get("options") or "").split(", "), row.get("kind"))
    described = account.sql(f"DESCRIBE TABLE {thing.name}") if thing.kind == "Table" else ()
    columns = tuple((str(each["name"]), str(each["type"])) for each in described)
    return Incarnation(time_of(row["created_on"]), str(row["owner"]), str(row["comment"] or ""), transient, columns)


def inside(account: Account, thing: Thing) -> frozenset[str]:
    """What somebody may miss when an object is dropped, each with its time of creation."""
    match thing.kind:
        case "AccountRole":
            grants = account.sql(f"SHOW GRANTS TO ROLE {thing.name}")
            return frozenset(f"{row['name']} {row['created_on']}" for row in grants if row["privilege"] == "OWNERSHIP")
        case "Database":
            unmissed = ("INFORMATION_SCHEMA", "PUBLIC")
            rows = [row for row in _shown(account, "SCHEMA") if row["name"] not in unmissed]
        case "Schema":
            rows = _shown(account, "TABLE")
        case _:
            return frozenset()
    found = [row for row in rows if _parts(row)[:-1] == thing.parts]
    return frozenset(f"{row['name']} {row['created_on']}" for row in found)


def sees_all(account: Account) -> bool:
    """Whether Freehold's role sees every object."""
    return may(account, "RESOLVE ALL")


def may(account: Account, privilege: str) -> bool:
    """Whether Freehold's role has a privilege on the account."""
    return any(row["privilege"] == privilege for row in account.sql(f"SHOW GRANTS TO ROLE {OURS}"))


def _shown(account: Account, type_: str) -> list[Mapping[str, Any]]:
    scope = " IN ACCOUNT" if type_ in ("SCHEMA", "TABLE") else ""
    return list(account.sql(f"SHOW {type_}S{scope}"))


def _parts(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("database_name", "schema_name", "name") if row.get(column))
