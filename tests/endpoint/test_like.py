"""The patterns of SHOW … LIKE."""

import pytest

from freehold_devstack.snowflake.listing import like


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("A_C", ("ABC", "a_c"), ("AC", "ABBC")),
        ("A%", ("A", "AB", "a%"), ("BA",)),
        ("%B%C", ("ABC", "BC", "BCBC"), ("BCB", "CB")),
        ("%AB%AB", ("ABAB", "xABxABAB"), ("AB", "xABA")),
        ("A\\%", ("A%",), ("AB",)),
        ("%_%", ("A", "AB"), ("",)),
    ],
)
def test_a_pattern_fits_whole_names_in_any_case(pattern: str, fits: tuple[str, ...], fits_not: tuple[str, ...]) -> None:
    matcher = like(pattern)
    assert [each for each in (*fits, *fits_not) if matcher.fullmatch(each)] == list(fits)


def test_many_wildcards_are_answered_at_once() -> None:
    matcher = like("%_" * 100 + "x")
    assert not matcher.fullmatch("%_" * 100)
    assert matcher.fullmatch("%_" * 100 + "x")
