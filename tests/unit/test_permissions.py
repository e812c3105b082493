"""The allow-lists of a ProviderConfig as a table."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.kinds.registry import KINDS
from freehold.permissions import Usage, check

OWN, OTHER = "platform", "team-a"


def reason(
    lists: dict[str, Any],
    kind: str = "Schema",
    *parts: str,
    namespace: str = OWN,
    labels: dict[str, str] | None = None,
    role: str | None = None,
) -> str | None:
    """Reason of the refusal by a ProviderConfig of the namespace `platform` with the role LOADER."""
    provider = ProviderConfigSpec.model_validate({"authenticationType": "KeyPair", "role": "LOADER", **lists})
    usage = Usage(KINDS[kind], namespace, labels or {}, parts or ("DB", "S"), role)
    denied = check(provider, (OWN, "default"), usage)
    return denied.reason if denied else None


@pytest.mark.parametrize("allowed", [None, [], [OTHER]])
def test_a_namespace_may_always_use_its_own_provider(allowed: list[str] | None) -> None:
    assert reason({"allowedNamespaces": allowed}) is None


@pytest.mark.parametrize(
    ("lists", "labels", "may"),
    [
        ({}, {}, False),
        ({"allowedNamespaces": []}, {}, False),
        ({"allowedNamespaces": ["team-b"]}, {}, False),
        ({"allowedNamespaces": ["team-b", OTHER]}, {}, True),
        ({"allowedNamespaces": ["*"]}, {}, True),
        ({"allowedNamespaceSelector": {"matchLabels": {"tenant": "yes"}}}, {"tenant": "yes", "x": "y"}, True),
        ({"allowedNamespaceSelector": {"matchLabels": {"tenant": "yes"}}}, {"tenant": "no"}, False),
        ({"allowedNamespaceSelector": {"matchLabels": {"tenant": "yes"}}}, {}, False),
        ({"allowedNamespaceSelector": {}}, {}, True),
        ({"allowedNamespaces": [OTHER], "allowedNamespaceSelector": {"matchLabels": {"a": "b"}}}, {}, True),
    ],
)
def test_other_namespaces_must_be_listed_or_selected(
    lists: dict[str, Any], labels: dict[str, str], *, may: bool
) -> None:
    assert (reason(lists, namespace=OTHER, labels=labels) is None) is may
    if not may:
        assert reason(lists, namespace=OTHER, labels=labels) == "NamespaceNotAllowed"


@pytest.mark.parametrize(
    ("operator", "values", "value", "holds"),
    [
        ("In", ["a", "b"], "a", True),
        ("In", ["a", "b"], "c", False),
        ("In", ["a"], None, False),
        ("NotIn", ["a"], "b", True),
        ("NotIn", ["a"], "a", False),
        ("NotIn", ["a"], None, True),
        ("Exists", None, "x", True),
        ("Exists", None, None, False),
        ("DoesNotExist", None, None, True),
        ("DoesNotExist", None, "x", False),
    ],
)
def test_selector_requirements_hold_as_in_kubernetes(
    operator: str, values: list[str] | None, value: str | None, *, holds: bool
) -> None:
    requirement = {"key": "tenant", "operator": operator, "values": values}
    labels = {} if value is None else {"tenant": value}
    selector = {"allowedNamespaceSelector": {"matchExpressions": [requirement]}}
    assert (reason(selector, namespace=OTHER, labels=labels) is None) is holds


@pytest.mark.parametrize(
    ("lists", "kind", "parts", "expected"),
    [
        ({"allowedKinds": ["Schema"]}, "Schema", ("DB", "S"), None),
        ({"allowedKinds": ["Schema"]}, "Warehouse", ("WH",), "KindNotAllowed"),
        ({"allowedKinds": ["*"]}, "Warehouse", ("WH",), None),
        ({"allowedKinds": []}, "Warehouse", ("WH",), None),
        ({"allowedDatabases": ["DB"]}, "Schema", ("DB", "S"), None),
        ({"allowedDatabases": ["DB"]}, "Schema", ("db", "S"), "DatabaseNotAllowed"),
        ({"allowedDatabases": ["DB"]}, "Database", ("OTHER",), "DatabaseNotAllowed"),
        ({"allowedDatabases": ["a.b"]}, "Database", ("a.b",), None),
        ({"allowedDatabases": ["DB"]}, "Warehouse", ("OTHER",), None),
        ({"allowedDatabases": []}, "Database", ("OTHER",), None),
        ({"allowedSchemas": ["S"]}, "Schema", ("DB", "S"), None),
        ({"allowedSchemas": ["DB.S"]}, "Schema", ("DB", "S"), None),
        ({"allowedSchemas": ['"DB"."S"']}, "Schema", ("DB", "S"), None),
        ({"allowedSchemas": ["DB.S"]}, "Schema", ("OTHER", "S"), "SchemaNotAllowed"),
        ({"allowedSchemas": ["DB.S"]}, "Schema", ("OTHER", "DB.S"), "SchemaNotAllowed"),
        ({"allowedSchemas": ['"a.b"']}, "Schema", ("DB", "a.b"), None),
        ({"allowedSchemas": ["S"]}, "Database", ("DB",), None),
        ({"allowedSchemas": ["s"]}, "Schema", ("DB", "S"), "SchemaNotAllowed"),
        ({"allowedSchemas": ["S"], "allowedDatabases": ["DB"]}, "Schema", ("X", "S"), "DatabaseNotAllowed"),
    ],
)
def test_objects_must_lie_in_what_is_listed_exactly_as_stored(
    lists: dict[str, Any], kind: str, parts: tuple[str, ...], expected: str | None
) -> None:
    assert reason(lists, kind, *parts) == expected


@pytest.mark.parametrize(
    ("allowed", "role", "expected"),
    [
        (None, None, None),
        (None, "LOADER", None),
        (None, "ACCOUNTADMIN", "RoleNotAllowed"),
        ([], "ACCOUNTADMIN", "RoleNotAllowed"),
        (["OWNER"], "OWNER", None),
        (["OWNER"], "owner", "RoleNotAllowed"),
        (["OWNER"], "LOADER", None),
        (["*"], "ACCOUNTADMIN", None),
    ],
)
def test_roles_other_than_the_providers_own_must_be_listed(
    allowed: list[str] | None, role: str | None, expected: str | None
) -> None:
    assert reason({"allowedRoles": allowed}, role=role) == expected


def test_a_refusal_names_what_is_refused_and_by_whom_but_not_what_others_may() -> None:
    provider = ProviderConfigSpec.model_validate(
        {"authenticationType": "KeyPair", "allowedNamespaces": ["secret-team"]}
    )
    denied = check(provider, (OWN, "default"), Usage(KINDS["Warehouse"], OTHER, {}, ("WH",), None))
    assert denied is not None
    assert "namespace team-a" in denied.message
    assert "allowedNamespaces of ProviderConfig platform/default" in denied.message
    assert "secret-team" not in denied.message
