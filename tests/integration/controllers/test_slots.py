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
