"""Webhook replicas on a control plane of their own: the chart's policies hold for the whole cluster."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from freehold.kube.client import Kube
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.pki import Authority
from tests.harness.chart import install_without_pods
from tests.integration.webhook.harness import REPLICAS, Account, Site, eventually


@pytest.fixture(scope="package")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane() as started:
        install_without_pods(started)
        yield started


@pytest.fixture(scope="module")
def started(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The replicas, started and registered."""
    folder = tmp_path_factory.mktemp("certificates")
    site = Site(control_plane, "freehold", Authority(), folder)
    site.prepare()
    try:
        # Time enough for every decision: what is admitted must not hang on how busy the machine is.
        site.register(*(site.replica("--drain=0.5", "--budget=25").url for _ in range(REPLICAS)))
        yield site
    finally:
        site.close()


@pytest.fixture
def unregistered(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Site]:
    """A certificate that the API server knows nothing of."""
    site = Site(control_plane, f"webhook-{secrets.token_hex(3)}", Authority(), tmp_path)
    site.mount(site.issue())
    try:
        yield site
    finally:
        site.close()


@pytest.fixture
async def site(started: Site) -> Site:
    """The replicas, ready."""
    for replica in started.replicas[:REPLICAS]:
        await eventually(replica.ready, "a webhook to be ready")
    return started


@pytest.fixture
async def kube(control_plane: ControlPlane) -> AsyncIterator[Kube]:
    """The API server, as an administrator."""
    async with Kube.from_kubeconfig(control_plane.kubeconfig) as client:
        yield client


@pytest.fixture
async def account(site: Site, kube: Kube) -> AsyncIterator[Account]:
    """A verified account of this test alone."""
    async with site.as_component("account") as controller:
        account = Account(kube, controller, site, f"region.{secrets.token_hex(4)}")
        await account.verify()
        yield account
