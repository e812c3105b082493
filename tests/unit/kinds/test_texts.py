"""SQL that Snowflake keeps and prints back: what counts as the same, and how it gets into statements."""

from __future__ import annotations

import pytest

from freehold import bodies
from freehold.kinds.property import Property, Target
from freehold.kinds.texts import Condition, Text, detail, in_create, text
from freehold.observation import UNKNOWN, Observation

TARGET = Target("TASK", ("D", "S", "T"))


def _facts(field: object) -> Property:
    facts = field.json_schema_extra  # type: ignore[attr-defined]
    assert isinstance(facts, Property)
    return facts


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("SELECT 1\n", "SELECT 1"),
        ("SELECT 1;", "SELECT 1"),
        ("SELECT 1 ; -- done", "SELECT 1"),
        ("select  a\r\nfrom t", "SELECT A FROM T"),
        ('SELECT "A" FROM "T"', "SELECT A FROM T"),
        ("SELECT 1 -- one\n", "SELECT /* one */ 1"),
        ("BEGIN DELETE FROM t; END;", "BEGIN\n  DELETE FROM T;\nEND"),
    ],
)
def test_what_means_the_same_is_the_same(written: str, printed: str) -> None:
    assert Text().matches(Text().canonical(written), Text().read(printed))


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("SELECT 'A'", "SELECT 'a'"),
        ("SELECT 'a  b'", "SELECT 'a b'"),
        ('SELECT "a"', "SELECT a"),
        ("SELECT 'a b'", "SELECT 'a' b"),
        ("BEGIN DELETE FROM t; END", "BEGIN DELETE FROM t END"),
        ("SELECT '", "SELECT ''"),
    ],
)
def test_what_means_something_else_is_not(written: str, printed: str) -> None:
    assert not Text().matches(Text().canonical(written), Text().read(printed))


def test_an_empty_text_is_none_only_where_there_may_be_none() -> None:
    assert (Text().read(""), Text().read(None)) == (UNKNOWN, None)
    assert (Condition().read(""), Condition().read(None)) == (None, None)


@pytest.mark.parametrize(
    ("create", "body"),
    [
        ("CREATE VIEW v AS SELECT 1 AS n", "SELECT 1 AS n"),
        (
            "create or replace secure view \"Example AS\".s.v (a comment 'x AS y') comment = '(y) as z' as (select 1)",
            "(select 1)",
        ),
        (
            "CREATE VIEW v -- as\n/* AS */ AS\nWITH a AS (SELECT 1) SELECT * FROM a -- as",
            "WITH a AS (SELECT 1) SELECT * FROM a -- as",
        ),
        ("CREATE VIEW v ROW ACCESS POLICY p ON (a) COPY GRANTS\nAS\n  SELECT 1;", "SELECT 1;"),
    ],
)
def test_the_body_of_a_create_follows_the_as_that_ends_its_header(create: str, body: str) -> None:
    assert in_create("text")(Observation({"text": create})) == body


@pytest.mark.parametrize("create", ["", None, "CREATE VIEW v (a)", "CREATE VIEW v AS SELECT '"])
def test_a_create_that_tells_no_body_tells_nothing(create: str | None) -> None:
    assert in_create("text")(Observation({"text": create})) is UNKNOWN


def test_a_detail_is_known_once_it_was_asked_for() -> None:
    read = detail("describe", "body")
    assert read(Observation({})) is UNKNOWN
    assert read(Observation({}, details={"describe": ()})) is UNKNOWN
    assert read(Observation({}, details={"describe": ({"body": "TRUE"},)})) == "TRUE"


def test_a_text_is_changed_and_taken_away_in_the_words_of_its_declaration() -> None:
    facts = _facts(
        text(
            "WHEN",
            check=bodies.expression,
            observe=in_create("condition"),
            source="show.condition",
            alter="MODIFY WHEN",
            remove="REMOVE WHEN",
        )
    )
    assert facts.alter is not None
    assert facts.clause is not None
    assert str(facts.clause("a --b")) == "WHEN a --b\n"
    assert [str(each) for each in facts.alter(TARGET, "a > 1 ", None)] == ['ALTER TASK "D"."S"."T" MODIFY WHEN a > 1']
    assert [str(each) for each in facts.alter(TARGET, None, "A")] == ['ALTER TASK "D"."S"."T" REMOVE WHEN']
    assert facts.alter(TARGET, None, None) == ()


def test_a_text_that_nothing_takes_away_stays_when_it_leaves_the_spec() -> None:
    facts = _facts(
        text("AS", check=bodies.query, observe=in_create("text"), source="show.text", alter="MODIFY AS", required=True)
    )
    assert facts.reset.keep
