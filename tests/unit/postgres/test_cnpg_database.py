"""The CloudNativePG Database of a database, and when it is done."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres.cnpg_database import EXTENSIONS, FIELDS, desired, progress
from freehold.postgres.common import DATABASES
from freehold.postgres.database import DatabaseDefinition
from freehold.postgres.names import DatabaseNames
from freehold.postgres.normal_form import changes
from freehold.postgres.objects import Owner
from freehold.postgres.placing import OWNER_UID
from tests.unit.postgres.live import merged, patched

OWNER = Owner(DATABASES, "dbs", "orders-app", "d-1")


def entry(**fields: Any) -> DatabaseDefinition:
    return DatabaseDefinition.model_validate({"name": "kv", **fields})


def wanted(
    declared: DatabaseDefinition, live: Object | None = None, *, granted: bool = True, cluster_namespace: str = "dbs"
) -> dict[str, Any]:
    names = DatabaseNames("dbs", "orders-app", "kv", cluster_namespace)
    return desired(declared, names, "orders", OWNER, live, granted=granted)


def stored(declared: DatabaseDefinition, **spec: Any) -> Object:
    """A Database that was created so, as its schema leaves it, and has been changed since."""
    body = merged(wanted(declared), {"metadata": {"resourceVersion": "7", "generation": 2}})
    return Object({**body, "spec": merged(body["spec"], spec)})


def change(declared: DatabaseDefinition, live: Object) -> dict[str, Any] | None:
    return changes(FIELDS, wanted(declared, live), live)


def done(live: Object, **status: Any) -> Object:
    return Object({**live.raw, "status": {"applied": True, "observedGeneration": live.generation, **status}})


def test_a_database_is_asked_for_with_its_owner_and_what_becomes_of_it() -> None:
    found = wanted(entry(encoding="UTF8", localeCType="C", connectionLimit=5, deletionPolicy="Retain"))
    assert found["spec"] == {
        "cluster": {"name": "orders"},
        "name": "kv",
        "owner": "kv_admin",
        "ensure": "present",
        "databaseReclaimPolicy": "retain",
        "encoding": "UTF8",
        "localeCType": "C",
        "connectionLimit": 5,
    }
    assert found["metadata"]["ownerReferences"][0]["uid"] == "d-1"


def test_beside_a_cluster_of_another_namespace_a_label_says_whose_it_is() -> None:
    metadata = wanted(entry(), cluster_namespace="pg")["metadata"]
    assert (metadata["namespace"], metadata["labels"][OWNER_UID]) == ("pg", "d-1")
    assert "ownerReferences" not in metadata


@pytest.mark.parametrize(
    "declared",
    [
        entry(),
        entry(extensions=["pg_trgm", "pgcrypto"], schemas=["b", "a"]),
        entry(isTemplate=True, allowConnections=True, connectionLimit=0, tablespace="fast"),
        entry(template="template0", icuLocale="de", localeProvider="icu"),
    ],
)
def test_nothing_is_written_when_nothing_differs(declared: DatabaseDefinition) -> None:
    assert change(declared, stored(declared)) is None


def test_what_isnt_declared_is_left_as_others_have_set_it_in_postgresql() -> None:
    assert "isTemplate" not in wanted(entry())["spec"]


@pytest.mark.parametrize(
    ("field", "value", "default"),
    [
        ("isTemplate", True, False),
        ("connectionLimit", 5, -1),
        ("tablespace", "fast", "pg_default"),
        ("allowConnections", False, True),
    ],
)
def test_what_is_no_longer_declared_goes_back_to_postgresqls_default(field: str, value: Any, default: Any) -> None:
    live = stored(entry(**{field: value}))
    patch = change(entry(), live)
    assert patch is not None
    assert patch["spec"] == {field: default}
    assert change(entry(), patched(live, patch)) is None


def test_a_patch_names_but_what_differs_and_the_version_it_was_made_from() -> None:
    live = stored(entry(), owner="stranger")
    assert change(entry(), live) == {"metadata": {"resourceVersion": "7"}, "spec": {"owner": "kv_admin"}}


def test_an_extension_that_is_taken_out_is_dropped_then_forgotten() -> None:
    live = stored(entry(extensions=["pgcrypto", "pg_trgm"]))
    patch = change(entry(extensions=["pg_trgm"]), live)
    assert patch is not None
    assert patch["spec"]["extensions"] == [
        {"name": "pg_trgm", "ensure": "present"},
        {"name": "pgcrypto", "ensure": "absent"},
    ]
    dropping = patched(live, patch)
    assert change(entry(extensions=["pg_trgm"]), dropping) is None
    gone = done(dropping, extensions=[{"name": "pgcrypto", "applied": True}])
    forgotten = change(entry(extensions=["pg_trgm"]), gone)
    assert forgotten is not None
    assert forgotten["spec"]["extensions"] == [{"name": "pg_trgm", "ensure": "present"}]
    assert change(entry(extensions=["pg_trgm"]), patched(gone, forgotten)) is None


def test_an_extension_isnt_forgotten_for_what_was_said_of_an_earlier_generation() -> None:
    live = stored(entry(extensions=["pgcrypto"]))
    patch = change(entry(), live)
    assert patch is not None
    said = done(patched(live, patch), extensions=[{"name": "pgcrypto", "applied": True}], observedGeneration=1)
    assert change(entry(), said) is None


def test_an_extension_that_somebody_else_has_listed_is_neither_dropped_nor_changed() -> None:
    theirs = {"name": "vector", "ensure": "present", "version": "0.8"}
    live = stored(entry(extensions=["pgcrypto"]), extensions=[theirs, {"name": "pgcrypto", "ensure": "present"}])
    found = wanted(entry(), live)["spec"]["extensions"]
    assert theirs in found
    assert {"name": "pgcrypto", "ensure": "absent"} in found


def test_a_schema_that_is_taken_out_is_no_longer_listed_and_stays() -> None:
    live = stored(entry(schemas=["audit", "app"]))
    patch = change(entry(schemas=["app"]), live)
    assert patch is not None
    assert patch["spec"] == {"schemas": [{"name": "app", "ensure": "present", "owner": "kv_admin"}]}


def test_what_we_have_listed_is_told_in_the_same_write() -> None:
    assert wanted(entry(extensions=["b", "a"]))["metadata"]["annotations"] == {EXTENSIONS: "a,b"}


def test_a_database_is_closed_only_once_its_privileges_are_given() -> None:
    declared = entry(allowConnections=False)
    assert "allowConnections" not in wanted(declared, granted=False)["spec"]
    assert wanted(declared)["spec"]["allowConnections"] is False


@pytest.mark.parametrize(
    ("status", "is_done", "message"),
    [
        ({}, False, "waiting for CloudNativePG"),
        ({"applied": True, "observedGeneration": 2}, True, ""),
        ({"applied": True, "observedGeneration": 1}, False, "waiting for CloudNativePG"),
        ({"applied": False, "message": 'role "kv_admin"\n does not exist'}, False, 'role "kv_admin" does not exist'),
        (
            {
                "applied": False,
                "message": "database object reconciliation failed",
                "extensions": [{"name": "vector", "applied": False, "message": "not available"}],
            },
            False,
            "failed; extension vector: not available",
        ),
    ],
)
def test_a_database_is_done_when_this_generation_was_applied(
    status: dict[str, Any], *, is_done: bool, message: str
) -> None:
    found = progress(Object({**stored(entry()).raw, "status": status}))
    assert found.done is is_done
    assert message in found.message


def test_a_database_that_isnt_there_isnt_done() -> None:
    assert not progress(None).done
