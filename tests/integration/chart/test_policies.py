"""What no right of a user reaches: the evidence in claims, and the account that a log-in has proved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from freehold_devstack.processes import until
from tests.harness.chart import CHART, REGISTRY
from tests.integration.chart.release import Release, service_account

pytestmark = pytest.mark.xdist_group("chart")

ADMINISTRATOR = "alice"
EDITOR = "eve"
BACKUP = "system:serviceaccount:velero:velero"
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
WEBHOOK = service_account("webhook")
ACCOUNT = service_account("account")
SCHEMA = service_account("schema")
OTHER_ACCOUNT = "system:serviceaccount:other:other-freehold-account"

EVIDENCE = {"how": "created", "createdOn": "2026-01-01T00:00:00.000Z", "role": "R", "time": "2026-01-01T00:00:00Z"}
PARTS = {
    "evidence": EVIDENCE,
    "mark": {"attempt": 1, "outcome": "sent", "since": "2026-01-01T00:00:00Z"},
    "intent": {"statement": "DROP", "createdOn": "2026-01-01T00:00:00.000Z"},
}
HOLDER = {"group": "snowflake.freehold.dev", "kind": "Database", "namespace": "a", "name": "raw", "uid": "1"}
OTHER = HOLDER | {"namespace": "b", "since": "2026-01-01T00:00:00Z"}

ALONE = "claims are written by Freehold alone"


def claim(**parts: object) -> dict[str, Any]:
    identity = {"account": {"key": "R.L", "name": "O.A"}, "namespaceClass": "DATABASE", "fqn": '"RAW"'}
    return {
        "apiVersion": "freehold.dev/v1alpha1",
        "kind": "Claim",
        "metadata": {"name": "a" * 52},
        "spec": {"identity": identity, "holder": HOLDER, **parts},
    }


@pytest.fixture(autouse=True, scope="module")
def users(release: Release) -> None:
    """Somebody who may do everything that RBAC can allow, and somebody who may edit everything."""
    release.kubectl("create", "clusterrolebinding", "alice", "--clusterrole=cluster-admin", f"--user={ADMINISTRATOR}")
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "edit-everything"},
        "rules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch", "create", "update", "patch"]}
        ],
    }
    release.kubectl("create", "-f", "-", manifest=role)
    release.kubectl("create", "clusterrolebinding", EDITOR, "--clusterrole=edit-everything", f"--user={EDITOR}")


@pytest.fixture
def clean(release: Release) -> Iterator[None]:
    yield
    release.kubectl("delete", "claims", "--all")


def attempt(release: Release, user: str, *verb: str, manifest: object) -> str | None:
    """What a user is told when he writes a manifest; None when it is taken."""
    result = release.kubectl(*verb, "-f", "-", user=user, manifest=manifest, check=False)
    return result.stderr if result.returncode else None


def replaced(release: Release, user: str, change: dict[str, Any]) -> str | None:
    """Replace spec fields of the claim, None removing one; what the user is told, None when it is taken."""
    manifest = deepcopy(release.get("claim", "a" * 52))
    spec = manifest["spec"] | change
    manifest["spec"] = {key: value for key, value in spec.items() if value is not None}
    return attempt(release, user, "replace", manifest=manifest)


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("user", [ADMINISTRATOR, EDITOR])
@pytest.mark.parametrize("verb", [("create",), ("apply", "--server-side")])
def test_nobody_else_creates_a_claim(release: Release, user: str, verb: tuple[str, ...]) -> None:
    refusal = attempt(release, user, *verb, manifest=claim())
    assert refusal
    assert ALONE in refusal


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("user", [ADMINISTRATOR, EDITOR])
@pytest.mark.parametrize(
    "change", [*({part: PARTS[part]} for part in PARTS), {"holder": OTHER}], ids=[*PARTS, "holder"]
)
def test_nobody_else_writes_into_a_claim(release: Release, user: str, change: dict[str, Any]) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim()) is None
    assert ALONE in (replaced(release, user, change) or "")
    patch = ("--type=merge", f"--patch={json.dumps({'spec': change})}")
    assert ALONE in release.kubectl("patch", "claim", "a" * 52, *patch, user=user, check=False).stderr


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    "metadata", ['{"labels": {"freehold.dev/holder": "x"}}', '{"finalizers": ["example.com/hold"]}']
)
def test_nobody_else_hides_or_holds_a_claim(release: Release, metadata: str) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim()) is None
    patch = ("--type=merge", f'--patch={{"metadata": {metadata}}}')
    assert ALONE in release.kubectl("patch", "claim", "a" * 52, *patch, user=EDITOR, check=False).stderr


def test_a_claim_that_is_deleted_in_the_foreground_goes(release: Release) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim(**PARTS)) is None
    release.kubectl("delete", "claim", "a" * 52, "--cascade=foreground", "--timeout=60s", user=ADMINISTRATOR)


@pytest.mark.usefixtures("clean")
def test_kubernetes_own_controllers_change_nothing_that_counts(release: Release) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim()) is None
    release.kubectl("create", "clusterrolebinding", "collector", "--clusterrole=cluster-admin", f"--user={COLLECTOR}")
    try:
        assert replaced(release, COLLECTOR, {}) is None
        assert ALONE in (replaced(release, COLLECTOR, {"evidence": EVIDENCE}) or "")
    finally:
        release.kubectl("delete", "clusterrolebinding", "collector")


@pytest.mark.usefixtures("clean")
def test_a_backup_restores_claims_where_it_may_and_changes_none(release: Release) -> None:
    release.kubectl("create", "clusterrolebinding", "velero", "--clusterrole=cluster-admin", f"--user={BACKUP}")
    assert ALONE in (attempt(release, BACKUP, "create", manifest=claim(**PARTS)) or "")
    release.install(f"claimRestorers={{{BACKUP}}}")
    try:
        until(
            lambda: attempt(release, BACKUP, "create", manifest=claim(**PARTS)) is None, 15.0, "claims to be restorable"
        )
        assert ALONE in (replaced(release, BACKUP, {"holder": OTHER}) or "")
    finally:
        release.install()


@pytest.mark.usefixtures("clean")
def test_an_administrator_may_release_a_claim(release: Release) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim(**PARTS)) is None
    release.kubectl("delete", "claim", "a" * 52, user=ADMINISTRATOR)


@pytest.mark.usefixtures("clean")
def test_releases_that_know_of_one_another_share_the_claims(release: Release) -> None:
    other = ("other", str(CHART), "--namespace=other", "--create-namespace", "--set", REGISTRY)
    shared = "crds.enabled=false,watchNamespaces={team-a},otherReleases={freehold/freehold}"
    release.install("otherReleases={other/other-freehold}")
    release.control_plane.helm("install", *other, "--set", shared)
    try:
        until(
            lambda: attempt(release, OTHER_ACCOUNT, "create", manifest=claim(**PARTS)) is None,
            15.0,
            "a claim of the other",
        )
        assert replaced(release, SCHEMA, {"intent": None}) is None
        assert ALONE in (replaced(release, ADMINISTRATOR, {"evidence": None}) or "")
    finally:
        release.control_plane.helm("uninstall", "other", "--namespace=other")
        release.install()


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("controller", [ACCOUNT, SCHEMA])
def test_a_controller_sets_and_clears(release: Release, controller: str) -> None:
    assert attempt(release, controller, "create", manifest=claim()) is None
    assert replaced(release, controller, PARTS) is None
    assert replaced(release, controller, dict.fromkeys(PARTS)) is None


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("part", PARTS)
def test_the_webhook_creates_claims_without_evidence_mark_and_intent(release: Release, part: str) -> None:
    assert attempt(release, WEBHOOK, "create", manifest=claim(**{part: PARTS[part]}))
    assert attempt(release, WEBHOOK, "create", manifest=claim()) is None


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("part", PARTS)
def test_the_webhook_neither_sets_nor_clears_for_the_same_holder(release: Release, part: str) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim(**{part: PARTS[part]})) is None
    assert replaced(release, WEBHOOK, {part: None})
    assert replaced(release, WEBHOOK, {part: None, "holder": HOLDER | {"uid": "2"}})
    assert replaced(release, WEBHOOK, PARTS)
    assert replaced(release, WEBHOOK, {"holder": HOLDER | {"uid": "2", "since": "2026-01-01T00:00:00Z"}}) is None


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("part", PARTS)
def test_the_webhook_gives_a_claim_to_another_holder_only_cleared(release: Release, part: str) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim(**{part: PARTS[part]})) is None
    assert replaced(release, WEBHOOK, {"holder": OTHER})
    assert replaced(release, WEBHOOK, {"holder": OTHER, part: None}) is None


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("part", PARTS)
def test_the_webhook_gives_back_no_claim_that_has_or_had_evidence_mark_or_intent(release: Release, part: str) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim(**{part: PARTS[part]})) is None
    assert "only gives back a claim as it was created" in given_back(release)
    assert replaced(release, WEBHOOK, {"holder": OTHER, part: None}) is None
    assert "only gives back a claim as it was created" in given_back(release)


def test_the_webhook_gives_back_what_it_has_created(release: Release) -> None:
    assert attempt(release, WEBHOOK, "create", manifest=claim()) is None
    assert not given_back(release)


def given_back(release: Release) -> str:
    """Delete the claim as the webhook, who may not look for it; what it is told when that is refused."""
    path = f"--raw=/apis/freehold.dev/v1alpha1/claims/{'a' * 52}"
    return release.kubectl("delete", path, user=WEBHOOK, check=False).stderr


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("user", [ACCOUNT, WEBHOOK])
def test_a_claim_stays_with_its_object(release: Release, user: str) -> None:
    assert attempt(release, user, "create", manifest=claim()) is None
    refusal = replaced(release, user, {"identity": claim()["spec"]["identity"] | {"fqn": '"OTHER"'}})
    assert refusal
    assert "identity can't be changed" in refusal


@pytest.fixture
def provider_config(release: Release) -> Iterator[str]:
    manifest = {
        "apiVersion": "snowflake.freehold.dev/v1alpha1",
        "kind": "ProviderConfig",
        "metadata": {"name": "proven", "namespace": "default"},
        "spec": {
            "account": "O-A",
            "user": "U",
            "authenticationType": "KeyPair",
            "credentials": {"secretRef": {"name": "s", "key": "k"}},
        },
    }
    release.kubectl("create", "-f", "-", manifest=manifest)
    yield "providerconfig/proven"
    release.kubectl("delete", "providerconfig", "proven", "--namespace", "default")


def report(release: Release, user: str, **status: object) -> str | None:
    """Apply a part of the ProviderConfig's status as controllers do; what the user is told, None when it is taken."""
    manifest = {
        "apiVersion": "snowflake.freehold.dev/v1alpha1",
        "kind": "ProviderConfig",
        "metadata": {"name": "proven", "namespace": "default"},
        "status": status,
    }
    as_manager = f"--field-manager={user.rpartition(':')[2]}"
    apply = ("apply", "--server-side", "--force-conflicts", "--subresource=status", as_manager)
    return attempt(release, user, *apply, manifest=manifest)


@pytest.mark.usefixtures("provider_config")
@pytest.mark.parametrize("user", [ADMINISTRATOR, EDITOR])
def test_no_way_of_writing_it_lets_anybody_say_which_account_is_proven(release: Release, user: str) -> None:
    forged = {"status": {"account": {"key": "R.L", "name": "O.A", "region": "R", "locator": "L"}}}
    patch = (
        "patch",
        "providerconfig",
        "proven",
        "--namespace",
        "default",
        "--type=merge",
        f"--patch={json.dumps(forged)}",
    )
    assert (
        "account controller alone writes it"
        in release.kubectl(*patch, "--subresource=status", user=user, check=False).stderr
    )
    release.kubectl(*patch, user=user)
    whole = release.get("providerconfig", "proven", "--namespace", "default")
    assert "account" not in whole.get("status", {})
    assert attempt(release, user, "replace", manifest=whole | forged) is None
    copy = {**whole, "metadata": {"name": "copy", "namespace": "default"}, **forged}
    assert attempt(release, user, "create", manifest=copy) is None
    for name in ("proven", "copy"):
        assert "account" not in release.get("providerconfig", name, "--namespace", "default").get("status", {})
    release.kubectl("delete", "providerconfig", "copy", "--namespace", "default")


@pytest.mark.usefixtures("provider_config")
def test_the_account_controller_alone_says_which_account_is_proven(release: Release) -> None:
    proven = {"key": "R.L", "name": "O.A", "region": "R", "locator": "L"}
    refusal = report(release, ADMINISTRATOR, account=proven)
    assert refusal
    assert "account controller alone writes it" in refusal
    assert report(release, SCHEMA, account=proven)
    assert report(release, ACCOUNT, account=proven) is None
    assert report(release, ADMINISTRATOR, account=proven | {"key": "R.OTHER"})
    assert report(release, ADMINISTRATOR, role="R") is None


@pytest.mark.usefixtures("provider_config")
@pytest.mark.parametrize("other", [{}, {"role": "OTHER"}, {"heldSecret": "mine"}])
def test_of_a_provider_configs_status_the_other_controllers_write_recent_drops_alone(
    release: Release, other: dict[str, str]
) -> None:
    assert report(release, ACCOUNT, role="R", version="1") is None
    told = report(release, SCHEMA, recentDrops=["2026-01-01T00:00:00Z"], **other) or ""
    assert ("write recentDrops alone" in told) == bool(other)


@pytest.mark.parametrize(
    ("user", "path", "schema"),
    [
        (WEBHOOK, "/apis/freehold.dev/v1alpha1/claims", "freehold-claims"),
        (WEBHOOK, "/apis/snowflake.freehold.dev/v1alpha1/namespaces/a/databases", "freehold-claims"),
        (ACCOUNT, "/apis/freehold.dev/v1alpha1/claims", "freehold-claims"),
        (SCHEMA, "/apis/coordination.k8s.io/v1/namespaces/freehold/leases/x", "freehold-leases"),
        (ACCOUNT, "/apis/snowflake.freehold.dev/v1alpha1/databases", "service-accounts"),
    ],
)
def test_claims_and_leases_have_queues_of_their_own(release: Release, user: str, path: str, schema: str) -> None:
    said = release.kubectl("get", "--raw", path, "-v=8", user=user, check=False).stderr
    uid = release.get("flowschema", schema)["metadata"]["uid"]
    assert f"X-Kubernetes-Pf-Flowschema-Uid: {uid}" in said
