"""The chart, installed by helm on a control plane of its own: its policies hold for the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from freehold_devstack.controlplane import ControlPlane
from tests.integration.chart.release import Release


@pytest.fixture(scope="package")
def release() -> Iterator[Release]:
    """The chart with its default values."""
    with ControlPlane() as control_plane:
        installed = Release(control_plane)
        installed.install()
        yield installed
