"""Deletion: what keeps an object from being dropped says so, and what the ProviderConfig allows is held to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from freehold_devstack.processes import until
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant

SOON = 5.0
"""Seconds: far less than any resync or back-off of what has waited for a while."""


def drops(tenant: Tenant, name: str) -> int:
    return len([each for each in tenant.endpoint.statements(f'DROP .*"{name}') if each.outcome == "ok"])


def annotate(tenant: Tenant, kind: str, name: str, **annotations: str) -> None:
    """With our prefix, and with hyphens for underscores."""
    ours = [f"freehold.dev/{key.replace('_', '-')}={value}" for key, value in annotations.items()]
    tenant.kubectl("annotate", "--overwrite", kind, name, *ours)


def ready_databases(tenant: Tenant, name: str, count: int) -> list[str]:
    names = [f"db{number}" for number in range(count)]
    for each in names:
        tenant.apply("Database", each, spec={"name": f"{name}{each}"})
    tenant.ready("database", *names)
    return names


def test_beyond_the_cap_databases_wait_until_their_deletion_is_confirmed(tenant: Tenant, name: str) -> None:
    tenant.provider("ANNA", deletion={"maxPerHour": 2})
    names = ready_databases(tenant, name, 4)
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    tenant.delete("database", *names)
    until(lambda: drops(tenant, name) == 2, DEADLINE, "two databases to be dropped", tenant.describe)

    def waiting() -> list[str]:
        return [each for each in names if tenant.get("database", each)]

    until(lambda: len(waiting()) == 2, DEADLINE, "two resources to be gone", tenant.describe)
    left = waiting()
    for message in tenant.reaches("database", left, "DeleteBlocked", "DeleteBlocked"):
        assert "lets no more than 2 of the objects that hold data be dropped in an hour" in message
    # What holds no data doesn't count.
    tenant.delete("warehouse", "wh")
    tenant.gone("warehouse", "wh")
    annotate(tenant, "providerconfig", "default", confirm_deletions_until="soon")
    for each in left:
        until(
            lambda each=each: "'soon' now" in tenant.conditions("database", each)["DeleteBlocked"]["message"],  # type: ignore[misc]
            SOON,
            "the mistake to be named",
            tenant.describe,
        )
    later = datetime.now(UTC) + timedelta(minutes=10)
    annotate(tenant, "providerconfig", "default", confirm_deletions_until=later.isoformat(timespec="seconds"))
    until(lambda: drops(tenant, name) == 5, SOON, "the others to be dropped", tenant.describe)
    tenant.gone("database", *names)


def test_a_cap_counts_the_drops_of_both_controllers(tenant: Tenant, name: str) -> None:
    tenant.provider("ANNA", deletion={"maxPerHour": 1})
    tenant.apply("Database", "db", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    tenant.ready("schema", "s")
    tenant.delete("schema", "s")
    tenant.gone("schema", "s")
    tenant.delete("database", "db")
    tenant.reaches("database", "db", "DeleteBlocked", "DeleteBlocked")
    found = tenant.get("providerconfig", "default")
    assert found is not None
    assert len(found["status"]["recentDrops"]) == 1
    assert tenant.endpoint.exists("DATABASE", name)


def test_objects_stay_by_default_where_the_provider_config_says_so(tenant: Tenant, name: str) -> None:
    tenant.provider("ANNA", deletion={"default": "Orphan"})
    tenant.apply("Database", "silent", spec={"name": f"{name}1"})
    tenant.apply("Database", "explicit", spec={"name": f"{name}2", "deletionPolicy": "Delete"})
    tenant.ready("database", "silent", "explicit")
    tenant.delete("database", "silent", "explicit")
    tenant.gone("database", "silent", "explicit")
    assert tenant.endpoint.exists("DATABASE", f"{name}1")
    assert not tenant.endpoint.exists("DATABASE", f"{name}2")


def test_all_dependents_are_freed_at_once_although_nobody_can_log_in(tenant: Tenant, name: str) -> None:
    names = ready_databases(tenant, name, 3)
    before = tenant.endpoint.sequence
    tenant.secret("default", "wrong")
    tenant.reaches("providerconfig", "default", "CredentialsError")
    tenant.delete("database", *names)
    tenant.reaches("database", names, "DependencyNotReady", "DeleteBlocked")
    annotate(tenant, "providerconfig", "default", abandon_dependents="true")
    until(lambda: not any(tenant.get("database", each) for each in names), SOON, "them to be gone", tenant.describe)
    assert not tenant.endpoint.statements(f'"{name}', since=before)
    assert all(tenant.endpoint.exists("DATABASE", f"{name}{each}") for each in names)
    tenant.secret("default", PASSWORD)
    tenant.ready("providerconfig", "default")


def test_a_resource_that_may_not_be_created_any_more_is_abandoned_before_everything_else(
    tenant: Tenant, name: str
) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}, "deletionPolicy": "Orphan"})
    tenant.ready("schema", "s")
    tenant.provider("ANNA", allowedNamespaces=["elsewhere"], allowedKinds=["Warehouse"])
    tenant.secret("default", "wrong")
    tenant.reaches("providerconfig", "default", "CredentialsError")
    tenant.delete("schema", "s")
    tenant.gone("schema", "s")
    tenant.delete("database", "db")
    annotate(tenant, "database", "db", abandon_on_delete="true")
    tenant.gone("database", "db")
    assert tenant.endpoint.exists("DATABASE", name)
    tenant.secret("default", PASSWORD)
    tenant.ready("providerconfig", "default")


def test_what_was_dropped_behind_our_back_is_known_to_be_gone_by_its_history(tenant: Tenant, name: str) -> None:
    tenant.provide("BERT", PASSWORD, name="shortsighted")
    provider = {"providerRef": {"name": "shortsighted"}}
    tenant.apply("Database", "db", spec={"name": name, **provider})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}, **provider})
    tenant.ready("schema", "s")
    tenant.endpoint.sql(f'DROP DATABASE "{name}"')
    # BERT's role doesn't see everything: that SHOW lacks them proves nothing.
    tenant.reaches("database", "db", "Vanished")
    before = tenant.endpoint.sequence
    tenant.delete("database", "db")
    tenant.delete("schema", "s")
    tenant.gone("schema", "s")
    tenant.gone("database", "db")
    assert not tenant.endpoint.statements(f'DROP .*"{name}"', since=before)


def test_a_role_that_is_to_own_what_others_make_is_not_dropped(tenant: Tenant, name: str) -> None:
    tenant.apply("AccountRole", "role", spec={"name": name})
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("accountrole", "role")
    tenant.ready("database", "db")
    future = f'OWNERSHIP ON FUTURE TABLES IN DATABASE "{name}"'
    tenant.endpoint.sql(f'GRANT {future} TO ROLE "{name}"')
    tenant.delete("accountrole", "role")
    (message,) = tenant.reaches("accountrole", "role", "DeleteBlocked", "DeleteBlocked")
    assert f"future OWNERSHIP of {name}.<TABLE>" in message
    assert "force-destroy" not in message
    tenant.endpoint.sql(f'REVOKE {future} FROM ROLE "{name}"')
    tenant.gone("accountrole", "role")


def test_policies_tags_and_database_roles_keep_a_database(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("database", "db")
    made = {
        "MASKING POLICY": f'"{name}".PUBLIC.HIDE',
        "TAG": f'"{name}".PUBLIC.COST',
        "DATABASE ROLE": f'"{name}".READERS',
    }
    tenant.endpoint.sql(f"CREATE TAG {made['TAG']}")
    tenant.endpoint.sql(f"CREATE MASKING POLICY {made['MASKING POLICY']} AS (v STRING) RETURNS STRING -> '*'")
    tenant.endpoint.sql(f"CREATE DATABASE ROLE {made['DATABASE ROLE']}")
    tenant.delete("database", "db")
    (message,) = tenant.reaches("database", "db", "DeleteBlocked", "DeleteBlocked")
    assert '"READERS"' in message
    for left in ('"COST"', '"HIDE"', ""):
        kind, named = made.popitem()
        tenant.endpoint.sql(f"DROP {kind} {named}")
        if left:
            until(lambda left=left: left in told(tenant), DEADLINE, f"{left} to be named", tenant.describe)  # type: ignore[misc]
    tenant.gone("database", "db")


def told(tenant: Tenant) -> str:
    """What keeps the database from being dropped."""
    return str(tenant.conditions("database", "db").get("DeleteBlocked", {}).get("message", ""))


def test_a_tag_is_cleared_of_its_own_masking_policies_and_of_no_other(tenant: Tenant, name: str) -> None:
    sql = tenant.endpoint.sql
    sql(f'CREATE DATABASE "{name}"', role="FREEHOLD")
    # The policies of a tag are told by a function, which needs a warehouse.
    sql(f'CREATE WAREHOUSE "{name}"', role="FREEHOLD")
    sql("GRANT APPLY MASKING POLICY ON ACCOUNT TO ROLE FREEHOLD")
    for policy, type_ in (("OURS", "VARCHAR"), ("THEIRS", "NUMBER")):
        sql(f'CREATE MASKING POLICY "{name}".PUBLIC.{policy} AS (v {type_}) RETURNS {type_} -> NULL', role="FREEHOLD")
    tenant.provider("ANNA", warehouse=name, allowedRoles=["*"])
    spec = {"databaseName": name, "schemaName": "PUBLIC", "name": "T", "maskingPolicies": [f'"{name}".PUBLIC.OURS']}
    tenant.apply("Tag", "t", spec=spec)
    tenant.ready("tag", "t")
    sql(f'ALTER TAG "{name}".PUBLIC.T SET MASKING POLICY "{name}".PUBLIC.THEIRS')
    tenant.delete("tag", "t")
    (message,) = tenant.reaches("tag", "t", "DeleteBlocked")
    assert "THEIRS" in message
    assert "which others have set" in message
    assert "OURS" not in message
    assert not tenant.endpoint.statements(f'^(DROP TAG|ALTER TAG .*UNSET).*"{name}"')
    sql(f'ALTER TAG "{name}".PUBLIC.T UNSET MASKING POLICY "{name}".PUBLIC.THEIRS')
    tenant.gone("tag", "t")
    sql(f'DROP MASKING POLICY "{name}".PUBLIC.OURS')
    sql(f'DROP DATABASE "{name}"')
