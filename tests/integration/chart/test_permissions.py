"""Each process may do what it must and nothing more, as the API server itself sees it."""

from __future__ import annotations

import json

import pytest

from freehold.kinds.kind import Domain
from freehold.kinds.registry import KINDS
from freehold.kinds.resources import RESOURCES
from freehold_devstack.processes import until
from tests.harness.chart import NAMESPACE
from tests.integration.chart.release import GROUPS, Release, service_account

pytestmark = pytest.mark.xdist_group("chart")

READ = {"get", "list", "watch"}
EDIT = {"create", "update", "patch", "delete", "deletecollection"}
NAMESPACE_LABELS = {("", "namespaces", "get")}
NAMESPACES = {("", "namespaces", verb) for verb in READ}
EVENTS = {("events.k8s.io", "events", verb) for verb in ("create", "patch")}
LEASES = {("coordination.k8s.io", "leases", verb) for verb in ("get", "list", "watch", "create", "update", "delete")}
SECRETS = {("", "secrets", verb) for verb in (*READ, "patch")} | {
    ("rbac.authorization.k8s.io", "rolebindings/freehold-secrets", verb) for verb in ("get", "patch")
}
OWN_CONFIGURATION = {("admissionregistration.k8s.io", "validatingwebhookconfigurations/freehold", "get")}

AGGREGATED_SECONDS = 30.0

Permission = tuple[str, str, str]
"""Group, resource (with the object's name where the rule has one) and verb."""


DEFINITIONS = {
    ("apiextensions.k8s.io", f"customresourcedefinitions/{resource.path.definition}", verb)
    for resource in RESOURCES
    for verb in READ
}
"""What a controller sees of the definitions of our kinds: it drops nothing while one goes, and hears of its return."""


def elsewhere_leased(domain: Domain) -> set[Permission]:
    """What a controller sees of other releases."""
    return {("coordination.k8s.io", f"leases/freehold-{domain.value}", "list")}


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


def of_ours(granted: set[Permission], resource: str) -> set[str]:
    """Verbs on a resource of our groups."""
    return {verb for group, name, verb in granted if group in GROUPS and name == resource}


def anybodys(release: Release, namespace: str) -> set[Permission]:
    """What every service account may do."""
    return permissions(release, f"system:serviceaccount:{NAMESPACE}:default", namespace)


@pytest.mark.parametrize(
    ("component", "here", "elsewhere"),
    [
        ("webhook", NAMESPACE_LABELS | OWN_CONFIGURATION, NAMESPACE_LABELS | OWN_CONFIGURATION),
        *(
            (
                domain.value,
                NAMESPACES | EVENTS | LEASES | SECRETS | DEFINITIONS | elsewhere_leased(domain),
                NAMESPACES | EVENTS | DEFINITIONS | elsewhere_leased(domain),
            )
            for domain in (Domain.ACCOUNT, Domain.SCHEMA)
        ),
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
        ("account", "claims", READ | {"create", "update", "delete"}),
        ("account", "databases", READ | {"patch"}),
        ("account", "databases/status", {"patch"}),
        ("account", "providerconfigs/status", {"patch"}),
        ("account", "schemas", READ),
        ("account", "schemas/status", set()),
        ("schema", "schemas", READ | {"patch"}),
        ("schema", "schemas/status", {"patch"}),
        ("schema", "warehouses", READ),
        ("schema", "warehouses/status", set()),
        ("schema", "providerconfigs/status", {"patch"}),
    ],
)
def test_of_our_own_resources_a_process_may_do_exactly(
    release: Release, component: str, resource: str, expected: set[str]
) -> None:
    assert of_ours(permissions(release, service_account(component), "default"), resource) == expected


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


TEAM = "team"


@pytest.fixture(scope="module")
def team(release: Release) -> Release:
    """The release with a namespace in which each of three users has the built-in role that is the user's name."""
    release.kubectl("create", "namespace", TEAM)
    for role in ("view", "edit", "admin"):
        release.kubectl("create", "rolebinding", role, "--namespace", TEAM, f"--clusterrole={role}", f"--user={role}")

    def aggregated() -> bool:
        """Whether the controller manager has passed our rules on, view to edit and edit to admin."""
        return of_ours(permissions(release, "admin", TEAM), "databases") >= EDIT | READ

    until(aggregated, AGGREGATED_SECONDS, "our rules to be part of the built-in roles")
    return release


@pytest.mark.parametrize(("user", "expected"), [("view", READ), ("edit", READ | EDIT), ("admin", READ | EDIT)])
@pytest.mark.parametrize("resource", [kind.resource.path.plural for kind in KINDS.values()] + ["providerconfigs"])
def test_who_has_a_builtin_role_in_a_namespace_may_do_there_exactly(
    team: Release, user: str, resource: str, expected: set[str]
) -> None:
    assert of_ours(permissions(team, user, TEAM), resource) == expected
    assert not of_ours(permissions(team, user, "default"), resource)


@pytest.mark.parametrize("user", ["view", "edit", "admin"])
@pytest.mark.parametrize("resource", ["claims", "databases/status", "providerconfigs/status"])
def test_nobody_in_a_namespace_reaches_claims_or_status(team: Release, user: str, resource: str) -> None:
    assert not of_ours(permissions(team, user, TEAM), resource)


def test_an_editor_declares_what_a_viewer_only_sees(team: Release) -> None:
    database = {
        "apiVersion": "snowflake.freehold.dev/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "edited", "namespace": TEAM},
        "spec": {"name": "EDITED"},
    }
    team.kubectl("create", "-f", "-", user="edit", manifest=database)
    assert "edited" in team.kubectl("get", "databases", "--namespace", TEAM, user="view").stdout
    label = ("label", "database/edited", "seen=yes", "--namespace", TEAM)
    status = ("patch", "database/edited", "--namespace", TEAM, "--subresource=status", "--type=merge")
    refusals = [
        team.kubectl(*label, user="view", check=False),
        team.kubectl(*status, '--patch={"status": {"observedGeneration": 1}}', user="edit", check=False),
        team.kubectl("get", "claims", user="edit", check=False),
    ]
    assert all("(Forbidden)" in refused.stderr for refused in refusals)
    team.kubectl(*label, user="edit")
    team.kubectl("delete", "database/edited", "--namespace", TEAM, user="edit")


@pytest.mark.parametrize(("role", "expected"), [("claims-view", READ), ("claims-admin", READ | {"delete"})])
def test_claims_are_for_whom_an_administrator_binds(release: Release, role: str, expected: set[str]) -> None:
    release.kubectl("create", "clusterrolebinding", role, f"--clusterrole=freehold-{role}", f"--user={role}")
    assert of_ours(permissions(release, role, "default"), "claims") == expected
