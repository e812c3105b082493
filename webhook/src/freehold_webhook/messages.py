"""What admission says, written for the person at kubectl: one line that ends in what to do."""

from __future__ import annotations

from freehold.claims import Holder
from freehold.recreation import FORCE_NEW_ANNOTATION


def not_checked(asker: Holder, why: str) -> str:
    """What could not be checked.

    Args:
        asker: the resource that is applied.
        why: what is missing.
    """
    return f"not checked whether {asker} may own its object: {why}"


def recreated(change: str) -> str:
    """What becomes of the object for the sake of a change that was ordered.

    Args:
        change: the change.
    """
    return f"{change}: the object is dropped and created again, as {FORCE_NEW_ANNOTATION} orders"
