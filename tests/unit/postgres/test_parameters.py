"""Parameters of PostgreSQL in a map that has several writers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from freehold.kube.objects import Object
from freehold.postgres import parameters
from freehold.postgres.parameters import MANAGER, application

CNPG = {"wal_level": "logical", "max_worker_processes": "32"}


def _fields(names: list[str]) -> dict[str, Any]:
    return {"f:spec": {"f:postgresql": {"f:parameters": {f"f:{name}": {} for name in names}}}}


def _live(found: Mapping[str, str], **managers: list[str]) -> Object:
    """A Cluster whose parameters were set by these field managers: `ours`, or `name__Operation`."""
    fields = []
    for key, names in managers.items():
        manager, _, operation = key.partition("__")
        manager, operation = (MANAGER, "Apply") if manager == "ours" else (manager.replace("_", "-"), operation)
        fields.append({"manager": manager, "operation": operation, "fieldsV1": _fields(names)})
    metadata = {"name": "orders", "namespace": "dbs", "resourceVersion": "7", "managedFields": fields}
    return Object(
        {
            "apiVersion": "postgresql.cnpg.io/v1",
            "kind": "Cluster",
            "metadata": metadata,
            "spec": {"postgresql": {"parameters": dict(found)}},
        }
    )


def test_nothing_is_applied_when_nothing_differs() -> None:
    live = _live({**CNPG, "work_mem": "64MB"}, ours=["work_mem"], freehold_postgres__Update=[*CNPG])
    assert application({"work_mem": "64MB"}, live).apply is None
    assert application({}, _live(CNPG, freehold_postgres__Update=[*CNPG])).apply is None


@pytest.mark.parametrize(
    ("wanted", "live"),
    [
        ({"work_mem": "64MB"}, _live(CNPG)),
        ({"work_mem": "64MB"}, _live({"work_mem": "1MB"}, ours=["work_mem"])),
        ({}, _live({"work_mem": "64MB"}, ours=["work_mem"])),
        ({"wal_level": "logical"}, _live(CNPG, freehold_postgres__Update=[*CNPG])),
    ],
    ids=["new", "changed", "taken out", "a default that becomes ours"],
)
def test_what_differs_is_applied(wanted: dict[str, str], live: Object) -> None:
    assert application(wanted, live) == parameters.Application(wanted, ())


@pytest.mark.parametrize("manager", ["freehold_postgres__Update", "manager__Update"])
def test_a_default_of_cloudnativepg_gives_way(manager: str) -> None:
    live = _live(CNPG, **{manager: [*CNPG]})
    assert application({"wal_level": "replica"}, live).apply == {"wal_level": "replica"}


def test_what_somebody_else_has_set_is_left_to_them_and_told_by_key() -> None:
    live = _live({**CNPG, "work_mem": "1MB", "jit": "on"}, kubectl_edit__Update=["work_mem"], ours=["jit"])
    found = application({"work_mem": "64MB", "jit": "off"}, live)
    assert found.apply == {"jit": "off"}
    (contested,) = found.contested
    assert (contested.name, contested.found, contested.manager) == ("work_mem", "1MB", "kubectl-edit")
    assert "take it out there, or have postgresqlConfig say the same" in str(contested)
    # Once the rest is as it is to be, nothing more is sent, however long it is contested.
    live = _live({"work_mem": "1MB", "jit": "off"}, kubectl_edit__Update=["work_mem"], ours=["jit"])
    assert application({"work_mem": "64MB", "jit": "off"}, live).apply is None


def test_who_says_the_same_is_no_rival() -> None:
    live = _live({"work_mem": "64MB"}, argocd__Apply=["work_mem"], ours=["work_mem"])
    assert application({"work_mem": "64MB"}, live) == parameters.Application(None, ())


def test_what_is_applied_holds_our_parameters_and_fails_where_others_have_changed_any() -> None:
    assert parameters.body({"work_mem": "64MB"}, _live(CNPG)) == {
        "apiVersion": "postgresql.cnpg.io/v1",
        "kind": "Cluster",
        "metadata": {"name": "orders", "namespace": "dbs", "resourceVersion": "7"},
        "spec": {"postgresql": {"parameters": {"work_mem": "64MB"}}},
    }
