"""Whatever a spec of any kind says within its schema and rules, Snowflake reads our statements as they are meant."""

from __future__ import annotations

from collections import Counter

import pytest

from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS
from freehold.sql import identifier, join, literal, words
from tests.properties import cases, reading
from tests.properties.schemas import spec_node

SEED = "0"
CASES = 600


def test_statements_of_any_valid_spec_hold_its_names_and_texts_and_nothing_else() -> None:
    tally = cases.run(SEED, range(CASES))
    assert not tally.failures, "\n\n".join(tally.failures[:5])
    assert tally.without < CASES / 20, "chance finds too few valid specs"


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_chance_sets_fields_of_every_kind(kind: Kind) -> None:
    drafts = [case.draft for case in (cases.of_kind(kind, SEED, number) for number in range(20)) if case]
    assert drafts
    set_ = Counter(field for draft in drafts for field in draft.tree)
    fields = spec_node(kind.name).fields
    assert len(set_) >= min(len(fields), 2), f"only {sorted(set_)} of {sorted(fields)}"


def test_a_text_that_ends_its_quotes_is_found() -> None:
    tame = join((words("DROP ROLE"), identifier("QXA0000Z")))
    broken = words('DROP ROLE "x" CASCADE')
    with pytest.raises(reading.Misread):
        reading.compare(tame, broken, {"QXA0000Z": 'x" CASCADE'})


def test_a_text_that_loses_a_character_is_found() -> None:
    tame = join((words('COMMENT ON ROLE "R" IS'), literal("QXA0000Z")))
    lost = words(r"""COMMENT ON ROLE "R" IS 'a\'""" + "'")
    with pytest.raises(reading.Misread):
        reading.compare(tame, lost, {"QXA0000Z": "a\\"})
