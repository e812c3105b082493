"""Who gets which role of a cluster, and what becomes of those that are let go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres.cluster_status import RoleOwner
from freehold.postgres.managed_roles import Arbitration, Claimant, Intent, Known, arbitrate
from freehold.postgres.role_status import roles_status, verdict
from tests.unit.postgres.live import patched

START = datetime(2026, 1, 1, tzinfo=UTC)


def owner(name: str, uid: str | None = None) -> RoleOwner:
    return RoleOwner(namespace="dbs", name=name, uid=uid or f"{name}-1")


def claimant(name: str, *intents: Intent | str, age: int = 0, uid: str | None = None) -> Claimant:
    """A PostgresDatabase that asks for roles with Secrets of its own; the higher its age, the older."""
    asked = [each if isinstance(each, Intent) else wants(name, each) for each in intents]
    return Claimant(owner(name, uid), START - timedelta(days=age), tuple(asked))


def wants(name: str, role: str, *, exists: bool = True, adopts: bool = False) -> Intent:
    return Intent(role, f"{name}-{role}", exists=exists, adopts=adopts)


def drops(name: str, role: str) -> Intent:
    return wants(name, role, exists=False)


def item(name: str, role: str) -> dict[str, Any]:
    return {"name": role, "ensure": "present", "login": True, "passwordSecret": {"name": f"{name}-{role}"}}


def absent(role: str) -> dict[str, Any]:
    return {"name": role, "ensure": "absent"}


def cluster(items: Iterable[Mapping[str, Any]] = (), **roles: Any) -> Object:
    """A Cluster with roles, to which its schema has added defaults."""
    listed = [{"connectionLimit": -1, "inherit": True, **each} for each in items]
    return Object(
        {
            "kind": "Cluster",
            "metadata": {"name": "orders", "resourceVersion": "7"},
            "spec": {"managed": {"roles": listed}} if listed else {},
            "status": {"managedRolesStatus": roles} if roles else {},
        }
    )


def owners(found: Arbitration) -> dict[str, str]:
    return {role: each.name for role, each in found.owners.items()}


A, B = owner("a"), owner("b")


def test_a_role_that_one_asks_for_is_listed_as_that_ones() -> None:
    found = arbitrate([claimant("a", "x", "w")], Known({}))
    assert found.items == (item("a", "w"), item("a", "x"))
    assert owners(found) == {"w": "a", "x": "a"}


def test_of_two_that_ask_at_once_the_older_gets_it_in_any_order() -> None:
    asking = [claimant("young", "x"), claimant("old", "x", age=2), claimant("mid", "x", age=1)]
    results = {str(arbitrate(each, Known({}))) for each in permutations(asking)}
    assert len(results) == 1
    found = arbitrate(asking, Known({}))
    assert owners(found) == {"x": "old"}
    assert [(each.claimed_by.name, each.attempted_by.name) for each in found.conflicts] == [
        ("old", "mid"),
        ("old", "young"),
    ]


def test_of_two_of_one_age_the_smaller_uid_gets_it() -> None:
    asking = [claimant("b", "x", uid="1"), claimant("a", "x", uid="2")]
    assert owners(arbitrate(asking, Known({}))) == owners(arbitrate(asking[::-1], Known({}))) == {"x": "b"}


def test_an_owner_keeps_its_role_from_an_older_resource() -> None:
    found = arbitrate([claimant("a", "x"), claimant("b", "x", age=9)], Known({"x": A}, [item("a", "x")]))
    assert owners(found) == {"x": "a"}
    assert found.items == (item("a", "x"),)


def test_a_resource_made_anew_under_the_name_is_another_one() -> None:
    found = arbitrate([claimant("a", "x", uid="a-2")], Known({"x": A}, [item("a", "x")]))
    assert found.owners == {"x": A}
    assert [each.attempted_by.uid for each in found.conflicts] == ["a-2"]


@pytest.mark.parametrize("heard_of", [[], [claimant("b", "y")]], ids=["empty", "partial"])
def test_a_cache_that_lacks_the_owner_releases_nothing(heard_of: list[Claimant]) -> None:
    found = arbitrate(heard_of, Known({"x": A}, [item("a", "x")]))
    assert owners(found)["x"] == "a"
    assert item("a", "x") in found.items


def test_an_owner_that_has_said_nothing_yet_keeps_its_roles() -> None:
    silent = Claimant(A, START, None)
    found = arbitrate([silent], Known({"x": A}, [item("a", "x")]))
    assert (owners(found), found.items) == ({"x": "a"}, (item("a", "x"),))


def test_what_a_resource_that_is_gone_had_stays_in_postgresql() -> None:
    found = arbitrate([], Known({"x": A}, [item("a", "x")], gone={"a-1"}))
    assert (found.items, found.owners) == ((), {})


def test_a_role_that_is_no_longer_asked_for_is_let_go_and_not_dropped() -> None:
    found = arbitrate([claimant("a", "y")], Known({"x": A, "y": A}, [item("a", "x"), item("a", "y")]))
    assert (found.items, owners(found)) == ((item("a", "y"),), {"y": "a"})


def test_what_was_let_go_isnt_taken_over_by_the_next_one() -> None:
    asking = claimant("b", "x")
    found = arbitrate([asking], Known({"x": A}, [item("a", "x")], gone={"a-1"}))
    assert (found.items, found.owners) == ((), {})
    assert "adoptionPolicy" in found.refused["x"]
    later = arbitrate([asking], Known({}, strangers={"x"}))
    assert later.refused == found.refused


def test_a_role_that_is_there_already_is_taken_over_only_when_its_resource_says_so() -> None:
    known = Known({}, strangers={"x"})
    assert arbitrate([claimant("a", "x")], known).owners == {}
    assert owners(arbitrate([claimant("a", wants("a", "x", adopts=True))], known)) == {"x": "a"}
    both = [claimant("old", "x", age=1), claimant("new", wants("new", "x", adopts=True))]
    assert owners(arbitrate(both, known)) == {"x": "new"}


def test_an_item_of_somebody_else_stays_as_it_is() -> None:
    theirs = {"name": "auditor", "ensure": "present", "superuser": True}
    found = arbitrate([claimant("a", "auditor", "x")], Known({}, [theirs]))
    assert found.items == (theirs, item("a", "x"))
    assert "isn't ours" in found.refused["auditor"]


def test_a_status_that_was_lost_is_made_up_from_the_list() -> None:
    found = arbitrate([claimant("b", "x", age=5), claimant("a", "x")], Known({}, [item("a", "x")], strangers={"x"}))
    assert owners(found) == {"x": "a"}


def test_a_drop_goes_on_after_the_status_was_lost() -> None:
    found = arbitrate([claimant("a", drops("a", "x"))], Known({}, [item("a", "x")], strangers={"x"}))
    assert (found.items, owners(found)) == ((absent("x"),), {"x": "a"})


def test_nobody_drops_a_role_that_isnt_its_own() -> None:
    assert arbitrate([claimant("b", drops("b", "x"))], Known({}, strangers={"x"})).items == ()
    found = arbitrate([claimant("b", drops("b", "x")), claimant("a", "x")], Known({"x": A}, [item("a", "x")]))
    assert (found.items, found.conflicts) == ((item("a", "x"),), ())


@pytest.mark.parametrize(
    ("listed", "missing", "stays"),
    [
        ([item("a", "x")], set(), True),
        ([item("a", "x")], {"x"}, True),
        ([absent("x")], set(), True),
        ([absent("x")], {"x"}, False),
        ([], {"x"}, False),
        ([], set(), True),
    ],
)
def test_a_role_is_told_to_go_until_the_server_is_seen_without_it(
    listed: list[Any], missing: set[str], *, stays: bool
) -> None:
    found = arbitrate([claimant("a", drops("a", "x"))], Known({"x": A}, listed, missing=missing))
    assert found.items == ((absent("x"),) if stays else ())
    assert owners(found) == ({"x": "a"} if stays else {})


def test_a_role_that_moves_between_databases_of_one_resource_is_not_dropped() -> None:
    moving = claimant("a", drops("a", "x"), Intent("x", "a-other-x"))
    found = arbitrate([moving], Known({"x": A}, [item("a", "x")]))
    assert [each["ensure"] for each in found.items] == ["present"]


@pytest.mark.parametrize("role", ["postgres", "pg_admin", "cnpg_admin", "streaming_replica"])
def test_one_reserved_name_doesnt_poison_the_list(role: str) -> None:
    found = arbitrate([claimant("a", role), claimant("b", "y")], Known({}))
    assert found.items == (item("b", "y"),)
    assert "reserved" in found.refused[role] or "own" in found.refused[role]


def test_the_list_is_written_at_its_version_and_only_when_it_differs() -> None:
    found = arbitrate([claimant("a", "x")], Known({}))
    live = cluster()
    patch = found.change(live)
    assert patch is not None
    assert patch["metadata"] == {"resourceVersion": "7"}
    assert found.change(patched(live, patch)) is None
    assert found.change(cluster([item("a", "x")])) is None
    assert arbitrate([], Known({})).change(live) is None


def test_the_last_role_goes_from_the_list() -> None:
    live = cluster([item("a", "x")])
    found = arbitrate([], Known({"x": A}, live.spec["managed"]["roles"], gone={"a-1"}))
    patch = found.change(live)
    assert patch is not None
    assert patch["spec"] == {"managed": {"roles": []}}


def test_what_cloudnativepg_said_of_roles_that_have_gone_is_left_out() -> None:
    found = arbitrate([claimant("a", "x", "y", "z")], Known({}))
    said = cluster(byStatus={"reconciled": ["x", "old"]}, cannotReconcile={"y": ["no\n Secret"], "older": ["!"]})
    status = roles_status(found, said)
    assert (status.reconciled, status.pending, status.failed) == (["x"], ["z"], {"y": "no Secret"})


def test_one_tenants_bad_role_degrades_that_tenant_alone() -> None:
    asking = [claimant("a", "x"), claimant("b", "y"), claimant("c", "z"), claimant("d", "x")]
    said = cluster(byStatus={"reconciled": ["x"]}, cannotReconcile={"y": ["owns objects"]})
    status = roles_status(arbitrate(asking, Known({"x": A})), said)
    reasons = {each.owner.name: verdict(each.owner, [i.role for i in each.intents or ()], status) for each in asking}
    assert {name: (each.ready, each.reason) for name, each in reasons.items()} == {
        "a": (True, "RolesAvailable"),
        "b": (False, "RoleReconcileFailed"),
        "c": (False, "WaitingForCNPG"),
        "d": (False, "RoleConflict"),
    }
    assert reasons["b"].message == "y: owns objects"
    assert reasons["d"].message == "role x belongs to PostgresDatabase dbs/a: choose another name"


def test_a_role_of_which_nothing_is_known_yet_isnt_ready() -> None:
    assert verdict(A, ["x"], None).reason == "WaitingForCNPG"
    assert verdict(A, ["x"], roles_status(arbitrate([claimant("b", "x")], Known({"x": B})), cluster())).ready is False
