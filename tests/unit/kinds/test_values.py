"""Codecs: each comparison that Snowflake's own normalisation calls for."""

from __future__ import annotations

import pytest

from freehold.kinds.sizes import SIZE
from freehold.kinds.values import Boolean, Comment, Identifier, IdentifierText, Number, Word
from freehold.observation import UNKNOWN


@pytest.mark.parametrize(
    ("canonical", "spellings"),
    [
        ("XSMALL", ["xsmall", "X-Small", "X-SMALL"]),
        ("SMALL", ["Small"]),
        ("MEDIUM", ["Medium"]),
        ("LARGE", ["Large"]),
        ("XLARGE", ["X-Large", "X-LARGE"]),
        ("XXLARGE", ["2X-Large", "X2LARGE", "2XLARGE"]),
        ("XXXLARGE", ["3X-Large", "X3LARGE", "3XLARGE"]),
        ("X4LARGE", ["4X-Large", "4XLARGE"]),
        ("X5LARGE", ["5X-Large", "5XLARGE"]),
        ("X6LARGE", ["6X-Large", "6XLARGE"]),
    ],
)
def test_all_spellings_of_a_size_are_one(canonical: str, spellings: list[str]) -> None:
    assert {SIZE.canonical(each) for each in [canonical, *spellings]} == {canonical}
    assert SIZE.read(spellings[-1]) == canonical


@pytest.mark.parametrize("raw", [None, "", "null"])
def test_an_absent_identifier_is_none_however_it_is_printed(raw: str | None) -> None:
    assert Identifier(absent="null").read(raw) is None


@pytest.mark.parametrize(("raw", "name"), [("vol", "vol"), ('"vol"', "vol"), ('"a""b"', 'a"b'), ("a.b", "a.b")])
def test_an_identifier_reads_the_same_with_and_without_quotes(raw: str, name: str) -> None:
    assert Identifier().read(raw) == name


def test_an_identifier_in_a_literal_is_quoted_twice() -> None:
    assert IdentifierText().render("it's").text == "'\"it''s\"'"


def test_numbers_read_from_text_and_say_what_missing_means() -> None:
    assert Number().read("7") == 7
    assert Number().read("") is UNKNOWN
    assert Number(absent=0).read(None) == 0


@pytest.mark.parametrize(("raw", "value"), [("true", True), ("FALSE", False), ("Y", True), (False, False)])
def test_booleans_read_in_any_spelling(raw: object, value: bool) -> None:
    assert Boolean().read(raw) is value


def test_a_null_boolean_was_not_told() -> None:
    assert Boolean().read(None) is UNKNOWN


def test_no_comment_and_an_empty_one_are_the_same() -> None:
    assert Comment().read(None) == Comment().read("") == ""


def test_words_compare_without_case_and_keep_snowflakes_own_case() -> None:
    word = Word(case={"MEMORY_1X_X86": "MEMORY_1X_x86"})
    assert word.read("memory_1x_X86") == "MEMORY_1X_x86"
    assert word.render("MEMORY_1X_x86").text == "'MEMORY_1X_x86'"
