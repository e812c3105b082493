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
IDENTITY = Identity("R.A", "DATABASE", Name(("D",)))


@pytest.fixture
def store() -> ClaimStore:
    return ClaimStore(MemoryKube())


@pytest.fixture
async def holding(store: ClaimStore) -> Holding:
    holder = Holder(group="snowflake.freehold.dev", kind="Database", namespace="n", name="db", uid="u")
    return Holding(store, await store.create(new_claim(IDENTITY, "O.A", holder)))


async def test_an_attempt_is_unknown_until_its_outcome_is_written(holding: Holding) -> None:
    await holding.begin_attempt(EARLY)
    assert holding.spec.mark == Mark(attempt=1, since=EARLY, outcome="sent")


async def test_the_oldest_unknown_attempt_counts(holding: Holding) -> None:
    await holding.begin_attempt(EARLY)
    await holding.begin_attempt(LATE)
    assert holding.spec.mark == Mark(attempt=2, since=EARLY, outcome="sent")


async def test_a_refused_attempt_leaves_nothing_unknown(holding: Holding) -> None:
    before = holding.spec.mark
    await holding.begin_attempt(EARLY)
    await holding.refuse_attempt(before)
    assert holding.spec.mark == Mark(attempt=1, outcome="refused")
    assert not holding.spec.unsettled


async def test_a_refused_attempt_does_not_settle_an_earlier_one(holding: Holding) -> None:
    await holding.begin_attempt(EARLY)
    before = holding.spec.mark
    await holding.begin_attempt(LATE)
    await holding.refuse_attempt(before)
    assert holding.spec.mark == Mark(attempt=2, since=EARLY, outcome="refused")


async def test_evidence_settles_everything_in_one_step(holding: Holding, store: ClaimStore) -> None:
    await holding.begin_attempt(EARLY)
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
    await holding.begin_attempt(EARLY)
    with pytest.raises(Conflict):
        await Holding(store, claim).begin_attempt(LATE)
    with pytest.raises(Conflict):
        await Holding(store, claim).give_up()
