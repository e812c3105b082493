"""What a PostgresDatabase may name, and what it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from freehold.postgres.database import DATABASE, PostgresDatabaseSpec


def spec_of(*databases: Mapping[str, Any]) -> PostgresDatabaseSpec:
    return PostgresDatabaseSpec.model_validate({"clusterRef": {"name": "orders"}, "databases": list(databases)})


def test_a_database_has_an_owner_and_a_role_for_applications_and_a_reader_when_asked_for() -> None:
    (plain, readable) = spec_of({"name": "app"}, {"name": "web", "readOnlyRole": True, "rwRoleName": "Web$"}).databases
    assert plain.role_fields == {"adminRoleName": "app_admin", "rwRoleName": "app_rw"}
    assert readable.role_fields == {"adminRoleName": "web_admin", "rwRoleName": "Web$", "roRoleName": "web_ro"}


def test_a_database_and_each_of_its_roles_is_claimed() -> None:
    spec = spec_of({"name": "app"}, {"name": "web"})
    claimed = DATABASE.identities(spec, "a", "dbs/orders/1")
    assert {(each.namespace_class, each.fqn) for each in claimed} == {
        ("DATABASE", '"app"'),
        ("DATABASE", '"web"'),
        *(("ROLE", f'"{role}"') for role in ("app_admin", "app_rw", "web_admin", "web_rw")),
    }
    assert list(claimed) == sorted(claimed)
    assert not set(claimed) & set(DATABASE.identities(spec, "a", "dbs/orders/2"))


@pytest.mark.parametrize(
    ("database", "places"),
    [
        ({"name": "pg"}, ["adminRoleName", "rwRoleName"]),
        ({"name": "cnpg", "readOnlyRole": True}, ["adminRoleName", "rwRoleName", "roRoleName"]),
        ({"name": "postgres"}, ["name"]),
        ({"name": "template1"}, ["name"]),
        ({"name": "app", "adminRoleName": "postgres"}, ["adminRoleName"]),
        ({"name": "app", "rwRoleName": "streaming_replica"}, ["rwRoleName"]),
        ({"name": "app", "rwRoleName": "cnpg_metrics_exporter"}, ["rwRoleName"]),
        ({"name": "app", "rwRoleName": "public"}, ["rwRoleName"]),
        ({"name": "app", "schemas": ["audit", "public", "pg_temp"]}, ["schemas[1]", "schemas[2]"]),
        ({"name": "pgbouncer"}, []),
        ({"name": "template2", "adminRoleName": "PG_admin"}, []),
    ],
)
def test_reserved_names_are_refused_before_they_reach_cloudnativepg(
    database: dict[str, Any], places: list[str]
) -> None:
    found = DATABASE.faults(spec_of(database))
    assert [each.split(":")[0] for each in found] == [f"spec.databases[0].{place}" for place in places]


@pytest.mark.parametrize(
    "databases",
    [
        [{"name": "app", "rwRoleName": "app_admin"}],
        [{"name": "app"}, {"name": "web", "adminRoleName": "app_rw"}],
        [{"name": "app", "adminRoleName": "team"}, {"name": "web", "adminRoleName": "team"}],
    ],
)
def test_a_role_is_named_once(databases: list[dict[str, Any]]) -> None:
    (fault,) = DATABASE.faults(spec_of(*databases))
    assert "too: name another role" in fault
