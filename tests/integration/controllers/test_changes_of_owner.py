"""Admission and controllers together: whose an object is while resources move, come back, race each other or only
watch, and while nobody is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.pki import Authority
from freehold_devstack.processes import until
from tests.harness.chart import NAMESPACE
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.conftest import PASSWORD
from tests.integration.controllers.tenant import API, DEADLINE, Tenant
from tests.integration.webhook.harness import Site

RUNS = 10
"""Of each race."""

DRY = "--dry-run=server"
"""Asks all of admission and stores nothing."""

AS_CONTROLLER = f"--as=system:serviceaccount:{NAMESPACE}:freehold-account"
"""Whom the policies let write claims."""

Teams = tuple[Tenant, Tenant]


@pytest.fixture(scope="module")
def site(control_plane: ControlPlane, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A webhook for the namespaces of two teams."""
    started = Site(control_plane, "freehold", Authority(), tmp_path_factory.mktemp("certificates"))
    started.prepare()
    try:
        replica = started.replica("--budget=25", f"--allowed-hosts={endpoint.host}:{endpoint.port}")
        started.register(replica.url)
        until(lambda: asyncio.run(replica.ready()), DEADLINE, "the webhook to be ready")
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def teams(control_plane: ControlPlane, endpoint: Endpoint, site: Site) -> Teams:
    """Two teams with the same account."""
    first, second = (Tenant(control_plane, endpoint, each) for each in site.namespaces)
    for each in (first, second):
        each.provide("ANNA", PASSWORD)
        each.ready("providerconfig", "default")
    return first, second


@pytest.mark.parametrize("first", ["create", "prune"])
def test_a_manifest_moves_to_another_namespace_without_a_statement(teams: Teams, name: str, first: str) -> None:
    old, new = teams
    resource = name.lower()
    old.apply("Database", resource, spec={"name": name, "comment": "ours"})
    old.ready("database", resource)
    (before,), since = old.claims(name), old.endpoint.sequence
    old.kubectl("annotate", "database", resource, f"freehold.dev/hand-over-to={new.namespace}/{resource}")
    if first == "create":
        new.apply("Database", resource, spec={"name": name, "comment": "ours"})
        (message,) = new.reaches("database", resource, "AwaitingHandOver")
        assert "a Database in another namespace" in message
        old.delete("database", resource)
    else:
        old.delete("database", resource)
        (message,) = old.reaches("database", resource, "DeleteBlocked")
        assert f"Database {new.namespace}/{resource}" in message
        new.apply("Database", resource, spec={"name": name, "comment": "ours"})
    old.gone("database", resource)
    new.ready("database", resource)
    (after,) = new.claims(name)
    assert after["evidence"] == before["evidence"]
    assert after["holder"]["namespace"] == new.namespace
    sent = {each.text.split()[0] for each in new.endpoint.statements(f'"{name}"', since=since)}
    assert not sent & {"CREATE", "ALTER", "DROP"}
    new.delete("database", resource)
    new.gone("database", resource)
    assert not new.endpoint.exists("DATABASE", name)


def test_who_only_watches_leaves_the_object_to_another_owner(teams: Teams, name: str) -> None:
    watcher, owner = teams
    resource = name.lower()
    watcher.apply("Warehouse", resource, spec={"name": name})
    watcher.ready("warehouse", resource)
    watcher.apply("Warehouse", resource, spec={"name": name, "managementPolicies": {"observeOnly": True}})
    watcher.ready("warehouse", resource)
    assert not watcher.claims(name)
    owner.apply("Warehouse", resource, spec={"name": name, "managementPolicies": {"adoptionPolicy": "adopt"}})
    owner.ready("warehouse", resource)
    policies = {"managementPolicies": {"observeOnly": False}}
    refused = watcher.kubectl(
        *("patch", "warehouse", resource, "--type=merge", "--patch", json.dumps({"spec": policies})), check=False
    )
    assert "is owned by a Warehouse in another namespace" in refused.stderr
    since = watcher.endpoint.sequence
    watcher.delete("warehouse", resource)
    watcher.gone("warehouse", resource)
    owner.ready("warehouse", resource)
    assert not watcher.endpoint.statements(f'DROP .*"{name}"', since=since)


def test_of_many_that_were_admitted_before_the_account_was_proven_one_owns_the_object(teams: Teams, name: str) -> None:
    team, _ = teams
    names = [f"{name.lower()}-{number}" for number in range(5)]
    provider = {"name": f"late-{name.lower()}"}
    for each in names:
        team.apply("Warehouse", each, spec={"name": name, "providerRef": provider})
    team.reaches("warehouse", names, "DependencyNotReady")
    assert not team.claims(name)
    team.provide("ANNA", PASSWORD, name=provider["name"])
    reasons = settled(team, "warehouse", names)
    assert sorted(reasons.values()) == ["Available", *["ConflictDetected"] * 4]
    (claim,) = team.claims(name)
    assert reasons[claim["holder"]["name"]] == "Available"


def test_while_nobody_is_asked_the_controllers_decide_and_afterwards_admission_again(
    site: Site, teams: Teams, name: str
) -> None:
    team, _ = teams
    names = [f"{name.lower()}-{number}" for number in range(4)]
    team.control_plane.kubectl("delete", "validatingwebhookconfiguration", site.name)
    for each in names[:3]:
        team.apply("Warehouse", each, spec={"name": name})
    reasons = settled(team, "warehouse", names[:3])
    assert sorted(reasons.values()) == ["Available", "ConflictDetected", "ConflictDetected"]
    site.register(site.replicas[0].url)
    until(lambda: "is owned by" in create(team, names[3], name, DRY), DEADLINE, "admission to refuse again")
    assert "is owned by" in create(team, names[3], name)
    # Who lost before may still change what isn't the name, and goes without a trace.
    winner, loser, other = sorted(reasons, key=lambda each: reasons[each])
    team.kubectl("patch", "warehouse", loser, "--type=merge", '--patch={"spec": {"comment": "mine"}}')
    team.delete("warehouse", loser)
    team.gone("warehouse", loser)
    team.ready("warehouse", winner)
    team.delete("warehouse", winner)
    team.ready("warehouse", other)


def test_two_that_create_one_resource_at_once_make_one_object(teams: Teams, name: str) -> None:
    team, _ = teams
    for run in range(RUNS):
        resource, wanted = f"{name.lower()}-{run}", [f"{name}_{run}_{letter}" for letter in "AB"]
        with ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(create, team, resource, each) for each in wanted]
        accepted, refused = sorted(range(2), key=lambda which: asked[which].result())
        assert asked[accepted].result() == ""
        assert "AlreadyExists" in asked[refused].result()
        team.ready("warehouse", resource)
        assert [each["evidence"]["how"] for each in team.claims(wanted[accepted])] == ["created"]
        assert not team.endpoint.statements(f'CREATE .*"{wanted[refused]}"')


def test_a_claim_whose_resource_was_refused_in_the_end_hinders_nobody_for_long(teams: Teams, name: str) -> None:
    team, other = teams
    resource, kinds = name.lower(), "count/warehouses.snowflake.freehold.dev"
    team.kubectl("create", "quota", "none", f"--hard={kinds}=0")
    try:
        until(lambda: "quota: none" in create(team, resource, name, DRY), DEADLINE, "the quota to hold")
        assert "quota: none" in create(team, resource, name)
    finally:
        team.kubectl("delete", "quota", "none")
    # Claimed at admission; the quota is looked at afterwards.
    (claim,) = team.claims(name)
    assert "evidence" not in claim
    assert "is owned by" in create(other, resource, name)
    outlive_grace(team, name)
    until(lambda: not team.claims(name), DEADLINE, "the claim to be removed")
    assert create(other, resource, name) == ""
    other.ready("warehouse", resource)


def test_what_is_deleted_and_created_in_one_go_is_made_anew_each_time(teams: Teams, name: str) -> None:
    team, _ = teams
    resource = name.lower()
    manifest = json.dumps(warehouse(team, resource, name))
    team.kubectl("create", "-f", "-", input=manifest)
    for _ in range(RUNS):
        team.kubectl("replace", "--force", "-f", "-", input=manifest)
    team.ready("warehouse", resource)
    sent = team.endpoint.statements(f'^(CREATE|DROP) WAREHOUSE "{name}"')
    assert {each.outcome for each in sent} == {"ok"}
    verbs = [each.text.split()[0] for each in sent]
    assert verbs == ["CREATE", "DROP"] * (len(verbs) // 2) + ["CREATE"]
    assert len(team.claims(name)) == 1


@pytest.mark.parametrize("with_claims", [True, False], ids=["with claims", "without claims"])
def test_a_restored_resource_owns_its_object_if_its_claim_was_restored(
    teams: Teams, controllers: dict[str, Controller], name: str, with_claims: bool
) -> None:
    team, _ = teams
    resource = name.lower()
    team.apply("Database", resource, spec={"name": name, "comment": "ours"})
    team.ready("database", resource)
    claim, backup = claim_of(team, name), team.get("database", resource)
    assert backup is not None
    controllers["account"].stop()
    team.kubectl("patch", "database", resource, "--type=merge", '--patch={"metadata": {"finalizers": []}}')
    team.kubectl("delete", "database", resource)
    team.kubectl("delete", "claim", claim["metadata"]["name"])
    controllers["account"].start()
    since = team.endpoint.sequence
    if with_claims:
        # As a backup tool that the installation lets restore claims.
        team.kubectl("create", AS_CONTROLLER, "-f", "-", input=json.dumps(portable(claim)))
    team.kubectl("create", "-f", "-", input=json.dumps(portable(backup)))
    if not with_claims:
        team.reaches("database", resource, "ResourceAlreadyExists")
        spec = {"name": name, "comment": "ours", "managementPolicies": {"adoptionPolicy": "adopt"}}
        team.apply("Database", resource, spec=spec)
    team.ready("database", resource)
    (after,) = team.claims(name)
    assert after["evidence"]["createdOn"] == claim["spec"]["evidence"]["createdOn"]
    assert after["evidence"]["how"] == ("created" if with_claims else "adopted")
    assert not team.endpoint.statements(f'(ALTER|DROP) .*"{name}"', since=since)
    assert bool(team.endpoint.statements(f'CREATE .*"{name}"', since=since)) is not with_claims


def warehouse(team: Tenant, resource: str, name: str) -> dict[str, Any]:
    metadata = {"name": resource, "namespace": team.namespace}
    return {"apiVersion": API, "kind": "Warehouse", "metadata": metadata, "spec": {"name": name}}


def create(team: Tenant, resource: str, name: str, *options: str) -> str:
    """kubectl create of a Warehouse; answers with the error, empty when there is none."""
    manifest = json.dumps(warehouse(team, resource, name))
    done = team.kubectl("create", "-f", "-", *options, input=manifest, check=False)
    return done.stderr if done.returncode else ""


def claim_of(team: Tenant, name: str) -> dict[str, Any]:
    """The claim to an object, whole."""
    listed: list[dict[str, Any]] = json.loads(team.kubectl("get", "claims", "--output=json").stdout)["items"]
    (claim,) = [each for each in listed if each["spec"]["identity"]["fqn"] == f'"{name}"']
    return claim


def portable(found: dict[str, Any]) -> dict[str, Any]:
    """What a backup tool creates anew: without status and what the API server gives."""
    kept = ("name", "namespace", "labels", "annotations", "finalizers")
    metadata = {key: value for key, value in found["metadata"].items() if key in kept}
    return {**{key: found[key] for key in ("apiVersion", "kind", "spec")}, "metadata": metadata}


def settled(team: Tenant, kind: str, names: list[str]) -> dict[str, str]:
    """Reasons of resources that stand for one object, once one owns it and all others know."""
    reasons: dict[str, str] = {}

    def decided() -> bool:
        reasons.update({each: team.conditions(kind, each).get("Ready", {}).get("reason", "") for each in names})
        return sorted(reasons.values()) == ["Available", *["ConflictDetected"] * (len(names) - 1)]

    until(decided, DEADLINE, "one to own the object", team.describe)
    return reasons


def outlive_grace(team: Tenant, name: str) -> None:
    """Let the holder of the claim to an object have it for long."""
    claim = claim_of(team, name)
    claim["spec"]["holder"]["since"] = "2026-01-01T00:00:00Z"
    team.kubectl("replace", AS_CONTROLLER, "-f", "-", input=json.dumps(claim))
