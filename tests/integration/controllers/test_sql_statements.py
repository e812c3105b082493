"""SQLStatements on a real API server and the endpoint: run once, observed, undone."""

from __future__ import annotations

from tests.integration.controllers.tenant import Tenant


def sent(tenant: Tenant, name: str) -> list[str]:
    found = tenant.endpoint.statements(f"^(GRANT|REVOKE|CREATE|DROP|USE).*{name}", outcome="ok")
    return [each.text for each in found]


def test_statements_run_once_and_are_undone(tenant: Tenant, name: str) -> None:
    spec = {
        "execute": f"CREATE ROLE {name}_A; -- one; two\nCREATE ROLE {name}_B;",
        "revert": f"DROP ROLE {name}_B; DROP ROLE {name}_A",
        "observe": f"SHOW ROLES LIKE '{name}_B'",
        "observeExpect": [{"column": "name", "value": f"{name}_b"}],
    }
    tenant.apply("SQLStatement", "x", spec=spec)
    tenant.ready("SQLStatement", "x")
    status = (tenant.get("SQLStatement", "x") or {})["status"]
    assert status["statementsRun"] == "2 of 2"
    assert status["observeResult"] == {"rowCount": 1, "matched": True}
    # Another look, at all of it.
    tenant.apply("SQLStatement", "x", spec={**spec, "idempotent": True})
    tenant.ready("SQLStatement", "x")
    tenant.delete("SQLStatement", "x")
    tenant.gone("SQLStatement", "x")
    verbs = [(text.split()[0], text.split()[2]) for text in sent(tenant, name)]
    assert verbs == [("CREATE", f"{name}_A"), ("CREATE", f"{name}_B"), ("DROP", f"{name}_B"), ("DROP", f"{name}_A")]
    assert tenant.claims(name) == []


def test_names_lie_in_the_context(tenant: Tenant, name: str) -> None:
    tenant.apply("Database", "db", spec={"name": name})
    tenant.ready("Database", "db")
    context = {"database": name, "schema": "PUBLIC"}
    spec = {"execute": f"CREATE SEQUENCE {name}_S", "revert": f"DROP SEQUENCE {name}_S", "context": context}
    tenant.apply("SQLStatement", "x", spec=spec)
    tenant.ready("SQLStatement", "x")
    assert f'USE SCHEMA "{name}"."PUBLIC"' in sent(tenant, name)
    tenant.delete("SQLStatement", "x")
    tenant.gone("SQLStatement", "x")
