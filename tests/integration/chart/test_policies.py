"""What no right of a user reaches: the evidence in claims, and the account that a log-in has proved."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from tests.integration.chart.release import Release, service_account

pytestmark = pytest.mark.xdist_group("chart")

ADMINISTRATOR = "alice"
WEBHOOK = service_account("webhook")
ACCOUNT = service_account("account")
SCHEMA = service_account("schema")

EVIDENCE = {"how": "created", "createdOn": "2026-01-01T00:00:00.000Z", "role": "R", "time": "2026-01-01T00:00:00Z"}
PARTS = {
    "evidence": EVIDENCE,
    "mark": {"attempt": 1, "outcome": "sent", "since": "2026-01-01T00:00:00Z"},
    "intent": {"statement": "DROP", "createdOn": "2026-01-01T00:00:00.000Z"},
}
HOLDER = {"group": "snowflake.freehold.dev", "kind": "Database", "namespace": "a", "name": "raw", "uid": "1"}
OTHER = HOLDER | {"namespace": "b", "since": "2026-01-01T00:00:00Z"}


def claim(**parts: object) -> dict[str, Any]:
    identity = {"account": {"key": "R.L", "name": "O.A"}, "namespaceClass": "DATABASE", "fqn": '"RAW"'}
    return {
        "apiVersion": "freehold.dev/v1alpha1",
        "kind": "Claim",
        "metadata": {"name": "a" * 52},
        "spec": {"identity": identity, "holder": HOLDER, **parts},
    }


@pytest.fixture(autouse=True, scope="module")
def administrator(release: Release) -> None:
    """Somebody who may do everything that RBAC can allow."""
    release.kubectl("create", "clusterrolebinding", "alice", "--clusterrole=cluster-admin", f"--user={ADMINISTRATOR}")


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
def test_nobody_else_creates_a_claim(release: Release) -> None:
    refusal = attempt(release, ADMINISTRATOR, "create", manifest=claim())
    assert refusal
    assert "claims are written by Freehold alone" in refusal


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("part", PARTS)
def test_nobody_else_writes_into_a_claim(release: Release, part: str) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim()) is None
    assert replaced(release, ADMINISTRATOR, {part: PARTS[part]})


@pytest.mark.usefixtures("clean")
def test_an_administrator_may_release_a_claim(release: Release) -> None:
    assert attempt(release, ACCOUNT, "create", manifest=claim(**PARTS)) is None
    release.kubectl("delete", "claim", "a" * 52, user=ADMINISTRATOR)


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
def test_the_account_controller_alone_says_which_account_is_proven(release: Release) -> None:
    proven = {"key": "R.L", "name": "O.A", "region": "R", "locator": "L"}
    refusal = report(release, ADMINISTRATOR, account=proven)
    assert refusal
    assert "account controller alone writes it" in refusal
    assert report(release, SCHEMA, account=proven)
    assert report(release, ACCOUNT, account=proven) is None
    assert report(release, ADMINISTRATOR, account=proven | {"key": "R.OTHER"})
    assert report(release, ADMINISTRATOR, role="R") is None


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
