"""How a database goes: first the database, which its roles own, then the roles, then what applications log in with.

Each look at what is left yields one step, so that a crash between any two of them is made up for by the next look. What
isn't proven to be ours stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from freehold import sql
from freehold.kube.objects import Object
from freehold.postgres.cluster_status import ManagedRolesStatus, RoleOwner
from freehold.postgres.objects import Owner
from freehold.postgres.placing import belongs
from freehold.sql import Sql, identifier


class Action(Enum):
    """What is to be done next."""

    LEAVE = "take our mark off these objects: they stay (`placing.left_behind`)"
    RECLAIM = "have CloudNativePG drop the database along with this object"
    DELETE = "delete these objects, by their uids"
    CLOSE = "end the database's sessions, which keep it from being dropped, and look again"
    DROP_ROLES = "ask for these roles to be dropped, and look again"
    DONE = "nothing: all is gone, or left behind"


@dataclass(frozen=True, slots=True)
class Remains:
    """What is left of a database that is no longer declared.

    Attributes:
        name: the database.
        retained: whether it stays, with its roles and Secrets.
        serving: whether the cluster is there, and isn't being deleted: else nothing is left to drop in PostgreSQL.
        database: its CloudNativePG Database; None where there is none.
        roles: its roles that the cluster still has as ours (`still_ours`).
        access: its Secrets and its ConfigMap, but for Secrets that people have brought.
        trouble: why roles couldn't be dropped, for people.
    """

    name: str
    retained: bool
    serving: bool
    database: Object | None
    roles: frozenset[str]
    access: tuple[Object, ...]
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done next.

    Attributes:
        action: what.
        objects: to what.
        roles: to which roles.
        message: what is waited for, for people; empty where nothing is.
    """

    action: Action
    objects: tuple[Object, ...] = ()
    roles: frozenset[str] = frozenset()
    message: str = ""


def step(remains: Remains, owner: Owner) -> Step:
    """What is to be done next about a database that is no longer declared.

    Args:
        remains: what is left of it.
        owner: the PostgresDatabase that declared it.
    """
    database = remains.database if remains.database is not None and belongs(remains.database, owner) else None
    access = tuple(each for each in remains.access if belongs(each, owner))
    if remains.retained:
        kept = (*((database,) if database else ()), *access)
        return Step(Action.LEAVE, kept) if kept else Step(Action.DONE)
    if database is not None and (pending := _database(database, remains)):
        return pending
    if remains.serving and remains.roles:
        names = ", ".join(sorted(remains.roles))
        why = f": {remains.trouble}" if remains.trouble else ""
        return Step(Action.DROP_ROLES, roles=remains.roles, message=f"CloudNativePG drops {names}{why}")
    going = tuple(each for each in access if not _going(each))
    if access:
        return Step(Action.DELETE, going, message=f"{remains.name}'s Secrets and ConfigMap go")
    return Step(Action.DONE)


def _database(database: Object, remains: Remains) -> Step | None:
    if not _going(database):
        if database.spec.get("databaseReclaimPolicy") != "delete":
            return Step(Action.RECLAIM, (database,))
        return Step(Action.DELETE, (database,), message=f"CloudNativePG drops database {remains.name}")
    if not remains.serving:
        return None
    # CloudNativePG drops but what it has once made. Another's database of the name isn't ours to close.
    if database.status.get("observedGeneration"):
        return Step(Action.CLOSE, (database,), message=f"CloudNativePG drops database {remains.name}")
    return Step(Action.DELETE, (), message=f"CloudNativePG lets go of database {remains.name}")


def still_ours(owner: RoleOwner, roles: Collection[str], status: ManagedRolesStatus | None) -> frozenset[str]:
    """The roles that the cluster still has as a resource's. One that it says nothing of is nobody's: nothing is waited
    for in vain."""
    owners: Mapping[str, RoleOwner] = (status.role_owners if status else None) or {}
    return frozenset(role for role in roles if role in owners and owners[role].uid == owner.uid)


def closing(database: str) -> Iterable[Sql]:
    """The statements that end a database's sessions for good. They run in another database, each by itself.

    Poolers hold sessions, and open new ones: nobody may connect first. A superuser can't, either.
    """
    name = identifier(database)
    yield sql.sql("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false", name=name)
    yield sql.sql(
        "SELECT pg_catalog.count(pg_catalog.pg_terminate_backend(pid)) FROM pg_catalog.pg_stat_activity "
        "WHERE datname = {name}",
        name=sql.standard_literal(database),
    )


def _going(live: Object) -> bool:
    return "deletionTimestamp" in live.metadata
