"""`freehold plan` against a cluster and an account: what it tells is what is done later, and it writes to neither."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import API, Tenant

FREEHOLD = Path(sys.executable).parent / "freehold"
READS = ("SHOW ", "DESCRIBE ", "DESC ", "SELECT ", "USE ")


def plan(tenant: Tenant, folder: Path, *manifests: dict[str, Any], **environment: str) -> tuple[list[Any], int]:
    file = folder / "manifests.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
    host = f"--allowed-hosts={tenant.endpoint.host}:{tenant.endpoint.port}"
    result = subprocess.run(
        [FREEHOLD, "plan", "-f", file, "--output=json", host],
        env={**os.environ, "KUBECONFIG": str(tenant.control_plane.kubeconfig), **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.stdout, result.stderr
    return json.loads(result.stdout), result.returncode


def manifest(tenant: Tenant, kind: str, resource: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": kind,
        "metadata": {"name": resource, "namespace": tenant.namespace},
        "spec": spec,
    }


def test_what_is_planned_is_what_is_done_later_and_nothing_is_written(
    tenant: Tenant, name: str, tmp_path: Path
) -> None:
    tenant.apply("Warehouse", "w", spec={"name": f"{name}_W", "comment": "old", "autoSuspend": 120})
    tenant.ready("warehouse", "w")
    wanted = [
        manifest(tenant, "Schema", "s", databaseRef={"name": "d"}, name="S"),
        manifest(tenant, "Database", "d", name=f"{name}_D"),
        manifest(tenant, "Warehouse", "w", name=f"{name}_W", comment="new"),
    ]
    before, since = tenant.get("warehouse", "w"), tenant.endpoint.sequence
    entries, code = plan(tenant, tmp_path, *wanted, SNOWFLAKE_USER="CARL", SNOWFLAKE_PASSWORD=PASSWORD)
    assert code == 2
    found = {each["kind"]: each for each in entries}
    assert [each["kind"] for each in entries if each["kind"] != "Warehouse"] == ["Database", "Schema"]
    assert {each["action"] for each in entries} == {"create", "alter"}
    assert {(each["name"], each["action"]) for each in found["Warehouse"]["fields"]} == {
        ("comment", "set"),
        ("autoSuspend", "reset"),
    }
    journal = tenant.endpoint.since(since)
    by_carl = [each.text for each in journal if each.user == "CARL" and each.kind == "statement"]
    assert by_carl
    assert not [text for text in by_carl if not text.upper().startswith(READS)]
    assert tenant.get("warehouse", "w") == before
    assert tenant.get("database", "d") is None
    assert not tenant.claims(f"{name}_D")
    since = tenant.endpoint.sequence
    for each in wanted:
        tenant.apply(each["kind"], each["metadata"]["name"], spec=each["spec"])
    tenant.ready("database", "d")
    tenant.ready("schema", "s")
    tenant.ready("warehouse", "w")
    sent = {each.text for each in tenant.endpoint.since(since)}
    assert {statement for each in entries for statement in each["statements"]} <= sent
    assert plan(tenant, tmp_path, *wanted)[1] == 0
