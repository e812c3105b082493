"""All decisions at once: for every claim, view and wish there is one, and none of them takes what isn't ours."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freehold.lifecycle.decision import (
    Absence,
    Create,
    Drop,
    HandOver,
    Heir,
    Record,
    Recreate,
    Release,
    Stop,
    Subject,
    Update,
    View,
)
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.removal import decide_deletion
from freehold.lifecycle.upkeep import decide
from freehold.observation import Observation
from freehold_controllers.reconciler.table import BORN, CLAIMS, DELETION, ORDER, PAGE, UPKEEP, VIEWS, page, subject

ROOT = Path(__file__).parents[3]
KINDS = ("Database", "Warehouse")
Case = tuple[Subject, View | None]


def cases(wishes: Mapping[str, Mapping[str, Any]]) -> Iterator[Case]:
    """Every kind with every claim, view and pair of wishes that don't exclude each other."""
    both = [*wishes.values(), *(_merged(a, b) for a, b in itertools.combinations(wishes.values(), 2))]
    for kind, claim, view, wish in itertools.product(KINDS, CLAIMS.values(), VIEWS.values(), both):
        yield subject(kind, claim, wish), view


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any]:
    specs = [dict(each.get("spec", {})) for each in (one, other)]
    policies = {name: value for spec in specs for name, value in spec.pop("management_policies", {}).items()}
    return {**one, **other, "spec": {**specs[0], **specs[1], "management_policies": policies}}


STAYING = list(cases(UPKEEP))
GOING = list(cases(DELETION))


def ours(asked: Subject, view: View | None) -> bool:
    """Whether the claim proves that exactly this object is ours."""
    evidence = asked.claim.evidence if asked.claim else None
    return isinstance(view, Observation) and evidence is not None and evidence.created_on == view.created_on


def test_the_page_is_what_the_functions_decide() -> None:
    assert (ROOT / PAGE).read_text() == page()


def test_only_what_is_proved_to_be_ours_is_altered_or_dropped() -> None:
    for asked, view in STAYING:
        if isinstance(decide(asked, view), Update | Recreate):
            assert ours(asked, view)
    for asked, view in GOING:
        if isinstance(decide_deletion(asked, view), Drop):
            assert ours(asked, view)


def test_nothing_is_created_where_something_is_seen() -> None:
    for asked, view in STAYING:
        if isinstance(decide(asked, view), Create):
            assert view is None or isinstance(view, Absence)
            assert view is not None or asked.claim is None or not asked.claim.telling


def test_data_that_has_gone_is_made_anew_only_when_told_to_or_by_our_own_hand() -> None:
    for asked, view in STAYING:
        evidence = asked.claim.evidence if asked.claim else None
        if evidence and asked.kind.holds_data and isinstance(decide(asked, view), Create):
            assert asked.spec.vanished_policy == "Recreate" or (asked.claim and asked.claim.intent)


def test_an_object_is_recreated_only_when_the_user_orders_exactly_that() -> None:
    for asked, view in STAYING:
        if isinstance(decide(asked, view), Recreate):
            assert asked.order == asked.spec_hash == ORDER
            assert asked.claim is not None
            assert asked.claim.evidence is not None
            assert asked.claim.evidence.how == "created" or not asked.kind.holds_data


def test_drift_is_never_sent_where_it_is_only_to_be_told() -> None:
    for asked, view in STAYING:
        decision = decide(asked, view)
        if isinstance(decision, Update) and asked.spec.management_policies.drift_policy == "detect-only":
            assert not decision.drift
            assert all(each.name in asked.changed for each in decision.differences)


def test_a_strangers_object_is_ours_only_by_adoption_or_by_an_attempt_that_may_have_made_it() -> None:
    for asked, view in STAYING:
        decision = decide(asked, view)
        if isinstance(decision, Record):
            mark = asked.claim.mark if asked.claim else None
            assert isinstance(view, Observation)
            assert asked.spec.management_policies.adoption_policy == "adopt" or decision.how == "created"
            assert decision.how == "adopted" or (mark and mark.since and mark.since <= view.created_on == BORN)
            assert decision.how == "adopted" or view.owner == asked.role


def test_what_is_to_stay_is_never_dropped() -> None:
    for asked, view in GOING:
        decision = decide_deletion(asked, view)
        wishes = (asked.abandoned, asked.unclear, asked.heir, asked.spec.deletion_policy == "Orphan", asked.spec.paused)
        stays = any(wishes)
        adopted = asked.claim is not None and asked.claim.evidence and asked.claim.evidence.how == "adopted"
        if stays or (adopted and asked.kind.holds_data and asked.spec.deletion_policy is None):
            assert not isinstance(decision, Drop)


def test_an_heir_is_given_what_may_be_ours_and_nobody_lets_it_go_meanwhile() -> None:
    for asked, view in GOING:
        decision = decide_deletion(asked, view)
        assert not isinstance(decision, HandOver) or (isinstance(asked.heir, Heir) and asked.heir.ready)
        if isinstance(decision, Release) and asked.claim and asked.claim.evidence and not asked.abandoned:
            assert asked.heir is None


def test_a_resource_is_let_go_only_when_its_object_stays_on_purpose_or_is_certainly_not_there() -> None:
    for asked, view in GOING:
        decision = decide_deletion(asked, view)
        if isinstance(decision, Release) and ours(asked, view):
            assert decision.left
        if isinstance(decision, Release) and view is Absence.UNPROVED and not decision.left:
            assert asked.claim is None or not asked.claim.telling


@pytest.mark.parametrize("going", [False, True])
def test_while_a_drop_may_be_under_way_nothing_is_done_to_what_may_be_ours(going: bool) -> None:
    for asked, view in GOING if going else STAYING:
        if asked.claim is None or asked.claim.evidence is None:
            continue
        decision = (decide_deletion if going else decide)(replace(asked, under_way="DROP"), view)
        assert isinstance(decision, Stop)
        assert decision.reason in (Reason.DELETING, Reason.RECONCILE_PAUSED)
