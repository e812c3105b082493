"""SQL text: whatever a name or value holds, a statement stays one statement and says what was meant."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from freehold import sql
from freehold.identifiers import split

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=255)


@given(st.lists(names, min_size=1, max_size=3))
def test_identifiers_read_back_as_they_were(parts: list[str]) -> None:
    assert split(sql.identifier(*parts).text) == tuple(parts)


@given(st.text())
def test_a_literal_ends_where_it_should_and_holds_the_value(value: str) -> None:
    text = sql.literal(value).text
    # A single-quoted constant: '' and backslash sequences inside, nothing that ends it early.
    assert re.fullmatch(r"'(?:[^'\\]|''|\\.)*'", text, re.DOTALL)
    assert text[1:-1].replace("''", "'").replace("\\\\", "\\") == value


def test_secrets_are_masked_for_people() -> None:
    statement = sql.sql(
        "ALTER USER {name} SET PASSWORD = {password}",
        name=sql.identifier("U"),
        password=sql.literal("pw'", secret=True),
    )
    assert statement.text == "ALTER USER \"U\" SET PASSWORD = 'pw'''"
    assert str(statement) == "ALTER USER \"U\" SET PASSWORD = '***'"


@given(st.text())
def test_braces_in_values_are_no_templates(value: str) -> None:
    assert sql.sql("X {a}", a=sql.literal(value)).text == "X " + sql.literal(value).text
