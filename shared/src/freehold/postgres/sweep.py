"""The sweep of a cluster that was made from another's data: its roles came along, with passwords that people of the
other cluster know. Each loses password and log-in, once; those that are declared get both back from their own Secrets.

It runs before the roles are asked for. Its marker is in the status before the CloudNativePG Cluster is made, so that no
crash leaves one unswept, and one that wasn't made from other data by us is never swept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from freehold import sql
from freehold.postgres.cluster_status import CredentialSweep
from freehold.postgres.credentials import SUPERUSER
from freehold.sql import Sql, identifier, words

KEPT = frozenset({"streaming_replica", "cnpg_pooler_pgbouncer", "cnpg_metrics_exporter"})
"""Roles of CloudNativePG's own, which log in without a password."""

QUERY: Sql = words(
    "SELECT rolname, rolpassword IS NOT NULL AS password FROM pg_catalog.pg_authid "
    "WHERE (rolcanlogin OR rolpassword IS NOT NULL) AND NOT pg_catalog.starts_with(rolname::text, 'pg_') "
    "ORDER BY rolname"
)
"""Answers with the columns of `Login`."""


@dataclass(frozen=True, slots=True)
class Login:
    """A role that can log in, or could once it is let.

    Attributes:
        role: its name.
        password: whether it has one.
    """

    role: str
    password: bool


def due(marker: CredentialSweep | None, uid: str) -> bool:
    """Whether a cluster is to be swept.

    Args:
        marker: how far it is, by the status; None where nothing was to be restored.
        uid: of the CloudNativePG Cluster. One that was made anew has its roles anew.
    """
    return marker is not None and not (marker.completed and marker.cluster_uid == uid)


def done(uid: str) -> CredentialSweep:
    """The marker of a cluster that was swept.

    Args:
        uid: of the CloudNativePG Cluster.
    """
    return CredentialSweep(completed=True, cluster_uid=uid)


def statements(found: Iterable[Login]) -> tuple[Sql, ...]:
    """The statements of a sweep, for one transaction. Run twice, they do the same.

    Args:
        found: the answer to `QUERY`. The superuser isn't swept: CloudNativePG gives it the password of its Secret.
    """
    return tuple(_statements(found))


def _statements(found: Iterable[Login]) -> Iterator[Sql]:
    for each in found:
        if each.role == SUPERUSER:
            continue
        if each.role not in KEPT:
            yield sql.sql("ALTER ROLE {role} WITH NOLOGIN PASSWORD NULL", role=identifier(each.role))
        elif each.password:
            yield sql.sql("ALTER ROLE {role} WITH PASSWORD NULL", role=identifier(each.role))
