"""Controllers that look at nothing by themselves for an hour: whatever happens sooner, an event has brought about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from freehold_devstack.controlplane import ControlPlane
from tests.harness.controllers import Controller
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.conftest import control_plane, endpoint, name, newcomer, tenant
from tests.integration.controllers.tenant import Tenant

__all__ = ["control_plane", "endpoint", "name", "newcomer", "tenant"]


@pytest.fixture(scope="package", autouse=True)
def controllers(
    control_plane: ControlPlane, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Controller]]:
    """The controllers by domain."""
    folder = tmp_path_factory.mktemp("controllers")
    options = (f"--allowed-hosts={endpoint.host}:{endpoint.port}", "--resync-interval=3600", "--log-level=debug")
    started = {domain: Controller(control_plane, domain, folder, *options) for domain in ("account", "schema")}
    for controller in started.values():
        controller.start()
    yield started
    for controller in started.values():
        controller.kill()


@pytest.fixture
def neighbour(control_plane: ControlPlane, endpoint: Endpoint, namespace: str) -> Iterator[Tenant]:
    """Another team's namespace."""
    other = f"{namespace}-other"
    control_plane.kubectl("create", "namespace", other)
    yield Tenant(control_plane, endpoint, other)
    control_plane.kubectl("delete", "namespace", other, "--wait=false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder share one pair of controllers, so one worker runs them all."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("waking"))
