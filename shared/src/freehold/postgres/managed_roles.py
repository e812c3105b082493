"""The arbiter of a cluster's roles: PostgresDatabases say in their status which they ask for, and one list of them all
is made of it, since CloudNativePG has it as a list that is written as a whole.

One that asks for what it can't have harms nobody else: it gets no item in the list. Nothing is let go for want of
knowledge: an owner that isn't heard of keeps its roles until it is proven to be gone, and a role that is there already
is nobody's to take, unless its resource says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from freehold.kube.objects import Object
from freehold.postgres import names
from freehold.postgres.cluster_status import RoleConflict, RoleOwner
from freehold.postgres.cnpg_cluster import ROLES
from freehold.postgres.normal_form import changes

PRESENT, ABSENT = "present", "absent"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a PostgresDatabase asks for of a role.

    Attributes:
        role: its name.
        secret: the Secret with its password, beside the cluster.
        exists: whether it is to be there; else it is to be dropped.
        adopts: whether one that is there already may be taken over.
    """

    role: str
    secret: str
    exists: bool = True
    adopts: bool = False


@dataclass(frozen=True, slots=True)
class Claimant:
    """A PostgresDatabase on the cluster.

    Attributes:
        owner: which one.
        created: when it was created.
        intents: what it asks for; None before it has said anything. A role that it no longer names is let go, and
            stays in PostgreSQL.
    """

    owner: RoleOwner
    created: datetime
    intents: tuple[Intent, ...] | None

    @property
    def age(self) -> tuple[datetime, str]:
        """By which the oldest comes first."""
        return self.created, self.owner.uid

    def intent(self, role: str) -> Intent | None:
        """What it asks for of a role: one that moves from one of its databases to another stays."""
        found = [each for each in self.intents or () if each.role == role]
        return min(found, key=lambda each: (not each.exists, each.secret)) if found else None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a cluster's roles.

    Attributes:
        owners: whose each is, by the cluster's status. It is written before the list that follows from it.
        listed: the roles of the CloudNativePG Cluster, in its spec.
        gone: uids of resources that the API server has said to be gone. Not to find one in a cache proves nothing.
        missing: roles that the server's catalogue was seen not to have.
        strangers: roles that it has and that aren't known to be ours.
    """

    owners: Mapping[str, RoleOwner]
    listed: Sequence[Mapping[str, Any]] = ()
    gone: Collection[str] = frozenset()
    missing: Collection[str] = frozenset()
    strangers: Collection[str] = frozenset()

    def item(self, role: str) -> Mapping[str, Any] | None:
        """A role in the list."""
        return next((each for each in self.listed if each.get("name") == role), None)


@dataclass(frozen=True, slots=True)
class Arbitration:
    """Who gets what.

    Attributes:
        items: the list as it is to be, by name. Items that aren't ours stay in it as they are.
        owners: whose each role is.
        conflicts: roles that belong to another one than who asks.
        refused: roles that nobody gets, and why, for people.
    """

    items: tuple[Mapping[str, Any], ...]
    owners: Mapping[str, RoleOwner]
    conflicts: tuple[RoleConflict, ...]
    refused: Mapping[str, str]

    def change(self, live: Object) -> dict[str, Any] | None:
        """The patch by which the CloudNativePG Cluster gets the list; None when it has it."""
        return changes(ROLES, {"spec": {"managed": {"roles": [dict(each) for each in self.items]}}}, live)


@dataclass(slots=True)
class _Ledger:
    items: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    owners: dict[str, RoleOwner] = field(default_factory=dict)
    conflicts: list[RoleConflict] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def arbitrate(claimants: Iterable[Claimant], known: Known) -> Arbitration:
    """Who gets what, whatever the order in which they are told.

    Args:
        claimants: the PostgresDatabases on the cluster, as far as they are known.
        known: what is known of its roles.
    """
    ordered = sorted(claimants, key=lambda each: each.age)
    ledger = _Ledger()
    asked = {intent.role for each in ordered for intent in each.intents or ()}
    for role in sorted(asked | known.owners.keys()):
        _decide(role, ordered, known, ledger)
    ours = ledger.items.keys() | ledger.owners.keys() | known.owners.keys()
    theirs = {str(each.get("name")): each for each in known.listed if each.get("name") not in ours}
    items = theirs | ledger.items
    return Arbitration(
        items=tuple(items[role] for role in sorted(items)),
        owners=ledger.owners,
        conflicts=tuple(ledger.conflicts),
        refused=ledger.refused,
    )


def _decide(role: str, claimants: Sequence[Claimant], known: Known, ledger: _Ledger) -> None:
    if fault := names.role_fault(role):
        ledger.refused[role] = fault
        return
    incumbent = known.owners.get(role)
    if incumbent is not None and not _released(role, incumbent, claimants, known):
        _hold(role, incumbent, claimants, known, ledger)
        return
    asking = [each for each in claimants if _asks(each, role, known)]
    # What its owner has let go is there without one, and was made for somebody else.
    stranger = incumbent is not None or role in known.strangers or known.item(role) is not None
    winner = next((each for each in asking if _evidence(each, role, known)), None)
    winner = winner or next((each for each in asking if not stranger or _adopts(each, role)), None)
    if winner is not None:
        _hold(role, winner.owner, claimants, known, ledger)
    elif asking:
        ledger.refused[role] = (
            f"role {role} is there already and isn't ours: choose another name, or set adoptionPolicy to adopt"
        )


def _released(role: str, owner: RoleOwner, claimants: Sequence[Claimant], known: Known) -> bool:
    if owner.uid in known.gone:
        return True
    holder = _find(owner, claimants)
    return holder is not None and holder.intents is not None and holder.intent(role) is None


def _hold(role: str, owner: RoleOwner, claimants: Sequence[Claimant], known: Known, ledger: _Ledger) -> None:
    """Enter a role and its owner, and who else asks for it."""
    holder = _find(owner, claimants)
    item = _item(role, holder, known)
    if item is None and holder and _drops(holder, role):
        return
    ledger.owners[role] = owner
    if item is not None:
        ledger.items[role] = item
    ledger.conflicts += [
        RoleConflict(role=role, claimed_by=owner, attempted_by=each.owner)
        for each in claimants
        if each.owner.uid != owner.uid and _wants(each, role)
    ]


def _item(role: str, holder: Claimant | None, known: Known) -> Mapping[str, Any] | None:
    """A role's item in the list; None when it needs none."""
    intent = holder.intent(role) if holder else None
    found = known.item(role)
    if intent is None:
        return found
    if intent.exists:
        return {"name": role, "ensure": PRESENT, "login": True, "passwordSecret": {"name": intent.secret}}
    # While it is listed as present, CloudNativePG may be about to make it.
    if role in known.missing and (found is None or found.get("ensure") == ABSENT):
        return None
    return {"name": role, "ensure": ABSENT}


def _asks(claimant: Claimant, role: str, known: Known) -> bool:
    intent = claimant.intent(role)
    return intent is not None and (intent.exists or _evidence(claimant, role, known))


def _evidence(claimant: Claimant, role: str, known: Known) -> bool:
    """Whether the list has the role with the claimant's own Secret: we wrote that, and lost the status since."""
    intent, found = claimant.intent(role), known.item(role)
    secret = (found or {}).get("passwordSecret") or {}
    return intent is not None and secret.get("name") == intent.secret


def _adopts(claimant: Claimant, role: str) -> bool:
    intent = claimant.intent(role)
    return intent is not None and intent.adopts


def _wants(claimant: Claimant, role: str) -> bool:
    intent = claimant.intent(role)
    return intent is not None and intent.exists


def _drops(claimant: Claimant, role: str) -> bool:
    intent = claimant.intent(role)
    return intent is not None and not intent.exists


def _find(owner: RoleOwner, claimants: Sequence[Claimant]) -> Claimant | None:
    """A resource of the same name that was made anew is another one."""
    return next((each for each in claimants if each.owner.uid == owner.uid), None)
