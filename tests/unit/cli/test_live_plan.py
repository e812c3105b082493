"""`freehold plan`: what would be done in the account, and nothing written to it or to the cluster."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from freehold.claim_store import ClaimStore
from freehold.claims import Evidence
from freehold.cli.plan import session
from freehold.cli.plan.order import Circle, ranks
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Key
from tests.unit.cli.cluster import ACCOUNT, Cluster
from tests.unit.reconciler.world import Fuse, MemorySnowflake

IDENTITY = Identity(ACCOUNT, "WAREHOUSE", Name(("W",)))


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> MemorySnowflake:
    """The account that plans look at, by a user of their own."""
    snowflake = MemorySnowflake(Fuse(10**6, done=False))
    monkeypatch.setattr(session, "Snowflake", lambda _: snowflake)
    monkeypatch.setenv("SNOWFLAKE_USER", "READER")
    monkeypatch.setenv("SNOWFLAKE_PASSWORD", "pw")
    return snowflake


@pytest.fixture(autouse=True)
def provider(cluster: Cluster) -> None:
    """The ProviderConfig of namespace a can be logged in with."""
    spec = {"account": "ACME-PROD", "authenticationType": "KeyPair", "role": "R"}
    status = {"account": {"key": ACCOUNT, "name": "ACME.PROD"}}
    cluster.kube.put(PROVIDER_CONFIG.path, "default", "a", spec=spec, status=status)


def manifest(resource: str = "w", **spec: Any) -> dict[str, Any]:
    metadata = {"name": resource, "namespace": "a"}
    return {"kind": "Warehouse", "metadata": metadata, "spec": {"name": resource.upper(), **spec}}


def plan(cluster: Cluster, folder: Path, *manifests: dict[str, Any], options: tuple[str, ...] = ()) -> Any:
    """(entries, exit code) of a plan, which has written nothing."""
    file = folder / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(manifests))
    before = copy.deepcopy(cluster.kube.objects), list(cluster.kube.writes)
    result = cluster.run("plan", "-f", str(file), "--output=json", *options)
    assert (cluster.kube.objects, cluster.kube.writes) == before, "a plan has written to the cluster"
    return orjson.loads(result.stdout), result.exit_code


def own(cluster: Cluster, account: MemorySnowflake) -> None:
    """Have Warehouse a/w own W, which is as it was applied: without a comment."""
    account.make("W")
    status = {"trackedParameters": {}, "account": "ACME.PROD"}
    cluster.kube.put(KINDS["Warehouse"].resource.path, "w", "a", spec={"name": "W"}, status=status)
    cluster.claim(IDENTITY, "a", "w", kind="Warehouse")

    async def prove() -> None:
        store = ClaimStore(cluster.kube)
        claim = await store.read(IDENTITY.hash)
        assert claim is not None
        born: Any = account.rows["W"]["created_on"]
        evidence = Evidence(how="created", created_on=born, role="R", time=born)
        await store.replace(claim, claim.spec.model_copy(update={"evidence": evidence}))

    asyncio.run(prove())


def test_what_is_not_there_is_created(cluster: Cluster, account: MemorySnowflake, tmp_path: Path) -> None:
    (entry,), code = plan(cluster, tmp_path, manifest(comment="ours"))
    assert (entry["action"], entry["object"], code) == ("create", 'warehouse "W"', 2)
    assert entry["statements"] == ["CREATE WAREHOUSE \"W\" COMMENT = 'ours'"]
    assert not account.sent


def test_what_is_as_declared_is_left_alone(cluster: Cluster, account: MemorySnowflake, tmp_path: Path) -> None:
    own(cluster, account)
    (entry,), code = plan(cluster, tmp_path, manifest())
    assert (entry["action"], entry["statements"], code) == ("none", [], 0)


def test_what_is_changed_is_told_field_by_field(cluster: Cluster, account: MemorySnowflake, tmp_path: Path) -> None:
    own(cluster, account)
    (entry,), code = plan(cluster, tmp_path, manifest(comment="new"))
    assert (entry["action"], code) == ("alter", 2)
    assert [(each["name"], each["action"]) for each in entry["fields"]] == [("comment", "set")]
    assert entry["statements"] == ["ALTER WAREHOUSE \"W\" SET COMMENT = 'new'"]


def test_a_strangers_object_is_refused_and_adopted_on_request(
    cluster: Cluster, account: MemorySnowflake, tmp_path: Path
) -> None:
    account.make("W", owner="SYSADMIN")
    (entry,), code = plan(cluster, tmp_path, manifest())
    assert (entry["action"], code) == ("refuse", 1)
    assert "exists already" in entry["why"]
    (entry,), code = plan(cluster, tmp_path, manifest(managementPolicies={"adoptionPolicy": "adopt"}))
    assert (entry["action"], code) == ("adopt", 2)


@pytest.mark.usefixtures("account")
def test_what_another_resource_owns_is_refused_by_its_name(cluster: Cluster, tmp_path: Path) -> None:
    cluster.put("Warehouse", "b", "theirs", {"name": "W"})
    cluster.claim(IDENTITY, "b", "theirs", kind="Warehouse")
    (entry,), code = plan(cluster, tmp_path, manifest())
    assert (entry["action"], code) == ("refuse", 1)
    assert "Warehouse b/theirs" in entry["why"]


@pytest.mark.usefixtures("account")
def test_two_manifests_of_one_object_are_told(cluster: Cluster, tmp_path: Path) -> None:
    first, second = plan(cluster, tmp_path, manifest(), manifest("x", name="W"))[0]
    assert (first["action"], second["action"]) == ("create", "refuse")
    assert "Warehouse a/w" in second["why"]


def test_what_no_manifest_declares_would_be_dropped(cluster: Cluster, account: MemorySnowflake, tmp_path: Path) -> None:
    own(cluster, account)
    entries, code = plan(cluster, tmp_path, manifest("x"), options=("--prune",))
    assert [(each["name"], each["action"]) for each in entries] == [("x", "create"), ("w", "drop")]
    assert (entries[1]["statements"], code) == (['DROP WAREHOUSE "W"'], 2)
    assert not [verb for verb, _ in account.sent]


@pytest.mark.usefixtures("account")
def test_whoever_reads_it_in_a_pull_request_finds_the_statements(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump(manifest(comment="a | ```")))
    result = cluster.run("plan", "-f", str(file), "--output=markdown")
    assert result.stdout.startswith("### Freehold plan: 1 to create")
    assert "````sql" in result.stdout
    assert "CREATE WAREHOUSE \"W\" COMMENT = 'a | ```';" in result.stdout


def test_a_terminal_shows_what_is_to_be_done(cluster: Cluster, account: MemorySnowflake, tmp_path: Path) -> None:
    own(cluster, account)
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump(manifest(comment="new")))
    result = cluster.run("plan", "-f", str(file))
    assert result.stdout.splitlines() == [
        '~ alter Warehouse a/w: warehouse "W"',
        '    comment is "", should be "new"',
        "    ALTER WAREHOUSE \"W\" SET COMMENT = 'new';",
        "Plan: 1 to alter.",
    ]


def test_who_asks_wrongly_is_told_of_an_error_and_not_of_changes(cluster: Cluster) -> None:
    assert cluster.run("plan", "--no-such-option").exit_code == 1
    assert cluster.run("plan").exit_code == 1


def test_what_is_needed_comes_first_and_circles_are_told() -> None:
    a, b, c = (Key("Database", "n", each) for each in "abc")
    assert list(ranks({a: [b], b: [c], c: []})) == [(c,), (b,), (a,)]
    with pytest.raises(Circle, match="wait for each other"):
        list(ranks({a: [b], b: [a]}))
