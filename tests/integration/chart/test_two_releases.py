"""Two releases in one cluster, with the rights that the chart gives them: each has namespaces of its own, an object has
one owner over both, and where their namespaces overlap one of them doesn't begin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from freehold_devstack.processes import until
from tests.harness.chart import NAMESPACE
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.chart.release import Release
from tests.integration.controllers.tenant import DEADLINE, Tenant

pytestmark = pytest.mark.xdist_group("chart")

PASSWORD = "correct horse battery staple"
SEED = {
    "accounts": [
        {
            "roles": {"FREEHOLD": {"granted_to": ["SYSADMIN"]}},
            "users": {"ANNA": {"password": PASSWORD, "roles": ["FREEHOLD"], "default_role": "FREEHOLD"}},
            "statements": ["GRANT CREATE DATABASE, RESOLVE ALL ON ACCOUNT TO ROLE FREEHOLD"],
        }
    ]
}
FULLNAME = "second-freehold"
"""What the names of the second release's objects begin with."""


@dataclass(frozen=True)
class Part:
    """What belongs to one of the releases.

    Attributes:
        team: whose namespace it works in.
        controller: its account controller.
    """

    team: Tenant
    controller: Controller


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    started = Endpoint(tmp_path_factory.mktemp("endpoint"), SEED)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def releases(release: Release) -> Iterator[Release]:
    """The release `freehold`, which works in team-1 alone, and the release `second`, which works in team-2."""
    second = Release(release.control_plane, "second", "second")
    release.install("watchNamespaces={team-1}", f"otherReleases={{second/{FULLNAME}}}")
    second.install("watchNamespaces={team-2}", f"otherReleases={{{NAMESPACE}/freehold}}", "crds.enabled=false")
    yield release
    second.uninstall()
    release.install()


@pytest.fixture(scope="module")
def parts(
    releases: Release, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Part, Part]]:
    """Both, at work in one account."""
    folder = tmp_path_factory.mktemp("controllers")
    control_plane = releases.control_plane
    options = (f"--allowed-hosts={endpoint.host}:{endpoint.port}", "--lease-duration=6", "--resync-interval=2")

    def part(team: str, namespace: str, fullname: str) -> Part:
        tenant = Tenant(control_plane, endpoint, team)
        control_plane.kubectl("create", "namespace", team)
        tenant.kubectl(
            *("create", "rolebinding", "freehold-secrets", "--clusterrole=freehold-secrets"),
            f"--serviceaccount={namespace}:{fullname}-account",
        )
        tenant.secret("default", PASSWORD)
        tenant.provider("ANNA")
        mine = (f"--watch-namespaces={team}", f"--installation-id={namespace}")
        return Part(
            tenant,
            Controller(control_plane, "account", folder, *options, *mine, namespace=namespace, fullname=fullname),
        )

    both = part("team-1", NAMESPACE, "freehold"), part("team-2", "second", FULLNAME)
    for each in both:
        each.controller.begin()
    try:
        for each in both:
            each.controller.ready()
        yield both
    finally:
        for each in both:
            each.controller.kill()


def creators(endpoint: Endpoint, database: str) -> set[str]:
    """The installations that have sent CREATE for a database."""
    sent = (entry for entry in endpoint.since() if entry.text.startswith(f'CREATE DATABASE "{database}"'))
    return {json.loads(entry.query_tag)["freehold"] for entry in sent}


def told(reason: str, team: Tenant) -> set[str]:
    """The notes of Events in the second release's namespace."""
    found = team.control_plane.kubectl("get", "events", "--namespace=second", "--output=json").stdout
    return {each["message"] for each in json.loads(found)["items"] if each["reason"] == reason}


def test_each_release_works_in_its_own_namespaces_alone(parts: tuple[Part, Part], endpoint: Endpoint) -> None:
    first, second = parts
    first.team.apply("Database", "one", spec={"name": "ONE"})
    second.team.apply("Database", "two", spec={"name": "TWO"})
    first.team.ready("Database", "one")
    second.team.ready("Database", "two")
    assert (creators(endpoint, "ONE"), creators(endpoint, "TWO")) == ({NAMESPACE}, {"second"})


def test_an_object_has_one_owner_over_both(parts: tuple[Part, Part], endpoint: Endpoint) -> None:
    first, second = parts
    first.team.apply("Database", "shared", spec={"name": "SHARED"})
    first.team.ready("Database", "shared")
    second.team.apply("Database", "shared", spec={"name": "SHARED"})
    second.team.reaches("Database", "shared", "ConflictDetected")
    assert creators(endpoint, "SHARED") == {NAMESPACE}


def test_where_namespaces_overlap_the_second_begins_only_when_the_first_has_ended(
    parts: tuple[Part, Part], endpoint: Endpoint
) -> None:
    first, second = parts
    second.controller.stop()
    binding = ("create", "rolebinding", "of-the-second", "--clusterrole=freehold-secrets")
    first.team.kubectl(*binding, f"--serviceaccount=second:{FULLNAME}-account")
    wider = second.controller.again("--watch-namespaces=team-1,team-2")
    wider.begin()
    try:
        why = (
            f"the release in namespace {NAMESPACE} works in namespace team-1: "
            "give each release watchNamespaces of its own"
        )
        until(lambda: wider.why_not() == f"{why}\n", DEADLINE, "it to be not ready", wider.log.read_text)
        assert f"this process can't work: {why}" in wider.log.read_text()
        until(lambda: why in told("NamespacesTaken", first.team), DEADLINE, "an Event", wider.log.read_text)
        first.controller.stop()
        first.team.apply("Database", "later", spec={"name": "LATER"})
        first.team.ready("Database", "later")
        assert creators(endpoint, "LATER") == {"second"}
        assert wider.why_not() is None
    finally:
        wider.kill()
