"""Slots: printed as SQL reads them, one spelling for one thing, and never one for two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold.identifiers import InvalidName
from freehold.identity import Identity, Name, Slot
from freehold.slots import (
    ACCOUNT,
    Phrase,
    Place,
    all_in,
    assignment,
    attachment,
    column,
    constrained,
    constraint,
    future_in,
    grant,
    holder,
    of,
    ownership,
    tag_value,
)

R, U, T = of("ROLE", "R"), of("USER", "U"), of("TABLE", "D", "S", "T")
SCHEMA = of("SCHEMA", "D", "S")

NAMES = st.sampled_from(["A", "a", "A.B", 'A"', '" TO ROLE "', "ON ACCOUNT", "ALL"])
SECURABLES = st.one_of(
    st.just(ACCOUNT),
    st.builds(of, st.sampled_from(["TABLE", "VIEW", "DATABASE ROLE"]), NAMES, NAMES),
    st.builds(of, st.just("DATABASE"), NAMES),
    st.builds(
        lambda name, arguments: of("FUNCTION", name, arguments=arguments),
        NAMES,
        st.sampled_from([(), ("NUMBER",), ("NUMBER", "VECTOR(INT, 16)")]),
    ),
    st.builds(all_in, st.sampled_from(["TABLES", "VIEWS"]), st.builds(of, st.just("SCHEMA"), NAMES, NAMES)),
    st.builds(future_in, st.sampled_from(["TABLES", "VIEWS"]), st.builds(of, st.just("DATABASE"), NAMES)),
)
PRIVILEGES = st.sampled_from(["SELECT", "USAGE", "CREATE TABLE", "ALL PRIVILEGES", "REFERENCE_USAGE"])
GRANTEES = st.builds(of, st.sampled_from(["ROLE", "SHARE", "USER"]), NAMES)
GRANTS = st.tuples(PRIVILEGES, SECURABLES, GRANTEES)


@pytest.mark.parametrize(
    ("slot", "printed"),
    [
        (grant("SELECT", T, R), 'SELECT ON TABLE "D"."S"."T" TO ROLE "R"'),
        (grant("CREATE DATABASE", ACCOUNT, R), 'CREATE DATABASE ON ACCOUNT TO ROLE "R"'),
        (
            grant("SELECT", future_in("TABLES", SCHEMA), of("DATABASE ROLE", "D", "R")),
            'SELECT ON FUTURE TABLES IN SCHEMA "D"."S" TO DATABASE ROLE "D"."R"',
        ),
        (
            grant("USAGE", all_in("SCHEMAS", of("DATABASE", "D")), R),
            'USAGE ON ALL SCHEMAS IN DATABASE "D" TO ROLE "R"',
        ),
        (
            grant("USAGE", of("FUNCTION", "D", "S", "F", arguments=("NUMBER", "VARCHAR")), of("SHARE", "X")),
            'USAGE ON FUNCTION "D"."S"."F"(NUMBER, VARCHAR) TO SHARE "X"',
        ),
        (assignment(of("ROLE", "A"), U), 'ROLE "A" TO USER "U"'),
        (assignment(of("DATABASE ROLE", "D", "A"), R), 'DATABASE ROLE "D"."A" TO ROLE "R"'),
        (ownership(T), 'OWNERSHIP ON TABLE "D"."S"."T"'),
        (ownership(future_in("VIEWS", of("DATABASE", "D"))), 'OWNERSHIP ON FUTURE VIEWS IN DATABASE "D"'),
        (attachment("NETWORK POLICY", U), 'NETWORK POLICY OF USER "U"'),
        (attachment("network_policy", ACCOUNT), "NETWORK POLICY OF ACCOUNT"),
        (attachment("MASKING POLICY", column(T, "C")), 'MASKING POLICY OF TABLE "D"."S"."T" COLUMN "C"'),
        (tag_value(("D", "S", "G"), column(T, "C")), 'TAG "D"."S"."G" ON TABLE "D"."S"."T" COLUMN "C"'),
        (tag_value(("D", "S", "G"), of("WAREHOUSE", "W")), 'TAG "D"."S"."G" ON WAREHOUSE "W"'),
        (tag_value(("D", "S", "G"), ACCOUNT), 'TAG "D"."S"."G" ON ACCOUNT'),
        (constraint("primary key", "PK", T), 'PRIMARY KEY "PK" ON TABLE "D"."S"."T"'),
    ],
)
def test_a_slot_reads_as_sql_does_and_is_read_back(slot: Slot, printed: str) -> None:
    assert str(slot) == printed
    assert Identity.parse("R.A", "X", printed).name == slot


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (grant("select", T, R), grant("SELECT", T, R)),
        (grant("ALL", T, R), grant("all  privileges", T, R)),
        (grant("CREATE DATA EXCHANGE LISTING", ACCOUNT, R), grant("CREATE LISTING", ACCOUNT, R)),
        (grant("SELECT", of("ICEBERG TABLE", "D", "S", "T"), R), grant("SELECT", T, R)),
        (grant("SELECT", of("hybrid_table", "D", "S", "T"), R), grant("SELECT", T, R)),
        (ownership(of("MATERIALIZED_VIEW", "D", "S", "V")), ownership(of("VIEW", "D", "S", "V"))),
        (ownership(of("VOLUME", "V")), ownership(of("EXTERNAL VOLUME", "V"))),
    ],
)
def test_spellings_of_one_thing_are_one_slot(one: Slot, other: Slot) -> None:
    assert one == other


@pytest.mark.parametrize("words", ["VIEW", "DYNAMIC TABLE", "EXTERNAL TABLE", "EVENT TABLE", "SEMANTIC VIEW"])
def test_what_shares_its_names_with_tables_is_claimed_as_they_are_and_granted_by_its_own_word(words: str) -> None:
    """GRANT SELECT ON TABLE takes a view, and is the same grant."""
    slot = grant("SELECT", of(words, "D", "S", "T"), R)
    assert Identity("R.A", "GRANT", slot).hash == Identity("R.A", "GRANT", grant("SELECT", T, R)).hash
    assert f"ON {words} " in str(slot)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (grant("SELECT", future_in("VIEWS", SCHEMA), R), grant("SELECT", future_in("TABLES", SCHEMA), R)),
        (grant("CREATE VIEW", SCHEMA, R), grant("CREATE TABLE", SCHEMA, R)),
        (grant("SELECT", of("STREAM", "D", "S", "T"), R), grant("SELECT", T, R)),
    ],
)
def test_other_things_are_claimed_each_for_itself(one: Slot, other: Slot) -> None:
    assert Identity("R.A", "GRANT", one).hash != Identity("R.A", "GRANT", other).hash


def test_in_bulk_iceberg_tables_are_not_tables() -> None:
    assert future_in("ICEBERG TABLES", SCHEMA) != future_in("TABLES", SCHEMA)


@given(GRANTS, GRANTS)
def test_different_grants_are_different_slots(
    one: tuple[str, Phrase, Phrase], other: tuple[str, Phrase, Phrase]
) -> None:
    printed, compared = str(grant(*one)), str(grant(*other))
    assert (printed == compared) is (one == other)
    assert Identity.parse("R.A", "GRANT", printed).name == grant(*one)


@pytest.mark.parametrize(
    "words",
    ["", " ", "SELECT ON TABLE", "SELECT, INSERT", 'SELECT ON "T"', "SELECT;", "ALL TABLES IN", "select on", "SÉLECT"],
)
def test_what_could_be_taken_for_another_slot_is_no_privilege(words: str) -> None:
    with pytest.raises(InvalidName):
        grant(words, T, R)
    with pytest.raises(InvalidName):
        ownership(of(words, "D"))


@pytest.mark.parametrize(
    ("slot", "place"),
    [
        (attachment("NETWORK POLICY", ACCOUNT), Place("ACCOUNT")),
        (attachment("NETWORK POLICY", of("USER", "U")), Place("USER", Name(("U",)))),
        (attachment("MASKING POLICY", column(T, "C")), Place("TABLE", Name(("D", "S", "T")), "C")),
        (tag_value(("D", "S", "G"), of("DATABASE ROLE", "D", "R")), Place("DATABASE ROLE", Name(("D", "R")))),
        (tag_value(("D", "S", "G"), column(T, "OF U")), Place("TABLE", Name(("D", "S", "T")), "OF U")),
    ],
    ids=str,
)
def test_a_slot_tells_what_it_is_on(slot: Slot, place: Place) -> None:
    assert holder(slot) == place


def test_constraints_of_all_types_share_the_names_of_a_table() -> None:
    types = ("PRIMARY KEY", "UNIQUE", "FOREIGN KEY")
    assert len({Identity("A", "C", constraint(each, "N", T)).hash for each in types}) == 1
    assert [constrained(constraint(each, "N", T)).type for each in types] == list(types)
    assert (
        Identity("A", "C", constraint("UNIQUE", "N", T)).hash != Identity("A", "C", constraint("UNIQUE", "M", T)).hash
    )
