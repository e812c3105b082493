"""In which order a database goes, and what stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres.cluster_status import ManagedRolesStatus, RoleOwner
from freehold.postgres.common import DATABASES
from freehold.postgres.objects import Owner
from freehold.postgres.placing import OWNER_UID, RETAINED_FROM, belongs, left_behind, returns, taken_back
from freehold.postgres.removal import Action, Remains, Step, step, still_ours
from tests.unit.postgres.live import patched

OWNER = Owner(DATABASES, "dbs", "app", "d-1")
ELSEWHERE = Owner(DATABASES, "team", "app", "d-2")


def thing(kind: str, name: str, *, owner: Owner | None = OWNER, going: bool = False, **parts: Any) -> Object:
    metadata: dict[str, Any] = {"name": name, "namespace": "dbs", "uid": f"{name}-1", "resourceVersion": "7"}
    if owner is OWNER:
        metadata |= {"ownerReferences": [OWNER.reference]}
    elif owner is not None:
        metadata |= {"labels": {OWNER_UID: owner.uid}}
    return Object({"kind": kind, "metadata": metadata | ({"deletionTimestamp": "now"} if going else {}), **parts})


def database(policy: str = "delete", *, made: bool = True, **fields: Any) -> Object:
    status = {"applied": True, "observedGeneration": 1} if made else {}
    return thing("Database", "app-kv", spec={"databaseReclaimPolicy": policy}, status=status, **fields)


SECRET, CONFIG = thing("Secret", "app-kv-rw"), thing("ConfigMap", "app-kv-config")
ALL = Remains(
    "kv",
    retained=False,
    serving=True,
    database=database(),
    roles=frozenset({"kv_admin", "kv_rw"}),
    access=(SECRET, CONFIG),
)


def test_first_the_database_then_its_roles_then_its_secrets() -> None:
    taken: list[Step] = []
    remains = replace(ALL, database=database("retain"))
    for after in (
        replace(ALL, database=database()),
        replace(ALL, database=database(going=True)),
        replace(ALL, database=None),
        replace(ALL, database=None, roles=frozenset()),
        replace(ALL, database=None, roles=frozenset(), access=()),
    ):
        taken.append(step(remains, OWNER))
        remains = after
    taken.append(step(remains, OWNER))
    assert [each.action for each in taken] == [
        Action.RECLAIM,
        Action.DELETE,
        Action.CLOSE,
        Action.DROP_ROLES,
        Action.DELETE,
        Action.DONE,
    ]
    assert [each.kind for each in taken[1].objects] == ["Database"]
    assert taken[3].roles == {"kv_admin", "kv_rw"}
    assert [each.kind for each in taken[4].objects] == ["Secret", "ConfigMap"]


def test_sessions_of_a_database_that_cloudnativepg_never_made_are_left_alone() -> None:
    found = step(replace(ALL, database=database(made=False, going=True)), OWNER)
    assert (found.action, found.objects) == (Action.DELETE, ())


def test_a_retained_database_keeps_all_that_applications_need() -> None:
    remains = replace(ALL, retained=True)
    found = step(remains, OWNER)
    assert found.action is Action.LEAVE
    assert [each.kind for each in found.objects] == ["Database", "Secret", "ConfigMap"]
    left = [patched(each, left_behind(each, OWNER) or {}) for each in found.objects]
    after = replace(remains, database=left[0], access=tuple(left[1:]))
    assert step(after, OWNER).action is Action.DONE


def test_what_isnt_ours_stays() -> None:
    stranger = thing("Database", "app-kv", owner=None, spec={})
    theirs = thing("Secret", "app-kv-rw", owner=ELSEWHERE)
    found = step(replace(ALL, database=stranger, roles=frozenset(), access=(theirs,)), OWNER)
    assert found.action is Action.DONE


def test_without_its_cluster_nothing_is_waited_for() -> None:
    remains = replace(ALL, serving=False, database=database(going=True))
    assert step(remains, OWNER).objects == (SECRET, CONFIG)
    assert step(replace(remains, access=()), OWNER).action is Action.DONE


def test_why_roles_cant_be_dropped_is_told() -> None:
    found = step(replace(ALL, database=None, trouble="kv_admin: owns objects"), OWNER)
    assert found.message == "CloudNativePG drops kv_admin, kv_rw: kv_admin: owns objects"


def test_secrets_that_are_going_are_waited_for() -> None:
    going = thing("Secret", "app-kv-rw", going=True)
    found = step(replace(ALL, database=None, roles=frozenset(), access=(going,)), OWNER)
    assert (found.action, found.objects) == (Action.DELETE, ())


def _status(**owners: str) -> ManagedRolesStatus:
    return ManagedRolesStatus(
        role_owners={role: RoleOwner(namespace="dbs", name="app", uid=uid) for role, uid in owners.items()}
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, set()),
        (ManagedRolesStatus(), set()),
        (_status(kv_rw="d-1", kv_admin="other", more="d-1"), {"kv_rw"}),
    ],
)
def test_roles_are_waited_for_while_the_cluster_says_that_they_are_ours(
    status: ManagedRolesStatus | None, expected: set[str]
) -> None:
    owner = RoleOwner(namespace="dbs", name="app", uid="d-1")
    assert still_ours(owner, ["kv_admin", "kv_rw"], status) == expected


@pytest.mark.parametrize("owner", [OWNER, ELSEWHERE], ids=["same-namespace", "another-namespace"])
def test_what_was_left_behind_returns_to_a_resource_of_the_same_name(owner: Owner) -> None:
    live = thing("Database", "app-kv", owner=owner)
    assert belongs(live, owner)
    left = patched(live, left_behind(live, owner) or {})
    assert not belongs(left, owner)
    assert left.annotations[RETAINED_FROM] == f"{owner.namespace}/app"
    again = replace(owner, uid="new")
    assert returns(left, again)
    assert not returns(left, replace(again, name="other"))
    back = patched(left, taken_back(left, again))
    assert belongs(back, again)
    assert RETAINED_FROM not in back.annotations


def test_what_somebody_else_controls_is_never_left_behind() -> None:
    assert left_behind(thing("Secret", "x", owner=ELSEWHERE), OWNER) is None
    assert left_behind(thing("Secret", "x", owner=None), OWNER) is None
