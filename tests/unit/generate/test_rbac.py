"""Permissions follow from the kinds: each process writes its own domain and reads all, people declare, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml

from freehold.generate.rbac import permissions
from freehold.kinds.common import Reference, SnowflakeSpec
from freehold.kinds.fields import ref
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.resource import FREEHOLD_GROUP, SNOWFLAKE_GROUP, VERSION, GroupResource, Resource


class AlphaSpec(SnowflakeSpec):
    """A kind of the account domain."""


class BetaSpec(SnowflakeSpec):
    """A kind of the schema domain, inside the other."""

    alpha_ref: Reference | None = ref("Alpha", instead_of="alpha_name", parent=True)


ALPHA = Kind(AlphaSpec, Domain.ACCOUNT, "ALPHA", Level.ACCOUNT, holds_data=True)
BETA = Kind(BetaSpec, Domain.SCHEMA, "BETA", Level.SCHEMA, holds_data=True)
PROVIDER_CONFIG = Resource(
    GroupResource(SNOWFLAKE_GROUP, VERSION, "providerconfigs", "ProviderConfig"), AlphaSpec, None
)

Rules = Sequence[Mapping[str, Sequence[str]]]


def verbs(rules: Rules, resource: str) -> set[str]:
    """Verbs that the rules allow on a resource of any group."""
    return {verb for rule in rules if resource in rule["resources"] for verb in rule["verbs"]}


@pytest.fixture
def document() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = yaml.safe_load(permissions([BETA, ALPHA], PROVIDER_CONFIG))
    return loaded


READ = {"get", "list", "watch"}
DECLARED = ("alphas", "betas", "providerconfigs")


@pytest.mark.parametrize(
    ("role", "resource", "expected"),
    [
        ("account", "alphas", READ | {"patch"}),
        ("account", "alphas/status", {"patch"}),
        ("account", "betas", READ),
        ("account", "betas/status", set()),
        ("account", "providerconfigs/status", {"patch"}),
        ("schema", "betas/status", {"patch"}),
        ("schema", "alphas", READ),
        ("schema", "alphas/status", set()),
        ("schema", "providerconfigs", READ),
        ("schema", "providerconfigs/status", {"patch"}),
        ("schema", "claims", READ | {"create", "update", "delete"}),
        ("webhook", "alphas", READ),
        ("webhook", "betas", {"get"}),
        ("webhook", "providerconfigs", READ),
        ("webhook", "betas/status", set()),
        ("webhook", "claims", {"get", "create", "update", "delete"}),
        *(("view", resource, READ) for resource in DECLARED),
        *(("edit", resource, {"create", "update", "patch", "delete", "deletecollection"}) for resource in DECLARED),
        *((role, f"{resource}/status", set()) for role in ("view", "edit") for resource in DECLARED),
        *((role, "claims", set()) for role in ("view", "edit")),
        ("claims-view", "claims", READ),
        ("claims-admin", "claims", READ | {"delete"}),
        ("claims-admin", "alphas", set()),
        ("claims-view", "alphas", set()),
    ],
)
def test_a_role_allows_exactly(document: Mapping[str, Any], role: str, resource: str, expected: set[str]) -> None:
    assert verbs(document[role], resource) == expected


def test_nobody_creates_or_deletes_what_users_declare(document: Mapping[str, Any]) -> None:
    for process in ("webhook", "account", "schema"):
        for resource in DECLARED:
            assert not verbs(document[process], resource) & {"create", "delete", "deletecollection"}


def test_a_controller_sees_the_definitions_of_our_kinds_and_no_other(document: Mapping[str, Any]) -> None:
    ours = [f"{plural}.{SNOWFLAKE_GROUP}" for plural in ("alphas", "betas", "providerconfigs")]
    for process in ("account", "schema"):
        (rule,) = [rule for rule in document[process] if "customresourcedefinitions" in rule["resources"]]
        assert rule["verbs"] == ["get", "list", "watch"]
        assert rule["resourceNames"] == sorted([*ours, f"claims.{FREEHOLD_GROUP}"])


def test_no_rule_has_a_wildcard() -> None:
    assert "*" not in permissions([ALPHA, BETA], PROVIDER_CONFIG)


def test_admission_asks_about_all_kinds_and_providers_but_no_subresource(document: Mapping[str, Any]) -> None:
    assert document["admission"] == [
        {
            "apiGroups": ["snowflake.freehold.dev"],
            "apiVersions": ["v1alpha1"],
            "resources": ["alphas", "betas", "providerconfigs"],
        }
    ]


def test_the_order_of_declarations_does_not_show() -> None:
    assert permissions([ALPHA, BETA], PROVIDER_CONFIG) == permissions([BETA, ALPHA], PROVIDER_CONFIG)
