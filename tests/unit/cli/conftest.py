"""A cluster for commands to ask."""

from __future__ import annotations

import pytest

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kube.client import Kube
from tests.harness.memory import MemoryKube
from tests.unit.cli.cluster import ACCOUNT, Cluster


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The cluster that commands ask."""
    kube = MemoryKube()
    for namespace in ("a", "b"):
        status = {"account": {"key": ACCOUNT, "name": "ACME.PROD"}}
        kube.put(PROVIDER_CONFIG.path, "default", namespace, spec={"authenticationType": "KeyPair"}, status=status)
    monkeypatch.setattr(Kube, "from_environment", lambda _context=None: kube)
    return Cluster(kube)
