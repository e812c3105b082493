"""Names of what is made for a PostgresCluster, what these ask of its own, and names that are taken in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freehold.identity import digest
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

Part = Literal["admin", "rw", "ro"]
"""A role of a database: its owner, the one for applications, the one that only reads."""


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


@dataclass(frozen=True, slots=True)
class DatabaseNames:
    """Names of what is made for a database of a PostgresDatabase.

    CloudNativePG wants a Database and the Secrets of its roles beside its Cluster. There, names of another namespace's
    bear a mark of that namespace, so that two PostgresDatabases of one name never meet.

    Attributes:
        namespace: of the PostgresDatabase.
        resource: name of the PostgresDatabase.
        database: name of the database.
        cluster_namespace: of the PostgresCluster.
    """

    namespace: str
    resource: str
    database: str
    cluster_namespace: str

    @property
    def foreign(self) -> bool:
        """Whether the cluster is in another namespace: what is beside it can't have us as its owner."""
        return self.namespace != self.cluster_namespace

    @property
    def cnpg_database(self) -> str:
        """The CloudNativePG Database, beside the cluster."""
        base = f"{self.resource}-{self.database}"
        return f"{base}-{digest(self.namespace)[:8]}" if self.foreign else base

    def role_secret(self, part: Part) -> str:
        """The Secret with a role's password that CloudNativePG reads, beside the cluster."""
        return f"{self.cnpg_database}-{part}"

    def application_secret(self, part: Part) -> str:
        """The Secret that applications read, beside the PostgresDatabase: the same one, or a copy that is kept
        equal."""
        return f"{self.resource}-{self.database}-{part}"

    @property
    def config_map(self) -> str:
        """The ConfigMap that applications read, beside the PostgresDatabase."""
        return f"{self.resource}-{self.database}-config"
