"""Who is next among the keys that are ready: the most urgent, of these one group after the other, in each the oldest.

A group is the keys that work with the same thing, which may hang. Each has some workers to itself, so that nobody waits
for what others hang on. More it gets from a pool, as long as it leaves more there than it has taken. Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum

from freehold.kube.objects import Key


class Priority(IntEnum):
    """What goes first."""

    CHANGE = 0
    """Somebody has just applied it."""
    DELETION = 1
    RETRY = 2
    RESYNC = 3


@dataclass(frozen=True, slots=True)
class Workers:
    """How many keys are worked on at a time.

    Attributes:
        own: of each group, whatever the others do.
        pool: of all groups, beyond these.
        most: of one group, in all.
    """

    own: int = 4
    pool: int = 96
    most: int = 32


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key stands in line.

    Attributes:
        priority: its priority.
        group: its group.
        since: when it became ready.
    """

    priority: Priority
    group: str
    since: float


class Lines:
    """Keys that are ready, and how many workers each group has."""

    def __init__(self, workers: Workers) -> None:
        """
        Args:
            workers: how many there are.
        """
        self._workers = workers
        self._free = workers.pool
        self._taken: Counter[str] = Counter()
        # Dicts keep order like lists, and let go of any key at once.
        self._lines: dict[Priority, dict[str, dict[Key, None]]] = {priority: {} for priority in Priority}
        self._places: dict[Key, Place] = {}

    def length(self, priority: Priority) -> int:
        """How many keys of a priority are ready."""
        return sum(map(len, self._lines[priority].values()))

    def place(self, key: Key) -> Place | None:
        """Where a key stands; None when it isn't ready."""
        return self._places.get(key)

    def add(self, key: Key, place: Place) -> None:
        """Line a key up, instead of where it stood before."""
        self._remove(key)
        self._places[key] = place
        self._lines[place.priority].setdefault(place.group, {})[key] = None

    def take(self) -> tuple[Key, Place] | None:
        """Give a worker to the next key, until the worker is `back`; None where no group that may have one is ready."""
        for groups in self._lines.values():
            for group, line in groups.items():
                if self._may_take(group):
                    # The others are first now.
                    groups[group] = groups.pop(group)
                    key = next(iter(line))
                    place = self._places[key]
                    self._remove(key)
                    self._free -= self._taken[group] >= self._workers.own
                    self._taken[group] += 1
                    return key, place
        return None

    def back(self, group: str) -> None:
        """A worker that a group had is free."""
        self._taken[group] -= 1
        self._free += self._taken[group] >= self._workers.own
        if not self._taken[group]:
            del self._taken[group]

    def _may_take(self, group: str) -> bool:
        taken, workers = self._taken[group], self._workers
        return taken < workers.own or (taken < workers.most and taken - workers.own < self._free)

    def _remove(self, key: Key) -> None:
        if place := self._places.pop(key, None):
            groups = self._lines[place.priority]
            del groups[place.group][key]
            if not groups[place.group]:
                del groups[place.group]
