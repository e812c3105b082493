"""One control plane with Freehold's CRDs, shared by all workers of a test run; namespaces of their own for tests."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from freehold_devstack.controlplane import ControlPlane

CRDS = (Path(__file__).parents[2] / "crds").resolve()  # kubectl follows no links


@pytest.fixture(scope="session")
def control_plane() -> ControlPlane:
    """The run's control plane: the first worker to ask starts it, the end of the run ends it."""
    in_worker = "PYTEST_XDIST_WORKER" in os.environ
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", secrets.token_hex(6))[:12]
    shared = ControlPlane(f"tests-{run}", owner=os.getppid() if in_worker else os.getpid())
    shared.ensure_started()
    shared.kubectl("apply", "--server-side", "-f", str(CRDS))
    shared.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
    return shared


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A new namespace, deleted after the test."""
    name = f"test-{secrets.token_hex(4)}"
    control_plane.kubectl("create", "namespace", name)
    yield name
    control_plane.kubectl("delete", "namespace", name, "--wait=false")
