"""What is set rather than created: filled, watched, emptied by exactly its owner, over the real protocol."""

from __future__ import annotations

import pytest

from freehold_devstack.processes import until
from tests.integration.controllers.tenant import DEADLINE, Tenant

ADOPT = {"adoptionPolicy": "adopt"}


@pytest.fixture
def role(tenant: Tenant, name: str) -> str:
    """A role that somebody else has made, whose grants are ours to give."""
    tenant.endpoint.sql(f'CREATE ROLE "{name}"')
    tenant.endpoint.sql(f'GRANT OWNERSHIP ON ROLE "{name}" TO ROLE FREEHOLD')
    tenant.endpoint.sql(f'CREATE ROLE "{name}_LEAD"')
    return name


def holders(tenant: Tenant, role: str) -> set[str]:
    return {str(row["grantee_name"]).strip('"') for row in tenant.endpoint.sql(f'SHOW GRANTS OF ROLE "{role}"')}


def test_an_assignment_is_granted_and_revoked(tenant: Tenant, role: str) -> None:
    before = holders(tenant, role)
    tenant.apply("AccountRoleAssignment", "a", spec={"roleName": role, "toRole": f"{role}_LEAD"})
    tenant.ready("accountroleassignment", "a")
    assert holders(tenant, role) == before | {f"{role}_LEAD"}
    found = tenant.get("accountroleassignment", "a")
    assert found is not None
    assert found["status"]["fullyQualifiedName"] == f'ROLE "{role}" TO ROLE "{role}_LEAD"'
    tenant.delete("accountroleassignment", "a")
    tenant.gone("accountroleassignment", "a")
    assert holders(tenant, role) == before


def test_an_assignment_that_a_stranger_has_taken_back_is_granted_again(tenant: Tenant, role: str) -> None:
    tenant.apply("AccountRoleAssignment", "a", spec={"roleName": role, "toRole": f"{role}_LEAD"})
    tenant.ready("accountroleassignment", "a")
    tenant.endpoint.sql(f'REVOKE ROLE "{role}" FROM ROLE "{role}_LEAD"')
    until(lambda: f"{role}_LEAD" in holders(tenant, role), DEADLINE, "the grant to come back", tenant.describe)


def test_a_grant_that_was_there_before_is_left_alone(tenant: Tenant, role: str) -> None:
    tenant.endpoint.sql(f'GRANT ROLE "{role}" TO ROLE "{role}_LEAD"')
    before = tenant.endpoint.sequence
    tenant.apply("AccountRoleAssignment", "a", spec={"roleName": role, "toRole": f"{role}_LEAD"})
    (message,) = tenant.reaches("accountroleassignment", "a", "ResourceAlreadyExists")
    assert "adoptionPolicy" in message
    tenant.delete("accountroleassignment", "a")
    tenant.gone("accountroleassignment", "a")
    assert not tenant.endpoint.statements(f'(GRANT|REVOKE) .*"{role}"', since=before)
    assert f"{role}_LEAD" in holders(tenant, role)


def test_a_grant_that_is_adopted_is_revoked_with_its_resource(tenant: Tenant, role: str) -> None:
    tenant.endpoint.sql(f'GRANT ROLE "{role}" TO ROLE "{role}_LEAD"')
    spec = {"roleName": role, "toRole": f"{role}_LEAD", "managementPolicies": ADOPT}
    tenant.apply("AccountRoleAssignment", "a", spec=spec)
    tenant.ready("accountroleassignment", "a")
    tenant.delete("accountroleassignment", "a")
    tenant.gone("accountroleassignment", "a")
    assert f"{role}_LEAD" not in holders(tenant, role)


@pytest.fixture
def schema(tenant: Tenant, name: str) -> str:
    """A schema of ours. Of one with managed access, its owner grants ahead, too."""
    tenant.apply("Database", "db", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}, "managedAccess": True})
    tenant.ready("schema", "s")
    return f'"{name}"."S"'


def granted(tenant: Tenant, schema: str, role: str) -> set[str]:
    """Privileges on a schema that a role has."""
    rows = tenant.endpoint.sql(f"SHOW GRANTS ON SCHEMA {schema}")
    return {str(row["privilege"]) for row in rows if str(row["grantee_name"]).strip('"') == role}


def test_each_privilege_is_granted_and_taken_back_by_itself(tenant: Tenant, schema: str, role: str) -> None:
    spec = {"accountRole": role, "onSchema": {"schemaRef": {"name": "s"}}}
    tenant.endpoint.sql(f'GRANT MODIFY ON SCHEMA {schema} TO ROLE "{role}"')
    kind = "GrantPrivilegesToAccountRole"
    tenant.apply(kind, "g", spec={**spec, "privileges": ["USAGE", "MONITOR", "CREATE TABLE"]})
    tenant.ready(kind, "g")
    assert granted(tenant, schema, role) == {"MODIFY", "USAGE", "MONITOR", "CREATE TABLE"}
    before = tenant.endpoint.sequence
    tenant.apply(kind, "g", spec={**spec, "privileges": ["USAGE", "CREATE VIEW"]})
    wanted = {"MODIFY", "USAGE", "CREATE VIEW"}
    until(lambda: granted(tenant, schema, role) == wanted, DEADLINE, "the privileges to change", tenant.describe)
    tenant.ready(kind, "g")
    sent = [each.text for each in tenant.endpoint.statements(f"^(GRANT|REVOKE) .*{schema}", since=before)]
    assert sorted(sent) == [
        f'GRANT CREATE VIEW ON SCHEMA {schema} TO ROLE "{role}"',
        f'REVOKE CREATE TABLE ON SCHEMA {schema} FROM ROLE "{role}"',
        f'REVOKE MONITOR ON SCHEMA {schema} FROM ROLE "{role}"',
    ]
    tenant.delete(kind, "g")
    tenant.gone(kind, "g")
    assert granted(tenant, schema, role) == {"MODIFY"}


def test_one_privilege_that_cannot_be_granted_keeps_none_of_the_others(tenant: Tenant, schema: str, role: str) -> None:
    tenant.endpoint.sql(f'GRANT MONITOR ON SCHEMA {schema} TO ROLE "{role}"')
    kind = "GrantPrivilegesToAccountRole"
    spec = {"accountRole": role, "onSchema": {"schemaRef": {"name": "s"}}, "privileges": ["MONITOR", "USAGE", "MODIFY"]}
    tenant.apply(kind, "g", spec=spec)
    (message,) = tenant.reaches(kind, "g", "ResourceAlreadyExists")
    assert "MONITOR" in message
    assert granted(tenant, schema, role) == {"MONITOR", "USAGE", "MODIFY"}


def test_what_is_yet_to_come_is_granted_ahead(tenant: Tenant, schema: str, role: str) -> None:
    kind = "GrantPrivilegesToAccountRole"
    future = {"objectTypePlural": "TABLES", "inSchemaRef": {"name": "s"}}
    tenant.endpoint.sql(f'GRANT SELECT ON FUTURE VIEWS IN SCHEMA {schema} TO ROLE "{role}"')
    spec = {"accountRole": role, "onSchemaObject": {"future": future}, "privileges": ["SELECT"]}
    tenant.apply(kind, "g", spec=spec)
    tenant.ready(kind, "g")

    def types() -> set[str]:
        rows = tenant.endpoint.sql(f"SHOW FUTURE GRANTS IN SCHEMA {schema}")
        return {str(row["grant_on"]) for row in rows}

    assert types() == {"TABLE", "VIEW"}
    tenant.delete(kind, "g")
    tenant.gone(kind, "g")
    assert types() == {"VIEW"}
