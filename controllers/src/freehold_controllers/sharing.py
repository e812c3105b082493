"""Budgets shared over processes: what a member has to tell the others goes with the renewal of its Lease, and what they
have told is seen in the live copy of theirs. Nothing is written or read for its own sake.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from pydantic import ValidationError

from freehold.kube.lease import NEVER, Lease, Sightings, monotonic
from freehold.kube.objects import LEASES, Key, Object
from freehold.snowflake.budget import Budgets
from freehold.snowflake.shares import Announcement, Shares
from freehold_controllers.runtime.watches import Wake

SHARES_ANNOTATION = "freehold.dev/budget-shares"
"""Annotation of a Lease: what its holder wants and may use of accounts' budgets, as `shares.Announcement` in JSON."""


class Sharing:
    """This process among the members of all domains, as far as budgets are concerned.

    Whether another member has come to its end is judged like the end of any Lease, by our own clock, but from a live
    copy, which may be behind: it shows all that was written before the latest of our own renewals that it shows.

    Attributes:
        budgets: what holds statements of this process back.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """
        Args:
            clock: that of the Leases.
        """
        self._shares = Shares()
        self.budgets = Budgets(self._shares.of)
        self._demands: Mapping[str, int] = {}
        self._mine: Lease | None = None
        self._seen: dict[Key, tuple[Object, Announcement]] = {}
        self._sightings = Sightings(clock)
        self._as_of = NEVER
        self._listening = False

    def note(self, _before: Object | None, after: Object | None) -> Iterable[Wake]:
        """Take in a change of a Lease. One that is deleted counts until it expires: its holder may not know yet."""
        if after is not None and (announcement := _announced(after)):
            self._seen[after.key] = after, announcement
            if not self._listening:
                self._listening = True
                # A list tells of one Lease after the other; they count as of one moment.
                asyncio.get_running_loop().call_soon(self._listen)
        return ()

    def tell(self, lease: Lease) -> Mapping[str, str]:
        """The annotations of our Lease, from its next renewal on."""
        self._mine = lease
        if lease.expires < lease.clock():
            self._shares.begin()
        self._demands = self.budgets.demands()
        self._listen()
        return {SHARES_ANNOTATION: self._shares.announced.model_dump_json()}

    def _listen(self) -> None:
        self._listening = False
        if self._mine is not None:
            self._shares.hear(self._heard(self._mine), self._demands, self._others(self._mine))
            self.budgets.resize()

    def _heard(self, mine: Lease) -> int | None:
        """The revision of our announcement that the others can see."""
        lease, announcement = self._seen.get(_key(mine), (None, None))
        if lease is None or announcement is None or lease.spec.get("holderIdentity") != mine.identity:
            return None
        if lease.resource_version == mine.renewed:
            self._as_of = mine.expires - mine.duration.total_seconds()
        return announcement.revision

    def _others(self, mine: Lease) -> list[Announcement]:
        for lease, _ in list(self._seen.values()):
            gone = not lease.spec.get("holderIdentity") or self._sightings.expired(lease, as_of=self._as_of)
            if gone and lease.key != _key(mine):
                del self._seen[lease.key]
        return [announcement for lease, announcement in self._seen.values() if lease.key != _key(mine)]


def _key(mine: Lease) -> Key:
    return Key(LEASES.kind, mine.namespace, mine.name)


def _announced(lease: Object) -> Announcement | None:
    """What the holder of a Lease tells; None where it is no member's."""
    try:
        return Announcement.model_validate_json(lease.annotations.get(SHARES_ANNOTATION, ""))
    except ValidationError:
        return None
