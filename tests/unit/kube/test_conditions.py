from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold.kube.conditions import MESSAGE_LIMIT, condition, conditions_of, says
from freehold.kube.objects import Object
from freehold.kube.text import micro_time, shortened

NOON = datetime(2030, 1, 1, 12, 0, 0, 5, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


def test_the_transition_time_moves_with_the_status_alone() -> None:
    first = condition("Ready", "True", "Available", "made", generation=1, previous=(), now=NOON)
    same = condition("Ready", "True", "Adopted", "other", generation=2, previous=(first,), now=LATER)
    changed = condition("Ready", "False", "Drift", "", generation=2, previous=(first,), now=LATER)
    assert first.last_transition_time == NOON.replace(microsecond=0)
    assert same.last_transition_time == first.last_transition_time
    assert changed.last_transition_time == LATER.replace(microsecond=0)


def test_conditions_survive_the_way_through_the_api() -> None:
    made = condition("Ready", "True", "Available", "made", generation=1, previous=(), now=NOON)
    raw = made.model_dump(mode="json", by_alias=True)
    assert raw["lastTransitionTime"] == "2030-01-01T12:00:00Z"
    assert conditions_of(Object({"status": {"conditions": [raw, {"type": "Forged"}]}})) == (made,)


def test_a_long_message_keeps_its_beginning_and_its_query_id() -> None:
    text = "SQL compilation error: " + "x" * 40_000 + " (query 01b2-3)"
    message = condition("Ready", "False", "Error", text, generation=1, previous=(), now=NOON).message
    assert len(message.encode()) <= MESSAGE_LIMIT
    assert message.startswith("SQL compilation error: ")
    assert message.endswith("(query 01b2-3)")


@pytest.mark.parametrize("text", ["short", "x" * 40_000])
def test_what_is_told_is_known_to_be_told_however_long(text: str) -> None:
    told = condition("Ready", "False", "Error", text, generation=1, previous=(), now=NOON)
    resource = Object({"status": {"conditions": [told.model_dump(mode="json", by_alias=True)]}})
    assert says(resource, text, reason="Error")
    assert not says(resource, text, reason="Other")
    assert not says(resource, text + "y", reason="Error")


@given(st.text(max_size=2000), st.integers(512, 1024))
def test_a_shortened_text_fits_whatever_its_characters(text: str, limit: int) -> None:
    assert len(shortened(text, limit).encode()) <= limit
    if len(text.encode()) <= limit:
        assert shortened(text, limit) == text


def test_micro_times_have_six_digits_in_utc() -> None:
    assert micro_time(NOON) == "2030-01-01T12:00:00.000005Z"
