"""What has no time of its own: in a slot, only what we have put there is ours, whoever else sets or takes away."""

from __future__ import annotations

from datetime import timedelta

import pytest

from freehold import fingerprint, slots
from freehold.claims import ClaimSpec, Evidence, Holder, Mark, new_claim
from freehold.identity import Identity
from freehold.kinds.account.networkpolicyattachment import NETWORK_POLICY_ATTACHMENT, NetworkPolicyAttachmentSpec
from freehold.kinds.filling import UNDATED
from freehold.kinds.property import Target
from freehold.lifecycle.decision import Absence, Create, Drop, InSync, Look, Record, Release, Stop, Subject
from freehold.lifecycle.decision import Update as UpdateDecision
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.removal import decide_deletion
from freehold.lifecycle.upkeep import decide
from freehold.observation import Observation
from freehold_controllers.reconciler.holding import Holding
from tests.unit.reconciler.test_holding import EARLY, WITHIN, holding, store

__all__ = ["holding", "store"]

KIND = NETWORK_POLICY_ATTACHMENT
SLOT = slots.attachment("NETWORK POLICY", slots.of("USER", "BOB"))
HOLDER = Holder(group="snowflake.freehold.dev", kind=KIND.name, namespace="n", name="x", uid="u")
ASKED = new_claim(Identity("R.A", KIND.object_class, SLOT), "O.A", HOLDER).spec


def spec(policy: str, *, adopt: bool = False) -> NetworkPolicyAttachmentSpec:
    policies = {"adoptionPolicy": "adopt"} if adopt else {}
    fields = {"policyName": policy, "targetType": "USER", "targetName": "BOB", "managementPolicies": policies}
    return NetworkPolicyAttachmentSpec.model_validate(fields)


def put(policy: str) -> str:
    found = fingerprint.put(KIND, spec(policy))
    assert found is not None
    return found


def seen(policy: str, level: str = "USER") -> Observation | Absence:
    row = KIND.row_of(
        Target(KIND.object_type, (), slot=SLOT), [{"key": "NETWORK_POLICY", "value": policy, "level": level}]
    )
    return Observation(row) if row else Absence.PROVED


def ours(*policies: str) -> ClaimSpec:
    """The claim of a slot that we have filled, one policy after the other."""
    holds = [put(each) for each in policies]
    evidence = Evidence(how="created", created_on=UNDATED, role="R", time=EARLY, holds=holds)
    return ASKED.model_copy(update={"evidence": evidence})


def tried(*policies: str) -> ClaimSpec:
    """The claim while nobody knows what became of attempts to put these there."""
    mark = Mark(attempt=1, since=EARLY, until=EARLY + WITHIN, outcome="sent", holds=[put(each) for each in policies])
    return ASKED.model_copy(update={"mark": mark})


def subject(claim: ClaimSpec, policy: str = "OURS", *, adopt: bool = False, tracked: bool = True) -> Subject:
    names = frozenset({"policyName"} if tracked else ())
    return Subject(
        kind=KIND, spec=spec(policy, adopt=adopt), target=KIND.target_of(SLOT), claim=claim, role="R", tracked=names
    )


def reason(decision: object) -> Reason:
    assert isinstance(decision, Stop)
    return decision.reason


def test_a_slot_is_looked_at_before_it_is_filled() -> None:
    assert isinstance(decide(subject(ASKED), None), Look)


def test_an_empty_slot_is_filled() -> None:
    assert isinstance(decide(subject(ASKED), seen("")), Create)


def test_what_is_inherited_is_in_no_slot() -> None:
    assert isinstance(decide(subject(ASKED), seen("OURS", level="ACCOUNT")), Create)


@pytest.mark.parametrize("policy", ["OURS", "OTHER"])
def test_what_was_there_before_is_left_alone(policy: str) -> None:
    assert reason(decide(subject(ASKED), seen(policy))) is Reason.RESOURCE_ALREADY_EXISTS


def test_what_was_there_before_is_adopted_where_that_is_wanted() -> None:
    assert decide(subject(ASKED, adopt=True), seen("OTHER")) == Record("adopted")


def test_what_we_have_put_there_is_ours() -> None:
    assert isinstance(decide(subject(ours("OURS")), seen("OURS")), InSync)
    assert isinstance(decide_deletion(subject(ours("OURS")), seen("OURS")), Drop)


def test_what_somebody_else_has_put_in_its_place_is_neither_changed_nor_taken_away() -> None:
    assert reason(decide(subject(ours("OURS")), seen("OTHER"))) is Reason.REPLACED
    assert isinstance(decide_deletion(subject(ours("OURS")), seen("OTHER")), Release)


def test_a_user_may_want_something_else_in_the_slot() -> None:
    assert isinstance(decide(subject(ours("OURS"), "NEW"), seen("OURS")), UpdateDecision)


@pytest.mark.parametrize("there", ["OURS", "NEW"], ids=["not sent", "sent"])
def test_after_a_crash_around_a_change_both_are_ours(there: str) -> None:
    claim = ours("OURS", "NEW")
    assert not isinstance(decide(subject(claim, "NEWEST"), seen(there)), Stop)
    assert isinstance(decide_deletion(subject(claim), seen(there)), Drop)


def test_after_a_crash_around_the_first_statement_what_it_has_put_there_is_ours() -> None:
    assert decide(subject(tried("OURS")), seen("OURS")) == Record("created")
    assert decide_deletion(subject(tried("OURS")), seen("OURS")) == Record("created")
    assert decide(subject(tried("OURS", "NEW"), "NEW"), seen("OURS")) == Record("created")


def test_after_a_crash_around_the_first_statement_anything_else_is_not() -> None:
    assert reason(decide(subject(tried("OURS")), seen("OTHER"))) is Reason.RESOURCE_ALREADY_EXISTS
    assert isinstance(decide_deletion(subject(tried("OURS")), seen("OTHER")), Release)


def test_what_is_set_is_the_same_whether_it_is_asked_for_or_printed() -> None:
    printed = seen('"a b"')
    assert isinstance(printed, Observation)
    assert fingerprint.held(KIND, printed) == put("a b") != put("A B")


async def test_a_claim_tells_what_attempts_put_into_a_slot(holding: Holding) -> None:
    await holding.begin_attempt(EARLY, WITHIN, "a")
    await holding.begin_attempt(EARLY + timedelta(minutes=1), WITHIN, "b")
    assert holding.spec.mark is not None
    assert holding.spec.mark.holds == ["a", "b"]
    await holding.refuse_attempt(None)
    assert holding.spec.mark.holds is None


async def test_a_claim_tells_of_a_change_before_it_is_made_and_once(holding: Holding) -> None:
    there = seen("OURS")
    assert isinstance(there, Observation)
    await holding.record("created", there, "R", EARLY, holds="a")
    await holding.refill("a", "b")
    assert holding.spec.evidence is not None
    assert holding.spec.evidence.holds == ["a", "b"]
    before = holding.spec
    await holding.refill("a", "b")
    assert holding.spec is before
    await holding.refill("b", "c")
    assert holding.spec.evidence.holds == ["b", "c"]


@pytest.mark.parametrize("holds", ["a", "b"], ids=["refused", "carried out"])
async def test_after_a_change_only_what_a_slot_holds_is_ours(holding: Holding, holds: str) -> None:
    there = seen("OURS")
    assert isinstance(there, Observation)
    await holding.record("created", there, "R", EARLY, holds="a")
    await holding.refill("a", "b")
    await holding.refilled(holds)
    assert holding.spec.evidence is not None
    assert holding.spec.evidence.holds == [holds]
    before = holding.spec
    await holding.refilled(holds)
    await holding.refilled("theirs")
    assert holding.spec is before
