"""Resources are counted by how they are now, and not any more once they are gone."""

from __future__ import annotations

from collections.abc import Iterator

from freehold.kube.objects import Object
from freehold.metrics import REGISTRY
from freehold_controllers.reconciler.tally import Tally


def resource(status: str = "", reason: str = "") -> Object:
    conditions = [{"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}]
    if status:
        conditions.append({"type": "Ready", "status": status, "reason": reason})
    return Object({"kind": "Warehouse", "metadata": {"name": "w"}, "status": {"conditions": conditions}})


def series() -> Iterator[tuple[str, str, float]]:
    for family in REGISTRY.collect():
        if family.name == "freehold_resources":
            yield from ((each.labels["ready"], each.labels["reason"], each.value) for each in family.samples)


def test_a_resource_counts_as_what_its_condition_says_until_it_is_gone() -> None:
    tally, new, failed, ready = Tally(), resource(), resource("False", "TerminalError"), resource("True", "Available")

    tally.note(None, new)
    tally.note(None, new)
    assert list(series()) == [("", "", 2)]
    tally.note(new, failed)
    tally.note(new, ready)
    assert sorted(series()) == [("False", "TerminalError", 1), ("True", "Available", 1)]
    tally.note(failed, None)
    assert list(series()) == [("True", "Available", 1)]


def test_what_somebody_else_wrote_for_a_reason_makes_no_series() -> None:
    Tally().note(None, resource("False", "WrittenByAStranger"))

    assert list(series()) == [("", "", 1)]
