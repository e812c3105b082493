"""`freehold claims explain`: the same answer as admission's, with its reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from freehold.claim_rules import HAND_OVER_ANNOTATION
from freehold.claim_store import ClaimStore
from freehold.cli.explanation import Finding, Subject, Verdict, explanation
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.errors import Forbidden
from freehold.kube.objects import NAMESPACES, Object
from freehold.resolve import live
from freehold_webhook.admission import Admission
from freehold_webhook.review import Outcome, Request
from tests.unit.cli.cluster import ACCOUNT, Cluster

DATABASES = KINDS["Database"].resource.path
SALES = Identity(ACCOUNT, "DATABASE", Name(("SALES",)))


def findings(cluster: Cluster, *arguments: str) -> list[tuple[str, str]]:
    """(verdict, why) of all that is found about one resource, advice left out."""
    (explained,) = cluster.json("claims", "explain", *arguments)
    return [(each["verdict"], each["why"]) for each in explained["findings"] if each["verdict"] != "note"]


def manifest(tmp_path: Path, kind: str = "Database", annotations: Mapping[str, str] | None = None, **spec: Any) -> str:
    """The option that names a file with the manifest of a resource b/mine."""
    path = tmp_path / "manifest.yaml"
    metadata = {"name": "mine", "namespace": "b", "annotations": dict(annotations or {})}
    path.write_text(
        yaml.safe_dump({"apiVersion": DATABASES.api_version, "kind": kind, "metadata": metadata, "spec": spec})
    )
    return f"--filename={path}"


@pytest.fixture
def taken(cluster: Cluster) -> Cluster:
    """A cluster in which Database a/sales owns SALES."""
    cluster.claim(SALES, "a", "sales")
    cluster.database("a", "sales", "SALES")
    cluster.later()
    return cluster


def test_the_owner_is_named_and_what_can_be_done(taken: Cluster) -> None:
    taken.database("b", "second", "SALES")
    result = taken.run("claims", "explain", "db", "b/second")
    assert result.exit_code == 1
    allowed, owned = result.stdout.splitlines()[1:]
    assert allowed.split(maxsplit=3) == ["Database", "b/second", "ok", "ProviderConfig b/default allows it"]
    assert owned.split()[2] == "refused"
    assert '"SALES" in account ACME.PROD is owned by Database a/sales' in owned


def test_nothing_is_written(taken: Cluster, tmp_path: Path) -> None:
    before = len(taken.kube.writes)
    assert taken.run("claims", "explain", manifest(tmp_path, name="NEW")).exit_code == 0
    assert len(taken.kube.writes) == before


def test_the_owner_itself_is_told_that_it_is(taken: Cluster) -> None:
    assert findings(taken, "Database", "a/sales")[-1] == ("ok", 'the resource owns "SALES" in account ACME.PROD')


def test_a_claim_whose_holder_is_gone_is_told_to_be_free(taken: Cluster, tmp_path: Path) -> None:
    taken.kube.remove(DATABASES, "sales", "a")
    told = findings(taken, manifest(tmp_path, name="SALES"))[-1]
    assert told[0] == "ok"
    assert "free to be taken: Database a/sales doesn't stand for it any more" in told[1]


def test_a_claim_that_is_new_is_told_to_bind_for_a_while(taken: Cluster, tmp_path: Path) -> None:
    taken.claim(Identity(ACCOUNT, "DATABASE", Name(("NEW",))), "a", "new")
    assert "less than 90 s" in findings(taken, manifest(tmp_path, name="NEW"))[-1][1]


def test_an_heir_is_told_what_it_waits_for(taken: Cluster, tmp_path: Path) -> None:
    annotations = {HAND_OVER_ANNOTATION: "b/mine"}
    taken.kube.put(DATABASES, "sales", "a", metadata={"annotations": annotations}, spec={"name": "SALES"})
    assert (
        "goes over to it when Database a/sales is deleted" in findings(taken, manifest(tmp_path, name="SALES"))[-1][1]
    )


def test_an_object_that_a_resource_owns_but_doesnt_stand_for_any_more_is_named(taken: Cluster) -> None:
    taken.prove(SALES)
    taken.database("a", "sales", "RENAMED")
    told = findings(taken, "Database", "a/sales")[-1]
    assert told[0] == "refused"
    assert f'owns "SALES" in {ACCOUNT}, but stands for "RENAMED" in {ACCOUNT} now' in told[1]


def test_what_the_person_may_not_read_is_told_to_be_unknown(taken: Cluster, tmp_path: Path) -> None:
    def forbid(_verb: str, plural: str, name: str) -> None:
        if (plural, name) == (DATABASES.plural, "sales"):
            raise Forbidden(403, "Forbidden", "no")

    taken.kube.before = forbid
    told = findings(taken, manifest(tmp_path, name="SALES"))[-1]
    assert told[0] == "unknown"
    assert "see to it that you may read that too" in told[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "name a KIND and a [NAMESPACE/]NAME, or a file"),
        (("Database",), "name a KIND and a [NAMESPACE/]NAME, or a file"),
        (("Database", "a/b", "-f", "x"), "name a KIND and a [NAMESPACE/]NAME, or a file"),
        (("Tabel", "a/b"), "there is no kind 'Tabel'"),
        (("-f", "/nowhere.yaml"), "No such file"),
        (("-f", "/dev/null"), "no manifest is of a kind that has an object"),
    ],
)
def test_a_wrong_question_is_told_from_a_refusal(cluster: Cluster, arguments: tuple[str, ...], told: str) -> None:
    result = cluster.run("claims", "explain", *arguments)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_field_that_only_another_object_could_have_is_named(taken: Cluster, tmp_path: Path) -> None:
    taken.database("b", "mine", "NEW", transient=True)
    verdict, why = findings(taken, manifest(tmp_path, name="NEW", transient=False))[0]
    assert verdict == "refused"
    assert why.startswith("spec.transient can't change from true to false")
    order = why.split("freehold.dev/force-new: ")[1].split()[0]
    ordered = manifest(tmp_path, annotations={"freehold.dev/force-new": order}, name="NEW", transient=False)
    assert "refused" not in dict(findings(taken, ordered))


async def test_what_no_statement_can_hold_is_named(taken: Cluster) -> None:
    kind = replace(KINDS["Database"], faults=lambda _spec: ("spec.x: no schedule",))
    found = await explanation(ClaimStore(taken.kube), Subject(kind, "b", "mine", {"name": "NEW"}))
    assert found.findings[0] == Finding(Verdict.REFUSED, "spec.x: no schedule")


def test_a_resource_that_isnt_there_is_told(cluster: Cluster) -> None:
    assert findings(cluster, "Database", "none") == [
        ("refused", "there is no such resource: name another one, or a file of manifests")
    ]


IN_NEW = {"databaseName": "NEW", "schemaName": "S", "name": "T"}

PRIVATE = {"providerRef": {"name": "private", "namespace": "a"}}


@pytest.mark.parametrize(
    ("kind", "spec", "outcome"),
    [
        ("Database", {"name": "NEW"}, Outcome.ALLOWED),
        ("Database", {"name": "SALES"}, Outcome.DENIED),
        ("Database", {"name": "SALES", "managementPolicies": {"observeOnly": True}}, Outcome.ALLOWED),
        ("Database", {"name": "NEW", "useRole": "OTHER"}, Outcome.DENIED),
        ("Database", {"name": "NEW", "useRole": "ACCOUNTADMIN", **PRIVATE}, Outcome.DENIED),
        ("Database", {"name": "NEW", "providerRef": {"name": "none"}}, Outcome.UNDECIDED),
        ("Database", {"name": "NEW", "providerRef": {"name": "new"}}, Outcome.UNDECIDED),
        ("Database", {"name": "NEW", "unheard": 1}, Outcome.UNDECIDED),
        ("Table", {**IN_NEW, "columns": [{"name": "A", "type": "NUMBER(9,1"}]}, Outcome.DENIED),
        ("Schema", {"name": "S", "databaseRef": {"name": "none"}}, Outcome.UNDECIDED),
        ("Schema", {"name": "S", "databaseRef": {"name": "sales", "namespace": "a"}}, Outcome.ALLOWED),
        ("Warehouse", {"name": "SALES", **PRIVATE}, Outcome.DENIED),
    ],
)
def test_it_says_yes_exactly_where_admission_does(
    taken: Cluster, tmp_path: Path, kind: str, spec: Mapping[str, Any], outcome: Outcome
) -> None:
    taken.kube.put(NAMESPACES, "b")
    taken.kube.put(PROVIDER_CONFIG.path, "new", "b", spec={"authenticationType": "KeyPair"})
    closed = {"authenticationType": "KeyPair", "allowedNamespaceSelector": {"matchLabels": {"team": "a"}}}
    taken.kube.put(PROVIDER_CONFIG.path, "private", "a", spec=closed, status={"account": {"key": "K", "name": "N"}})
    group = KINDS[kind].resource.path.group
    asked = Object({"kind": kind, "metadata": {"name": "mine", "namespace": "b"}, "spec": spec})
    request = Request("1", "CREATE", group, kind, "b", "", "jane", dry_run=True, object=asked, old=None)
    admission = Admission(ClaimStore(taken.kube), live(taken.kube), allowed_hosts=[])
    assert asyncio.run(admission.review(request)).outcome is outcome
    (explained,) = taken.json("claims", "explain", manifest(tmp_path, kind, **spec))
    assert explained["accepted"] is (outcome is Outcome.ALLOWED)
