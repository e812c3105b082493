"""How roles stand: what CloudNativePG has made of the list, and what of it concerns one PostgresDatabase."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from freehold.kube.objects import Object
from freehold.postgres.cluster_status import ManagedRolesStatus, RoleConflict, RoleOwner
from freehold.postgres.managed_roles import Arbitration


def roles_status(arbitration: Arbitration, live: Object) -> ManagedRolesStatus:
    """What CloudNativePG has made of the list. What it says of roles that aren't in it is of earlier times.

    Args:
        arbitration: who gets what.
        live: the CloudNativePG Cluster.
    """
    said = live.status.get("managedRolesStatus") or {}
    done = (said.get("byStatus") or {}).get("reconciled") or ()
    errors: Mapping[str, Sequence[str]] = said.get("cannotReconcile") or {}
    asked = {str(each["name"]) for each in arbitration.items} & arbitration.owners.keys()
    failed = {role: _line(errors[role]) for role in asked if errors.get(role)} | dict(arbitration.refused)
    reconciled = {role for role in asked if role in done and role not in failed}
    return ManagedRolesStatus(
        reconciled=sorted(reconciled) or None,
        pending=sorted(asked - reconciled - failed.keys()) or None,
        failed=dict(sorted(failed.items())) or None,
        role_owners=dict(sorted(arbitration.owners.items())) or None,
        conflicts=list(arbitration.conflicts) or None,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the roles of one PostgresDatabase stand.

    Attributes:
        ready: whether all are as asked.
        reason: of its condition, stable.
        message: for people.
    """

    ready: bool
    reason: str
    message: str


def verdict(owner: RoleOwner, roles: Collection[str], status: ManagedRolesStatus | None) -> Verdict:
    """How the roles of one PostgresDatabase stand. Those of others don't matter.

    Args:
        owner: the PostgresDatabase.
        roles: that it asks for.
        status: what the cluster says of all roles; None before it says anything.
    """
    said = status or ManagedRolesStatus()
    taken = [_taken(each) for each in said.conflicts or () if each.attempted_by.uid == owner.uid and each.role in roles]
    if taken:
        return Verdict(ready=False, reason="RoleConflict", message="; ".join(taken))
    failed = [f"{role}: {why}" for role, why in sorted((said.failed or {}).items()) if role in roles]
    if failed:
        return Verdict(ready=False, reason="RoleReconcileFailed", message="; ".join(failed))
    waiting = sorted(_waiting(owner, roles, said))
    if waiting:
        return Verdict(ready=False, reason="WaitingForCNPG", message=f"CloudNativePG makes {', '.join(waiting)}")
    return Verdict(ready=True, reason="RolesAvailable", message="all roles are as declared")


def _waiting(owner: RoleOwner, roles: Collection[str], said: ManagedRolesStatus) -> Iterator[str]:
    owners = said.role_owners or {}
    for role in roles:
        if role not in owners or owners[role].uid != owner.uid or role not in (said.reconciled or ()):
            yield role


def _taken(conflict: RoleConflict) -> str:
    whose = f"{conflict.claimed_by.namespace}/{conflict.claimed_by.name}"
    return f"role {conflict.role} belongs to PostgresDatabase {whose}: choose another name"


def _line(texts: Sequence[str]) -> str:
    return "; ".join(" ".join(each.split()) for each in texts)
