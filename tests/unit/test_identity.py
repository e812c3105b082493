"""Identity: printing and parsing invert each other, and equal hashes mean equal identities."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from freehold.identifiers import MAX_LENGTH, InvalidName, check, needs_quotes, qualified, quote, split, unquoted
from freehold.identity import HASH_LENGTH, Identity, Name, Slot

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=MAX_LENGTH)
TYPES = st.sampled_from(
    ["NUMBER", "VARCHAR", "NUMBER(38, 0)", "ARRAY(NUMBER(38, 0) NOT NULL)", "MAP(VARCHAR, NUMBER)", "TIMESTAMP_NTZ(9)"]
)
QUALIFIED = st.builds(
    Name,
    parts=st.lists(NAMES, min_size=1, max_size=3).map(tuple),
    arguments=st.none() | st.lists(TYPES, max_size=3).map(tuple),
)
KEYWORDS = st.sampled_from(
    ["SELECT ON TABLE", "CREATE SNOWFLAKE.ML.FORECAST ON SCHEMA", "TO ROLE", "OF USER", "COLUMN"]
)


@st.composite
def slots(draw: st.DrawFn) -> Slot:
    """Keywords and names in turn, ending in either."""
    phrase: list[str | Name] = []
    for _ in range(draw(st.integers(1, 3))):
        phrase += [draw(KEYWORDS), draw(QUALIFIED)]
    return Slot(tuple(phrase[: len(phrase) - draw(st.integers(0, 1))]))


IDENTITIES = st.builds(
    Identity,
    account=st.sampled_from(["AWS_EU_CENTRAL_1.AB12345", "AZURE_WESTEUROPE.AB12345"]),
    namespace_class=st.sampled_from(["DATABASE", "SCHEMA", "TABLE", "FUNCTION", "GRANT"]),
    name=QUALIFIED | slots(),
)


@given(NAMES)
@example("\U0001f9ca" * MAX_LENGTH)
@example('"' * MAX_LENGTH)
@example('a"."b')
@example("a.b")
@example("e\u0301")
@example("\n\u2028 ")
def test_every_name_survives_being_quoted(name: str) -> None:
    assert check(name) == name
    assert split(quote(name)) == (name,)
    assert unquoted(quote(name)) == name


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_splitting_inverts_qualifying(parts: list[str]) -> None:
    assert split(qualified(parts)) == tuple(parts)


@given(IDENTITIES)
def test_parsing_inverts_printing(identity: Identity) -> None:
    assert Identity.parse(identity.account, identity.namespace_class, identity.fqn) == identity


@given(IDENTITIES, IDENTITIES)
def test_equal_hash_and_equal_identity_are_the_same(one: Identity, other: Identity) -> None:
    assert (one.hash == other.hash) is (one == other)
    assert (one.fqn == other.fqn) is (one.name == other.name)


@given(st.lists(NAMES, min_size=2, max_size=3))
def test_where_one_part_ends_matters(parts: list[str]) -> None:
    """Names that read alike when joined are still different objects."""
    joined = ".".join(parts)
    assume(len(joined) <= MAX_LENGTH)
    assert Identity("A.B", "X", Name(tuple(parts))).hash != Identity("A.B", "X", Name((joined,))).hash


def test_a_hash_can_name_an_object_and_be_a_label_value() -> None:
    longest = Identity("R.L", "FUNCTION", Name(("\U0001f9ca" * MAX_LENGTH,) * 3, ("VARCHAR",)))
    assert len(longest.hash) == HASH_LENGTH <= 63
    assert re.fullmatch(r"[a-z2-7]+", longest.hash)


@pytest.mark.parametrize(
    ("namespace_class", "name", "expected"),
    [
        ("DATABASE", Name(("ANALYTICS",)), "yfh3xyv2lwp4h7chwm4dq7sxlfjfqhhydqz2v46l2hsaevtr5bkq"),
        ("SCHEMA", Name(("a.b", 'é"')), "7k53bn2eh2s6bwfv5av4rmef7rt7nhlw4fvwihz5mwrkvkbm57oq"),
        ("FUNCTION", Name(("D", "S", "F"), ()), "f2uwblsjfzcxihmraltswy5kaa37yr3w56hahylxy7rjeif67jwa"),
        (
            "FUNCTION",
            Name(("D", "S", "F"), ("NUMBER", "VECTOR(INT, 16)")),
            "hpqtxbx6hggiqcopf45b4vph2dbb6o3pud6ipfcseqnwgc4x6pqa",
        ),
        (
            "GRANT",
            Slot(("CREATE DATABASE ON ACCOUNT TO ROLE", Name(("R",)))),
            "rqypdfm2zbptz76aepjeupkjm6e5bxstylopm4foz6jdingxor3q",
        ),
    ],
)
def test_the_hash_of_an_identity_never_changes_between_releases(
    namespace_class: str, name: Name | Slot, expected: str
) -> None:
    """Claims in clusters are named by it."""
    assert Identity("AWS_EU_CENTRAL_1.AB12345", namespace_class, name).hash == expected


@pytest.mark.parametrize("name", ["", "x" * (MAX_LENGTH + 1), "a\0b", "\ud800"])
def test_what_snowflake_cannot_store_is_no_name(name: str) -> None:
    with pytest.raises(InvalidName):
        check(name)
    with pytest.raises(InvalidName):
        Name((name,))


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", '"a', 'a"', '""', "a b", '"a"b', "é", "1a", '"a".'])
def test_what_is_no_dotted_name_is_not_split(text: str) -> None:
    with pytest.raises(InvalidName):
        split(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [("db.schema", ("DB", "SCHEMA")), ('"db".Schema', ("db", "SCHEMA")), ('a$1."b.c"', ("A$1", "b.c"))],
)
def test_bare_parts_are_folded_and_quoted_ones_are_not(text: str, parts: tuple[str, ...]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize("arguments", [("NUMBER, VARCHAR",), (" NUMBER",), ('"',), ("NUMBER(38",), (")(",), ("",)])
def test_what_would_not_be_read_back_is_no_argument_type(arguments: tuple[str, ...]) -> None:
    with pytest.raises(InvalidName):
        Name(("F",), arguments)


@pytest.mark.parametrize("fqn", ['"F"', '"F"()', '"F"(NUMBER)', '"F(X)"', '"F(X)"(NUMBER)', '"F)"'])
def test_functions_differ_from_names_with_parentheses(fqn: str) -> None:
    assert Identity.parse("A.B", "FUNCTION", fqn).fqn == fqn


@pytest.mark.parametrize(("name", "must"), [("ORDERS", False), ("_A$1", False), ("orders", True), ("A B", True)])
def test_a_name_that_folding_would_change_needs_quotes(name: str, *, must: bool) -> None:
    assert needs_quotes(name) is must


@pytest.mark.parametrize(
    "phrase",
    [
        (),
        (Name(("D",)),),
        ("ROLE", Name(("A",)), Name(("B",))),
        ("ROLE", "A"),
        ("select on table", Name(("T",))),
        ("SELECT  ON", Name(("T",))),
        ("SELECT ON ", Name(("T",))),
        ('ROLE "A" TO ROLE', Name(("B",))),
        ("",),
    ],
)
def test_what_would_not_be_read_back_is_no_slot(phrase: tuple[str | Name, ...]) -> None:
    with pytest.raises(InvalidName):
        Slot(phrase)


@pytest.mark.parametrize(
    "fqn",
    ["", "d", '"D" ', '"D""', '"D"x', '"D"(', '"D"."S".', 'ROLE "A"  TO', 'ROLE "A"TO', 'ROLE  "A"', '"A" TO "B"'],
)
def test_what_was_never_printed_is_no_identity(fqn: str) -> None:
    with pytest.raises(InvalidName):
        Identity.parse("A.B", "DATABASE", fqn)


@pytest.mark.parametrize("parts", [("D",), ("D", "S")])
def test_a_slot_has_no_parts_that_could_be_taken_for_an_objects(parts: tuple[str, ...]) -> None:
    assert Identity("A.B", "GRANT", Slot(("USAGE ON SCHEMA", Name(parts)))).parts == ()
    assert Identity("A.B", "SCHEMA", Name(parts)).parts == parts


def test_a_name_has_a_part() -> None:
    with pytest.raises(InvalidName):
        Name(())
