from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from freehold.kube.client import Kube
from freehold_devstack.controlplane import ControlPlane


@pytest.fixture
async def kube(control_plane: ControlPlane) -> AsyncIterator[Kube]:
    """The API server, as an administrator."""
    async with Kube.from_kubeconfig(control_plane.kubeconfig) as client:
        yield client
