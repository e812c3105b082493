"""The PostgreSQL kinds, on the run's control plane."""

from __future__ import annotations

import orjson
import pytest

from freehold.generate.crd import definition
from freehold.postgres.cluster import CLUSTER
from freehold.postgres.clusterclass import CLUSTER_CLASS
from freehold.postgres.database import DATABASE
from freehold_devstack.controlplane import ControlPlane

KINDS = (CLUSTER_CLASS, CLUSTER, DATABASE)


@pytest.fixture(scope="session")
def postgres_kinds(control_plane: ControlPlane) -> ControlPlane:
    """The control plane with these kinds."""
    definitions = {"apiVersion": "v1", "kind": "List", "items": [definition(each.resource) for each in KINDS]}
    control_plane.kubectl("apply", "--server-side", "-f", "-", input=orjson.dumps(definitions).decode())
    names = [f"crd/{each.resource.path.definition}" for each in KINDS]
    control_plane.kubectl("wait", *names, "--for=condition=Established", "--timeout=30s")
    return control_plane
