"""The contest for a claim: who gets it, who is refused, and what is written."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from freehold import slots
from freehold.claim_contest import Awaiting, Held, How, Refused, Undecided, acquire, acquire_all
from freehold.claim_liveness import judge, sweep
from freehold.claim_rules import GRACE, HAND_OVER_ANNOTATION, Liveness, hand_over
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM, OWNER_ANNOTATION, Claim, Evidence, Holder, Mark, new_claim
from freehold.identity import Identity, Name
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.registry import KINDS
from freehold.kube.errors import AlreadyExists, Conflict, Forbidden, NotFound, Unavailable
from freehold.kube.objects import Object
from tests.harness.memory import MemoryKube

DATABASES = KINDS["Database"].resource.path
IDENTITY = Identity("AWS_EU_CENTRAL_1.AB12345", "DATABASE", Name(("ANALYTICS",)))
OTHER = Identity("AWS_EU_CENTRAL_1.AB12345", "DATABASE", Name(("OTHER",)))
LONG = GRACE + timedelta(seconds=1)


@pytest.fixture
def kube() -> MemoryKube:
    """An API server with a verified ProviderConfig in the namespaces a and b."""
    kube = MemoryKube()
    for namespace in ("a", "b"):
        kube.put(
            PROVIDER_CONFIG.path,
            "default",
            namespace,
            spec={"authenticationType": "KeyPair"},
            status={"account": {"key": IDENTITY.account, "name": "ACME.PROD"}},
        )
    return kube


def holder(namespace: str, name: str = "analytics") -> Holder:
    return Holder(group=DATABASES.group, kind="Database", namespace=namespace, name=name, uid="1")


def asked(namespace: str, identity: Identity = IDENTITY) -> Claim:
    return new_claim(identity, "ACME.PROD", holder(namespace))


def apply(kube: MemoryKube, namespace: str, database: str = "ANALYTICS", **spec: Any) -> None:
    kube.put(DATABASES, "analytics", namespace, spec={"name": database, **spec})


def offer(kube: MemoryKube, to: str, namespace: str = "a") -> None:
    """Apply the Database in a namespace with the annotation that hands it over."""
    kube.put(
        DATABASES,
        "analytics",
        namespace,
        metadata={"annotations": {HAND_OVER_ANNOTATION: to}},
        spec={"name": "ANALYTICS"},
    )


async def give_evidence(store: ClaimStore, identity: Identity = IDENTITY) -> Evidence:
    claim = await store.read(identity.hash)
    assert claim is not None
    now = store.now()
    evidence = Evidence(how="created", created_on=now, role="R", time=now)
    await store.replace(claim, claim.spec.model_copy(update={"evidence": evidence}))
    return evidence


async def test_who_asks_first_holds_it_and_the_next_one_is_refused(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    first = await acquire(store, asked("a"))
    second = await acquire(store, asked("b"))
    assert isinstance(first, Held)
    assert first.how is How.CREATED
    assert isinstance(second, Refused)
    assert second.claim.spec.holder.same(holder("a"))


async def test_a_claim_is_stored_under_the_hash_and_found_by_its_holder(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    assert [claim.name for claim in await store.of_holder(holder("a"))] == [IDENTITY.hash]
    assert await store.of_holder(holder("b")) == ()


async def test_a_live_claim_is_refused_long_after_and_nothing_is_written(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    apply(kube, "a")
    await acquire(store, asked("a"))
    kube.advance(LONG)
    kube.writes.clear()
    assert isinstance(await acquire(store, asked("b")), Refused)
    assert kube.writes == []


async def test_a_claim_whose_holder_never_came_is_taken_after_the_grace(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    assert isinstance(await acquire(store, asked("b")), Refused)
    kube.advance(LONG)
    outcome = await acquire(store, asked("b"))
    assert isinstance(outcome, Held)
    assert outcome.how is How.TAKEN
    assert outcome.claim.spec.holder.same(holder("b"))
    assert [claim.name for claim in await store.of_holder(holder("b"))] == [IDENTITY.hash]


async def test_whoever_takes_a_claim_has_the_grace_for_himself(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    kube.advance(LONG)
    await acquire(store, asked("b"))
    assert isinstance(await acquire(store, asked("a")), Refused)


async def test_a_holder_that_became_something_else_frees_a_claim_without_evidence(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    apply(kube, "a", "RENAMED")
    kube.advance(LONG)
    assert isinstance(await acquire(store, asked("b")), Held)


async def test_a_holder_that_only_observes_frees_a_claim_without_evidence(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    apply(kube, "a", managementPolicies={"observeOnly": True})
    kube.advance(LONG)
    assert isinstance(await acquire(store, asked("b")), Held)


async def test_evidence_binds_even_a_holder_that_became_something_else(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    await give_evidence(store)
    apply(kube, "a", "RENAMED")
    kube.advance(LONG)
    assert isinstance(await acquire(store, asked("b")), Refused)


async def test_a_holder_that_is_applied_again_keeps_its_evidence(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    evidence = await give_evidence(store)
    kube.advance(LONG)
    outcome = await acquire(store, asked("a"))
    assert isinstance(outcome, Held)
    assert outcome.claim.spec.evidence == evidence


async def test_a_holder_that_is_applied_again_has_the_grace_anew(kube: MemoryKube) -> None:
    """Or another one could take the claim while the first one's request is still in flight."""
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    kube.advance(LONG)
    await acquire(store, asked("a"))
    assert isinstance(await acquire(store, asked("b")), Refused)


async def test_another_holder_starts_without_evidence(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    await give_evidence(store)
    kube.advance(LONG)
    outcome = await acquire(store, asked("b"))
    assert isinstance(outcome, Held)
    assert outcome.claim.spec.evidence is None


def _two_constraints() -> list[Identity]:
    """Two types of constraint, which are one place."""
    return [
        Identity(IDENTITY.account, "CONSTRAINT", slots.constraint(type_, "K", slots.of("TABLE", "D", "S", "T")))
        for type_ in ("PRIMARY KEY", "UNIQUE")
    ]


@pytest.mark.parametrize("asker", ["a", "b"])
async def test_what_is_spelt_otherwise_has_a_claim_of_its_own_spelling(kube: MemoryKube, asker: str) -> None:
    primary, unique = _two_constraints()
    store = ClaimStore(kube)
    await acquire(store, asked("a", primary))
    kube.advance(LONG)
    outcome = await acquire(store, asked(asker, unique))
    assert isinstance(outcome, Held)
    assert outcome.claim.spec.identity.fqn == 'UNIQUE "K" ON TABLE "D"."S"."T"'
    assert outcome.claim == await store.read(primary.hash)
    assert outcome.claim.spec.holder.same(holder(asker))


async def test_who_may_not_delete_a_claim_takes_it_as_it_is_spelt(kube: MemoryKube) -> None:
    primary, unique = _two_constraints()
    store = ClaimStore(kube)
    await acquire(store, asked("a", primary))
    kube.advance(LONG)

    def refuse(verb: str, _plural: str, _name: str) -> None:
        if verb == "delete":
            raise Forbidden(403, "Forbidden", "no")

    kube.before = refuse
    outcome = await acquire(store, asked("b", unique))
    assert isinstance(outcome, Held)
    assert (outcome.how, outcome.claim.spec.identity.fqn) == (How.TAKEN, primary.fqn)


async def test_evidence_stays_with_its_holder_however_the_same_place_is_spelt(kube: MemoryKube) -> None:
    table, view = (
        Identity(IDENTITY.account, "GRANT", slots.grant("SELECT", slots.of(word, "D", "S", "T"), slots.of("ROLE", "R")))
        for word in ("TABLE", "VIEW")
    )
    store = ClaimStore(kube)
    await acquire(store, asked("a", table))
    evidence = await give_evidence(store, table)
    outcome = await acquire(store, asked("a", view))
    assert isinstance(outcome, Held)
    assert (outcome.claim.spec.evidence, outcome.claim.spec.identity.fqn) == (evidence, table.fqn)


async def test_a_present_holder_that_asks_again_writes_nothing(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    apply(kube, "a")
    kube.writes.clear()
    outcome = await acquire(store, asked("a"))
    assert isinstance(outcome, Held)
    assert outcome.how is How.KEPT
    assert kube.writes == []


@pytest.mark.parametrize(
    "error", [Unavailable(0, "", "no answer"), Forbidden(403, "Forbidden", "no right to read databases")]
)
async def test_nothing_is_taken_while_the_holder_cannot_be_read(kube: MemoryKube, error: Exception) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    kube.advance(LONG)

    def fail(verb: str, plural: str, _name: str) -> None:
        if (verb, plural) == ("get", "databases"):
            raise error

    kube.before = fail
    kube.writes.clear()
    assert isinstance(await acquire(store, asked("b")), Undecided)
    assert kube.writes == []


async def test_nothing_is_taken_while_the_holders_account_is_not_known(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    apply(kube, "a")
    kube.remove(PROVIDER_CONFIG.path, "default", "a")
    kube.advance(LONG)
    assert isinstance(await acquire(store, asked("b")), Undecided)


async def test_of_two_that_take_a_free_claim_one_is_refused(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    kube.advance(LONG)

    def overtake(verb: str, plural: str, name: str) -> None:
        if verb == "replace":
            kube.before = lambda *_: None
            stored = kube.objects[plural, "", name]
            now = kube.clock.isoformat()
            stored["spec"]["holder"] = {**stored["spec"]["holder"], "namespace": "c", "since": now}
            stored["metadata"]["resourceVersion"] = "overtaken"

    kube.before = overtake
    outcome = await acquire(store, asked("b"))
    assert isinstance(outcome, Refused)
    assert outcome.claim.spec.holder.namespace == "c"


async def test_a_claim_that_goes_while_it_is_looked_at_is_asked_for_again(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))

    def vanish(verb: str, plural: str, name: str) -> None:
        if (verb, plural) == ("get", "claims"):
            kube.before = lambda *_: None
            kube.remove(CLAIM.path, name)

    kube.before = vanish
    outcome = await acquire(store, asked("b"))
    assert isinstance(outcome, Held)
    assert outcome.how is How.CREATED


async def test_a_claim_that_never_keeps_still_is_undecided(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    kube.advance(LONG)

    def conflict(verb: str, _plural: str, _name: str) -> None:
        if verb == "replace":
            raise Conflict(409, "Conflict", "modified")

    kube.before = conflict
    assert isinstance(await acquire(store, asked("b")), Undecided)


@pytest.mark.parametrize("wait", [timedelta(), LONG])
async def test_a_dry_run_answers_the_same_and_writes_nothing(kube: MemoryKube, wait: timedelta) -> None:
    store = ClaimStore(kube)
    assert isinstance(await acquire(store, asked("a"), dry_run=True), Held)
    assert kube.writes == []
    await acquire(store, asked("a"))
    kube.advance(wait)
    kube.writes.clear()
    dry = await acquire(store, asked("b"), dry_run=True)
    assert kube.writes == []
    assert type(dry) is type(await acquire(store, asked("b")))


@pytest.mark.parametrize("wait", [timedelta(), LONG])
@pytest.mark.parametrize("dry_run", [False, True])
async def test_an_heir_waits_for_the_holder_to_go(kube: MemoryKube, wait: timedelta, *, dry_run: bool) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    offer(kube, "b/analytics")
    kube.advance(wait)
    kube.writes.clear()
    outcome = await acquire(store, asked("b"), dry_run=dry_run)
    assert isinstance(outcome, Awaiting)
    assert outcome.claim.spec.holder.same(holder("a"))
    assert kube.writes == []


@pytest.mark.parametrize("to", ["b", "b/other", "c/analytics", "b/analytics/", "*/*", "a/analytics"])
async def test_only_the_heir_is_let_in(kube: MemoryKube, to: str) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    offer(kube, to)
    assert isinstance(await acquire(store, asked("b")), Refused)


async def test_an_heir_is_of_the_holders_kind(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    offer(kube, "b/analytics")
    imposter = holder("b").model_copy(update={"kind": "Schema"})
    assert isinstance(await acquire(store, new_claim(IDENTITY, "ACME.PROD", imposter)), Refused)


async def test_what_was_handed_over_is_the_heirs_with_its_evidence(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    evidence = await give_evidence(store)
    apply(kube, "b")
    current = await store.read(IDENTITY.hash)
    assert current is not None
    await store.replace(current, hand_over(current, holder("b"), store.now()))
    kube.advance(LONG)
    outcome = await acquire(store, asked("b"))
    assert isinstance(outcome, Held)
    assert (outcome.how, outcome.claim.spec.evidence) == (How.KEPT, evidence)
    assert isinstance(await acquire(store, asked("a")), Refused)
    assert [claim.name for claim in await store.of_holder(holder("b"))] == [IDENTITY.hash]


async def test_the_owner_that_people_see_is_the_holder_at_every_step(kube: MemoryKube) -> None:
    store = ClaimStore(kube)

    def shown() -> str:
        return str(kube.objects["claims", "", IDENTITY.hash]["metadata"]["annotations"][OWNER_ANNOTATION])

    await acquire(store, asked("a"))
    assert shown() == "a/analytics"
    kube.advance(LONG)
    await acquire(store, asked("b"))
    assert shown() == "b/analytics"


async def test_nothing_is_taken_from_a_holder_of_another_group(kube: MemoryKube) -> None:
    """Its kind may have the name of one of ours."""
    store = ClaimStore(kube)
    stranger = holder("a").model_copy(update={"group": "postgres.freehold.dev"})
    await acquire(store, new_claim(IDENTITY, "ACME.PROD", stranger))
    kube.advance(LONG)
    assert isinstance(await acquire(store, asked("b")), Undecided)


async def test_a_claim_that_binds_nobody_is_swept(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    assert not await sweep(store, IDENTITY.hash)
    kube.advance(LONG)
    assert await sweep(store, IDENTITY.hash)
    assert not await sweep(store, IDENTITY.hash)
    assert await store.read(IDENTITY.hash) is None


async def test_a_claim_stays_while_its_holder_lives_or_its_object_may_exist(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    apply(kube, "a")
    kube.advance(LONG)
    assert not await sweep(store, IDENTITY.hash)
    kube.remove(DATABASES, "analytics", "a")
    claim = await store.read(IDENTITY.hash)
    assert claim is not None
    await store.replace(
        claim, claim.spec.model_copy(update={"mark": Mark(attempt=1, since=kube.clock, outcome="sent")})
    )
    assert not await sweep(store, IDENTITY.hash)
    await give_evidence(store)
    assert not await sweep(store, IDENTITY.hash)
    claim = await store.read(IDENTITY.hash)
    assert claim is not None
    assert await judge(store, claim) is Liveness.FREE


async def test_a_claim_that_is_taken_while_it_is_swept_stays(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    kube.advance(LONG)

    def overtake(verb: str, _plural: str, name: str) -> None:
        if verb == "delete":
            kube.objects["claims", "", name]["metadata"]["resourceVersion"] = "overtaken"

    kube.before = overtake
    assert not await sweep(store, IDENTITY.hash)
    assert await store.read(IDENTITY.hash) is not None


async def test_of_several_claims_one_may_be_waited_for(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("a"))
    offer(kube, "b/analytics")
    outcomes = await acquire_all(store, [asked("b"), asked("b", OTHER)])
    assert isinstance(outcomes, tuple)
    assert {type(each) for each in outcomes} == {Held, Awaiting}
    assert await store.read(OTHER.hash) is not None


@pytest.mark.parametrize(
    "failure", [asyncio.CancelledError(), Unavailable(0, "", "no answer"), Forbidden(403, "Forbidden", "no right")]
)
async def test_what_was_claimed_before_a_failure_is_given_back(kube: MemoryKube, failure: BaseException) -> None:
    store = ClaimStore(kube)
    first, second = sorted([IDENTITY, OTHER])

    def fail(verb: str, _plural: str, name: str) -> None:
        if (verb, name) == ("create", second.hash):
            raise failure

    kube.before = fail
    with pytest.raises(type(failure)):
        await acquire_all(store, [asked("a", second), asked("a", first)])
    assert await store.read(first.hash) is None


class Stuck(MemoryKube):
    """An API server that stops answering: the second creation, and every deletion if one says so."""

    deletes = True

    async def create(self, *args: Any, **options: Any) -> Object:
        if any(verb == "create" for verb, _, _ in self.writes):
            await asyncio.Event().wait()
        return await super().create(*args, **options)

    async def delete(self, *args: Any, **options: Any) -> None:
        if not self.deletes:
            await asyncio.Event().wait()
        await super().delete(*args, **options)


@pytest.mark.parametrize("deletes", [True, False])
async def test_who_runs_out_of_time_gives_back_what_he_has_and_does_not_wait_for_ever(
    monkeypatch: pytest.MonkeyPatch, *, deletes: bool
) -> None:
    monkeypatch.setattr("freehold.claim_contest.ROLLBACK", 0.05)
    kube = Stuck()
    kube.deletes = deletes
    store = ClaimStore(kube)
    first, second = sorted([IDENTITY, OTHER])
    async with asyncio.timeout(10):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await acquire_all(store, [asked("a", second), asked("a", first)])
    assert (await store.read(first.hash) is None) is deletes
    assert await store.read(second.hash) is None


async def test_what_cannot_be_given_back_binds_nobody_after_the_grace(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    first, second = sorted([IDENTITY, OTHER])

    def fail(verb: str, _plural: str, name: str) -> None:
        if verb == "delete":
            raise Unavailable(0, "", "no answer")
        if (verb, name) == ("create", second.hash):
            raise AlreadyExists(
                409, "AlreadyExists", "taken since it was looked at, and given back before the next look"
            )

    kube.before = fail
    assert isinstance(await acquire_all(store, [asked("a", first), asked("a", second)]), Undecided)
    kube.before = lambda _verb, _plural, _name: None
    kube.advance(LONG)
    outcome = await acquire(store, asked("c", first))
    assert isinstance(outcome, Held)
    assert outcome.how is How.TAKEN


async def test_a_dry_run_of_several_claims_says_what_would_come_of_it_and_writes_nothing(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    claims = [asked("b"), asked("b", OTHER)]
    assert isinstance(await acquire_all(store, claims, dry_run=True), tuple)
    await acquire(store, asked("a"))
    kube.writes.clear()
    assert isinstance(await acquire_all(store, claims, dry_run=True), Refused)
    assert kube.writes == []


class Patient(MemoryKube):
    """An API server that answers no read before another one came."""

    def __init__(self) -> None:
        super().__init__()
        self._pair = asyncio.Barrier(2)

    async def get(self, *args: Any, **options: Any) -> Object:
        await self._pair.wait()
        return await super().get(*args, **options)


async def test_several_claims_are_looked_at_side_by_side() -> None:
    claims = [asked("a"), asked("a", OTHER)]
    async with asyncio.timeout(10):
        held = await acquire_all(ClaimStore(Patient()), claims)
    assert isinstance(held, tuple)
    assert len(held) == len(claims)


async def test_of_several_claims_all_or_none_are_held(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    taken, free = sorted([IDENTITY, OTHER], key=lambda identity: identity.hash, reverse=True)
    await acquire(store, asked("a", taken))
    assert isinstance(await acquire_all(store, [asked("b", taken), asked("b", free)]), Refused)
    assert await store.read(free.hash) is None
    assert (await store.of_holder(holder("a")))[0].name == taken.hash


async def test_where_one_of_several_is_refused_none_is_taken_from_a_holder_that_is_gone(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    await acquire(store, asked("gone"))
    evidence = await give_evidence(store)
    kube.advance(GRACE)
    # Whichever of the two is asked for first.
    names = [f"X{number}" for number in range(6)]
    for each in (Identity("R.A", "DATABASE", Name((name,))) for name in names):
        await acquire(store, asked("b", each))
        assert isinstance(await acquire_all(store, [asked("a"), asked("a", each)]), Refused)
    left = await store.read(IDENTITY.hash)
    assert left is not None
    assert (left.spec.holder.namespace, left.spec.evidence) == ("gone", evidence)


async def test_what_was_held_before_is_not_given_back(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    taken, own = sorted([IDENTITY, OTHER], key=lambda identity: identity.hash, reverse=True)
    await acquire(store, asked("a", taken))
    await acquire(store, asked("b", own))
    assert isinstance(await acquire_all(store, [asked("b", taken), asked("b", own)]), Refused)
    assert await store.read(own.hash) is not None


async def test_a_claim_is_deleted_only_as_it_was_read(kube: MemoryKube) -> None:
    store = ClaimStore(kube)
    outcome = await acquire(store, asked("a"))
    assert isinstance(outcome, Held)
    await give_evidence(store)
    with pytest.raises(Conflict):
        await store.delete(outcome.claim)
    current = await store.read(IDENTITY.hash)
    assert current is not None
    await store.delete(current)
    await store.delete(current)
    assert await store.read(IDENTITY.hash) is None
    with pytest.raises(NotFound):
        await store.replace(current, current.spec)
