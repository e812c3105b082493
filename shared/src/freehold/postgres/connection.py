"""The ConfigMap by which applications find a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freehold.kube.objects import CONFIG_MAPS, Object
from freehold.postgres.credentials import SUPERUSER
from freehold.postgres.effective import Effective
from freehold.postgres.names import ClusterNames
from freehold.postgres.normal_form import METADATA, Map, Struct
from freehold.postgres.objects import Owner, made

PORT = 5432

FIELDS = Struct({"metadata": METADATA, "data": Map()})
"""What is compared, and may be written, of a ConfigMap that is there."""


def ca_secret(live: Object) -> str | None:
    """Name of the Secret whose key ca.crt the server's certificate is checked with; None before there is one."""
    certificates: Mapping[str, str] = live.status.get("certificates") or {}
    return certificates.get("serverCASecret")


def endpoints(effective: Effective, names: ClusterNames, live: Object) -> dict[str, str]:
    """Where a cluster is reached. What there is none of is empty.

    Args:
        effective: what the PostgresCluster comes to.
        names: of what is made for it.
        live: the CloudNativePG Cluster.
    """
    # Its status names the Service that leads to any server, and none that leads to the standbys alone.
    standbys = int(live.status.get("readyInstances") or 0) > 1
    ca = ca_secret(live)
    found = {
        "CLUSTER_RW_ENDPOINT": names.host(names.service("rw")),
        "CLUSTER_RO_ENDPOINT": names.host(names.service("ro")) if standbys else "",
        "CLUSTER_R_ENDPOINT": names.host(names.service("r")),
        "DEFAULT_CLUSTER_PORT": str(PORT),
        "SERVER_CA_SECRET_REF": f"{ca}/ca.crt" if ca else "",
    }
    if effective.poolers:
        found |= {
            "CLUSTER_POOLER_RW_ENDPOINT": names.host(names.pooler("rw")) if "rw" in effective.poolers else "",
            "CLUSTER_POOLER_RO_ENDPOINT": names.host(names.pooler("ro"))
            if "ro" in effective.poolers and standbys
            else "",
        }
    return found


def config_map(effective: Effective, owner: Owner, superuser_secret: str, live: Object) -> dict[str, Any]:
    """The ConfigMap as it is to be.

    Args:
        effective: what the PostgresCluster comes to.
        owner: the PostgresCluster.
        superuser_secret: name of the Secret with the superuser's password.
        live: the CloudNativePG Cluster.
    """
    names = ClusterNames(owner.namespace, owner.name)
    data = {
        **endpoints(effective, names, live),
        "SUPER_USER_NAME": SUPERUSER,
        "SUPER_USER_SECRET_REF": superuser_secret,
    }
    return made(CONFIG_MAPS, names.config_map, owner, data=data)
