"""The steps of a claim's life: what a crash after each of them leaves behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from freehold.claim_store import ClaimStore
from freehold.claims import Holder, Mark, new_claim
from freehold.identity import Identity, Name
from freehold.kube.errors import Conflict
from freehold.observation import Observation
from freehold_controllers.reconciler.holding import Holding
from tests.harness.memory import MemoryKube

EARLY = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATE = EARLY + timedelta(minutes=1)
WITHIN = timedelta(minutes=11)
IDENTITY = Identity("R.A", "DATABASE", Name(("D",)))


@pytest.fixture
def store() -> ClaimStore:
    return ClaimStore(MemoryKube())


@pytest.fixture
async def holding(store: ClaimStore) -> Holding:
    holder = Holder(group="snowflake.freehold.dev", kind="Database", namespace="n", name="db", uid="u")
    return Holding(store, await store.create(new_claim(IDENTITY, "O.A", holder)))


async def test_an_attempt_is_unknown_until_its_outcome_is_written(holding: Holding) -> None:
    await holding.begin_attempt(EARLY, WITHIN)
    assert holding.spec.mark == Mark(attempt=1, since=EARLY, until=EARLY + WITHIN, outcome="sent")


async def test_what_is_unknown_lasts_from_the_oldest_attempt_to_the_end_of_the_latest(holding: Holding) -> None:
    await holding.begin_attempt(EARLY, WITHIN)
    await holding.begin_attempt(LATE, WITHIN)
    assert holding.spec.mark == Mark(attempt=2, since=EARLY, until=LATE + WITHIN, outcome="sent")


async def test_a_refused_attempt_leaves_nothing_unknown(holding: Holding) -> None:
    before = holding.spec.mark
    await holding.begin_attempt(EARLY, WITHIN)
    await holding.refuse_attempt(before)
    assert holding.spec.mark == Mark(attempt=1, outcome="refused")
    assert not holding.spec.unsettled


async def test_a_refused_attempt_does_not_settle_an_earlier_one(holding: Holding) -> None:
    await holding.begin_attempt(EARLY, WITHIN)
    before = holding.spec.mark
    await holding.begin_attempt(LATE, WITHIN)
    await holding.refuse_attempt(before)
    assert holding.spec.mark == Mark(attempt=2, since=EARLY, until=EARLY + WITHIN, outcome="refused")


async def test_evidence_settles_everything_in_one_step(holding: Holding, store: ClaimStore) -> None:
    await holding.begin_attempt(EARLY, WITHIN)
    await holding.intend("DROP", EARLY)
    await holding.record("created", Observation({"created_on": LATE}), "R", LATE)
    stored = await store.read(IDENTITY.hash)
    assert stored is not None
    assert stored.spec.evidence is not None
    assert stored.spec.evidence.created_on == LATE
    assert stored.spec.mark == Mark(attempt=1, outcome="done")
    assert not stored.spec.unsettled


async def test_who_is_behind_writes_nothing(holding: Holding, store: ClaimStore) -> None:
    claim = await store.read(IDENTITY.hash)
    assert claim is not None
    await holding.begin_attempt(EARLY, WITHIN)
    with pytest.raises(Conflict):
        await Holding(store, claim).begin_attempt(LATE, WITHIN)
    with pytest.raises(Conflict):
        await Holding(store, claim).give_up()
