"""Fields of a task about its graph and state: what it runs after, what it finalizes, and whether it is suspended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pydantic import ConfigDict, Field

from freehold import sql
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import ref
from freehold.kinds.model import Model
from freehold.kinds.names import Level
from freehold.kinds.property import KEEP, Action, Change, Deviation, Property, Target
from freehold.kinds.resource import exactly_one, ruled
from freehold.kinds.task_graphs import Path, finalized, paths
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

FAILED = "SUSPENDED_DUE_TO_ERRORS"
"""Why Snowflake suspends a task by itself."""


# --- the graph -------------------------------------------------------------------------------------------------------


class Predecessor(Model):
    """A task that another one runs after."""

    model_config = ConfigDict(json_schema_extra=ruled(exactly_one("ref", "name")))

    ref: Reference | None = ref("Task", instead_of="name", beside=True)
    """The Task, in place of its name."""
    name: Name | None = None
    """Its stored name. It lies in the same schema."""


class _Path(Codec):
    """A task by its name parts."""

    def read(self, raw: object) -> object:
        return raw


class _Paths(_Path):
    """Tasks as a set."""

    def canonical(self, value: Any) -> tuple[Path, ...]:
        return tuple(sorted(set(value)))


def _beside(spec: Any, name: str | None) -> Path | None:
    """A task in the same schema; None while its name isn't known."""
    parts = tuple(each for each in (spec.database_name, spec.schema_name, name) if each)
    return parts if len(parts) == Level.SCHEMA.value else None


def _predecessors(spec: Any) -> tuple[Path, ...] | None:
    found = [_beside(spec, each.name) for each in spec.after or ()]
    return tuple(each for each in found if each) if found and all(found) else None


def _link(target: Target, desired: Sequence[Path] | None, observed: object) -> Iterator[Sql]:
    """What is to come first is added before the other is removed: the task never becomes a root in between."""
    have = set(observed) if isinstance(observed, tuple) else set()
    want = set(desired or ())
    for verb, those in (("ADD AFTER", want - have), ("REMOVE AFTER", have - want)):
        if those:
            names = sql.join((sql.identifier(*each) for each in sorted(those)), ", ")
            yield target.alter(sql.sql("{verb} {names}", verb=sql.words(verb), names=names))


def _finalize(target: Target, desired: Path | None, _observed: object) -> Sequence[Sql]:
    if desired is None:
        return (target.alter(sql.words("UNSET FINALIZE")),)
    return (target.alter(sql.sql("SET FINALIZE = {root}", root=sql.identifier(*desired))),)


def _linked_after(observation: Observation) -> object:
    return paths(observation.row["predecessors"]) if "predecessors" in observation.row else UNKNOWN


# Both are set right after the creation: in CREATE they would take the graph to be suspended before anything is ours.


def predecessors() -> Any:
    """The field for the tasks that one runs after."""
    return Field(
        default=None,
        json_schema_extra=Property(
            alter=lambda *given: tuple(_link(*given)),
            observe=_linked_after,
            source="show.predecessors",
            codec=_Paths(),
            create=False,
            own_statement=True,
            derived=_predecessors,
        ),
        min_length=1,
        max_length=100,
    )


def finalized_root() -> Any:
    """The field for the root that a task finalizes."""
    return Field(
        default=None,
        json_schema_extra=Property(
            alter=_finalize,
            observe=lambda observation: finalized(observation.row),
            source="show.task_relations",
            codec=_Path(),
            create=False,
            own_statement=True,
            derived=lambda spec: _beside(spec, spec.finalize_name),
        ),
    )


# --- the state -------------------------------------------------------------------------------------------------------


class _State(Codec):
    """Whether a task is suspended, as SHOW says it."""

    def canonical(self, value: Any) -> str:
        return {True: "suspended", False: "started"}.get(value, str(value).lower())


def _state(observation: Observation) -> object:
    state = str(observation.row.get("state") or "")
    failed = state.lower() == "suspended" and observation.row.get("last_suspended_reason") == FAILED
    return FAILED if failed else state or UNKNOWN


_MENDS = (
    "sqlStatement", "warehouseName", "when", "schedule", "config", "userTaskTimeoutMs", "suspendTaskAfterNumFailures",
    "userTaskManagedInitialWarehouseSize", "executeAsUser",
)  # fmt: skip
"""Fields whose change may well end a task's failures."""


def _switch(verb: str) -> Action:
    return Action(verb, sql.words(""), whole=lambda target: target.alter(sql.words(verb)))


_SUSPEND, _RESUME = _switch("SUSPEND"), _switch("RESUME")


def _resume_or_suspend(spec: Any, observed: str, _tracked: Collection[str]) -> Iterator[Deviation]:
    if spec.suspend is None:
        return
    desired = "suspended" if spec.suspend else "started"
    failed = observed == FAILED.lower()
    if observed == desired or (failed and spec.suspend):
        return
    yield Deviation(
        place="",
        desired=desired,
        observed=observed,
        # Resumed again and again it would fail again and again: only when its user has changed something.
        change=Change.ASKED if failed else Change.ALTER,
        actions=(_SUSPEND if spec.suspend else _RESUME,),
        said="is false, and Snowflake has suspended the task since its runs failed" if failed else "",
        remedy="mend what fails; a change of the spec, or ALTER TASK ... RESUME, lets it run again" if failed else "",
        causes=_MENDS,
    )


def suspended() -> Any:
    """The field for whether a task is suspended."""
    return Field(
        default=None,
        json_schema_extra=Property(
            codec=_State(), observe=_state, source="show.state", create=False, differ=_resume_or_suspend, reset=KEEP
        ),
    )
