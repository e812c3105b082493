"""What admission says, written for the person at kubectl: one line that ends in what to do."""

from __future__ import annotations

from freehold.claims import Account, ClaimSpec, Holder
from freehold.recreation import FORCE_NEW_ANNOTATION


def not_checked(asker: Holder, why: str) -> str:
    """What could not be checked.

    Args:
        asker: the resource that is applied.
        why: what is missing.
    """
    return f"not checked whether {asker} may own its object: {why}"


def not_there_yet(why: str) -> str:
    """What could not be checked of whatever refers to something. It doesn't name who does, for kubectl prints what is
    said in the same words once a command: a platform that is applied at once is warned of each thing that comes later.

    Args:
        why: what is missing, and from where.
    """
    return f"{why}; until that changes, what refers to it isn't checked"


def pinned(claim: ClaimSpec, account: Account) -> str:
    """What a resource owns in one account, and would leave behind there.

    Args:
        claim: its claim.
        account: the account that it is pointed to.
    """
    owned = claim.identity
    return (
        f"{claim.holder} owns {owned.fqn} in account {owned.account.name} ({owned.account.key}), and providerRef would "
        f"lead to account {account.name} ({account.key}): leave it as it is, or delete the resource and apply it again"
    )


def recreated(change: str) -> str:
    """What becomes of the object for the sake of a change that was ordered.

    Args:
        change: the change.
    """
    return f"{change}: the object is dropped and created again, as {FORCE_NEW_ANNOTATION} orders"
