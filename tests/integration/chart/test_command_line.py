"""`freehold claims` and `freehold whoowns` against a real API server, with the rights that people have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from freehold.claims import Account, ClaimedIdentity, Holder
from freehold.identity import Identity, Name
from tests.integration.chart.release import Release, service_account

pytestmark = pytest.mark.xdist_group("chart")

TEAM = "command-line"
IDENTITY = Identity("R.L", "DATABASE", Name(("SALES",)))
LONG_AGO = "2026-01-01T00:00:00Z"
DEADLINE = 60.0


@dataclass(frozen=True)
class Person:
    """Somebody at a command line.

    Attributes:
        kubeconfig: with his credentials.
    """

    kubeconfig: Path

    def starts(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `freehold`."""
        return subprocess.Popen(
            [str(Path(sys.executable).parent / "freehold"), *arguments],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def runs(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of `freehold`."""
        process = self.starts(*arguments)
        out, err = process.communicate("", DEADLINE)
        return process.returncode, out, err


def person(release: Release, name: str) -> Person:
    """Somebody with a service account, who may read claims, and edit in the team's namespace."""
    release.kubectl("create", "serviceaccount", name, f"--namespace={TEAM}")
    account = f"--serviceaccount={TEAM}:{name}"
    release.kubectl("create", "clusterrolebinding", name, "--clusterrole=freehold-claims-view", account)
    release.kubectl("create", "rolebinding", name, "--clusterrole=edit", account, f"--namespace={TEAM}")
    return Person(release.control_plane.kubeconfig_for(TEAM, name))


@pytest.fixture(scope="module")
def reader(release: Release) -> Iterator[Person]:
    release.kubectl("create", "namespace", TEAM)
    yield person(release, "reader")
    release.kubectl("delete", "namespace", TEAM, "--wait=false")


@pytest.fixture(scope="module")
def releaser(release: Release, reader: Person) -> Iterator[Person]:
    """Somebody who may delete claims too."""
    assert reader
    someone = person(release, "releaser")
    account = f"--serviceaccount={TEAM}:releaser"
    release.kubectl("create", "clusterrolebinding", "releases-claims", "--clusterrole=freehold-claims-admin", account)
    yield someone
    release.kubectl("delete", "clusterrolebinding", "releases-claims")


@pytest.fixture
def claim(release: Release) -> Iterator[dict[str, Any]]:
    """A claim whose holder has been gone for long."""
    account = Account(key=IDENTITY.account, name="ACME.PROD")
    identity = ClaimedIdentity(account=account, namespace_class=IDENTITY.namespace_class, fqn=IDENTITY.fqn)
    holder = Holder(group="snowflake.freehold.dev", kind="Database", namespace=TEAM, name="sales", uid="1")
    spec = {"identity": identity, "holder": holder}
    manifest: dict[str, Any] = {
        "apiVersion": "freehold.dev/v1alpha1",
        "kind": "Claim",
        "metadata": {"name": IDENTITY.hash},
        "spec": {part: model.model_dump(mode="json", by_alias=True, exclude_none=True) for part, model in spec.items()},
    }
    manifest["spec"]["holder"]["since"] = LONG_AGO
    release.kubectl("create", "-f", "-", user=service_account("account"), manifest=manifest)
    yield manifest
    release.kubectl("delete", "claims", "--all")


def left(release: Release) -> bool:
    return bool(release.kubectl("get", "claim", IDENTITY.hash, "--ignore-not-found").stdout)


@pytest.mark.usefixtures("claim")
def test_who_may_read_claims_and_a_namespace_is_told_who_owns_what_and_whether_it_binds(reader: Person) -> None:
    code, out, _ = reader.runs("whoowns", "sales", "--output=json")
    assert code == 0
    (found,) = orjson.loads(out)
    assert found["holder"]["namespace"] == TEAM
    assert found["liveness"] == "free"
    assert reader.runs("claims", "list", "--liveness=free", f"--namespace={TEAM}")[0] == 0
    assert reader.runs("whoowns", "nothing")[0] == 1


@pytest.mark.usefixtures("claim")
def test_who_may_only_read_claims_releases_none(release: Release, reader: Person) -> None:
    code, _, err = reader.runs("claims", "release", "sales", "--yes")
    assert code == 2
    assert "forbidden" in err
    assert left(release)


@pytest.mark.usefixtures("claim")
def test_who_may_delete_claims_releases_one_whose_holder_is_gone(release: Release, releaser: Person) -> None:
    code, out, err = releaser.runs("claims", "release", "sales", "--yes")
    assert code == 0, err
    assert 'released "SALES"' in out
    assert not left(release)


def test_a_claim_that_is_taken_while_its_release_is_confirmed_stays(
    release: Release, releaser: Person, claim: dict[str, Any]
) -> None:
    process = releaser.starts("claims", "release", "sales")
    assert process.stdout is not None
    while "evidence" not in process.stdout.readline():
        assert process.poll() is None, process.stderr
    holder = claim["spec"]["holder"] | {"name": "heir"}
    taken = release.get("claim", IDENTITY.hash) | {"spec": claim["spec"] | {"holder": holder}}
    release.kubectl("replace", "-f", "-", user=service_account("webhook"), manifest=taken)
    _, err = process.communicate('"SALES"\n', DEADLINE)
    assert process.returncode == 1
    assert "taken or changed meanwhile" in err
    assert left(release)


@pytest.mark.usefixtures("claim")
def test_a_second_owner_is_explained_from_a_manifest(release: Release, reader: Person, tmp_path: Path) -> None:
    """What the API server itself would be asked at kubectl apply, without writing a thing."""
    provider = {"account": "ACME-PROD", "user": "U", "authenticationType": "KeyPair", "role": "R"}
    secret = {"credentials": {"secretRef": {"name": "key", "key": "key.pem"}}}
    api = "snowflake.freehold.dev/v1alpha1"
    place = {"namespace": TEAM}
    config = {"apiVersion": api, "kind": "ProviderConfig", "metadata": {"name": "default", **place}}
    release.kubectl("create", "-f", "-", manifest=config | {"spec": provider | secret})
    account = {"key": "R.L", "name": "ACME.PROD", "region": "R", "locator": "L"}
    release.kubectl(
        *("apply", "--server-side", "--subresource=status", "--field-manager=freehold-account", "-f", "-"),
        user=service_account("account"),
        manifest=config | {"status": {"account": account}},
    )
    owner = {"apiVersion": api, "kind": "Database", "metadata": {"name": "sales", **place}, "spec": {"name": "SALES"}}
    release.kubectl("create", "-f", "-", manifest=owner)
    second = tmp_path / "second.yaml"
    second.write_bytes(orjson.dumps(owner | {"metadata": {"name": "second", **place}}))
    code, out, err = reader.runs("claims", "explain", f"--filename={second}")
    assert code == 1, err
    assert f"is owned by Database {TEAM}/sales" in out
    assert reader.runs("claims", "explain", "db", f"{TEAM}/sales")[0] == 0
