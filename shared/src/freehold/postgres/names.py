"""Names of what is made for a PostgresCluster, what these ask of its own, and names that are taken in PostgreSQL."""

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

_RESERVED_ROLES = frozenset({"postgres", "streaming_replica", "public", "none"})
_RESERVED_PREFIXES = ("pg_", "cnpg_")
_RESERVED_DATABASES = frozenset({"postgres", "template0", "template1"})
_RESERVED_SCHEMAS = frozenset({"public", "information_schema"})


def role_fault(name: str) -> str | None:
    """Why a role can't have a name, for people; None when it can. CloudNativePG refuses all roles of a cluster for one
    such name."""
    if name in _RESERVED_ROLES:
        return f"{name} is a role of PostgreSQL's or CloudNativePG's own: name another one"
    prefix = next((each for each in _RESERVED_PREFIXES if name.startswith(each)), None)
    return f"{name} begins with {prefix}, which is reserved: name another role" if prefix else None


def database_fault(name: str) -> str | None:
    """Why a database can't have a name, for people; None when it can."""
    return f"{name} is a database of PostgreSQL's own: name another one" if name in _RESERVED_DATABASES else None


def schema_fault(name: str) -> str | None:
    """Why a schema can't be declared, for people; None when it can."""
    if name in _RESERVED_SCHEMAS or name.startswith("pg_"):
        return f"{name} is a schema of PostgreSQL's own, which is there already: take it out"
    return None


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
