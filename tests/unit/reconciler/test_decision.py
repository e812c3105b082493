"""The reconciler's decisions as a table: claim and view in, decision out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from freehold import fingerprint, planning, slots
from freehold.claims import Account, ClaimedIdentity, ClaimSpec, Evidence, Holder, Intent, Mark
from freehold.identity import Slot
from freehold.kinds.columns import DETAIL
from freehold.kinds.content import Content
from freehold.kinds.filling import UNDATED
from freehold.kinds.property import Change
from freehold.kinds.registry import KINDS
from freehold.kinds.steps import Difference
from freehold.lifecycle.decision import (
    Absence,
    Create,
    Drop,
    HandOver,
    Heir,
    Hidden,
    InSync,
    Look,
    Record,
    Recreate,
    Release,
    Stop,
    Subject,
    Tell,
    Update,
    Withdraw,
)
from freehold.lifecycle.reasons import Reason
from freehold.lifecycle.removal import decide_deletion, hindrance, in_the_way, taken_along, waits_for
from freehold.lifecycle.upkeep import decide
from freehold.observation import Observation, Parameter

BORN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BEFORE, AFTER = BORN - timedelta(seconds=5), BORN + timedelta(seconds=5)

NO_CLAIM = None
HELD: dict[str, Any] = {}
CREATED = {"evidence": Evidence(how="created", created_on=BORN, role="R", time=BORN)}
ADOPTED = {"evidence": Evidence(how="adopted", created_on=BORN, role="R", time=BORN)}
OLD = {"evidence": Evidence(how="created", created_on=BEFORE, role="R", time=BEFORE)}
UNKNOWN = {"mark": Mark(attempt=1, since=BORN, outcome="sent")}
UNKNOWN_LATER = {"mark": Mark(attempt=1, since=AFTER, outcome="sent")}
OVER_BEFORE = {"mark": Mark(attempt=1, since=BEFORE, until=BEFORE + timedelta(seconds=1), outcome="sent")}
REFUSED = {"mark": Mark(attempt=1, outcome="refused")}
INTENT = Intent(statement="RECREATE", created_on=BORN)
SPARED = {**CREATED, "intent": INTENT}
RECREATED = {**OLD, "mark": Mark(attempt=2, since=BORN, outcome="sent")}

ADOPT = {"management_policies": {"adoption_policy": "adopt"}}
DETECT = {"management_policies": {"drift_policy": "detect-only"}}
OBSERVE = {"management_policies": {"observe_only": True}}
PAUSED = {"paused": True}
DELETE = {"deletion_policy": "Delete"}
ORPHAN = {"deletion_policy": "Orphan"}
RECREATE = {"vanished_policy": "Recreate"}
STAY = {"vanished_policy": "Stop"}
COMMENT = frozenset({"comment"})
NONE = frozenset[str]()
TRANSIENCE = frozenset({"transient"})


def seen(owner: str | None = "R", **columns: Any) -> Observation:
    row = {"name": "X", "created_on": BORN, "owner": owner, "comment": "", "kind": "STANDARD", **columns}
    return Observation(row, {"LOG_LEVEL": Parameter("OFF", "")}, {})


SEEN, FOREIGN, COMMENTED, TRANSIENT = seen(), seen("S"), seen(comment="theirs"), seen(options="TRANSIENT")
IMPORTED = seen(kind="IMPORTED DATABASE", origin="A.B.C")
UNREADABLE = replace(SEEN, unreadable="002003 (02000): does not exist or not authorized")
HIDDEN = Hidden()
GONE, UNSEEN = Absence.PROVED, Absence.UNPROVED


def subject(kind: str, spec: dict[str, Any], claim: dict[str, Any] | None, **known: Any) -> Subject:
    declared = KINDS[kind]
    parts = ("D", spec.get("name", "X")) if kind == "Schema" else (spec.get("name", "X"),)
    parent = {"database_name": "D"} if kind == "Schema" else {}
    identity = ClaimedIdentity(
        account=Account(key="R.A", name="O.A"), namespace_class=declared.object_class, fqn=f'"{parts[-1]}"'
    )
    holder = Holder(group="snowflake.freehold.dev", kind=kind, namespace="n", name="x", uid="u")
    return Subject(
        kind=declared,
        spec=declared.spec.model_validate({"name": "X", **parent, **spec}),
        target=declared.target(parts),
        claim=None if claim is None else ClaimSpec(identity=identity, holder=holder, **claim),
        role="R",
        **known,
    )


DECISIONS = [
    # what is decided, kind, spec, claim, view, expected
    ("paused sends nothing", "Database", PAUSED, CREATED, None, Reason.RECONCILE_PAUSED),
    ("without evidence CREATE decides", "Database", {}, HELD, None, Create),
    ("what an attempt was refused for is looked at before the next one", "Database", {}, REFUSED, None, Look),
    ("a refused attempt is tried again", "Database", {}, REFUSED, UNSEEN, Create),
    ("what an attempt of unknown outcome has made is looked for", "Database", {}, UNKNOWN, None, Look),
    ("an attempt that has made nothing so far is tried again", "Database", {}, UNKNOWN, UNSEEN, Create),
    ("with evidence look first", "Database", {}, CREATED, None, Look),
    ("a taken name that went away meanwhile is tried again", "Database", {}, HELD, UNSEEN, Create),
    ("a stranger's object is left alone", "Database", {}, REFUSED, SEEN, Reason.RESOURCE_ALREADY_EXISTS),
    ("a stranger's object is adopted when told to", "Database", ADOPT, REFUSED, SEEN, Record("adopted")),
    ("another role's object may be adopted", "Database", ADOPT, REFUSED, FOREIGN, Record("adopted")),
    ("what can't be read isn't adopted", "Database", ADOPT, REFUSED, UNREADABLE, Reason.NOT_VISIBLE),
    ("what can't be read may be a stranger's", "Database", {}, REFUSED, UNREADABLE, Reason.RESOURCE_ALREADY_EXISTS),
    ("what can't be read may have replaced ours", "Database", {}, OLD, UNREADABLE, Reason.REPLACED),
    ("ours that can't be read any more is left alone", "Database", {}, CREATED, UNREADABLE, Reason.NOT_VISIBLE),
    ("what the kind refuses isn't adopted", "Database", ADOPT, REFUSED, IMPORTED, Reason.RESOURCE_ALREADY_EXISTS),
    ("PUBLIC isn't adopted again", "Schema", {"name": "PUBLIC"}, OLD, SEEN, Reason.REPLACED),
    ("PUBLIC is adopted again when told to", "Schema", {"name": "PUBLIC", **ADOPT}, OLD, SEEN, Record("adopted")),
    ("PUBLIC is adopted whatever the policy", "Schema", {"name": "PUBLIC"}, REFUSED, SEEN, Record("adopted")),
    ("an invisible object is left alone", "Database", {}, REFUSED, HIDDEN, Reason.RESOURCE_ALREADY_EXISTS),
    ("an invisible object may be ours", "Database", {}, UNKNOWN, HIDDEN, Reason.NOT_VISIBLE),
    ("an invisible object can't be adopted", "Database", ADOPT, REFUSED, HIDDEN, Reason.NOT_VISIBLE),
    ("made since the unknown attempt: recovered", "Database", {}, UNKNOWN, SEEN, Record("created")),
    ("of another kind, though made since", "Database", {}, UNKNOWN, IMPORTED, Reason.RESOURCE_ALREADY_EXISTS),
    ("not proved ours where no owner is told", "Database", {}, UNKNOWN, seen(None), Reason.OWNED_BY_OTHER),
    ("made since, owned by another role", "Database", {}, UNKNOWN, FOREIGN, Reason.OWNED_BY_OTHER),
    (
        "older than the unknown attempt: a stranger's",
        "Database",
        {},
        UNKNOWN_LATER,
        SEEN,
        Reason.RESOURCE_ALREADY_EXISTS,
    ),
    (
        "made when the unknown attempt was over: a stranger's",
        "Database",
        {},
        OVER_BEFORE,
        SEEN,
        Reason.RESOURCE_ALREADY_EXISTS,
    ),
    ("another incarnation is left alone", "Database", {}, OLD, SEEN, Reason.REPLACED),
    ("another incarnation is adopted when told to", "Database", ADOPT, OLD, SEEN, Record("adopted")),
    ("another incarnation that a recreation made", "Database", {}, RECREATED, SEEN, Record("created")),
    ("nothing differs", "Database", {"comment": ""}, CREATED, SEEN, InSync),
    ("what isn't set isn't compared", "Database", {}, CREATED, COMMENTED, InSync),
    ("drift is corrected", "Database", {"comment": "a"}, CREATED, COMMENTED, Update),
    ("drift is only told", "Database", {"comment": "a", **DETECT}, CREATED, COMMENTED, Tell),
    ("drift that no ALTER mends is told", "Database", {"transient": False}, CREATED, TRANSIENT, Tell),
    ("what a DROP of an earlier life has spared", "Database", {}, SPARED, SEEN, Withdraw),
    ("data that we have dropped to recreate it", "Database", {}, SPARED, GONE, Create),
    ("data that we have dropped and don't see", "Database", {}, SPARED, UNSEEN, Create),
    ("what came in place of what we have dropped", "Database", {}, {**OLD, "intent": INTENT}, SEEN, Reason.REPLACED),
    ("data that vanished isn't made anew", "Database", {}, CREATED, GONE, Reason.VANISHED),
    ("data that isn't seen isn't made anew", "Database", {}, CREATED, UNSEEN, Reason.NOT_VISIBLE),
    ("data is made anew when told to", "Database", RECREATE, CREATED, GONE, Create),
    ("a warehouse is made anew", "Warehouse", {}, CREATED, UNSEEN, Create),
    ("a warehouse isn't when told not to", "Warehouse", STAY, CREATED, GONE, Reason.VANISHED),
    ("a warehouse isn't when drift is only told", "Warehouse", DETECT, CREATED, GONE, Reason.VANISHED),
    ("making anew finds it invisible", "Warehouse", {}, CREATED, HIDDEN, Reason.NOT_VISIBLE),
    ("observe-only looks", "Database", OBSERVE, NO_CLAIM, None, Look),
    ("observe-only is content with what it sees", "Database", {"comment": "a", **OBSERVE}, NO_CLAIM, COMMENTED, InSync),
    ("observe-only says what it doesn't see", "Database", OBSERVE, NO_CLAIM, UNSEEN, Reason.OBSERVE_ONLY),
]

DELETIONS = [
    ("without a claim nothing is dropped", "Database", {}, NO_CLAIM, None, Release),
    ("without evidence nothing is dropped", "Database", {}, HELD, None, Release),
    ("a refused attempt leaves nothing", "Database", {}, REFUSED, None, Release),
    ("a loser goes even when paused", "Database", PAUSED, REFUSED, None, Release),
    ("orphaned by policy", "Database", ORPHAN, CREATED, None, Release),
    ("orphaned by policy even when paused", "Database", {**ORPHAN, **PAUSED}, CREATED, None, Release),
    ("only observed", "Database", OBSERVE, CREATED, None, Release),
    ("adopted data stays", "Database", {}, ADOPTED, None, Release),
    ("adopted data goes when written out", "Database", DELETE, ADOPTED, SEEN, Drop),
    ("an adopted warehouse goes", "Warehouse", {}, ADOPTED, SEEN, Drop),
    ("paused keeps it", "Database", PAUSED, CREATED, None, Reason.DELETE_BLOCKED),
    ("with evidence look first", "Database", {}, CREATED, None, Look),
    ("ours is dropped", "Database", {}, CREATED, SEEN, Drop),
    ("another incarnation is left alone", "Database", {}, OLD, SEEN, Release),
    ("a replaced object is left alone whatever the adoption policy", "Database", ADOPT, OLD, SEEN, Release),
    ("gone and proved", "Database", {}, CREATED, GONE, Release),
    ("not seen isn't gone", "Database", {}, CREATED, UNSEEN, Reason.NOT_VISIBLE),
    ("an unknown attempt is looked at first", "Database", {}, UNKNOWN, None, Look),
    ("what it made is ours", "Database", {}, UNKNOWN, SEEN, Record("created")),
    ("what another role owns isn't", "Database", {}, UNKNOWN, FOREIGN, Release),
    ("what is older isn't", "Database", {}, UNKNOWN_LATER, SEEN, Release),
    ("nor what was made when the attempt was over", "Database", {}, OVER_BEFORE, SEEN, Release),
    ("it made nothing", "Database", {}, UNKNOWN, GONE, Release),
    ("whether it made something can't be told", "Database", {}, UNKNOWN, UNSEEN, Reason.NOT_VISIBLE),
]

HINDRANCES = [
    # what is decided, kind, content, complete, force, whether something is in the way
    ("an empty database", "Database", (), True, False, False),
    ("undeclared content", "Database", ('"S"',), True, False, True),
    ("undeclared content with force", "Database", ('"S"',), True, True, False),
    ("content that can't be seen", "Database", (), False, False, True),
    ("content that can't be seen with force", "Database", (), False, True, False),
    ("a kind without content", "Warehouse", (), False, False, False),
]


def verdict(decision: object, expected: object) -> object:
    """The part of a decision that a row of the table states: its reason, its class, or all of it."""
    if isinstance(expected, Reason):
        return decision.reason if isinstance(decision, Stop) else decision
    return type(decision) if isinstance(expected, type) else decision


@pytest.mark.parametrize(
    ("kind", "spec", "claim", "view", "expected"), [pytest.param(*r[1:], id=r[0]) for r in DECISIONS]
)
def test_decision(kind: str, spec: dict[str, Any], claim: dict[str, Any] | None, view: Any, expected: object) -> None:
    assert verdict(decide(subject(kind, spec, claim), view), expected) == expected


@pytest.mark.parametrize(
    ("kind", "spec", "claim", "view", "expected"), [pytest.param(*r[1:], id=r[0]) for r in DELETIONS]
)
def test_deletion(kind: str, spec: dict[str, Any], claim: dict[str, Any] | None, view: Any, expected: object) -> None:
    assert verdict(decide_deletion(subject(kind, spec, claim), view), expected) == expected


@pytest.mark.parametrize(
    ("kind", "content", "complete", "force", "expected"), [pytest.param(*r[1:], id=r[0]) for r in HINDRANCES]
)
def test_hindrance(kind: str, content: tuple[str, ...], complete: bool, force: bool, expected: bool) -> None:
    looked_for = in_the_way(KINDS[kind], force=force)
    found = hindrance(subject(kind, {}, CREATED), [(each, content) for each in looked_for], complete=complete)
    assert (found is not None) == expected
    # Nothing wakes us when it is moved away in Snowflake.
    assert found is None or found.soon


def test_what_no_annotation_overrides_is_looked_for_all_the_same() -> None:
    fixed = Content(lambda target: target.name, forced=False, told_to_all=True, remedy="give it away")
    kind = replace(KINDS["Warehouse"], content=(fixed,))
    assert in_the_way(kind, force=True) == (fixed,)
    owner = replace(subject("Warehouse", {}, CREATED), kind=kind)
    assert hindrance(owner, [(fixed, ())], complete=False) is None
    stop = hindrance(owner, [(fixed, ("DB",))], complete=False)
    assert stop is not None
    assert "holds DB: give it away" in stop.message
    assert "force-destroy" not in stop.message


def test_declared_children_go_first() -> None:
    assert waits_for(subject("Database", {}, CREATED), ()) is None
    stop = waits_for(subject("Database", {}, CREATED), ("Schema n/a", "Schema n/b"))
    assert stop is not None
    assert "Schema n/a, Schema n/b" in stop.message


CARRIED_OUT = {"evidence": Evidence(how="created", created_on=BORN, role="R", time=BORN, force_new="hash")}

AILING = replace(KINDS["Warehouse"], ailment=lambda observation: str(observation.row["comment"]) or None)

AILMENTS = [
    # what is decided, claim, order, what is seen, expected
    ("what is well is left alone", CREATED, None, SEEN, InSync),
    ("what can't be used is told", CREATED, None, COMMENTED, Reason.UNUSABLE),
    ("and replaced when ordered", CREATED, "hash", COMMENTED, Recreate),
    ("once", CARRIED_OUT, "hash", COMMENTED, Reason.UNUSABLE),
    ("what is well isn't replaced", CREATED, "hash", SEEN, InSync),
]


@pytest.mark.parametrize(
    ("claim", "order", "view", "expected"), [pytest.param(*case[1:], id=case[0]) for case in AILMENTS]
)
def test_what_is_as_declared_and_useless_is_replaced_only_when_ordered(
    claim: dict[str, Any], order: str | None, view: Observation, expected: Any
) -> None:
    asked = replace(subject("Warehouse", {}, claim, order=order, spec_hash="hash"), kind=AILING)
    decision = decide(asked, view)
    if isinstance(expected, Reason):
        assert isinstance(decision, Stop)
        assert decision.reason is expected
        assert "can't be used: theirs. To replace it, " in decision.message
    else:
        assert isinstance(decision, expected)


@pytest.mark.parametrize("order", [None, "hash"])
def test_what_is_disowned_is_neither_altered_nor_replaced(order: str | None) -> None:
    disowning = replace(KINDS["Warehouse"], disowned=lambda observation: f"has comment {observation.row['comment']}")
    asked = subject("Warehouse", {"comment": "ours"}, CREATED, order=order, spec_hash="hash")
    decision = decide(replace(asked, kind=disowning), COMMENTED)
    assert isinstance(decision, Stop)
    assert decision.reason is Reason.UNUSABLE
    assert decision.message.endswith("has comment theirs")


ORDERS = [
    # what is decided, spec beside transient, claim, order, fields that the user changed, expected
    ("a change that no ALTER makes stops", {}, CREATED, None, TRANSIENCE, Reason.IMMUTABLE_FIELD),
    ("it is recreated when ordered", {}, CREATED, "hash", TRANSIENCE, Recreate),
    ("an order for another spec doesn't count", {}, CREATED, "other", TRANSIENCE, Reason.IMMUTABLE_FIELD),
    ("an order may come when the spec is applied already", {}, CREATED, "hash", frozenset(), Recreate),
    ("an order counts although drift is only told", DETECT, CREATED, "hash", frozenset(), Recreate),
    ("an order that was carried out doesn't cost what drifted", {}, CARRIED_OUT, "hash", frozenset(), Tell),
    ("what is kept on purpose isn't recreated", ORPHAN, CREATED, "hash", TRANSIENCE, Reason.IMMUTABLE_FIELD),
    ("adopted data isn't recreated", {}, ADOPTED, "hash", TRANSIENCE, Reason.IMMUTABLE_FIELD),
    ("adopted data is when Delete is written out", DELETE, ADOPTED, "hash", TRANSIENCE, Recreate),
    ("paused recreates nothing", PAUSED, CREATED, "hash", TRANSIENCE, Reason.RECONCILE_PAUSED),
]


@pytest.mark.parametrize(
    ("spec", "claim", "order", "changed", "expected"), [pytest.param(*row[1:], id=row[0]) for row in ORDERS]
)
def test_recreation(
    spec: dict[str, Any], claim: dict[str, Any], order: str | None, changed: frozenset[str], expected: object
) -> None:
    asked = subject("Database", {"transient": False, **spec}, claim, order=order, changed=changed, spec_hash="hash")
    assert verdict(decide(asked, TRANSIENT), expected) == expected


def test_nothing_is_recreated_where_nothing_differs_that_calls_for_it() -> None:
    asked = subject("Database", {"comment": "a"}, CREATED, order="hash", changed=COMMENT, spec_hash="hash")
    assert isinstance(decide(asked, COMMENTED), Update)


def test_a_refused_change_names_the_order_that_would_have_it_made() -> None:
    asked = subject("Database", {"transient": False}, CREATED, changed=TRANSIENCE, spec_hash="hash")
    stop = decide(asked, TRANSIENT)
    assert isinstance(stop, Stop)
    assert "transient is true, should be false" in stop.message
    assert "freehold.dev/force-new: hash" in stop.message


@pytest.mark.parametrize("view", [None, SEEN, GONE, UNSEEN])
def test_a_lost_drop_is_over_before_anything_is_altered_or_made(view: Any) -> None:
    stop = decide(subject("Database", {"comment": "a"}, SPARED, under_way="DROP"), view)
    assert isinstance(stop, Stop)
    assert stop.reason is Reason.DELETING


@pytest.mark.parametrize(
    ("change", "changed", "expected"),
    [
        (Change.DESTRUCTIVE, True, Reason.DESTRUCTIVE_CHANGE),
        (Change.DESTRUCTIVE, False, Tell),
        (Change.ASKED, True, Update),
        (Change.ASKED, False, Tell),
        (Change.TOLD, True, Tell),
        (Change.TOLD, False, Tell),
    ],
)
def test_what_loses_data_is_sent_only_when_the_spec_has_come_to_ask_for_it_by_name(
    monkeypatch: pytest.MonkeyPatch, change: Change, changed: bool, expected: object
) -> None:
    found = planning.differences

    def differences(*arguments: Any) -> tuple[Difference, ...]:
        return tuple(replace(each, change=change, remedy="write it so") for each in found(*arguments))

    monkeypatch.setattr(planning, "differences", differences)
    decision = decide(subject("Database", {"comment": "a"}, CREATED, changed=COMMENT if changed else NONE), COMMENTED)
    assert verdict(decision, expected) == expected
    assert (
        not isinstance(decision, Stop)
        or "write it so. Nothing is sent that would lose data. Change the manifest back, or set" in decision.message
    )


def test_drift_is_told_apart_from_a_change_of_the_spec_field_by_field() -> None:
    asked = subject("Database", {"comment": "a", "log_level": "INFO"}, CREATED, changed=COMMENT)
    decision = decide(asked, COMMENTED)
    assert isinstance(decision, Update)
    assert [each.name for each in decision.differences] == ["logLevel", "comment"]
    assert [each.name for each in decision.drift] == ["logLevel"]


def test_detect_only_holds_for_the_fields_that_the_user_has_not_changed() -> None:
    asked = subject("Database", {"comment": "a", "log_level": "INFO", **DETECT}, CREATED, changed=COMMENT)
    decision = decide(asked, COMMENTED)
    assert isinstance(decision, Update)
    assert [each.name for each in decision.differences] == ["comment"]


def test_a_changed_spec_is_no_drift() -> None:
    decision = decide(subject("Database", {"comment": "a"}, CREATED, changed=COMMENT), COMMENTED)
    assert isinstance(decision, Update)
    assert not decision.drift


def test_detect_only_lets_a_changed_spec_through() -> None:
    assert isinstance(
        decide(subject("Database", {"comment": "a", **DETECT}, CREATED, changed=COMMENT), COMMENTED), Update
    )


def test_a_field_that_left_the_spec_is_reset() -> None:
    decision = decide(subject("Database", {}, CREATED, changed=COMMENT, tracked=COMMENT), COMMENTED)
    assert isinstance(decision, Update)
    assert [each.reset for each in decision.differences] == [True]


def test_a_value_that_never_settles_is_left_alone_and_told() -> None:
    decision = decide(subject("Database", {"comment": "a"}, CREATED, passes=3), COMMENTED)
    assert isinstance(decision, Stop)
    assert decision.reason is Reason.NOT_CONVERGING
    assert 'comment is "theirs", should be "a"' in decision.message


def test_abandoning_leaves_the_object_behind() -> None:
    decision = decide_deletion(subject("Database", PAUSED, CREATED, abandoned=True), None)
    assert isinstance(decision, Release)
    assert decision.left


HEIR = Holder(group="snowflake.freehold.dev", kind="Database", namespace="m", name="y", uid="v")


@pytest.mark.parametrize("claim", [CREATED, ADOPTED, UNKNOWN])
@pytest.mark.parametrize("spec", [{}, PAUSED, ORPHAN, DELETE])
@pytest.mark.parametrize("view", [None, SEEN])
def test_what_is_handed_over_is_neither_looked_at_nor_dropped(
    claim: dict[str, Any], spec: dict[str, Any], view: Any
) -> None:
    assert decide_deletion(subject("Database", spec, claim, heir=Heir(HEIR, ready=True)), view) == HandOver(HEIR)


@pytest.mark.parametrize("spec", [{}, PAUSED, ORPHAN, DELETE])
@pytest.mark.parametrize("view", [None, SEEN])
def test_an_heir_that_has_not_come_is_waited_for(spec: dict[str, Any], view: Any) -> None:
    stop = decide_deletion(subject("Database", spec, CREATED, heir=Heir(HEIR, ready=False)), view)
    assert isinstance(stop, Stop)
    assert (stop.reason, stop.soon) == (Reason.DELETE_BLOCKED, True)
    assert "Database m/y" in stop.message
    assert "freehold.dev/hand-over-to" in stop.message


def test_abandoning_waits_for_no_heir() -> None:
    abandoned = subject("Database", {}, CREATED, heir=Heir(HEIR, ready=False), abandoned=True)
    assert isinstance(decide_deletion(abandoned, None), Release)


@pytest.mark.parametrize("view", [None, SEEN, UNSEEN])
def test_a_wish_to_spare_an_object_that_can_not_be_read_keeps_it(view: Any) -> None:
    stop = decide_deletion(subject("Database", DELETE, CREATED, unclear="an annotation"), view)
    assert isinstance(stop, Stop)
    assert (stop.reason, stop.soon) == (Reason.DELETE_BLOCKED, False)
    assert "an annotation" in stop.message


@pytest.mark.parametrize(("spec", "known"), [(ORPHAN, {}), ({}, {"abandoned": True})])
def test_what_stays_anyway_needs_no_further_wish(spec: dict[str, Any], known: dict[str, Any]) -> None:
    assert isinstance(decide_deletion(subject("Database", spec, CREATED, unclear="it", **known), None), Release)


def test_what_was_never_ours_is_nobodys_inheritance() -> None:
    assert isinstance(decide_deletion(subject("Database", {}, HELD, heir=Heir(HEIR, ready=True)), None), Release)


def test_an_inheritance_that_a_lost_drop_may_still_take_away_is_held_back() -> None:
    stop = decide_deletion(subject("Database", {}, CREATED, heir=Heir(HEIR, ready=True), under_way="DROP"), None)
    assert isinstance(stop, Stop)
    assert stop.reason is Reason.DELETING


@pytest.mark.parametrize("view", [GONE, FOREIGN])
def test_what_may_still_be_made_is_waited_for(view: Any) -> None:
    decision = decide_deletion(subject("Database", {}, UNKNOWN, under_way="CREATE"), view)
    assert isinstance(decision, Stop)
    assert decision.reason is Reason.DELETING


@pytest.mark.parametrize("spec", [{}, PAUSED, ORPHAN])
@pytest.mark.parametrize("view", [None, SEEN, GONE])
def test_a_drop_whose_answer_was_lost_is_waited_for_whatever_comes_next(spec: dict[str, Any], view: Any) -> None:
    decision = decide_deletion(subject("Database", spec, CREATED, under_way="DROP"), view)
    assert isinstance(decision, Stop)
    assert decision.reason is Reason.DELETING
    assert "a DROP of" in decision.message


def test_a_drop_does_not_wait_for_an_attempt_that_is_settled() -> None:
    assert isinstance(decide_deletion(subject("Database", {}, CREATED, under_way="CREATE"), GONE), Release)


@pytest.mark.parametrize("deleting", [False, True])
def test_what_is_not_seen_names_the_grant_to_run(deleting: bool) -> None:
    decision = (decide_deletion if deleting else decide)(subject("Database", {}, CREATED), UNSEEN)
    assert isinstance(decision, Stop)
    assert 'GRANT RESOLVE ALL ON ACCOUNT TO ROLE "R"' in decision.message


@pytest.mark.parametrize(
    ("origin", "says"),
    [("ORG.A.S", None), ("", "doesn't tell its share so far"), ("<revoked>", "has withdrawn the share")],
)
def test_what_is_as_declared_may_not_be_usable_yet(origin: str, says: str | None) -> None:
    decision = decide(subject("SharedDatabase", {"from_share": "ORG.A.S"}, CREATED), seen(origin=origin))
    if says is None:
        assert decision == InSync()
    else:
        assert isinstance(decision, Stop)
        assert decision.reason is Reason.DEPENDENCY_NOT_READY
        assert says in decision.message


@pytest.mark.parametrize(
    ("grantors", "manages_grants", "says"),
    [
        ("LEAD, R", True, "every grantor has granted, who is LEAD, R"),
        ("LEAD", True, "every grantor has granted, who is LEAD"),
        ("R", True, ""),
        ("LEAD, R", False, ""),
        (None, True, ""),
    ],
)
def test_a_plan_says_whose_grants_a_revoke_takes_along(grantors: str | None, manages_grants: bool, says: str) -> None:
    found = taken_along("R", Observation({"granted_by": grantors}), manages_grants=manages_grants)
    assert says in found
    assert bool(found) is bool(says)


OWNERSHIP = KINDS["GrantOwnership"]
OBJECT = slots.ownership(slots.of("TABLE", "D", "S", "T"))
TO_COME = slots.ownership(slots.future_in("TABLES", slots.of("SCHEMA", "D", "S")))


def ownership(slot: Slot, evidence: Evidence | None = None, **policies: Any) -> Subject:
    """A GrantOwnership that wants what a slot is about to be NEW's, as Freehold's role R sees it."""
    spec = OWNERSHIP.spec.model_validate(
        {"account_role": "NEW", "object_type": "TABLE", "object_name": "D.S.T", "management_policies": policies}
    )
    identity = ClaimedIdentity(account=Account(key="R.A", name="O.A"), namespace_class="GRANT", fqn=str(slot))
    holder = Holder(group="snowflake.freehold.dev", kind=OWNERSHIP.name, namespace="n", name="x", uid="u")
    claim = ClaimSpec(identity=identity, holder=holder, evidence=evidence)
    return Subject(OWNERSHIP, spec, OWNERSHIP.target_of(slot), claim, "R")


def owned_by(role: str) -> Observation:
    """What SHOW GRANTS tells of an owner, and not since when."""
    row = {"created_on": UNDATED, "privilege": "OWNERSHIP", "granted_to": "ROLE", "grantee_name": role}
    return Observation(row)


def given(*roles: str) -> Evidence:
    """Evidence that these were the owners by our doing."""
    holds = [held for role in roles if (held := fingerprint.held(OWNERSHIP, owned_by(role)))]
    return Evidence(how="adopted", created_on=UNDATED, role="R", time=BORN, holds=holds)


@pytest.mark.parametrize(
    ("evidence", "owner", "policies", "expected"),
    [
        (None, "R", {}, Record("adopted")),
        (None, "OTHER", {}, Reason.RESOURCE_ALREADY_EXISTS),
        (None, "NEW", {}, Reason.RESOURCE_ALREADY_EXISTS),
        (None, "OTHER", {"adoption_policy": "adopt"}, Record("adopted")),
        (given("R"), "R", {}, Update),
        (given("R", "NEW"), "R", {}, Update),
        (given("R", "NEW"), "NEW", {}, InSync),
        (given("R", "NEW"), "OTHER", {}, Reason.REPLACED),
        (given("NEW"), "OTHER", {"adoption_policy": "adopt"}, Record("adopted")),
        (given("R", "NEW"), "R", {"drift_policy": "detect-only"}, Tell),
        (given("NEW"), "R", {}, Record("adopted")),
        (given("NEW"), "R", {"drift_policy": "detect-only"}, Reason.REPLACED),
    ],
)
def test_freehold_gives_away_what_its_own_role_owns_and_takes_nothing_from_others(
    evidence: Evidence | None, owner: str, policies: dict[str, Any], expected: Any
) -> None:
    decision = decide(ownership(OBJECT, evidence, **policies), owned_by(owner))
    if isinstance(expected, Reason):
        assert isinstance(decision, Stop)
        assert decision.reason is expected
    else:
        assert decision == expected or isinstance(decision, expected if isinstance(expected, type) else ())


def test_an_owner_that_is_no_role_is_not_taken_for_a_role_called_none() -> None:
    stranger = Observation({**owned_by("X").row, "granted_to": "APPLICATION"})
    assert fingerprint.held(OWNERSHIP, stranger) != fingerprint.held(OWNERSHIP, owned_by("None"))


def test_the_owner_of_an_object_stays_when_its_resource_goes() -> None:
    decision = decide_deletion(ownership(OBJECT, given("NEW")), None)
    assert isinstance(decision, Release)
    assert "can only be given to somebody else" in decision.why


@pytest.mark.parametrize(("owner", "expected"), [("NEW", Drop), ("OTHER", Release)])
def test_the_owner_of_objects_to_come_is_revoked_if_it_is_ours(owner: str, expected: type) -> None:
    assert isinstance(decide_deletion(ownership(TO_COME, given("NEW")), owned_by(owner)), expected)


@pytest.mark.parametrize(("shown", "told"), [({"owner": "S"}, "is there, owned by role S, and"), ({}, "is there, and")])
def test_whose_it_is_that_cannot_be_read_is_told_where_snowflake_shows_it(shown: dict[str, str], told: str) -> None:
    row = {key: value for key, value in UNREADABLE.row.items() if key != "owner"} | shown
    decision = decide(subject("Database", {}, CREATED), replace(UNREADABLE, row=row))
    assert isinstance(decision, Stop)
    assert told in decision.message


@pytest.mark.parametrize(
    ("policies", "comment", "expected"),
    [
        ({}, "", (Update, {Change.REDEFINE})),
        ({}, "theirs", (Tell, set())),
        (DETECT["management_policies"], "", (Tell, set())),
    ],
    ids=["what nothing is lost by", "others' comment would be lost", "told only to watch"],
)
def test_another_query_of_a_view_is_put_right_only_where_nothing_is_lost(
    policies: dict[str, Any], comment: str, expected: tuple[type, set[Change]]
) -> None:
    kind = KINDS["View"]
    spec = {
        "name": "X",
        "database_name": "D",
        "schema_name": "S",
        "statement": "SELECT 1",
        "management_policies": policies,
    }
    mine = replace(
        subject("Database", {}, CREATED),
        kind=kind,
        spec=kind.spec.model_validate(spec),
        target=kind.target(("D", "S", "X")),
    )
    text = "CREATE VIEW D.S.X AS SELECT 2"
    decision = decide(
        mine, replace(seen(comment=comment, text=text, is_secure="false", change_tracking="OFF"), details={DETAIL: ()})
    )
    changes = {each.change for each in decision.differences} if isinstance(decision, Update) else set()
    assert (type(decision), changes) == expected, decision
