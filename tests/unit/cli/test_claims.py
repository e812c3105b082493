"""`freehold claims`: the register as people look through it, and what they may take out of it."""

from __future__ import annotations

from typing import Any

import pytest

from freehold.claims import CLAIM
from freehold.cli import register
from freehold.identity import Identity, Name
from freehold.kinds.registry import KINDS
from freehold.kube.errors import Forbidden, Unavailable
from tests.unit.cli.cluster import ACCOUNT, Cluster

DATABASES = KINDS["Database"].resource.path
SALES = Identity(ACCOUNT, "DATABASE", Name(("SALES",)))
LOADING = Identity(ACCOUNT, "WAREHOUSE", Name(("LOADING",)))
ELSEWHERE = Identity("R.OTHER", "DATABASE", Name(("SALES",)))


@pytest.fixture
def filled(cluster: Cluster) -> Cluster:
    """A cluster with three claims: of a holder that lives, of one that is gone, and of one in another account."""
    cluster.claim(SALES, "a", "sales")
    cluster.database("a", "sales", "SALES")
    cluster.prove(SALES)
    cluster.claim(LOADING, "b", "loading", kind="Warehouse")
    cluster.claim(ELSEWHERE, "b", "sales", account="ACME.TEST")
    cluster.database("b", "sales", "SALES")
    cluster.later()
    return cluster


def test_a_list_shows_owner_account_object_proof_and_age(filled: Cluster) -> None:
    heading, *rows = filled.run("claims", "list").stdout.splitlines()
    assert heading.split() == ["KIND", "OWNER", "ACCOUNT", "CLASS", "FQN", "EVIDENCE", "AGE"]
    assert [row.split() for row in rows] == [
        ["Database", "a/sales", "ACME.PROD", "DATABASE", '"SALES"', "created", "3m"],
        ["Database", "b/sales", "ACME.TEST", "DATABASE", '"SALES"', "3m"],
        ["Warehouse", "b/loading", "ACME.PROD", "WAREHOUSE", '"LOADING"', "3m"],
    ]


@pytest.mark.parametrize(
    ("options", "owners"),
    [
        (["--kind=wh"], ["b/loading"]),
        (["--kind=databases", "--namespace=b"], ["b/sales"]),
        (["--account=acme-prod"], ["a/sales", "b/loading"]),
        (["--account", ACCOUNT.lower()], ["a/sales", "b/loading"]),
        (["--evidence=created"], ["a/sales"]),
        (["--evidence=none", "-n", "b"], ["b/sales", "b/loading"]),
        (["--liveness=live"], ["a/sales"]),
        # Its ProviderConfig has logged in to another account than the one that it was claimed in.
        (["--liveness=free"], ["b/sales", "b/loading"]),
        (["--liveness=free", "--liveness=live"], ["a/sales", "b/sales", "b/loading"]),
    ],
)
def test_a_list_is_narrowed_by_what_claims_say_and_by_whether_they_bind(
    filled: Cluster, options: list[str], owners: list[str]
) -> None:
    assert [row.split()[1] for row in filled.run("claims", "list", *options).stdout.splitlines()[1:]] == owners


def test_holders_that_may_not_be_read_leave_claims_of_unknown_liveness(filled: Cluster) -> None:
    def forbid(_verb: str, plural: str, _name: str) -> None:
        if plural != CLAIM.path.plural:
            raise Forbidden(403, "Forbidden", "no")

    filled.kube.before = forbid
    assert {each["liveness"] for each in filled.json("claims", "list", "--liveness=unknown")} == {"unknown"}


def test_the_liveness_of_many_claims_is_told_by_one_list_a_type_and_namespace(cluster: Cluster) -> None:
    for number in range(2 * register.TOGETHER):
        cluster.claim(Identity(ACCOUNT, "DATABASE", Name((f"D{number}",))), "a", f"d{number}")
        cluster.database("a", f"d{number}", f"D{number}")
    cluster.later()
    asked: list[tuple[str, str]] = []
    cluster.kube.before = lambda verb, plural, _name: asked.append((verb, plural))
    assert len(cluster.json("claims", "list", "--liveness=live")) == 2 * register.TOGETHER
    assert asked == [("list", "claims"), ("list", "databases"), ("list", "providerconfigs")]


def test_an_empty_list_says_no_and_an_unknown_kind_is_told(filled: Cluster) -> None:
    assert filled.run("claims", "list", "--namespace=c").exit_code == 1
    wrong = filled.run("claims", "list", "--kind=tabel")
    assert wrong.exit_code == 2
    assert "there is no kind 'tabel': it is one of" in wrong.stderr


def test_a_claim_is_shown_whole_by_its_name_or_that_of_its_object(filled: Cluster) -> None:
    by_object = filled.run("claims", "show", "sales", "--account=ACME.PROD")
    assert by_object.stdout == filled.run("claims", "show", SALES.hash).stdout
    shown = dict(line.split("   ", 1) for line in by_object.stdout.splitlines())
    facts = {name.strip(): value.strip() for name, value in shown.items()}
    assert facts["claim"] == SALES.hash
    assert facts["account"] == f"ACME.PROD ({ACCOUNT})"
    assert facts["holder"] == "Database a/sales"
    assert facts["liveness"] == "live"
    assert facts["evidence"].startswith("created at 2026-11-30")
    document = filled.json("claims", "show", SALES.hash)
    assert document["identity"]["namespaceClass"] == "DATABASE"
    assert document["evidence"]["role"] == "R"


def test_a_name_of_several_claims_isnt_guessed_about(filled: Cluster) -> None:
    result = filled.run("claims", "release", "sales", "--yes", "--force")
    assert result.exit_code == 2
    assert 'DATABASE "SALES" in ACME.PROD, DATABASE "SALES" in ACME.TEST' in result.stderr
    assert len(filled.claims) == 3


@pytest.mark.parametrize("which", ["nothing", SALES.hash[::-1]])
def test_a_claim_that_isnt_there_is_not_found(cluster: Cluster, which: str) -> None:
    assert cluster.run("claims", "show", which).exit_code == 1


def test_a_claim_whose_holder_is_gone_is_released_once_its_object_was_named(filled: Cluster) -> None:
    result = filled.run("claims", "release", "loading", typed='"LOADING"\n')
    assert result.exit_code == 0, result.stderr
    assert filled.claims == {SALES.hash, ELSEWHERE.hash}


@pytest.mark.parametrize("typed", ["LOADING\n", "y\n", "\n", ""])
def test_nothing_is_released_unless_the_object_is_named(filled: Cluster, typed: str) -> None:
    assert filled.run("claims", "release", "loading", typed=typed).exit_code == 1
    assert LOADING.hash in filled.claims


def test_a_live_claim_is_released_by_force_alone(filled: Cluster) -> None:
    refused = filled.run("claims", "release", SALES.hash, "--yes")
    assert refused.exit_code == 1
    assert "the claim is live: delete Database a/sales" in refused.stderr
    assert SALES.hash in filled.claims
    forced = filled.run("claims", "release", SALES.hash, "--yes", "--force")
    assert forced.exit_code == 0
    assert "Database a/sales loses the object" in forced.stderr
    assert "the proof of ownership goes" in forced.stderr
    assert SALES.hash not in filled.claims


def test_a_claim_whose_holder_cant_be_looked_at_isnt_released(filled: Cluster) -> None:
    def fail(_verb: str, plural: str, _name: str) -> None:
        if plural == "warehouses":
            raise Unavailable(0, "", "no answer")

    filled.kube.before = fail
    result = filled.run("claims", "release", "loading", "--yes")
    assert result.exit_code == 1
    assert "it isn't known whether Warehouse b/loading still stands for the object" in result.stderr
    assert LOADING.hash in filled.claims


def test_a_claim_that_is_taken_while_its_release_is_confirmed_stays(filled: Cluster) -> None:
    def take(verb: str, plural: str, name: str) -> None:
        if (verb, plural) == ("delete", CLAIM.path.plural):
            stored: dict[str, Any] = filled.kube.objects[plural, "", name]
            stored["metadata"]["resourceVersion"] = "taken"

    filled.kube.before = take
    result = filled.run("claims", "release", "loading", "--yes")
    assert result.exit_code == 1
    assert "taken or changed meanwhile" in result.stderr
    assert LOADING.hash in filled.claims
