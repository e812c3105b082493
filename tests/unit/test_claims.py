"""Claims: the live rule, taking over and sweeping, as tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from freehold.claim_rules import GRACE, HAND_OVER_ANNOTATION, Liveness, hand_over, heir, liveness, sweepable, take
from freehold.claims import CLAIM, OWNER_ANNOTATION, Claim, ClaimSpec, Evidence, Holder, Intent, Mark, new_claim
from freehold.identity import HASH_LENGTH, Identity, Name

CREATED = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATE = CREATED + GRACE
IDENTITY = Identity("AWS_EU_CENTRAL_1.AB12345", "DATABASE", Name(("ANALYTICS",)))
HOLDER = Holder(group="snowflake.freehold.dev", kind="Database", namespace="a", name="analytics", uid="1")
OTHER = HOLDER.model_copy(update={"namespace": "b", "uid": "2"})
EVIDENCE = Evidence(how="created", created_on=CREATED, role="FREEHOLD", time=CREATED)
SENT = Mark(attempt=1, since=CREATED, outcome="sent")
DONE = Mark(attempt=1, outcome="done")
DROP = Intent(statement="DROP", created_on=CREATED)


def claim(
    *,
    evidence: Evidence | None = None,
    mark: Mark | None = None,
    intent: Intent | None = None,
    since: datetime | None = None,
) -> Claim:
    """A claim of IDENTITY by HOLDER as it stands in the API."""
    asked = new_claim(IDENTITY, "ACME.PROD", HOLDER)
    spec = asked.spec.model_copy(
        update={
            "holder": HOLDER.model_copy(update={"since": since}),
            "evidence": evidence,
            "mark": mark,
            "intent": intent,
        }
    )
    return Claim(asked.name, "7", "uid-of-claim", CREATED, spec)


@pytest.mark.parametrize(
    ("exists", "computes", "without_evidence", "with_evidence"),
    [
        (True, True, Liveness.LIVE, Liveness.LIVE),
        (True, False, Liveness.FREE, Liveness.LIVE),
        (True, None, Liveness.UNKNOWN, Liveness.LIVE),
        (False, None, Liveness.FREE, Liveness.FREE),
        (None, None, Liveness.UNKNOWN, Liveness.UNKNOWN),
    ],
)
def test_a_claim_binds_while_its_holder_stands_for_the_object(
    exists: bool | None, computes: bool | None, without_evidence: Liveness, with_evidence: Liveness
) -> None:
    assert liveness(claim(), LATE, holder_exists=exists, still_computes=computes) is without_evidence
    assert liveness(claim(evidence=EVIDENCE), LATE, holder_exists=exists, still_computes=computes) is with_evidence


@pytest.mark.parametrize("since", [None, CREATED + timedelta(hours=1)])
def test_a_claim_binds_for_as_long_as_the_request_that_made_it_may_be_in_flight(since: datetime | None) -> None:
    made = since or CREATED
    just_before, after = made + GRACE - timedelta(seconds=1), made + GRACE
    assert liveness(claim(since=since), just_before, holder_exists=False, still_computes=None) is Liveness.LIVE
    assert liveness(claim(since=since), after, holder_exists=False, still_computes=None) is Liveness.FREE


def test_a_claim_that_was_not_stored_yet_is_never_free() -> None:
    assert liveness(new_claim(IDENTITY, "", HOLDER), LATE, holder_exists=False, still_computes=None) is Liveness.LIVE


def test_the_same_holder_keeps_what_is_known_of_the_object() -> None:
    """A resource that was deleted and applied again still owns what it created."""
    again = HOLDER.model_copy(update={"uid": "3"})
    taken = take(claim(evidence=EVIDENCE, mark=SENT, intent=DROP), again, LATE)
    assert (taken.evidence, taken.mark, taken.intent) == (EVIDENCE, SENT, DROP)
    assert (taken.holder.uid, taken.holder.since) == ("3", LATE)


def test_another_holder_starts_without_evidence() -> None:
    taken = take(claim(evidence=EVIDENCE, mark=SENT, intent=DROP), OTHER, LATE)
    assert (taken.evidence, taken.mark, taken.intent) == (None, None, None)
    assert taken.holder.same(OTHER)
    assert taken.identity.identity == IDENTITY


def test_an_heir_gets_all_that_is_known_of_the_object() -> None:
    given = hand_over(claim(evidence=EVIDENCE, mark=DONE), OTHER, LATE)
    assert (given.evidence, given.mark) == (EVIDENCE, DONE)
    assert (given.holder.key, given.holder.uid, given.holder.since) == (OTHER.key, "2", LATE)
    assert given.identity.identity == IDENTITY


def test_a_holder_names_its_heir_by_namespace_and_name() -> None:
    named = heir(HOLDER, {HAND_OVER_ANNOTATION: "b/analytics", "other": "c/analytics"})
    assert named is not None
    assert named.same(OTHER)
    assert (named.uid, named.since) == ("", None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "/",
        "b",
        "b/",
        "/analytics",
        "b/analytics/x",
        " b/analytics",
        "b/analytics ",
        "b/analytics\n",
        "*/analytics",
        "b/*",
        "B/analytics",
        "b/analytics,c/analytics",
        "b.c/analytics",
        "-b/analytics",
        "b/analytics-",
        f"{'b' * 64}/analytics",
        "é/analytics",
        "a/analytics",
    ],
)
def test_anything_but_the_name_of_another_resource_lets_nobody_in(value: str | None) -> None:
    assert heir(HOLDER, {} if value is None else {HAND_OVER_ANNOTATION: value}) is None


@pytest.mark.parametrize(
    ("candidate", "live", "swept"),
    [
        (claim(), Liveness.FREE, True),
        (claim(mark=DONE), Liveness.FREE, True),
        (claim(), Liveness.LIVE, False),
        (claim(), Liveness.UNKNOWN, False),
        (claim(evidence=EVIDENCE), Liveness.FREE, False),
        (claim(mark=SENT), Liveness.FREE, False),
        (claim(intent=DROP), Liveness.FREE, False),
    ],
)
def test_only_a_free_claim_of_an_object_that_nothing_is_known_of_is_swept(
    candidate: Claim, live: Liveness, *, swept: bool
) -> None:
    assert sweepable(candidate, live) is swept


def test_a_claim_is_named_by_the_hash_of_the_identity_that_it_prints() -> None:
    asked = new_claim(IDENTITY, "ACME.PROD", HOLDER)
    assert asked.name == IDENTITY.hash == asked.spec.identity.identity.hash


def test_the_holder_label_tells_holders_apart_and_ignores_the_uid() -> None:
    assert HOLDER.label == HOLDER.model_copy(update={"uid": "9"}).label
    assert HOLDER.label != OTHER.label
    assert len(HOLDER.label) == HASH_LENGTH


def test_the_columns_show_what_a_person_looks_for() -> None:
    assert [column.name for column in CLAIM.columns] == ["KIND", "OWNER", "ACCOUNT", "FQN", "EVIDENCE", "AGE"]
    escaped = OWNER_ANNOTATION.replace(".", r"\.")
    assert f".metadata.annotations['{escaped}']" in [column.path for column in CLAIM.columns]
    assert CLAIM.short_names == ("cl",)


def test_a_claim_survives_the_wire() -> None:
    spec = claim(evidence=EVIDENCE, mark=SENT, intent=DROP, since=CREATED + timedelta(microseconds=123000)).spec
    assert ClaimSpec.model_validate_json(spec.model_dump_json(by_alias=True, exclude_none=True)) == spec
