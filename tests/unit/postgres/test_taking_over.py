"""Whose an object is that a cluster needs, and how that changes."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres.ownership import Ownership, judge, released, taken_over
from tests.unit.postgres.live import OWNER, patched

PLAIN = {"adopts": False}
ADOPTS = {"adopts": True}
RESTORES = {"adopts": False, "restores": True}
OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x-1"}


def there(*references: dict[str, Any]) -> Object:
    metadata = {"name": "orders", "namespace": "dbs", "uid": "c-1", "resourceVersion": "7"}
    return Object({"kind": "Cluster", "metadata": {**metadata, "ownerReferences": list(references)}})


@pytest.mark.parametrize(
    ("live", "wish", "evidence", "ownership", "why"),
    [
        (there(OWNER.reference), PLAIN, None, Ownership.OURS, ""),
        (there(OWNER.reference), RESTORES, "c-1", Ownership.OURS, ""),
        (there(OTHER), PLAIN, "c-1", Ownership.RETURNING, ""),
        (there(), PLAIN, "c-0", Ownership.TAKEN, "isn't ours"),
        (there(), PLAIN, None, Ownership.TAKEN, "isn't ours"),
        (there(), ADOPTS, None, Ownership.ADOPTED, ""),
        (there({**OWNER.reference, "uid": "u-0"}), ADOPTS, "c-1", Ownership.TAKEN, "belongs to PostgresCluster orders"),
        (there({**OTHER, "controller": True}), ADOPTS, "c-1", Ownership.TAKEN, "belongs to ConfigMap x"),
    ],
)
def test_only_what_is_proven_to_be_ours_or_is_to_be_adopted_is_taken(
    live: Object, wish: dict[str, bool], evidence: str | None, ownership: Ownership, why: str
) -> None:
    judgement = judge(live, OWNER, evidence, **wish)
    assert judgement.ownership is ownership
    assert why in judgement.why
    assert bool(judgement.why) is (ownership is Ownership.TAKEN)


@pytest.mark.parametrize("adopts", [True, False])
def test_old_data_is_never_served_in_place_of_a_restore(adopts: bool) -> None:
    judgement = judge(there(), OWNER, "c-1", adopts=adopts, restores=True)
    assert judgement.ownership is Ownership.TAKEN
    assert "spec.bootstrapFrom would not replace" in judgement.why


def test_what_is_let_go_keeps_its_other_owners_and_can_come_back() -> None:
    ours = there(OTHER, OWNER.reference)
    patch = released(ours, OWNER)
    assert patch == {"metadata": {"uid": "c-1", "resourceVersion": "7", "ownerReferences": [OTHER]}}
    free = patched(ours, patch)
    assert released(free, OWNER) is None
    assert patched(free, taken_over(free, OWNER)).metadata["ownerReferences"] == [OTHER, OWNER.reference]
