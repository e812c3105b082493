"""Whose an object is: nothing of a stranger's is touched, and nothing of ours is lost, whatever fails when."""

from __future__ import annotations

import json

from freehold_devstack.processes import until
from tests.harness.controllers import Controller
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant


def test_a_controller_killed_between_create_and_evidence_recovers_its_object(
    tenant: Tenant, controllers: dict[str, Controller], name: str
) -> None:
    # The CREATE is executed and its answer never comes, while the process dies waiting for it.
    tenant.endpoint.fault(f'^CREATE DATABASE "{name}"', "drop-after", times=100)
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours"})
    created = f'^CREATE DATABASE "{name}"'
    until(lambda: bool(tenant.endpoint.statements(created, outcome="ok")), DEADLINE, "the CREATE to be executed")
    controllers["account"].kill()
    tenant.endpoint.clear_faults()
    controllers["account"].start()
    tenant.ready("database", "db")
    outcomes = [each.outcome for each in tenant.endpoint.statements(created)]
    assert outcomes[0] == "ok"
    assert set(outcomes[1:]) <= {"002002"}
    assert evidence(tenant, name)["how"] == "created"


def test_an_answer_that_is_lost_needs_no_restart(tenant: Tenant, name: str) -> None:
    tenant.endpoint.fault(f'^CREATE WAREHOUSE "{name}"', "drop-after", times=1)
    tenant.apply("Warehouse", "wh", spec={"name": name})
    tenant.ready("warehouse", "wh")
    assert evidence(tenant, name)["how"] == "created"


def test_a_strangers_object_is_neither_altered_nor_dropped(tenant: Tenant, name: str) -> None:
    tenant.endpoint.sql(f"CREATE DATABASE \"{name}\" COMMENT = 'theirs'", role="SYSADMIN")
    before = tenant.endpoint.sequence
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours"})
    tenant.reaches("database", "db", "ResourceAlreadyExists")
    tenant.apply("Database", "db", spec={"name": name, "comment": "still ours"})
    tenant.reaches("database", "db", "ResourceAlreadyExists")
    tenant.delete("database", "db")
    tenant.gone("database", "db")
    sent = [each for each in tenant.endpoint.statements(f'"{name}"', since=before) if each.role == "FREEHOLD"]
    assert {each.text.split()[0] for each in sent} <= {"CREATE", "SHOW"}
    assert {each.outcome for each in sent if each.text.startswith("CREATE")} == {"002002"}
    assert tenant.endpoint.exists("DATABASE", name)


def test_a_strangers_object_that_the_role_cannot_see_is_left_alone(tenant: Tenant, name: str) -> None:
    tenant.provide("BERT", PASSWORD, name="shortsighted")
    tenant.endpoint.sql(f'CREATE DATABASE "{name}"', role="ACCOUNTADMIN")
    tenant.apply("Database", "db", spec={"name": name, "providerRef": {"name": "shortsighted"}})
    (message,) = tenant.reaches("database", "db", "ResourceAlreadyExists")
    assert "role SHORTSIGHTED can't see" in message


def test_an_object_is_adopted_when_the_manifest_says_so(tenant: Tenant, name: str) -> None:
    tenant.endpoint.sql(f'CREATE WAREHOUSE "{name}"', role="FREEHOLD")
    policies = {"adoptionPolicy": "adopt"}
    tenant.apply("Warehouse", "wh", spec={"name": name, "comment": "ours", "managementPolicies": policies})
    tenant.ready("warehouse", "wh")
    assert evidence(tenant, name)["how"] == "adopted"
    (row,) = [each for each in tenant.endpoint.sql("SHOW WAREHOUSES") if each["name"] == name]
    assert row["comment"] == "ours"


def test_a_replaced_object_is_left_alone(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name, "comment": "ours"})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f'DROP DATABASE "{name}"')
    before = tenant.endpoint.sequence
    tenant.endpoint.sql(f"CREATE DATABASE \"{name}\" COMMENT = 'theirs'", role="SYSADMIN")
    tenant.reaches("database", "db", "Replaced")
    tenant.delete("database", "db")
    tenant.gone("database", "db")
    assert not tenant.endpoint.statements(f'(ALTER|DROP) DATABASE "{name}"', since=before)
    assert tenant.endpoint.exists("DATABASE", name)


def test_data_that_vanished_is_not_made_anew_unless_asked_for(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("database", "db")
    tenant.endpoint.sql(f'DROP DATABASE "{name}"')
    (message,) = tenant.reaches("database", "db", "Vanished")
    assert "UNDROP" in message
    tenant.apply("Database", "db", spec={"name": name, "vanishedPolicy": "Recreate"})
    tenant.ready("database", "db")
    assert tenant.endpoint.exists("DATABASE", name)


def test_what_the_role_no_longer_sees_is_not_taken_for_gone(tenant: Tenant, name: str) -> None:
    tenant.provide("BERT", PASSWORD, name="shortsighted")
    tenant.apply("Warehouse", "wh", spec={"name": name, "providerRef": {"name": "shortsighted"}})
    tenant.ready("warehouse", "wh")
    tenant.endpoint.sql(f'GRANT OWNERSHIP ON WAREHOUSE "{name}" TO ROLE ACCOUNTADMIN REVOKE CURRENT GRANTS')
    tenant.delete("warehouse", "wh")
    (message,) = tenant.reaches("warehouse", "wh", "NotVisible")
    assert "GRANT RESOLVE ALL ON ACCOUNT TO ROLE" in message
    assert "freehold.dev/abandon-on-delete" in message
    assert tenant.endpoint.exists("WAREHOUSE", name)
    tenant.kubectl("annotate", "warehouse", "wh", "freehold.dev/abandon-on-delete=true")
    tenant.gone("warehouse", "wh")


def test_without_admission_one_of_ten_gets_the_database(tenant: Tenant, name: str) -> None:
    names = [f"db{number}" for number in range(10)]
    manifests = [
        {
            "apiVersion": "snowflake.freehold.dev/v1alpha1",
            "kind": "Database",
            "metadata": {"name": each, "namespace": tenant.namespace},
            "spec": {"name": name},
        }
        for each in names
    ]
    tenant.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))

    def reasons() -> dict[str, str]:
        listed = json.loads(tenant.kubectl("get", "databases", "--output=json").stdout)["items"]
        told = {each["metadata"]["name"]: each.get("status", {}).get("conditions", ()) for each in listed}
        return {name: next((c["reason"] for c in told[name] if c["type"] == "Ready"), "") for name in names}

    until(lambda: "" not in reasons().values(), DEADLINE, "all to be decided", tenant.describe)
    winners = [each for each, reason in reasons().items() if reason == "Available"]
    losers = [each for each, reason in reasons().items() if reason == "ConflictDetected"]
    assert (len(winners), len(losers)) == (1, 9)
    assert winners[0] in tenant.conditions("database", losers[0])["Ready"]["message"]
    before = tenant.endpoint.sequence
    tenant.delete("database", *losers[1:])
    tenant.gone("database", *losers[1:])
    assert not tenant.endpoint.statements(f'DROP .*"{name}"', since=before)
    # The one that is left is woken when the owner goes, and makes the object anew.
    tenant.delete("database", *winners)
    tenant.ready("database", losers[0])
    assert tenant.endpoint.exists("DATABASE", name)


def test_a_conflict_over_namespaces_does_not_tell_who_owns_the_object(
    tenant: Tenant, namespace: str, name: str
) -> None:
    other = f"{namespace}-other"
    tenant.control_plane.kubectl("create", "namespace", other)
    stranger = Tenant(tenant.control_plane, tenant.endpoint, other)
    stranger.provide("ANNA", PASSWORD)
    tenant.apply("Warehouse", "secretive", spec={"name": name})
    tenant.ready("warehouse", "secretive")
    stranger.apply("Warehouse", "wh", spec={"name": name})
    (message,) = stranger.reaches("warehouse", "wh", "ConflictDetected")
    assert name in message
    assert "secretive" not in message
    assert tenant.namespace not in message.replace(other, "")
    tenant.control_plane.kubectl("delete", "namespace", other, "--wait=false")


def test_an_identity_that_changes_stops_everything(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "one", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    tenant.apply("Database", "db", spec={"name": f"{name}_A"})
    tenant.ready("schema", "s")
    tenant.kubectl("annotate", "database", "db", "freehold.dev/abandon-on-delete=true")
    tenant.delete("database", "db")
    tenant.gone("database", "db")
    before = tenant.endpoint.sequence
    tenant.apply("Database", "db", spec={"name": f"{name}_B"})
    (message,) = tenant.reaches("schema", "s", "IdentityChanged")
    assert f'"{name}_A"."S"' in message
    assert f'"{name}_B"."S"' in message
    assert not tenant.endpoint.statements(f'SCHEMA "{name}', since=before)


def evidence(tenant: Tenant, name: str) -> dict[str, str]:
    """What the claim to an object says of how it came to be ours."""
    (claim,) = tenant.claims(name)
    found: dict[str, str] = claim["evidence"]
    return found
