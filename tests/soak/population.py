"""What may be declared: projects, each a database with what lies in it and beside it, spread over namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Key
from tests.chaos.account import Parts, Row

PREFIX = "SOAK"
"""What all stored names begin with."""

NAMESPACES = tuple(f"team-{number}" for number in range(5))
"""Each has a ProviderConfig of its own."""

_SCHEMAS, _TABLES, _WAREHOUSES, _ROLES = 2, 4, 9, 5
"""Of a project, the tables in each schema."""

PROJECT = 1 + _SCHEMAS * (1 + _TABLES) + _WAREHOUSES + _ROLES
"""Resources of a project."""

_MOST_COLUMNS = 6

_VALUES: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "Database": {"dataRetentionTimeInDays": (0, 1)},
    "Schema": {"dataRetentionTimeInDays": (0, 1)},
    "Warehouse": {
        "warehouseSize": ("XSMALL", "SMALL", "MEDIUM"),
        "autoSuspend": (60, 300),
        "initiallySuspended": (True,),
    },
}
"""What fields may be, by kind; every kind has a comment besides."""

_COLUMNS = {
    "comment": "comment",
    "dataRetentionTimeInDays": "retention_time",
    "warehouseSize": "size",
    "autoSuspend": "auto_suspend",
}
"""Columns of SHOW by field."""


@dataclass(eq=False)
class Place:
    """Where an object may be, and what has become of it.

    Attributes:
        kind: the object's kind.
        namespace: of its resource.
        name: of its resource; another one after a hand-over.
        parts: the object's stored name.
        parents: references to what it lies in.
        within: the places of these.
        spec: what is declared; None while there is no resource.
        made: how often people have declared it anew.
        removed: how often people have deleted its resource.
        lost: how often others have dropped the object.
        vanished: whether it is gone and people have to say whether it is to be made again.
        theirs: a stranger's object in its place, as it was made.
        touched: time of the loop of the latest deed.
    """

    kind: Kind
    namespace: str
    name: str
    parts: Parts
    parents: Mapping[str, Any] = field(default_factory=dict)
    within: tuple[Place, ...] = ()
    spec: dict[str, Any] | None = None
    made: int = 0
    removed: int = 0
    lost: int = 0
    vanished: bool = False
    theirs: Row | None = None
    touched: float = 0.0

    def __str__(self) -> str:
        return str(self.key)

    @property
    def key(self) -> Key:
        return Key(self.kind.name, self.namespace, self.name)

    @property
    def leaf(self) -> bool:
        """Whether nothing lies in it."""
        return self.kind.name not in ("Database", "Schema")

    @property
    def object(self) -> str:
        """Type and name of the object, in SQL."""
        return f"{self.kind.object_type} {self.kind.target(self.parts).name.text}"

    @property
    def parents_from_elsewhere(self) -> Mapping[str, Any]:
        """The references to what it lies in, as resources of other namespaces make them."""
        return {name: {**ref, "namespace": self.namespace} for name, ref in self.parents.items()}

    @property
    def roomy(self) -> bool:
        """Whether all that it lies in is declared."""
        return all(each.spec is not None for each in self.within)

    @property
    def sound(self) -> bool:
        """Whether it is declared, and nobody has taken its object away."""
        return self.spec is not None and self.theirs is None and not self.vanished

    def draw(self, random: Random) -> dict[str, Any]:
        """A new spec for it."""
        drawn: dict[str, Any] = {"name": self.parts[-1], **self.parents, "comment": f"note {random.randrange(10**6)}"}
        drawn |= {name: random.choice(values) for name, values in _VALUES.get(self.kind.name, {}).items()}
        if self.kind.name == "Table":
            had = len((self.spec or {}).get("columns", ())) or 1
            count = min(had + random.randrange(2), _MOST_COLUMNS)
            drawn["columns"] = [{"name": f"C{number}", "type": "NUMBER(38,0)"} for number in range(count)]
        return drawn

    def differing(self, row: Row) -> list[str]:
        """Fields of the spec that a row of SHOW says otherwise."""
        declared = self.spec or {}
        return [
            f"{self}: {name} is {row[column]}, not {declared[name]}"
            for name, column in _COLUMNS.items()
            if name in declared and _plain(row[column]) != _plain(declared[name])
        ]


def _plain(value: object) -> str:
    return str(value).upper().replace("-", "")


def population(count: int) -> list[Place]:
    """So many places, or up to a project less; what lies in another comes after that."""
    return [place for number in range(count // PROJECT) for place in _project(number)]


def _project(number: int) -> Iterator[Place]:
    namespace = NAMESPACES[number % len(NAMESPACES)]

    def place(kind: str, *parts: str, within: tuple[Place, ...] = ()) -> Place:
        refs = {f"{each.kind.name.lower()}Ref": {"name": each.name} for each in within}
        name = "-".join(parts).lower().replace("_", "-")
        return Place(KINDS[kind], namespace, name, parts, refs, within)

    common = f"{PREFIX}_{number}"
    database = place("Database", common)
    yield database
    for index in range(_SCHEMAS):
        schema = place("Schema", common, f"{PREFIX}_S{index}", within=(database,))
        yield schema
        for each in range(_TABLES):
            yield place("Table", *schema.parts, f"{PREFIX}_T{each}", within=(database, schema))
    for index in range(_WAREHOUSES):
        yield place("Warehouse", f"{common}_W{index}")
    for index in range(_ROLES):
        yield place("AccountRole", f"{common}_R{index}")
