"""Names of what is made for databases."""

from __future__ import annotations

from freehold.postgres.names import LONGEST_NAME, DatabaseNames

HERE = DatabaseNames("dbs", "orders-app", "kv", "dbs")
ABROAD = DatabaseNames("team", "orders-app", "kv", "dbs")


def test_what_is_made_for_a_database_is_named_after_the_resource_and_it() -> None:
    assert HERE.cnpg_database == "orders-app-kv"
    assert HERE.role_secret("rw") == HERE.application_secret("rw") == "orders-app-kv-rw"
    assert HERE.config_map == "orders-app-kv-config"


def test_names_of_two_namespaces_never_meet_beside_the_cluster() -> None:
    other = DatabaseNames("other", "orders-app", "kv", "dbs")
    assert len({each.cnpg_database for each in (HERE, ABROAD, other)}) == 3
    assert len({each.role_secret("admin") for each in (HERE, ABROAD, other)}) == 3


def test_applications_find_their_secret_by_the_same_name_in_any_namespace() -> None:
    assert ABROAD.application_secret("rw") == HERE.application_secret("rw")
    assert ABROAD.role_secret("rw") != ABROAD.application_secret("rw")
    assert ABROAD.config_map == HERE.config_map


def test_the_longest_names_are_names_of_objects() -> None:
    names = DatabaseNames("n" * 63, "r" * LONGEST_NAME, "d" * 30, "dbs")
    assert len(names.role_secret("admin")) <= 253
