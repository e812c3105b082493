"""What is said of an object that somebody else owns, to whoever asks for it: at admission and in conditions."""

from __future__ import annotations

from enum import StrEnum

from freehold.claim_rules import HAND_OVER_ANNOTATION
from freehold.claims import Claim, Holder


class Detail(StrEnum):
    """How much of an owner is told to others."""

    FULL = "full"
    """Kind, namespace and name."""
    NAMESPACE = "namespace"
    """The same to those in its namespace; its kind to all others."""
    NONE = "none"
    """That there is one."""


def owned(claim: Claim, asker: Holder, detail: Detail) -> str:
    """Why an object can't be had, and what to do.

    Args:
        claim: the owner's claim.
        asker: the resource that asks for the object.
        detail: what may be told of the owner.
    """
    what = f"{_object(claim, asker)} is owned by {_owner(claim, asker, detail)}: choose another name"
    if not _named(claim, asker, detail):
        return f"{what}, or ask who runs Freehold to have it given up"
    what = f"{what}, or delete that resource first (its deletionPolicy says what becomes of the object)"
    if claim.spec.holder.kind != asker.kind:
        return what
    return f"{what}, or annotate it {HAND_OVER_ANNOTATION}={asker.owner} before that, and the object comes over"


def awaited(claim: Claim, asker: Holder, detail: Detail) -> str:
    """What an heir waits for.

    Args:
        claim: the owner's claim.
        asker: the resource that the owner lets in.
        detail: what may be told of the owner.
    """
    owner = _owner(claim, asker, detail)
    return f"{_object(claim, asker)} comes over from {owner} when that is deleted: nothing is dropped by it"


def contested(claim: Claim, asker: Holder, detail: Detail) -> str:
    """Why it isn't known whether an object can be had.

    Args:
        claim: somebody's claim.
        asker: the resource that asks for the object.
        detail: what may be told of its holder.
    """
    owner = _owner(claim, asker, detail)
    return f"{_object(claim, asker)} is claimed by {owner}, and it isn't known whether that still stands for it"


def _object(claim: Claim, asker: Holder) -> str:
    claimed = claim.spec.identity
    return f"{asker.kind} {claimed.fqn} in account {claimed.account.name}"


def _named(claim: Claim, asker: Holder, detail: Detail) -> bool:
    return detail is Detail.FULL or (detail is Detail.NAMESPACE and claim.spec.holder.namespace == asker.namespace)


def _owner(claim: Claim, asker: Holder, detail: Detail) -> str:
    owner = claim.spec.holder
    if _named(claim, asker, detail):
        return str(owner)
    return "another resource" if detail is Detail.NONE else f"a {owner.kind} in another namespace"
