"""What would keep Freehold itself from logging in. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable

from freehold.kinds.kind import Kind
from freehold.kinds.property import Target
from freehold.kinds.steps import Difference
from freehold.lifecycle.decision import Stop, told
from freehold.lifecycle.reasons import Reason


def by_update(
    kind: Kind, target: Target, differences: Iterable[Difference], user: str, fingerprint: str | None
) -> Stop | None:
    """What of an update would shut us out of the account, and with it out of mending that.

    Args:
        kind: the object's kind.
        target: the object.
        differences: what would be altered.
        user: stored name of the user whom its ProviderConfig logs in as.
        fingerprint: of the key that it does so with; None where it has none.
    """
    if kind.locks_out is None or target.parts[-1] != user:
        return None
    those = [each for each in differences if kind.locks_out(each, fingerprint)]
    if not those:
        return None
    remedy = "change how the ProviderConfig logs in first, or change the manifest back"
    message = f"{target}: {told(those)}. Freehold logs in as this user, and would lock itself out: {remedy}"
    return Stop(Reason.DESTRUCTIVE_CHANGE, message)


def by_drop(kind: Kind, target: Target, users: Container[str | None]) -> Stop | None:
    """A user that a ProviderConfig of its account logs in as is still needed, whoever's that is.

    Args:
        kind: the object's kind.
        target: the object.
        users: stored names of these users.
    """
    if kind.locks_out is None or target.parts[-1] not in users:
        return None
    message = f"a ProviderConfig logs in as {target}: have it log in as another user first, or delete it"
    return Stop(Reason.DELETE_BLOCKED, message, soon=True)
