"""Which change makes a resource's own reconcile how urgent."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold_controllers.runtime.lines import Priority
from freehold_controllers.runtime.watches import urgency


def thing(status: dict[str, Any] | None = None, **metadata: Any) -> Object:
    base = {"name": "a", "namespace": "n", "uid": "1", "generation": 1}
    return Object({"kind": "Thing", "metadata": {**base, **metadata}, "status": status or {}})


BEING_DELETED: dict[str, Any] = {"deletionTimestamp": "2030-01-01T00:00:00Z", "generation": 2}
SEEN = {"observedGeneration": 1}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(None, thing(), Priority.CHANGE, id="new"),
        pytest.param(None, thing(SEEN), Priority.RESYNC, id="known already when we start"),
        pytest.param(None, thing(SEEN, generation=2), Priority.CHANGE, id="changed while we were away"),
        pytest.param(None, thing(SEEN, **BEING_DELETED), Priority.DELETION, id="deleted while we were away"),
        pytest.param(thing(), thing(generation=2), Priority.CHANGE, id="spec"),
        pytest.param(thing(), thing(SEEN), None, id="status"),
        pytest.param(thing(), thing(finalizers=["freehold.dev/claim"]), None, id="finalizer"),
        pytest.param(thing(), thing(labels={"team": "x"}), None, id="label"),
        pytest.param(thing(), thing(annotations={"other.dev/x": "y"}), None, id="somebody else's annotation"),
        pytest.param(thing(), thing(annotations={"freehold.dev/x": "y"}), Priority.CHANGE, id="our annotation"),
        pytest.param(thing(), thing(**BEING_DELETED), Priority.DELETION, id="deletion"),
        pytest.param(
            thing(**BEING_DELETED),
            thing(**BEING_DELETED, annotations={"freehold.dev/abandon-on-delete": "true"}),
            Priority.DELETION,
            id="annotation while being deleted",
        ),
        pytest.param(thing(SEEN), thing(SEEN, uid="2"), Priority.RESYNC, id="recreated and its status restored"),
        pytest.param(thing(SEEN), thing(uid="2"), Priority.CHANGE, id="recreated"),
    ],
)
def test_urgency(before: Object | None, after: Object, expected: Priority | None) -> None:
    assert urgency(before, after) is expected
