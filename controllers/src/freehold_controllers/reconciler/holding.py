"""A claim in our hands during one pass. Each step of its life is one compare-and-set, so that no step is lost or done
twice, whoever else writes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from freehold.claim_contest import Held, acquire
from freehold.claim_rules import hand_over
from freehold.claim_store import ClaimStore
from freehold.claims import Claim, ClaimSpec, Evidence, Holder, Intent, Mark, Progress, new_claim
from freehold.identity import Identity, Name
from freehold.observation import Observation


class Holding:
    """A claim that this pass holds.

    Every method raises `freehold.kube.errors.Conflict` when somebody else changed the claim meanwhile.
    """

    def __init__(self, store: ClaimStore, claim: Claim) -> None:
        self._store = store
        self._claim = claim

    @property
    def spec(self) -> ClaimSpec:
        return self._claim.spec

    async def begin_attempt(self, now: datetime, within: timedelta, holds: str | None = None) -> None:
        """Mark that a CREATE is about to be sent.

        Args:
            now: Snowflake's time.
            within: how long from now on it may have an effect.
            holds: what it puts into a slot, as `fingerprint.put` tells.
        """
        earlier = self.spec.mark
        attempt, since = (earlier.attempt, earlier.since) if earlier else (0, None)
        unknown = earlier.holds if earlier and since else None
        await self._write(
            mark=Mark(
                attempt=attempt + 1, since=since or now, until=now + within, outcome="sent", holds=_with(unknown, holds)
            )
        )

    async def refuse_attempt(self, earlier: Mark | None) -> None:
        """Mark that the attempt just made has certainly made nothing; what is unknown of earlier ones stays unknown.

        Args:
            earlier: the mark as it was before the attempt.
        """
        attempt = self.spec.mark.attempt if self.spec.mark else 1
        unknown = earlier or Mark(attempt=0, outcome="refused")
        await self._write(mark=unknown.model_copy(update={"attempt": attempt, "outcome": "refused"}))

    async def record(
        self,
        how: Literal["created", "adopted"],
        seen: Observation,
        role: str,
        now: datetime,
        *,
        force_new: str | None = None,
        holds: str | None = None,
    ) -> None:
        """Write that the object is ours; all attempts are settled by that.

        Args:
            how: how it came to be ours.
            seen: the object.
            role: role that created or adopted it.
            now: Snowflake's time.
            force_new: the resource's order to recreate the object, which is carried out when this was created.
            holds: what is in a slot, as `fingerprint` tells.
        """
        attempt = self.spec.mark.attempt if self.spec.mark else 1
        carried_out = self.spec.evidence.force_new if self.spec.evidence else None
        # An order counts once: what is adopted in place of the object that was made for it is not to be dropped by it.
        done = force_new if how == "created" else carried_out
        evidence = Evidence(
            how=how, created_on=seen.created_on, role=role, time=now, force_new=done, holds=_with(None, holds)
        )
        await self._write(evidence=evidence, mark=Mark(attempt=attempt, outcome="done"), intent=None)

    async def refill(self, held: str | None, put: str | None) -> None:
        """Write that what is in a slot is about to be replaced by something else of ours.

        Args:
            held: what is in it.
            put: what it will be.
        """
        evidence = self.spec.evidence
        if evidence and put and put not in (evidence.holds or ()):
            await self._write(evidence=evidence.model_copy(update={"holds": _with(_with(None, held), put)}))

    async def refilled(self, held: str | None) -> None:
        """Write that whatever was to replace what a slot held did so, or was refused: only what it holds now is ours.

        Args:
            held: what is in it.
        """
        evidence = self.spec.evidence
        if evidence and evidence.holds and held in evidence.holds and len(evidence.holds) > 1:
            await self._write(evidence=evidence.model_copy(update={"holds": [held]}))

    @property
    def uid(self) -> str:
        """uid of the claim."""
        return self._claim.uid

    async def intend(self, statement: Literal["DROP", "RECREATE"], created_on: datetime) -> None:
        """Write that a DROP is about to be sent.

        Args:
            statement: whether it ends there, or another object is to be created under the same name.
            created_on: the incarnation that it is meant for.
        """
        await self._write(intent=Intent(statement=statement, created_on=created_on))

    async def withdraw(self) -> None:
        """Write that what was intended has certainly not happened."""
        await self._write(intent=None)

    async def beside(self, namespace_class: str, parts: tuple[str, ...]) -> Holding | None:
        """Hold another object of the same account for the same holder, until `give_up`.

        After a crash the claim binds nobody else once the grace is over, for its holder doesn't compute to it.

        Args:
            namespace_class: of the object.
            parts: its stored name parts.

        Returns:
            None when somebody else holds it, or may do so.
        """
        account = self.spec.identity.account
        holder = self.spec.holder.model_copy(update={"since": None})
        asked = new_claim(Identity(account.key, namespace_class, Name(parts)), account.name, holder)
        outcome = await acquire(self._store, asked)
        return Holding(self._store, outcome.claim) if isinstance(outcome, Held) else None

    async def suspend(self, names: tuple[str, ...]) -> None:
        """Write what is about to be suspended for a change, or that all of it runs again.

        Args:
            names: quoted names; none for the latter.
        """
        if names != (self.spec.suspended or ()):
            await self._write(suspended=names or None)

    async def progress(self, progress: Progress | None) -> None:
        """Write how far the statements of a text have come."""
        await self._write(progress=progress)

    async def record_run(self, evidence: Evidence) -> None:
        """Write that all statements have run, or that their effect was there and is adopted."""
        await self._write(evidence=evidence, progress=None)

    async def begin_anew(self) -> None:
        """Write that what has run was undone, so that it is run as if it had never been."""
        await self._write(evidence=None, intent=None, progress=Progress(purpose="execute"))

    async def hand_over(self, to: Holder) -> None:
        """Give the claim away with all that is known of the object: it is another resource's from now on.

        Args:
            to: the heir.
        """
        self._claim = await self._store.replace(self._claim, hand_over(self._claim, to, self._store.now()))

    async def give_up(self) -> None:
        """Delete the claim, exactly as it was read."""
        await self._store.delete(self._claim)

    async def _write(self, **changes: Evidence | Mark | Intent | Progress | tuple[str, ...] | None) -> None:
        self._claim = await self._store.replace(self._claim, self.spec.model_copy(update=changes))


def _with(holds: list[str] | None, further: str | None) -> list[str] | None:
    """Hashes of what may be in a slot, with one more."""
    return [*(holds or ()), further] if further and further not in (holds or ()) else holds
