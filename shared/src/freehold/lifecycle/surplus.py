"""What a resource holds of what it doesn't stand for any more. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from freehold.claims import Claim
from freehold.identity import Identity, Slot


@dataclass(frozen=True, slots=True)
class Surplus:
    """The claims of a resource to what it doesn't stand for.

    Attributes:
        idle: nothing is known of their objects: they are given up.
        filled: slots that may be filled: they are taken away.
        pinned: objects, or slots in another account: they keep it from standing for anything else.
    """

    idle: tuple[Claim, ...]
    filled: tuple[Claim, ...]
    pinned: tuple[Claim, ...]


def surplus_of(held: Sequence[Claim], identities: Sequence[Identity]) -> Surplus:
    """Sort the claims of a resource that are to none of its identities. Pure.

    Args:
        held: all its claims.
        identities: what it stands for, in one account.
    """
    wanted, accounts = {each.hash for each in identities}, {each.account for each in identities}
    others = [each for each in held if each.name not in wanted]
    telling = [each for each in others if each.spec.telling]
    filled = [each for each in telling if _is_slot_in(each, accounts)]
    return Surplus(
        idle=tuple(each for each in others if each not in telling),
        filled=tuple(filled),
        pinned=tuple(each for each in telling if each not in filled),
    )


def _is_slot_in(claim: Claim, accounts: Collection[str]) -> bool:
    identity = claim.spec.identity.identity
    return isinstance(identity.name, Slot) and identity.account in accounts
