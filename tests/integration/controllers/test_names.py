"""Names are exactly those that manifests give, whatever the account makes of quoted ones and SHOW of patterns."""

from __future__ import annotations

from freehold_devstack.processes import until
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import DEADLINE, Tenant


def test_an_account_that_folds_quoted_names_does_not_fold_ours(tenant: Tenant, name: str) -> None:
    before = tenant.endpoint.sequence
    tenant.endpoint.sql("ALTER ACCOUNT SET QUOTED_IDENTIFIERS_IGNORE_CASE = TRUE")
    try:
        # A session of its own, begun under the parameter.
        tenant.provide("ANNA", PASSWORD, name="fresh", warehouse="FRESH")
        tenant.apply("AccountRole", "role", spec={"name": name.lower(), "providerRef": {"name": "fresh"}})
        tenant.ready("accountrole", "role")
    finally:
        tenant.endpoint.sql("ALTER ACCOUNT UNSET QUOTED_IDENTIFIERS_IGNORE_CASE")
    assert tenant.endpoint.exists("ROLE", name.lower())
    assert not tenant.endpoint.exists("ROLE", name)
    assert not tenant.endpoint.statements("RENAME|^ALTER ROLE", since=before)


def test_neighbours_that_a_pattern_would_match_are_not_mixed_up(tenant: Tenant, name: str) -> None:
    names = {"exact": f"{name}_DOC", "other": f"{name}IDOC", "lower": f"{name}_doc"}
    for resource in ("other", "lower", "exact"):
        tenant.apply("Warehouse", resource, spec={"name": names[resource], "comment": resource})
    tenant.ready("warehouse", *names)
    seen = {each: (tenant.get("warehouse", each) or {})["status"]["showOutput"] for each in names}
    assert {each: shown["name"] for each, shown in seen.items()} == names
    assert {each: shown["comment"] for each, shown in seen.items()} == {each: each for each in names}
    before = tenant.endpoint.sequence
    tenant.kubectl("annotate", "warehouse", *names, "freehold.dev/reconcile-now=1")
    for each in names:
        until(
            lambda each=each: (tenant.get("warehouse", each) or {})["status"].get("lastHandledReconcileNow") == "1",  # type: ignore[misc]
            DEADLINE,
            f"warehouse {each} to be looked at",
        )
    assert not tenant.endpoint.statements("^(CREATE|ALTER|DROP) WAREHOUSE", since=before)


def test_an_object_whose_ownership_is_given_away_is_not_made_again_and_heals_when_it_comes_back(
    tenant: Tenant, name: str
) -> None:
    tenant.provide("BERT", PASSWORD, name="shortsighted")
    tenant.apply("Database", "db", spec={"name": name, "providerRef": {"name": "shortsighted"}})
    tenant.ready("database", "db")
    before = tenant.endpoint.sequence
    tenant.endpoint.sql(f'GRANT OWNERSHIP ON DATABASE "{name}" TO ROLE ACCOUNTADMIN REVOKE CURRENT GRANTS')
    (message,) = tenant.reaches("database", "db", "NotVisible")
    assert "role SHORTSIGHTED doesn't see" in message
    assert not tenant.endpoint.statements("^CREATE DATABASE", since=before)
    tenant.endpoint.sql(f'GRANT OWNERSHIP ON DATABASE "{name}" TO ROLE SHORTSIGHTED REVOKE CURRENT GRANTS')
    tenant.ready("database", "db")
