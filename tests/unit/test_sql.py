"""SQL text: whatever a name or value holds, a statement stays one statement and says what was meant."""

from __future__ import annotations

import re

import pytest
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
    assert "pw" not in repr(statement)


@given(st.text())
def test_braces_in_values_are_no_templates(value: str) -> None:
    assert sql.sql("X {a}", a=sql.literal(value)).text == "X " + sql.literal(value).text


SECRET = "canary-9f2c's \\ end"
SET_PASSWORD = sql.join(
    [
        sql.sql("ALTER USER {name}", name=sql.identifier("U")),
        sql.words("SET PASSWORD ="),
        sql.literal(SECRET, secret=True),
    ]
)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (f"unexpected '{SECRET}'.", "unexpected '***'."),
        (f"near {SET_PASSWORD.text}", "near ALTER USER \"U\" SET PASSWORD = '***'"),
        ("unexpected 'canary-9f2c'.", "unexpected '***'."),
        ("unexpected 'canary...'", "unexpected '***'"),
        ("unexpected 'canary-9f", "unexpected '***"),
        ("Password rejected. Reason: 'PRIOR_USE'", "Password rejected. Reason: 'PRIOR_USE'"),
    ],
)
def test_what_a_server_quotes_of_a_secret_is_masked(message: str, told: str) -> None:
    assert SET_PASSWORD.redact(message) == told


def test_messages_about_statements_without_a_secret_are_left_as_they_are() -> None:
    assert sql.literal(SECRET).redact(f"unexpected '{SECRET}'") == f"unexpected '{SECRET}'"


@given(st.text("abcdef0123456789", min_size=4, max_size=40), st.data())
def test_no_telling_part_of_a_secret_is_told(secret: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(secret) - 4))
    end = data.draw(st.integers(begin + 4, len(secret)))
    statement = sql.sql("X {a} {b}", a=sql.literal(secret, secret=True), b=sql.literal("plain"))

    assert statement.redact(f"NO, '{secret[begin:end]}'") == "NO, '***'"


def test_a_literal_of_postgresqls_escapes_quotes_alone() -> None:
    assert str(sql.standard_literal("a'b\\c")) == "'a''b\\c'"
