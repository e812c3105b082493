"""Who is woken by what, what lies inside what, and which attempts may still be under way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from freehold.claims import Holder, new_claim
from freehold.identity import Identity, Name
from freehold.kube.objects import Key, Object
from freehold_controllers.reconciler.attempts import Attempts
from freehold_controllers.reconciler.following import Following
from freehold_controllers.reconciler.inventory import Inventory

WAREHOUSE, DATABASE = Key("Warehouse", "n", "wh"), Key("Database", "n", "db")


def resource(key: Key, *, ready: str = "True", generation: int = 1, **status: Any) -> Object:
    told = {
        "type": "Ready",
        "status": ready,
        "reason": "R",
        "message": "m",
        "lastTransitionTime": "2026-11-30T12:00:00Z",
        "observedGeneration": generation,
    }
    metadata = {"name": key.name, "namespace": key.namespace, "generation": generation, "uid": "u"}
    return Object({"kind": key.kind, "metadata": metadata, "status": {"conditions": [told], **status}})


def claim(name: str, *parts: str, holder: str = "x", kind: str = "Schema", account: str = "R.A") -> Object:
    held = Holder(group="snowflake.freehold.dev", kind=kind, namespace="n", name=holder, uid="u")
    spec = new_claim(Identity(account, "SCHEMA", Name(parts)), "O.A", held).spec
    return Object(
        {
            "kind": "Claim",
            "metadata": {"name": name},
            "spec": spec.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
    )


def handing_over(to: str) -> Object:
    found = resource(DATABASE).raw
    metadata = {**found["metadata"], "annotations": {"freehold.dev/hand-over-to": to}}
    return Object({**found, "metadata": metadata})


CHANGES = [
    # what happens, before, after, whether it wakes
    ("it appears", None, resource(DATABASE), True),
    ("it goes", resource(DATABASE), None, True),
    ("it becomes ready", resource(DATABASE, ready="False"), resource(DATABASE), True),
    ("its spec changes", resource(DATABASE), resource(DATABASE, generation=2), True),
    ("its account is proven", resource(DATABASE), resource(DATABASE, account={"key": "R.A"}), True),
    ("it is to be handed over", resource(DATABASE), handing_over("m/y"), True),
    ("something else of its status changes", resource(DATABASE), resource(DATABASE, showOutput={"a": "b"}), False),
]


@pytest.mark.parametrize(("before", "after", "wakes"), [pytest.param(*r[1:], id=r[0]) for r in CHANGES])
def test_followers_are_woken_by_what_bears_on_them(before: Object | None, after: Object | None, wakes: bool) -> None:
    following = Following()
    following.follow(WAREHOUSE, DATABASE)
    assert [key for key, _ in following.wakes(before, after)] == ([WAREHOUSE] if wakes else [])


def test_who_looks_anew_no_longer_follows_what_it_looked_at_before() -> None:
    following = Following()
    following.follow(WAREHOUSE, DATABASE)
    following.forget(WAREHOUSE)
    assert not following.wakes(None, resource(DATABASE))


def test_a_claim_wakes_by_its_holder_and_not_by_its_evidence() -> None:
    following = Following()
    following.follow(WAREHOUSE, Key("Claim", "", "c"))
    before = claim("c", "D", "S")
    attested = Object({**before.raw, "spec": {**before.spec, "mark": {"attempt": 1, "outcome": "done"}}})
    assert not following.wakes(before, attested)
    assert following.wakes(before, claim("c", "D", "S", holder="y"))
    assert following.wakes(before, None)


def test_a_claim_that_is_made_wakes_all_but_the_one_that_made_it() -> None:
    following, made = Following(), claim("c", "D", "S")
    holder = made.spec["holder"]
    author, other = (Key(holder["kind"], holder["namespace"], name) for name in (holder["name"], "other"))
    for each in (author, other):
        following.follow(each, made.key)
    assert [key for key, _ in following.wakes(None, made)] == [other]


def test_what_lies_inside_a_container_is_found_by_its_claims() -> None:
    inventory = Inventory()
    for each in (
        claim("a", "D", "S"),
        claim("b", "D", "S2", holder="y"),
        claim("c", "D"),
        claim("d", "E", "S"),
        claim("e", "D", "S", account="R.B"),
        claim("f", "D", "P", kind="Unheard"),
    ):
        inventory.note(None, each)
    inventory.note(claim("b", "D", "S2", holder="y"), None)
    found = list(inventory.inside(Identity("R.A", "DATABASE", Name(("D",)))))
    assert [(name, holder.name) for name, holder in found] == [("a", "x")]
    assert not list(inventory.inside(Identity("R.A", "WAREHOUSE", Name(("D",)))))


def test_what_a_resource_holds_is_found_by_its_name() -> None:
    inventory = Inventory()
    mine = Holder(group="snowflake.freehold.dev", kind="Schema", namespace="n", name="x", uid="another")
    inventory.note(None, claim("a", "D", "S"))
    inventory.note(None, claim("b", "D", "S2"))
    inventory.note(None, claim("c", "D", "S3", holder="y"))
    assert inventory.held_by(mine) == {"a", "b"}
    inventory.note(claim("a", "D", "S"), claim("a", "D", "S", holder="y"))
    inventory.note(claim("b", "D", "S2"), None)
    assert not inventory.held_by(mine)
    assert [(holder[-1], dict(claims)) for holder, claims in inventory.holders.items()] == [
        ("y", {"a": False, "c": False})
    ]


def test_an_attempt_may_be_under_way_until_its_time_is_up() -> None:
    now = 1000.0
    attempts = Attempts(timedelta(seconds=60), lambda: now)
    assert attempts.under_way("uid", 1)
    assert attempts.under_way("uid", "DROP")
    now += 65
    assert not attempts.under_way("uid", 1)
    # Another process may have sent these right before we heard of them.
    assert attempts.under_way("uid", 2)
    assert attempts.under_way("uid of a later claim to the same name", 1)
    attempts.forget("uid")
    assert attempts.under_way("uid", "DROP")


def test_a_statement_of_a_kind_that_may_take_longer_may_be_under_way_for_longer() -> None:
    now = 1000.0
    attempts = Attempts(timedelta(seconds=60), lambda: now)
    longer, shorter = timedelta(seconds=300), timedelta(seconds=10)
    for limit in (longer, shorter):
        assert attempts.under_way(f"of {limit}", 1, limit)
    now += 65
    assert attempts.under_way(f"of {longer}", 1, longer)
    assert not attempts.under_way(f"of {shorter}", 1, shorter)
    now += 240
    assert not attempts.under_way(f"of {longer}", 1, longer)
    assert attempts.within(longer) - attempts.within() == timedelta(seconds=240)
