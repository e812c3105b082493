"""The graphs that tasks form, and the order in which one is changed: its root is suspended first and resumed last.

Source: "Create a sequence of tasks with a task graph" in Snowflake's documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from freehold import sql
from freehold.identifiers import InvalidName, split
from freehold.kinds.property import Target
from freehold.kinds.steps import Difference, Step
from freehold.observation import Observation, Row
from freehold.sql import Sql

GRAPH = "graph"
"""Name of the query below among the details of a kind."""

Path = tuple[str, ...]
"""Stored name parts of a task."""


def neighbours(target: Target) -> Sql:
    """All tasks that a task can be in a graph with: those of its schema."""
    return sql.sql("SHOW TASKS IN SCHEMA {schema}", schema=sql.identifier(*target.parts[:-1]))


def paths(printed: object) -> tuple[Path, ...]:
    """The tasks in a list that Snowflake prints, whose names are quoted where they must be."""
    found = orjson.loads(printed) if isinstance(printed, str) and printed else ()
    return tuple(sorted(path for each in found if (path := _path(each))))


def finalized(row: Row) -> Path | None:
    """The root that a task finalizes."""
    relations = row.get("task_relations")
    named = orjson.loads(relations).get("FinalizedRootTask") if isinstance(relations, str) and relations else None
    return _path(named) if named else None


def _path(printed: object) -> Path | None:
    try:
        return split(str(printed))
    except InvalidName:
        return None


@dataclass(frozen=True, slots=True)
class _Graph:
    """Tasks of a schema by their names."""

    rows: Mapping[str, Row]

    def roots(self, names: Iterable[str]) -> Iterator[str]:
        """The roots of the graphs that tasks are in. Graphs that are being changed may have several, or circles."""
        waiting, seen = list(names), set[str]()
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self.rows:
                continue
            seen.add(name)
            before = self._before(self.rows[name])
            waiting += before
            if not before:
                yield name

    def started(self, names: Iterable[str]) -> list[str]:
        """The roots among them that run."""
        return sorted(name for name in self.roots(names) if self.rows[name].get("state") == "started")

    def _before(self, row: Row) -> list[str]:
        root = finalized(row)
        return [path[-1] for path in (*paths(row.get("predecessors")), *((root,) if root else ()))]


def _of(rows: Iterable[Row]) -> _Graph:
    return _Graph({str(row["name"]): row for row in rows})


_ORDER = (
    "SUSPEND", "UNSET", "REMOVE WHEN", "MODIFY WHEN", "MODIFY AS", "SET FINALIZE", "SET EXECUTE", "ADD AFTER",
    "REMOVE AFTER", "SET", "RESUME",
)  # fmt: skip
"""Of the statements about one task: it is never without a predecessor in between, and has a schedule only as a root."""


def around_alter(
    target: Target, observation: Observation, differences: tuple[Difference, ...], steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """The steps in the order that Snowflake takes, with all roots that run suspended meanwhile."""
    head = f"ALTER TASK {target.name} "
    said = [step.statement.text.removeprefix(head) for step in steps]
    ordered = tuple(step for _, step in sorted(zip(map(_rank, said), steps, strict=True), key=lambda each: each[0]))
    graph = _of((observation.details or {}).get(GRAPH) or (observation.row,))
    started = graph.started([target.parts[-1], *_joined(differences)])
    if target.parts[-1] in started and "SUSPEND" in said:
        started.remove(target.parts[-1])
    return (*_suspended(target, started), *ordered, *_resumed(target, started))


def around_drop(target: Target, rows: tuple[Row, ...]) -> tuple[Step, ...]:
    """What is to be suspended before a task is dropped, and resumed afterwards. What ran after it is detached by the
    DROP, and suspended where it has no other predecessor."""
    started = _of(rows).started([target.parts[-1]])
    others = [name for name in started if name != target.parts[-1]]
    return (*_suspended(target, started), *_resumed(target, others))


def _rank(said: str) -> int:
    return next((at for at, verb in enumerate(_ORDER) if said.startswith(verb)), len(_ORDER))


def _joined(differences: Iterable[Difference]) -> Iterator[str]:
    """The tasks whose graphs another one is to join."""
    for each in differences:
        if each.field.attribute == "after":
            yield from (path[-1] for path in each.desired or ())
        elif each.field.attribute == "finalize_name" and each.desired:
            yield each.desired[-1]


def _suspended(target: Target, names: Collection[str]) -> Iterator[Step]:
    return (Step(_task(target, name).alter(sql.words("SUSPEND"))) for name in names)


def _resumed(target: Target, names: Collection[str]) -> Iterator[Step]:
    """The task itself first: a root that runs lets no other one of its graph be resumed."""
    own_first = sorted(names, key=lambda name: name != target.parts[-1])
    return (Step(resume(task), resumes=task) for task in (_task(target, name) for name in own_first))


def resume(task: Target) -> Sql:
    """What lets a task run; one that runs is left as it is."""
    return task.alter(sql.words("RESUME"))


def _task(target: Target, name: str) -> Target:
    return Target(target.object_type, (*target.parts[:-1], name))
