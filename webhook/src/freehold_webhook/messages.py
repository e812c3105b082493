"""What admission says, written for the person at kubectl: one line that ends in what to do."""

from __future__ import annotations

import json

from freehold.claims import Claim, Holder
from freehold.kinds.fields import SpecField


def not_checked(asker: Holder, why: str) -> str:
    """What could not be checked.

    Args:
        asker: the resource that is applied.
        why: what is missing.
    """
    return f"not checked whether {asker} may own its object: {why}"


def owned(claim: Claim, asker: Holder) -> str:
    """Why an object can't be had. Its owner is named only to those in the same namespace.

    Args:
        claim: the owner's claim.
        asker: the resource that is applied.
    """
    owner, claimed = claim.spec.holder, claim.spec.identity
    taken = f"{asker.kind} {claimed.fqn} in account {claimed.account.name} is owned by"
    if owner.namespace == asker.namespace:
        return (
            f"{taken} {owner}: choose another name, or delete that resource first "
            "(its deletionPolicy says what becomes of the object)"
        )
    return f"{taken} a {owner.kind} in another namespace: choose another name, or ask its owner to give it up"


def contested(claim: Claim, why: str) -> str:
    """Why it isn't known whether an object can be had.

    Args:
        claim: somebody's claim.
        why: what isn't known about it.
    """
    return f"{claim.spec.identity.fqn} in account {claim.spec.identity.account.name} is claimed already, and {why}"


def immutable(field: SpecField, before: object, after: object) -> str:
    """Why a field can't be changed.

    Args:
        field: the field.
        before: its value; None when it isn't set.
        after: what it should become.
    """
    return (
        f"spec.{field.name} can't change from {_shown(before)} to {_shown(after)}: the object would have to be dropped "
        f"and created again. Put {_shown(before)} back, or delete the resource and apply it anew"
    )


def _shown(value: object) -> str:
    return "unset" if value is None else json.dumps(value, default=str, ensure_ascii=False)
