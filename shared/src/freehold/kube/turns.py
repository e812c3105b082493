"""Turns among all processes of an installation: whoever holds the Lease of a name has the turn; its note is an
annotation.

A Lease that isn't renewed is taken over once it has expired by the API server's clock, as its answers tell it. That is
no proof that the former holder has come to its end: enough where two at a time do little harm.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from freehold.kube.backoff import jittered
from freehold.kube.client import Kube
from freehold.kube.errors import AlreadyExists, ApiError, Conflict, NotFound
from freehold.kube.objects import LEASES, Object
from freehold.kube.text import micro_time
from freehold.turns import Heed, LocalTurns, Turn

LABEL = "freehold.dev/turn"
"""Label of the Leases."""
NOTE = "freehold.dev/note"
"""Annotation with the note."""

KEPT = timedelta(days=1)
"""How long a Lease is kept that nobody takes."""

_PAUSE = timedelta(seconds=0.5)
"""Between two looks at a Lease that another process holds."""

_log = logging.getLogger(__name__)


class LeaseTurns:
    """Turns by Leases."""

    def __init__(self, kube: Kube, namespace: str, instance: str, duration: timedelta) -> None:
        """
        Args:
            kube: client.
            namespace: of the Leases.
            instance: this process for people, for example the pod's name.
            duration: whole seconds until others take over from a process that was lost in its turn.
        """
        self._kube = kube
        self._namespace = namespace
        self._identity = f"{instance}_{uuid4().hex[:8]}"
        self._duration = duration
        self._local = LocalTurns()

    @property
    def now(self) -> datetime:
        """The API server's time."""
        return self._kube.server_time

    @asynccontextmanager
    async def turn(self, name: str, heed: Heed) -> AsyncIterator[Turn]:
        """As `Turns.turn` has it.

        Raises:
            ApiError: no turn, for the API server doesn't answer.
        """
        async with self._local.turn(name, lambda _: None):
            turn = Turn(_note(await self._take(name, heed)))
            renewing = asyncio.create_task(self._renew(name))
            try:
                yield turn
            finally:
                renewing.cancel()
                await self._give_back(name, turn.note)

    async def note(self, name: str) -> str:
        """As `Turns.note` has it."""
        return _note(await self._read(name))

    async def sweeping(self) -> None:
        """Delete Leases that nobody needs any more, day after day, until cancelled."""
        while True:
            try:
                await self.sweep()
            except ApiError as error:
                _log.info("old Leases can't be looked for now: %s", error)
            await asyncio.sleep(KEPT.total_seconds())

    async def sweep(self) -> None:
        """Delete the Leases that nobody has taken for so long that their notes say nothing any more."""
        async for page in self._kube.list(LEASES, self._namespace, label_selector=LABEL):
            for lease in page.objects:
                if self.now - _renewed(lease) > KEPT:
                    with suppress(NotFound, Conflict):
                        version = lease.resource_version
                        await self._kube.delete(LEASES, lease.name, self._namespace, resource_version=version)

    async def _take(self, name: str, heed: Heed) -> Object | None:
        """Wait until the Lease is ours; answers with what it was before."""
        while True:
            lease = await self._read(name)
            heed(_note(lease))
            if lease is None or not self._is_held(lease):
                # Whoever writes first has the turn.
                with suppress(AlreadyExists, Conflict):
                    await self._hold(name, lease)
                    return lease
            await asyncio.sleep(jittered(_PAUSE))

    async def _renew(self, name: str) -> None:
        """Keep the Lease while the turn lasts, unless another process has taken it over."""
        while True:
            await asyncio.sleep(self._duration.total_seconds() / 3)
            with suppress(ApiError):
                lease = await self._read(name)
                if lease is None or not self._is_ours(lease):
                    return
                await self._hold(name, lease)

    async def _give_back(self, name: str, note: str) -> None:
        try:
            # Later than that it has ended by itself.
            async with asyncio.timeout(self._duration.total_seconds()):
                while (lease := await self._read(name)) is not None and self._is_ours(lease):
                    # The latest renewal may arrive in between, although it was given up.
                    with suppress(Conflict):
                        await self._write(lease, {**lease.spec, "holderIdentity": ""}, note)
                        return
        except (ApiError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            _log.warning("Lease %s can't be given back, and ends by itself: %s", _lease(name), why)

    async def _read(self, name: str) -> Object | None:
        try:
            return await self._kube.get(LEASES, _lease(name), self._namespace)
        except NotFound:
            return None

    async def _hold(self, name: str, lease: Object | None) -> None:
        spec = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": round(self._duration.total_seconds()),
            "renewTime": micro_time(self.now),
        }
        if lease is not None:
            await self._write(lease, spec, _note(lease))
            return
        metadata = {"name": _lease(name), "labels": {LABEL: ""}}
        body = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": spec}
        await self._kube.create(LEASES, body, self._namespace)

    async def _write(self, lease: Object, spec: dict[str, Any], note: str) -> None:
        metadata = {**lease.metadata, "annotations": {**lease.annotations, NOTE: note}}
        await self._kube.replace(LEASES, {**lease.raw, "metadata": metadata, "spec": spec})

    def _is_ours(self, lease: Object) -> bool:
        return bool(lease.spec.get("holderIdentity") == self._identity)

    def _is_held(self, lease: Object) -> bool:
        lasts = timedelta(seconds=int(lease.spec.get("leaseDurationSeconds") or 0))
        return bool(lease.spec.get("holderIdentity")) and self.now - _renewed(lease) <= lasts


def _lease(name: str) -> str:
    return f"freehold-{name}"


def _note(lease: Object | None) -> str:
    return lease.annotations.get(NOTE, "") if lease is not None else ""


def _renewed(lease: Object) -> datetime:
    """When its holder was last there; a Lease that doesn't tell, as nobody of us leaves it, is of no use since ever."""
    return datetime.fromisoformat(str(lease.spec.get("renewTime") or "1970-01-01T00:00:00Z"))
