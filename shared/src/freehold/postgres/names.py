"""Names of what is made for a PostgresCluster, and what these ask of its own name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freehold.kinds.resource import Rule

LONGEST_NAME = 50
"""Longest name of a resource, in characters: those made for it are longer, and CloudNativePG takes no more."""

LABEL = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
"""Names of resources: labels as in RFC 1035, since Services are named after them."""

NAME_RULES = (
    Rule(
        f"size(self.metadata.name) <= {LONGEST_NAME} && self.metadata.name.matches('{LABEL}')",
        f"metadata.name must have at most {LONGEST_NAME} characters, begin with a small letter, and hold but small "
        "letters, digits and hyphens: objects made for it are named after it",
    ),
)

DOMAIN = "svc.cluster.local"

Access = Literal["rw", "ro"]
"""To the primary, or to the standbys alone."""


@dataclass(frozen=True, slots=True)
class ClusterNames:
    """Names of what is made for a cluster, all in its own namespace.

    Attributes:
        namespace: of the PostgresCluster.
        cluster: name of the PostgresCluster, and of the CloudNativePG Cluster.
    """

    namespace: str
    cluster: str

    def pooler(self, access: Access) -> str:
        """A Pooler, and its Service."""
        return f"{self.cluster}-pooler-{access}"

    def service(self, access: Access | Literal["r"]) -> str:
        """A Service that CloudNativePG makes; `r` leads to any server."""
        return f"{self.cluster}-{access}"

    def host(self, service: str) -> str:
        """The DNS name of a Service."""
        return f"{service}.{self.namespace}.{DOMAIN}"

    @property
    def snapshot_backup(self) -> str:
        """The ScheduledBackup of volumes."""
        return f"{self.cluster}-backup"

    @property
    def archive_backup(self) -> str:
        """The ScheduledBackup to object storage."""
        return f"{self.cluster}-backup-objectstore"

    @property
    def object_store(self) -> str:
        """The ObjectStore of Barman's plugin."""
        return f"{self.cluster}-object-store"

    @property
    def superuser_secret(self) -> str:
        """The Secret with the superuser's generated password."""
        return f"{self.cluster}-secret"

    @property
    def config_map(self) -> str:
        """The ConfigMap with the endpoints."""
        return f"{self.cluster}-configmap"
