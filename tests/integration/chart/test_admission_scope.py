"""Which requests the API server asks the webhook about: with strict admission and no webhook, those are refused."""

from __future__ import annotations

import base64
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from freehold_devstack.processes import until
from tests.harness.chart import NAMESPACE
from tests.integration.chart.release import READY_SECONDS, Release, service_account, webhook_process

pytestmark = pytest.mark.xdist_group("chart")

DATABASE = ("database", "scope", "--namespace", "default")
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
GOING = "going"
REFUSED_AFTER_SECONDS = 15.0


def database(name: str, namespace: str = "default") -> dict[str, object]:
    return {
        "apiVersion": "snowflake.freehold.dev/v1alpha1",
        "kind": "Database",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"name": "SCOPE"},
    }


@pytest.fixture(scope="module")
def strict(release: Release) -> Iterator[Release]:
    """The release with a database, then with strict admission; no pod of the webhook can run here."""
    release.kubectl("create", "-f", "-", manifest=database("scope"))
    release.kubectl("create", "namespace", GOING)
    release.kubectl("create", "-f", "-", manifest=database("scope", GOING))
    release.install("strictAdmission=true")
    deadline = time.monotonic() + REFUSED_AFTER_SECONDS
    while not asked(create(release)):
        assert time.monotonic() < deadline, "the API server never asked the webhook"
    yield release
    release.install("strictAdmission=false")
    release.kubectl("delete", *DATABASE, "--ignore-not-found")


def create(release: Release, namespace: str = "default") -> subprocess.CompletedProcess[str]:
    return release.kubectl("create", "--dry-run=server", "-f", "-", manifest=database("other", namespace), check=False)


def patch(release: Release, change: str, *more: str, user: str | None = None) -> subprocess.CompletedProcess[str]:
    return release.kubectl("patch", *DATABASE, "--type=merge", "--patch", change, *more, user=user, check=False)


def asked(result: subprocess.CompletedProcess[str]) -> bool:
    """Whether the webhook would have been asked: nobody answers there."""
    if result.returncode == 0:
        return False
    assert 'failed calling webhook "admission.freehold.dev"' in result.stderr
    return True


SPEC = '{"spec": {"comment": "changed"}}'
LABEL = '{"metadata": {"labels": {"team": "a"}}}'
STATUS = '{"status": {"observedGeneration": 1}}'


def test_it_is_asked_about_new_resources(strict: Release) -> None:
    assert asked(create(strict))


def test_it_is_asked_about_a_changed_spec(strict: Release) -> None:
    assert asked(patch(strict, SPEC, "--dry-run=server"))


def test_it_is_not_asked_about_labels(strict: Release) -> None:
    assert not asked(patch(strict, LABEL))


def test_it_is_not_asked_about_status(strict: Release) -> None:
    assert not asked(patch(strict, STATUS, "--subresource=status"))


@pytest.mark.parametrize("user", [service_account("account"), COLLECTOR])
def test_it_is_not_asked_about_what_controllers_do(strict: Release, user: str) -> None:
    assert not asked(patch(strict, SPEC, "--dry-run=server", user=user))


def test_a_resource_goes_without_it(strict: Release) -> None:
    assert not asked(patch(strict, '{"metadata": {"finalizers": ["freehold.dev/claim"]}}'))
    strict.kubectl("delete", *DATABASE, "--wait=false")
    assert not asked(patch(strict, '{"metadata": {"finalizers": null}}'))
    strict.kubectl("wait", "--for=delete", *DATABASE, "--timeout=30s")


@pytest.mark.parametrize("namespace", [NAMESPACE, "kube-system"])
def test_what_brings_freehold_back_is_applied_without_it(strict: Release, namespace: str) -> None:
    assert not asked(create(strict, namespace))


def test_a_namespace_goes_with_its_resources_without_it(strict: Release) -> None:
    strict.kubectl("delete", "namespace", GOING, "--timeout=60s")


def test_a_webhook_gets_ready_without_it(strict: Release, tmp_path: Path) -> None:
    """Nothing that it needs on its way back waits for admission, also after the API server was away."""
    strict.control_plane.stop_apiserver()
    strict.control_plane.start_apiserver()
    mounted = strict.get("secret", "freehold-webhook", "--namespace", NAMESPACE)["data"]
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).write_bytes(base64.b64decode(mounted[name]))
    with webhook_process(strict, tmp_path, "--strict") as ready:
        until(ready, READY_SECONDS, "the webhook to be ready")
    assert asked(create(strict))
