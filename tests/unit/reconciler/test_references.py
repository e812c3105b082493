"""References: what a resource refers to must be there, ready for its own generation, and in the same account."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kinds.registry import KINDS
from freehold.kinds.resource import GroupResource
from freehold.kube.objects import Object
from freehold_controllers.reconciler.managed import Managed
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.references import resolved

SPEC = {"name": "WH", "warehouseType": "INTERACTIVE", "fallbackWarehouseRef": {"name": "other"}}

PROVIDER = Object({"kind": "ProviderConfig", "spec": {"account": "ORG-ACC", "authenticationType": "KeyPair"}})


def _warehouse(name: str, spec: dict[str, Any], **status: Any) -> Object:
    metadata = {"name": name, "namespace": "team", "uid": "u", "generation": 2, "resourceVersion": "1"}
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
