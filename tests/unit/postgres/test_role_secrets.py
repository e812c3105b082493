"""What applications log in with, in the cluster's namespace and in others."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres.common import DATABASES
from freehold.postgres.database import DatabaseDefinition
from freehold.postgres.names import DatabaseNames
from freehold.postgres.normal_form import changes
from freehold.postgres.objects import Owner
from freehold.postgres.placing import OWNER_UID
from freehold.postgres.role_secrets import (
    COPY_FIELDS,
    config_map,
    due,
    for_applications,
    for_server,
    parts,
    read_by_server,
    role_secret,
    rotation,
)
from tests.unit.postgres.live import merged, patched

OWNER = Owner(DATABASES, "team", "app", "d-1")
NEAR, FAR = DatabaseNames("team", "app", "kv", "team"), DatabaseNames("team", "app", "kv", "pg")
BROUGHT = {"externalAdminSecretRef": {"name": "mine-admin"}, "externalRWSecretRef": {"name": "mine-rw"}}


def entry(**fields: Any) -> DatabaseDefinition:
    return DatabaseDefinition.model_validate({"name": "kv", **fields})


def stored(body: dict[str, Any]) -> Object:
    return Object(merged(body, {"metadata": {"resourceVersion": "7", "uid": "s-1"}}))


def decoded(body: Any, key: str) -> str:
    return base64.b64decode(body["data"][key]).decode()


def test_a_secret_holds_the_role_and_its_password_and_is_followed_by_cloudnativepg() -> None:
    found = role_secret(NEAR, "rw", "kv_rw", "s3cret", OWNER)
    assert (decoded(found, "username"), decoded(found, "password")) == ("kv_rw", "s3cret")
    assert found["metadata"]["labels"]["cnpg.io/reload"] == "true"
    assert found["metadata"]["name"] == "app-kv-rw"


def test_in_another_namespace_applications_have_a_copy_that_is_kept_equal() -> None:
    source = stored(role_secret(FAR, "rw", "kv_rw", "s3cret", OWNER))
    assert source.namespace == "pg"
    assert source.labels[OWNER_UID] == "d-1"
    copy = stored(for_applications(source, FAR, "rw", OWNER))
    assert (copy.namespace, copy.name) == ("team", "app-kv-rw")
    assert copy.raw["data"] == source.raw["data"]
    rotated = patched(source, rotation(source, "0ther", "1"))
    patch = changes(COPY_FIELDS, for_applications(rotated, FAR, "rw", OWNER), copy)
    assert patch is not None
    assert list(patch["data"]) == ["password"]
    assert changes(COPY_FIELDS, for_applications(source, FAR, "rw", OWNER), copy) is None


@pytest.mark.parametrize(("names", "name"), [(NEAR, "mine-rw"), (FAR, FAR.role_secret("rw"))])
def test_a_secret_that_people_bring_is_read_where_it_is_or_copied_beside_the_cluster(
    names: DatabaseNames, name: str
) -> None:
    assert read_by_server(entry(passwordConfig=BROUGHT), names, "rw") == name


def test_a_role_that_only_reads_has_a_generated_password_where_none_is_brought() -> None:
    declared = entry(passwordConfig=BROUGHT, readOnlyRole=True)
    assert parts(declared) == {"admin": "kv_admin", "rw": "kv_rw", "ro": "kv_ro"}
    assert read_by_server(declared, NEAR, "ro") == "app-kv-ro"


def test_a_copy_for_the_server_has_but_what_it_needs() -> None:
    source = stored({"metadata": {"name": "mine", "namespace": "team"}, "data": {"username": "eA==", "other": "eA=="}})
    found = for_server(source, FAR, "rw", OWNER)
    assert found["data"] == {"username": "eA=="}
    assert found["metadata"]["labels"]["cnpg.io/reload"] == "true"


def test_a_password_is_made_anew_once_for_each_request() -> None:
    live = stored(role_secret(NEAR, "rw", "kv_rw", "s3cret", OWNER))
    assert not due(live, None)
    assert due(live, "1")
    rotated = patched(live, rotation(live, "0ther", "1"))
    assert decoded(rotated.raw, "password") == "0ther"
    assert decoded(rotated.raw, "username") == "kv_rw"
    assert not due(rotated, "1")
    assert due(rotated, "2")


def test_a_new_secret_has_answered_the_request() -> None:
    assert not due(stored(role_secret(NEAR, "rw", "kv_rw", "s3cret", OWNER, asked="1")), "1")


def test_a_config_map_names_the_database_and_its_roles() -> None:
    found = config_map(entry(readOnlyRole=True), FAR, {"CLUSTER_RW_ENDPOINT": "orders-rw.pg"}, OWNER)
    assert found["metadata"]["namespace"] == "team"
    assert found["data"] == {
        "CLUSTER_RW_ENDPOINT": "orders-rw.pg",
        "DATABASE_NAME": "kv",
        "ADMIN_USER_NAME": "kv_admin",
        "RW_USER_NAME": "kv_rw",
        "RO_USER_NAME": "kv_ro",
    }
