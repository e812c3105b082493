"""The webhook in pods, with strict admission and without cert-manager."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from freehold_devstack.demo.stage import Stage

SYSTEM = "freehold-system"
TEAM = "team-a"
"""One of the namespaces that the account is handed out to."""


@pytest.fixture
def strict(stage: Stage) -> Iterator[Stage]:
    """Freehold with strict admission and certificates of its own, an account that is proven, and a team."""
    stage.run(
        f"helm upgrade --install freehold charts/freehold --namespace {SYSTEM} --create-namespace --wait --hide-notes"
        f" --set image.registry=registry.example --set allowedHosts={{{stage.account.host}}}"
        " --set certificates.mode=selfManaged --set strictAdmission=true --set schema.replicas=0"
    )
    secret = ("create", "secret", "generic", "snowflake", f"--namespace={SYSTEM}")
    stage.cluster.kubectl(*secret, f"--from-file={stage.folder / 'private_key.pem'}", check=False)
    stage.run("kubectl apply -f providerconfig.yaml")
    # Every DROP looks for what would go with it: dozens of databases at a time are more than the usual budget is for.
    ample = {"rate": 10_000, "burst": 10_000}
    patch = {"spec": {"budget": {"perController": ample, "perAccount": ample}}}
    target = ("providerconfig/default", f"--namespace={SYSTEM}", "--type=merge")
    stage.cluster.kubectl("patch", *target, f"--patch={json.dumps(patch)}")
    stage.run(f"kubectl wait providerconfig/default --namespace {SYSTEM} --for=condition=Ready --timeout=60s")
    stage.cluster.kubectl("create", "namespace", TEAM, check=False)
    yield stage
    stage.run(f"kubectl delete databases --all --namespace {TEAM} --timeout=60s")
    stage.run("kubectl delete -f providerconfig.yaml --timeout=60s")
    stage.run(f"helm uninstall freehold --namespace {SYSTEM} --wait --cascade foreground")


@contextmanager
def load(stage: Stage) -> Iterator[list[str]]:
    """Create resources one after the other meanwhile; yields what went wrong."""
    errors: list[str] = []
    stop = threading.Event()

    def create() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            result = stage.cluster.kubectl("create", "-f", "-", input=database(number), check=False)
            if result.returncode:
                errors.append(result.stderr)

    thread = threading.Thread(target=create)
    thread.start()
    try:
        yield errors
    finally:
        stop.set()
        thread.join()


def database(number: int) -> str:
    spec = {"name": f"ROLLING_{number}", "providerRef": {"name": "default", "namespace": SYSTEM}}
    metadata = {"name": f"rolling-{number}", "namespace": TEAM}
    body = {"apiVersion": "snowflake.freehold.dev/v1alpha1", "kind": "Database", "metadata": metadata, "spec": spec}
    return json.dumps(body)


def test_a_rolling_restart_under_load_fails_no_admission(strict: Stage) -> None:
    with load(strict) as errors:
        strict.run(f"kubectl rollout restart deployment/freehold-webhook --namespace {SYSTEM}")
        strict.run(f"kubectl rollout status deployment/freehold-webhook --namespace {SYSTEM} --timeout=120s")
        strict.wait_for(lambda: len(pods(strict)) == 2, 60, "the replaced pods to be gone")
    assert not errors
    created = strict.read("get", "databases", f"--namespace={TEAM}")["items"]
    claims = strict.read("get", "claims")["items"]
    assert {each["metadata"]["name"] for each in created} == {each["spec"]["holder"]["name"] for each in claims}


def pods(stage: Stage) -> list[object]:
    selector = "--selector=app.kubernetes.io/component=webhook"
    return list(stage.read("get", "pods", f"--namespace={SYSTEM}", selector)["items"])
