"""What goes when everything is to go: objects with their resources, but not with a kind that is removed."""

from __future__ import annotations

from tests.integration.conftest import CRDS
from tests.integration.controllers.tenant import Tenant


def test_while_a_kind_is_being_removed_nothing_of_it_is_dropped(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    tenant.ready("schema", "s")
    before = tenant.endpoint.sequence
    tenant.kubectl("delete", "crd", "schemas.snowflake.freehold.dev", "--timeout=30s")
    tenant.kubectl("apply", "--server-side", "-f", str(CRDS / "snowflake.freehold.dev_schemas.yaml"))
    tenant.kubectl("wait", "crd", "schemas.snowflake.freehold.dev", "--for=condition=Established", "--timeout=30s")
    assert not tenant.endpoint.statements(f'DROP .*"{name}"', since=before)
    # The claim has stayed: what comes back is the owner still.
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    tenant.ready("schema", "s")
    assert not tenant.endpoint.statements(f'CREATE .*"{name}"', since=before)


def test_all_that_a_team_has_is_deleted_by_one_command(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.apply("Schema", "s", spec={"name": "S", "databaseRef": {"name": "db"}})
    tenant.ready("schema", "s")
    tenant.kubectl("delete", "snowflake", "--all", "--timeout=60s")
    assert not tenant.endpoint.exists("DATABASE", name)
