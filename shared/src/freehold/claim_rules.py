"""When a claim binds, and what becomes of it when it changes hands. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum

from freehold.claims import Claim, ClaimSpec, Holder

GRACE = timedelta(seconds=90)
"""How long a claim lives without its holder: longer than a request can be in flight (60 s at the API server)."""
HAND_OVER_ANNOTATION = "freehold.dev/hand-over-to"
"""Annotation of a holder: namespace/name of the resource of its kind that it lets in."""
_HEIR = re.compile(r"([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)/([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)")


class Liveness(Enum):
    """Whether a claim still binds."""

    LIVE = "live"
    FREE = "free"
    UNKNOWN = "unknown"


def liveness(claim: Claim, now: datetime, *, holder_exists: bool | None, still_computes: bool | None) -> Liveness:
    """The live rule.

    Args:
        claim: as read from the API server.
        now: the API server's time.
        holder_exists: whether a GET of the holder's kind, namespace and name found an object (any uid); None when the
            answer is unknown.
        still_computes: whether that object still computes to the claim's identity; None when that is unknown.
    """
    since = claim.held_since
    if since is None or now - since < GRACE:
        return Liveness.LIVE
    if holder_exists is None:
        return Liveness.UNKNOWN
    if not holder_exists:
        return Liveness.FREE
    if claim.spec.evidence is not None or still_computes:
        # With evidence the holder may wait for IdentityChanged or a REVOKE: the object is still its own.
        return Liveness.LIVE
    return Liveness.UNKNOWN if still_computes is None else Liveness.FREE


def take(claim: Claim, asker: Holder, now: datetime) -> ClaimSpec:
    """The spec after a free claim was taken: evidence stays with the same holder and is cleared for another one.

    Args:
        claim: a claim that isn't live.
        asker: the resource that takes it.
        now: the API server's time.
    """
    taken = hand_over(claim, asker, now)
    if claim.spec.holder.same(asker):
        return taken
    return taken.model_copy(update={"evidence": None, "mark": None, "intent": None, "progress": None})


def heir(holder: Holder, annotations: Mapping[str, str]) -> Holder | None:
    """The resource that a holder lets in, whose uid isn't known yet; None when it lets nobody in.

    Args:
        holder: the holder.
        annotations: of its resource. A value that isn't exactly the namespace/name of another resource means nobody.
    """
    named = _HEIR.fullmatch(annotations.get(HAND_OVER_ANNOTATION, ""))
    if named is None or named[0] == holder.owner:
        return None
    return holder.model_copy(update={"namespace": named[1], "name": named[2], "uid": "", "since": None})


def hand_over(claim: Claim, to: Holder, now: datetime) -> ClaimSpec:
    """The spec after its holder gave a claim away: all that is known of the object goes along.

    Args:
        claim: a claim whose holder goes.
        to: its heir.
        now: the API server's time.
    """
    return claim.spec.model_copy(update={"holder": to.model_copy(update={"since": now})})


def sweepable(claim: Claim, live: Liveness) -> bool:
    """Whether a claim may be removed: it binds nobody, and nothing about its object is known or under way."""
    return live is Liveness.FREE and not claim.spec.telling
