"""The register of claims, as people look through it: reading, narrowing, showing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from freehold.claim_liveness import judge
from freehold.claim_rules import Liveness
from freehold.claim_store import ClaimStore
from freehold.claims import Claim, ClaimSpec
from freehold.cli import console

TOGETHER = 50
"""Claims that are judged at a time."""

_UNITS = (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("m", timedelta(minutes=1)))


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim, and whether it still binds.

    Attributes:
        claim: the claim.
        liveness: by the live rule; None where nobody asked.
    """

    claim: Claim
    liveness: Liveness | None = None

    def document(self) -> dict[str, Any]:
        """For programs: the claim's own spec, with its name, its creation and its liveness."""
        claim = self.claim
        facts = {
            "name": claim.name,
            "created": claim.created,
            **claim.spec.model_dump(by_alias=True, exclude_none=True),
        }
        return facts if self.liveness is None else {**facts, "liveness": self.liveness.value}


async def search(store: ClaimStore, wanted: Callable[[ClaimSpec], bool]) -> list[Claim]:
    """The claims that are wanted, by owner and name."""
    found: list[Claim] = []
    read = 0
    with console.err.status("reading claims") as status:
        async for page in store.pages():
            read += len(page)
            found += (claim for claim in page if wanted(claim.spec))
            status.update(f"{read:,} claims read, {len(found):,} found")
    return sorted(found, key=lambda claim: (claim.spec.holder.key, claim.spec.identity.fqn))


async def judged(store: ClaimStore, claims: Sequence[Claim]) -> list[Entry]:
    """Claims with their liveness, in the same order."""
    entries: list[Entry] = []
    with console.err.status("looking at holders") as status:
        for start in range(0, len(claims), TOGETHER):
            batch = claims[start : start + TOGETHER]
            entries += map(Entry, batch, await asyncio.gather(*(judge(store, claim) for claim in batch)))
            status.update(f"{len(entries):,} of {len(claims):,} holders looked at")
    return entries


def show_entries(entries: Sequence[Entry], now: datetime, output: console.Format) -> None:
    """Print claims.

    Args:
        entries: all of them judged, or none.
        now: the API server's time.
        output: how.
    """
    if output is console.Format.JSON:
        console.json([entry.document() for entry in entries])
    elif entries:
        judged_too = entries[0].liveness is not None
        headings = ("KIND", "OWNER", "ACCOUNT", "CLASS", "FQN", "EVIDENCE", "AGE")
        console.table((*headings, "LIVENESS") if judged_too else headings, [_row(entry, now) for entry in entries])


def _row(entry: Entry, now: datetime) -> tuple[str, ...]:
    spec, created = entry.claim.spec, entry.claim.created
    return (
        spec.holder.kind,
        spec.holder.owner,
        spec.identity.account.name,
        spec.identity.namespace_class,
        spec.identity.fqn,
        spec.evidence.how if spec.evidence else "",
        _age(now - created) if created else "",
        *((entry.liveness.value,) if entry.liveness else ()),
    )


def _age(past: timedelta) -> str:
    """How long ago, in the largest unit that fits, as kubectl's AGE."""
    return next((f"{past // each}{unit}" for unit, each in _UNITS if past >= each), f"{int(past.total_seconds())}s")
