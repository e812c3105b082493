"""A Lease: which process holds a role, by compare-and-set on one object.

Times written into the Lease are for people. Whether a foreign holder is gone is judged by our own monotonic clock,
since we last saw the Lease change; whether we hold it ourselves, by our own clock since before we sent the renewal.
So clocks that differ between machines, or jump, do no harm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from freehold.kube.client import Kube
from freehold.kube.errors import AlreadyExists, Conflict, NotFound
from freehold.kube.objects import LEASES, Key, Object
from freehold.kube.text import micro_time

NEVER = float("-inf")


def monotonic() -> float:
    """Seconds of a clock that never goes back and, unlike time.monotonic(), goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Sightings:
    """Since when Leases haven't changed, while we looked."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """
        Args:
            clock: monotonic seconds.
        """
        self._clock = clock
        self._seen: dict[Key, tuple[str, float]] = {}

    def expired(self, lease: Object, *, as_of: float | None = None) -> bool:
        """Whether a foreign holder hasn't renewed a Lease for its duration.

        Args:
            lease: as it was read.
            as_of: when it certainly still was like this, by our clock; now by default: it was just read.
        """
        now = self._clock()
        version, since = self._seen.get(lease.key, ("", now))
        if lease.resource_version != version:
            since = now
            self._seen[lease.key] = lease.resource_version, since
        return (now if as_of is None else as_of) - since > float(lease.spec.get("leaseDurationSeconds") or 0)


Annotations = Callable[["Lease"], Mapping[str, str]]
"""What a Lease that is ours is to say, asked right before each renewal."""


class Lease:
    """One Lease, seen by one process that holds it or wants to.

    Attributes:
        namespace: of the Lease.
        name: its own.
        identity: of this process, unlike that of any other, earlier ones included.
        duration: how long others wait after the last renewal before they take it.
        expires: when others may take it from us, by our `clock`; the past when it isn't ours.
        renewed: the resource version of our latest renewal; empty before the first one.
    """

    def __init__(
        self,
        kube: Kube,
        namespace: str,
        name: str,
        identity: str,
        duration: timedelta,
        *,
        annotations: Annotations = lambda _: {},
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """
        Args:
            kube: client.
            namespace: of the Lease.
            name: of the Lease.
            identity: of this process, unlike that of any other, earlier ones included.
            duration: whole seconds, the same in all processes.
            annotations: that it is to have from the next renewal on.
            clock: monotonic seconds.
        """
        self.name = name
        self.identity = identity
        self.duration = duration
        self.clock = clock
        self.expires = NEVER
        self.renewed = ""
        self._kube = kube
        self.namespace = namespace
        self._annotations = annotations
        self._sightings = Sightings(clock)
        self._ours_from = NEVER

    async def acquire(self) -> bool:
        """Take the Lease, or renew it when it is ours: one attempt.

        Returns:
            Whether it is ours now.

        Raises:
            ApiError: the answer is unknown; `expires` still holds.
        """
        begun = self.clock()
        try:
            held = await self._attempt()
        except (AlreadyExists, Conflict):
            # Somebody else wrote, or a write of ours succeeded although its answer was lost: the next look tells.
            return self.expires > self.clock()
        held = held and begun >= self._ours_from
        self.expires = begun + self.duration.total_seconds() if held else NEVER
        return held

    async def release(self) -> None:
        """Give the Lease up if it is ours, so that another process may take it at once.

        Raises:
            ApiError: it could not be given up, and ends by itself.
        """
        self.expires = NEVER
        lease = await self._kube.get(LEASES, self.name, self.namespace)
        if lease.spec.get("holderIdentity") == self.identity:
            await self._kube.replace(LEASES, {**lease.raw, "spec": {**lease.spec, "holderIdentity": ""}})

    async def _attempt(self) -> bool:
        try:
            lease = await self._kube.get(LEASES, self.name, self.namespace)
        except NotFound:
            metadata = {"name": self.name, "annotations": dict(self._annotations(self))}
            body = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata}
            created = await self._kube.create(LEASES, {**body, "spec": self._held({})}, self.namespace)
            self.renewed = created.resource_version
            if self.expires < self.clock():
                # The Lease may have been deleted under a holder who still trusts in it: outwait that one.
                self._ours_from = self.clock() + self.duration.total_seconds()
            return True
        if lease.spec.get("holderIdentity") not in (None, "", self.identity) and not self._sightings.expired(lease):
            return False
        metadata = {**lease.metadata, "annotations": {**lease.annotations, **self._annotations(self)}}
        held = await self._kube.replace(LEASES, {**lease.raw, "metadata": metadata, "spec": self._held(lease.spec)})
        self.renewed = held.resource_version
        return True

    def _held(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """The spec with us as the holder."""
        now = micro_time(datetime.now(UTC))
        ours = before.get("holderIdentity") == self.identity
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": round(self.duration.total_seconds()),
            "acquireTime": before.get("acquireTime", now) if ours else now,
            "renewTime": now,
            "leaseTransitions": int(before.get("leaseTransitions") or 0) + (0 if ours or not before else 1),
        }
