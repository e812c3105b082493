"""Whose an object is that a cluster needs: ours, nobody's or somebody else's; how it becomes ours, and is let go.

Only what is proven to be ours is changed: by its controller owner reference, or by the uid that the claim has as its
evidence, for what this very resource has left behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from freehold.kube.objects import Object
from freehold.postgres.objects import Owner, controller_of


class Ownership(Enum):
    """Whose an object is."""

    OURS = "OURS"
    """It has our owner reference."""
    RETURNING = "RETURNING"
    """Nobody's now, but it was ours: it gets our owner reference again."""
    ADOPTED = "ADOPTED"
    """Nobody's, and the spec says to take it over."""
    TAKEN = "TAKEN"
    """It is left alone."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an object that is there is to us.

    Attributes:
        ownership: whose it is.
        why: why it is left alone, and what to do, for people; empty where it isn't.
    """

    ownership: Ownership
    why: str = ""


def judge(live: Object, owner: Owner, evidence: str | None, *, adopts: bool, restores: bool = False) -> Judgement:
    """What an object of the name that a cluster needs is to it.

    Args:
        live: the object.
        owner: the PostgresCluster.
        evidence: uid of the object that its claim has proof of; None where it has none.
        adopts: whether its spec says to take over what is nobody's.
        restores: whether the object would be made from other data, which what is there can't be.
    """
    what = f"{live.kind} {live.name}"
    controller = controller_of(live)
    if controller is not None:
        if controller.get("uid") == owner.uid:
            return Judgement(Ownership.OURS)
        theirs = f"{controller.get('kind')} {controller.get('name')}"
        return Judgement(Ownership.TAKEN, f"{what} belongs to {theirs}: delete it there, or choose another name")
    if restores:
        why = (
            f"{what} is there with data of its own, which spec.bootstrapFrom would not replace: delete it, choose "
            "another name, or make this resource anew without bootstrapFrom to have that data"
        )
        return Judgement(Ownership.TAKEN, why)
    if evidence == live.uid:
        return Judgement(Ownership.RETURNING)
    if adopts:
        return Judgement(Ownership.ADOPTED)
    why = f"{what} is there already and isn't ours: delete it, choose another name, or set spec.adoptionPolicy to adopt"
    return Judgement(Ownership.TAKEN, why)


def taken_over(live: Object, owner: Owner, **metadata: Any) -> dict[str, Any]:
    """The merge patch by which an object that is nobody's becomes ours.

    Args:
        live: the object.
        owner: whose it becomes.
        metadata: what else changes of its metadata.
    """
    return owned_by(live, ownerReferences=[*owners_beside(live, owner), owner.reference], **metadata)


def released(live: Object, owner: Owner) -> dict[str, Any] | None:
    """The merge patch by which an object outlives us; None when it isn't ours.

    Args:
        live: the object.
        owner: whose it was.
    """
    others = owners_beside(live, owner)
    return None if len(others) == len(_references(live)) else owned_by(live, ownerReferences=others)


def _references(live: Object) -> list[dict[str, Any]]:
    return live.metadata.get("ownerReferences") or []


def owners_beside(live: Object, owner: Owner) -> list[dict[str, Any]]:
    """The owner references of an object that lead to somebody else."""
    return [each for each in _references(live) if each.get("uid") != owner.uid]


def owned_by(live: Object, **metadata: Any) -> dict[str, Any]:
    """The merge patch by which the metadata of exactly this object says whose it is.

    Args:
        live: the object.
        metadata: what changes of it.
    """
    # The uid makes it fail for another object of the name, the version where an owner was added meanwhile.
    return {"metadata": {"uid": live.uid, "resourceVersion": live.resource_version, **metadata}}
