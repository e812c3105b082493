"""`freehold plan`: what would be done in the account, and nothing written to it or to the cluster."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from freehold import slots
from freehold.claim_store import ClaimStore
from freehold.claims import Evidence
from freehold.cli.plan import session
from freehold.cli.plan.order import Circle, ranks
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.objects import Key
from tests.unit.cli.cluster import ACCOUNT, Cluster
from tests.unit.reconciler.test_slots import Stage
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


def manifest(resource: str = "w", kind: str = "Warehouse", **spec: Any) -> dict[str, Any]:
    metadata = {"name": resource, "namespace": "a"}
    return {"kind": kind, "metadata": metadata, "spec": {"name": resource.upper(), **spec}}


def plan(cluster: Cluster, folder: Path, *manifests: dict[str, Any], options: tuple[str, ...] = ()) -> Any:
    """(entries, exit code) of a plan, which has written nothing."""
    file = folder / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(manifests))
    before = copy.deepcopy(cluster.kube.objects), list(cluster.kube.writes)
    result = cluster.run("plan", "-f", str(file), "--output=json", *options)
    assert (cluster.kube.objects, cluster.kube.writes) == before, "a plan has written to the cluster"
    return orjson.loads(result.stdout), result.exit_code


def prove(cluster: Cluster, identity: Identity, born: Any, resource: str, kind: str) -> None:
    """Have a resource of namespace a own what was born then."""
    cluster.claim(identity, "a", resource, kind=kind)

    async def write() -> None:
        store = ClaimStore(cluster.kube)
        claim = await store.read(identity.hash)
        assert claim is not None
        evidence = Evidence(how="created", created_on=born, role="R", time=born)
        await store.replace(claim, claim.spec.model_copy(update={"evidence": evidence}))

    asyncio.run(write())


def own(cluster: Cluster, account: MemorySnowflake, kind: str = "Warehouse", name: str = "W", **spec: Any) -> None:
    """Have a resource own an object, which is as it was applied."""
    account.make(name)
    declared = KINDS[kind]
    status = {"trackedParameters": {}, "account": "ACME.PROD"}
    cluster.kube.put(declared.resource.path, name.lower(), "a", spec={"name": name, **spec}, status=status)
    identity = Identity(ACCOUNT, declared.object_class, Name((name,)))
    prove(cluster, identity, account.rows[name]["created_on"], name.lower(), kind)


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


def test_a_privilege_that_is_not_asked_for_any_more_is_revoked(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, account: MemorySnowflake, tmp_path: Path
) -> None:
    stage = Stage(account.fuse)
    monkeypatch.setattr(session, "Snowflake", lambda _: stage)
    kind = KINDS["GrantPrivilegesToAccountRole"]
    for privilege in ("READ", "WRITE"):
        stage.grant(privilege, "R")
        slot = slots.grant(privilege, slots.of("STAGE", "D", "S", "X"), slots.of("ROLE", "READER"))
        born = stage.granted[privilege]["created_on"]
        prove(cluster, Identity(ACCOUNT, kind.object_class, slot), born, "g", kind.name)
    spec = {"accountRole": "READER", "onSchemaObject": {"objectType": "STAGE", "objectName": "D.S.X"}}
    status = {"trackedParameters": {}, "account": "ACME.PROD"}
    cluster.kube.put(kind.resource.path, "g", "a", spec={**spec, "privileges": ["READ", "WRITE"]}, status=status)
    wanted = {"kind": kind.name, "metadata": {"name": "g", "namespace": "a"}, "spec": {**spec, "privileges": ["READ"]}}
    entries, code = plan(cluster, tmp_path, wanted)
    assert [each["action"] for each in entries] == ["none", "drop"]
    assert entries[1]["statements"] == ['REVOKE WRITE ON STAGE "D"."S"."X" FROM ROLE "READER"']
    assert (code, stage.sent) == (2, [])


@pytest.mark.usefixtures("account")
def test_a_provider_that_is_only_among_the_manifests_is_to_be_applied_first(cluster: Cluster, tmp_path: Path) -> None:
    config = {"authenticationType": "KeyPair", "account": "ACME-PROD"}
    provider = {"kind": "ProviderConfig", "metadata": {"name": "new", "namespace": "a"}, "spec": config}
    (entry,), code = plan(cluster, tmp_path, provider, manifest(providerRef={"name": "new"}))
    assert (entry["action"], code) == ("refuse", 1)
    assert entry["why"] == (
        "ProviderConfig a/new is only among the manifests: apply it, and plan again when it is Ready; --offline prints "
        "the SQL until then"
    )


@pytest.mark.usefixtures("account")
def test_a_provider_counts_as_the_manifests_have_it(cluster: Cluster, tmp_path: Path) -> None:
    changed = {"account": "ACME-PROD", "authenticationType": "KeyPair", "role": "R", "allowedRoles": ["S"]}
    provider = {"kind": "ProviderConfig", "metadata": {"name": "default", "namespace": "a"}, "spec": changed}
    assert plan(cluster, tmp_path, manifest(useRole="S"))[0][0]["action"] == "refuse"
    assert plan(cluster, tmp_path, provider, manifest(useRole="S"))[0][0]["action"] == "create"


@pytest.mark.usefixtures("account")
def test_kinds_of_others_with_the_names_of_ours_are_left_out(cluster: Cluster, tmp_path: Path) -> None:
    other = {"apiVersion": "postgresql.cnpg.io/v1", **manifest("d", "Database")}
    assert plan(cluster, tmp_path, other) == ([], 0)


def test_drops_beyond_the_cap_of_a_provider_are_told_to_wait(
    cluster: Cluster, account: MemorySnowflake, tmp_path: Path
) -> None:
    cluster.kube.objects["providerconfigs", "a", "default"]["spec"]["deletion"] = {"maxPerHour": 1}
    for name in ("D", "E"):
        own(cluster, account, "Database", name)
    entries = plan(cluster, tmp_path, manifest(), options=("--prune",))[0]
    assert [each["action"] for each in entries] == ["create", "drop", "drop"]
    assert not entries[1]["notes"]
    assert "it waits: ProviderConfig a/default lets no more than 1" in entries[2]["notes"][0]


def test_what_would_lock_freehold_out_is_refused(cluster: Cluster, account: MemorySnowflake, tmp_path: Path) -> None:
    own(cluster, account, "User", "U")
    account.rows["U"] |= {"disabled": "false"}
    disabled = manifest("u", "User", disabled=True)
    assert plan(cluster, tmp_path, disabled)[0][0]["action"] == "alter"
    cluster.kube.objects["providerconfigs", "a", "default"]["status"]["user"] = "U"
    assert "would lock itself out" in plan(cluster, tmp_path, disabled)[0][0]["why"]
    entries = plan(cluster, tmp_path, manifest(), options=("--prune",))[0]
    assert "a ProviderConfig logs in as" in entries[1]["why"]


@pytest.mark.parametrize(("owner", "told"), [("OTHER", True), ("R", False)])
def test_who_would_own_a_new_object_by_a_future_grant_is_told(
    cluster: Cluster, account: MemorySnowflake, tmp_path: Path, owner: str, told: bool
) -> None:
    account.make("D")
    account.content = ({"privilege": "OWNERSHIP", "grant_on": "SCHEMA", "grantee_name": owner},)
    (entry,), _ = plan(cluster, tmp_path, manifest("s", "Schema", databaseName="D"))
    assert entry["action"] == "create"
    assert any(f"role {owner} would own it from birth on" in note for note in entry["notes"]) is told


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
