"""References: what a resource refers to must be there, ready for its own generation, and in the same account."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest

from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Object
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.references import resolved
from freehold_controllers.runtime.work import Unfinished
from tests.unit.reconciler.world import Fuse, World

SPEC = {"name": "WH", "warehouseType": "INTERACTIVE", "fallbackWarehouseRef": {"name": "other"}}

PROVIDER = Object({"kind": "ProviderConfig", "spec": {"account": "ORG-ACC", "authenticationType": "KeyPair"}})


def _warehouse(name: str, spec: dict[str, Any], *, deleting: bool = False, **status: Any) -> Object:
    metadata = {"name": name, "namespace": "team", "uid": "u", "generation": 2, "resourceVersion": "1"}
    metadata |= {"deletionTimestamp": "2026-11-30T12:00:00Z"} if deleting else {}
    return Object({"kind": "Warehouse", "metadata": metadata, "spec": spec, "status": status})


def _ready(status: str = "True", generation: int = 2) -> list[dict[str, Any]]:
    time = "2026-11-30T12:00:00Z"
    facts = {"type": "Ready", "status": status, "reason": "Because", "message": "", "lastTransitionTime": time}
    return [{**facts, "observedGeneration": generation}]


async def _resolve(target: Object | None) -> Managed:
    async def get(path: GroupResource, _namespace: str, _name: str) -> Object | None:
        return PROVIDER if path.kind == "ProviderConfig" else target

    return await resolved(Managed.read(_warehouse("wh", SPEC), KINDS["Warehouse"]), "ORG.ACC", get)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "doesn't exist"),
        (_warehouse("other", {"name": "O"}), "isn't reconciled yet"),
        (_warehouse("other", {"name": "O"}, conditions=_ready(generation=1)), "isn't reconciled yet"),
        (_warehouse("other", {"name": "O"}, conditions=_ready("False")), "isn't ready: Because"),
        (
            _warehouse("other", {"name": "O"}, deleting=True, conditions=_ready()),
            "is being deleted: delete this resource, too, or refer to another one",
        ),
        (
            _warehouse("other", {"name": "O"}, conditions=_ready(), account="ORG.ELSE"),
            "lives in account ORG.ELSE, not in ORG.ACC",
        ),
    ],
)
async def test_what_can_not_be_used_yet_is_named(target: Object | None, message: str) -> None:
    with pytest.raises(Stopped) as stopped:
        await _resolve(target)
    assert str(stopped.value.stop.message) == f"Warehouse team/other in spec.fallbackWarehouseRef {message}"


async def test_a_reference_is_replaced_by_the_stored_name() -> None:
    managed = await _resolve(_warehouse("other", {"name": "o.T"}, conditions=_ready(), account="ORG.ACC"))
    assert managed.spec.model_dump()["fallback_warehouse"] == "o.T"


async def test_a_resource_that_refers_to_itself_waits_for_nobody() -> None:
    spec = {**SPEC, "fallbackWarehouseRef": {"name": "wh"}}
    asked = []

    async def get(path: GroupResource, _namespace: str, _name: str) -> Object | None:
        asked.append(path.kind)
        return PROVIDER

    managed = await resolved(Managed.read(_warehouse("wh", spec), KINDS["Warehouse"]), "ORG.ACC", get)
    assert managed.spec.model_dump()["fallback_warehouse"] == "WH"
    assert "Warehouse" not in asked


async def test_references_are_told_to_be_resolved_and_the_manifest_stays_as_it_is() -> None:
    world = World(Fuse(0, done=False), spec={"fallbackWarehouseRef": {"name": "other"}})
    written = copy.deepcopy(world.kube.objects[world.place]["spec"])
    with suppress(Unfinished):
        await world.process()(world.key)
    assert _told(world) == (
        "False",
        "DependencyNotReady",
        "Warehouse n/other in spec.fallbackWarehouseRef doesn't exist",
    )
    other = {"name": "O"}
    status = {"conditions": _ready(), "account": "O.A"}
    world.kube.put(world.path, "other", "n", metadata={"generation": 2}, spec=other, status=status)
    await world.process()(world.key)
    assert _told(world) == ("True", "Available", "what it refers to is ready: Warehouse n/other")
    assert world.kube.objects[world.place]["spec"] == written


def _told(world: World) -> tuple[str, str, str]:
    told = world.kube.objects[world.place]["status"]["conditions"]
    (found,) = (each for each in told if each["type"] == "ReferencesResolved")
    return found["status"], found["reason"], found["message"]


async def test_an_object_stays_as_ready_as_it_was_while_what_it_refers_to_changes() -> None:
    world = World(Fuse(0, done=False), spec={"fallbackWarehouseRef": {"name": "other"}})
    status = {"conditions": _ready(), "account": "O.A"}
    other = world.kube.put(world.path, "other", "n", metadata={"generation": 2}, spec={"name": "O"}, status=status)
    await world.process()(world.key)
    assert world.reason == "Available"
    world.kube.put(world.path, "other", "n", metadata={"generation": 3}, spec=other.spec, status=status)
    with pytest.raises(Unfinished, match="isn't reconciled yet"):
        await world.process()(world.key)
    assert world.reason == "Available"
    assert _told(world)[0] == "False"
    assert "DependencyNotReady" not in dict(world.events)


def _chain(**others: dict[str, Any]) -> dict[str, Object]:
    """Warehouses by name."""
    return {name: _warehouse(name, {"name": name.upper(), **spec}) for name, spec in others.items()}


@pytest.mark.parametrize(
    ("chain", "circle"),
    [
        (_chain(other={**SPEC, "fallbackWarehouseRef": {"name": "wh"}}), "wh -> other -> wh"),
        (
            _chain(
                other={**SPEC, "fallbackWarehouseRef": {"name": "third"}},
                third={**SPEC, "fallbackWarehouseRef": {"name": "wh"}},
            ),
            "wh -> other -> third -> wh",
        ),
        (_chain(other={**SPEC, "fallbackWarehouseRef": {"name": "other"}}), None),
        (_chain(other={**SPEC, "fallbackWarehouseRef": {"name": "gone"}}), None),
        (_chain(other={"name": 1}), None),
        (
            {
                **_chain(other={**SPEC, "fallbackWarehouseRef": {"name": "third"}}),
                "third": _warehouse(
                    "third", {**SPEC, "fallbackWarehouseRef": {"name": "wh"}}, conditions=_ready(), account="ORG.ACC"
                ),
            },
            None,
        ),
    ],
    ids=["two", "three", "another's own", "a gap", "unreadable", "one is ready"],
)
async def test_resources_that_wait_for_one_another_are_named(chain: dict[str, Object], circle: str | None) -> None:
    async def get(path: GroupResource, _namespace: str, name: str) -> Object | None:
        return PROVIDER if path.kind == "ProviderConfig" else chain.get(name)

    with pytest.raises(Stopped) as stopped:
        await resolved(Managed.read(_warehouse("wh", SPEC), KINDS["Warehouse"]), "ORG.ACC", get)
    named = circle and " -> ".join(f"Warehouse team/{name}" for name in circle.split(" -> "))
    told = f"waits for this resource in turn ({named}): leave one" if circle else "isn't reconciled yet"
    assert told in stopped.value.stop.message
    assert stopped.value.stop.brief is not bool(circle)


@pytest.mark.parametrize(
    ("reason", "ready"),
    [("Vanished", False), ("Replaced", False), ("DependencyNotReady", False), ("TerminalError", True)],
)
async def test_what_refers_to_an_object_that_is_lost_is_not_ready_any_more(reason: str, ready: bool) -> None:
    world = World(Fuse(0, done=False), spec={"fallbackWarehouseRef": {"name": "other"}})
    status = {"conditions": _ready(), "account": "O.A"}
    world.kube.put(world.path, "other", "n", metadata={"generation": 2}, spec={"name": "O"}, status=status)
    await world.process()(world.key)
    (told,) = _ready("False")
    lost = {**status, "conditions": [{**told, "reason": reason}]}
    world.kube.put(world.path, "other", "n", metadata={"generation": 2}, spec={"name": "O"}, status=lost)
    with pytest.raises(Unfinished, match=f"isn't ready: {reason}"):
        await world.process()(world.key)
    assert (world.reason == "Available") is ready


@pytest.mark.parametrize(("schema", "meant"), [("S", True), ("ELSEWHERE", False)])
async def test_a_task_refers_to_none_of_another_schema(schema: str, *, meant: bool) -> None:
    def task(name: str, schema: str, **spec: Any) -> Object:
        body = {"databaseName": "D", "schemaName": schema, "name": name.upper(), "sqlStatement": "SELECT 1", **spec}
        metadata = {"name": name, "namespace": "team", "uid": "u", "generation": 2, "resourceVersion": "1"}
        status = {"conditions": _ready(), "account": "ORG.ACC"}
        return Object({"kind": "Task", "metadata": metadata, "spec": body, "status": status})

    async def get(path: GroupResource, _namespace: str, _name: str) -> Object | None:
        return PROVIDER if path.kind == "ProviderConfig" else task("root", schema)

    managed = Managed.read(task("last", "S", finalizeRef={"name": "root"}), KINDS["Task"])
    if meant:
        assert (await resolved(managed, "ORG.ACC", get)).spec.model_dump()["finalize_name"] == "ROOT"
        return
    with pytest.raises(Stopped) as stopped:
        await resolved(managed, "ORG.ACC", get)
    assert 'lies in schema "D"."ELSEWHERE", and not in "D"."S"' in stopped.value.stop.message
