"""The lexical grammar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.parser import Parser, print_identifier
from freehold_devstack.snowflake.statements import split
from freehold_devstack.snowflake.tokens import Token, TokenKind, tokenize

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))

LEXEMES = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_$]{0,8}", fullmatch=True),
    st.from_regex(r"[0-9]{1,5}(\.[0-9]{1,3})?", fullmatch=True),
    TEXT.map(lambda text: "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"),
    TEXT.map(lambda text: '"' + text.replace('"', '""') + '"'),
    st.sampled_from(["(", ")", ",", ".", "=", ";", "=>", "<>", "::", "||", "*", "$$ a'b $$"]),
)
SPACES = st.sampled_from([" ", "\n", "\t", " -- a 'comment\n", " // another\n", "/* several\nlines */"])


def only(sql: str) -> Token:
    """The one token of a text."""
    token, end = tokenize(sql)
    assert end.kind is TokenKind.END
    return token


@given(TEXT)
def test_a_quoted_string_means_the_text_that_was_quoted(text: str) -> None:
    token = only("'" + text.replace("\\", "\\\\").replace("'", "''") + "'")
    assert (token.kind, token.value) == (TokenKind.STRING, text)


@given(TEXT.filter(bool))
def test_printing_and_reading_an_identifier_are_inverse(name: str) -> None:
    parser = Parser(tokenize(print_identifier(name)))
    if len(name) > 255 or "\0" in name:
        with pytest.raises(SqlError):
            parser.identifier()
    elif print_identifier(name).startswith('"'):
        assert parser.identifier() == name


@given(st.lists(st.tuples(LEXEMES, SPACES)))
def test_tokens_say_where_in_the_text_they_are(parts: list[tuple[str, str]]) -> None:
    sql = "".join(lexeme + space for lexeme, space in parts)
    tokens = tokenize(sql)
    lines = sql.split("\n")
    assert [token.text for token in tokens[:-1]] == [lexeme for lexeme, _ in parts]
    for token in tokens[:-1]:
        assert sql.startswith(token.text, token.start)
        assert lines[token.line - 1].startswith(token.text.split("\n")[0], token.position)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (r"'it''s'", "it's"),
        (r"'it\'s'", "it's"),
        (r"'a\\b'", "a\\b"),
        (r"'a\nb\tc'", "a\nb\tc"),
        (r"'\x41\u00e9\101'", "A\u00e9A"),
        (r"'a\_b\%'", "a_b%"),
        ("'two\nlines'", "two\nlines"),
        ("$$it's \\n$$", "it's \\n"),
        ("'-- no comment'", "-- no comment"),
    ],
)
def test_escapes_mean_what_snowflake_documents(sql: str, value: str) -> None:
    assert only(sql).value == value


@pytest.mark.parametrize("sql", ["'open", '"open', "$$open", "/* open", r"'open\'"])
def test_what_never_ends_is_a_parse_error_at_the_end(sql: str) -> None:
    with pytest.raises(SqlError) as caught:
        tokenize(sql)
    assert (caught.value.number, "near '<EOF>'" in caught.value.message) == (1003, True)


def test_a_character_that_starts_nothing_is_a_syntax_error_where_it_is() -> None:
    with pytest.raises(SqlError) as caught:
        tokenize("SELECT\n  §")
    assert (caught.value.line, caught.value.position) == (2, 2)


@pytest.mark.parametrize(
    ("sql", "count"),
    [("", 0), (" ; -- nothing\n;", 0), ("SELECT 1", 1), ("SELECT 1;", 1), ("SELECT ';'; SELECT 2", 2)],
)
def test_semicolons_separate_statements_outside_of_strings(sql: str, count: int) -> None:
    assert len(split(sql)) == count


@pytest.mark.parametrize("name", ["select", "TABLE", "database"])
def test_reserved_words_name_nothing_unless_quoted(name: str) -> None:
    with pytest.raises(SqlError):
        Parser(tokenize(name)).identifier()
    assert Parser(tokenize(f'"{name}"')).identifier() == name


def test_names_have_at_most_255_characters_however_many_bytes() -> None:
    assert Parser(tokenize('"' + "é" * 255 + '"')).identifier() == "é" * 255
    with pytest.raises(SqlError) as caught:
        Parser(tokenize('"' + "é" * 256 + '"')).identifier()
    assert caught.value.number == 999999


def test_quoted_names_are_folded_when_the_session_says_so() -> None:
    assert Parser(tokenize('"My Db"'), fold_quoted=True).identifier() == "MY DB"
