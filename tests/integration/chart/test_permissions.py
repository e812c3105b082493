"""Each process may do what it must and nothing more, as the API server itself sees it."""

from __future__ import annotations

import json

import pytest

from tests.integration.chart.release import GROUPS, NAMESPACE, Release, service_account

pytestmark = pytest.mark.xdist_group("chart")

READ = {"get", "list", "watch"}
NAMESPACES = {("", "namespaces", verb) for verb in READ}
EVENTS = {("events.k8s.io", "events", verb) for verb in ("create", "patch")}
LEASES = {("coordination.k8s.io", "leases", verb) for verb in ("get", "create", "update")}
SECRETS = {("", "secrets", verb) for verb in READ}
OWN_CONFIGURATION = {("admissionregistration.k8s.io", "validatingwebhookconfigurations/freehold", "get")}

Permission = tuple[str, str, str]
"""Group, resource (with the object's name where the rule has one) and verb."""


def permissions(release: Release, user: str, namespace: str) -> set[Permission]:
    """What a user may do in a namespace and cluster-wide."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    }
    raw = release.kubectl(
        "create", "--raw=/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "-f", "-", user=user, manifest=review
    )
    return {
        (group, f"{resource}/{name}" if name else resource, verb)
        for rule in json.loads(raw.stdout)["status"]["resourceRules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames") or [""]
        for verb in rule["verbs"]
    }


def anybodys(release: Release, namespace: str) -> set[Permission]:
    """What every service account may do."""
    return permissions(release, f"system:serviceaccount:{NAMESPACE}:default", namespace)


@pytest.mark.parametrize(
    ("component", "here", "elsewhere"),
    [
        ("webhook", NAMESPACES | OWN_CONFIGURATION, NAMESPACES | OWN_CONFIGURATION),
        ("account", NAMESPACES | EVENTS | LEASES | SECRETS, NAMESPACES | EVENTS),
        ("schema", NAMESPACES | EVENTS | LEASES | SECRETS, NAMESPACES | EVENTS),
    ],
)
def test_beside_our_own_resources_a_process_may_do_exactly(
    release: Release, component: str, here: set[Permission], elsewhere: set[Permission]
) -> None:
    for namespace, expected in ((NAMESPACE, here), ("default", elsewhere)):
        granted = permissions(release, service_account(component), namespace) - anybodys(release, namespace)
        assert {each for each in granted if each[0] not in GROUPS} == expected


@pytest.mark.parametrize(
    ("component", "resource", "expected"),
    [
        ("webhook", "claims", {"get", "create", "update", "delete"}),
        ("webhook", "databases", READ),
        ("webhook", "databases/status", set()),
        ("account", "claims", READ | {"create", "update", "patch", "delete"}),
        ("account", "databases", READ | {"update", "patch"}),
        ("account", "databases/status", {"update", "patch"}),
        ("account", "providerconfigs/status", {"update", "patch"}),
        ("account", "schemas", READ),
        ("account", "schemas/status", set()),
        ("schema", "schemas", READ | {"update", "patch"}),
        ("schema", "schemas/status", {"update", "patch"}),
        ("schema", "warehouses", READ),
        ("schema", "warehouses/status", set()),
        ("schema", "providerconfigs/status", set()),
    ],
)
def test_of_our_own_resources_a_process_may_do_exactly(
    release: Release, component: str, resource: str, expected: set[str]
) -> None:
    granted = permissions(release, service_account(component), "default")
    assert {verb for group, name, verb in granted if group in GROUPS and name == resource} == expected


def test_a_namespace_lets_its_secrets_be_read_by_a_binding_of_its_own(release: Release) -> None:
    release.kubectl("create", "namespace", "tenant")
    subject = f"--serviceaccount={NAMESPACE}:freehold-account"
    release.kubectl(
        *(
            "create",
            "rolebinding",
            "freehold-secrets",
            "--namespace",
            "tenant",
            "--clusterrole=freehold-secrets",
            subject,
        )
    )
    assert permissions(release, service_account("account"), "tenant") >= SECRETS
