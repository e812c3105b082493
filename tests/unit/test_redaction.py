"""Secrets in what others say, and in what our own objects say of themselves."""

from __future__ import annotations

import base64

import pytest
from pydantic import ValidationError

from freehold import redaction
from freehold.kinds.fields import prop
from freehold.kinds.model import Model
from freehold.kube.objects import Object
from freehold.snowflake.credentials import ClientCredentials, Credential, KeyPair, OAuthToken, Password
from freehold.snowflake.settings import ConnectionSettings, Proxy


@pytest.mark.parametrize(
    ("credential", "secret"),
    [
        (Password("s", "canary"), "canary"),
        (OAuthToken("s", "canary"), "canary"),
        (ClientCredentials("s", "id", "canary", "https://token.example", None), "canary"),
        (KeyPair("s", b"canary", "SHA256:x"), base64.b64encode(b"canary").decode()),
    ],
)
def test_all_that_settings_hide_are_secrets(credential: Credential, secret: str) -> None:
    proxy = Proxy("http", "proxy.example", 3128, "freehold", "way-out")
    settings = ConnectionSettings("team/a", "ORG-A", "a.example", 443, "ANNA", None, None, credential, proxy=proxy)

    assert sorted(redaction.secrets_of(settings)) == sorted([secret, "way-out"])
    assert not any(each in repr(settings) for each in ("canary", "way-out"))


def test_a_key_is_known_by_the_lines_that_it_is_printed_in() -> None:
    lines = [*redaction.secrets_of(KeyPair("s", bytes(range(100)), "SHA256:x"))]

    assert redaction.without("\n".join(["-----BEGIN PRIVATE KEY-----", *lines]), lines).count("***") == 3
    assert redaction.without(base64.b64encode(bytes(range(100))).decode(), lines) == "*" * 9


def test_what_is_quoted_whole_is_masked_and_the_words_around_it_are_left() -> None:
    assert redaction.without("no user 'a b c d', only a b", {"a b c d"}) == "no user '***', only a b"


def test_a_secret_that_contains_another_one_is_masked_whole() -> None:
    assert redaction.without("x abcdef y abc", {"abc", "abcdef"}) == "x *** y ***"


SOURCE = """\
def f(title):
    token = 'canary-9f2c'
    if title:
        return token + title
    raise ValueError("no title")
"""


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("syntax error line 2 at position 12 unexpected ''canary-9f2c''.", "line 2 at position 12 unexpected '***'."),
        ("unexpected 'token = 'canary-9f2c'' near 'return tok'", "unexpected '***' near '***'"),
        ('File "<string>", line 4\n    return token + title\nTypeError', 'File "<string>", line 4\n    ***\nTypeError'),
        ("TypeError in function F with handler f: no title", "TypeError in function F with handler f: ***"),
        ("unexpected ''canary-9f2c'\n    if title' in F", "unexpected '***' in F"),
        ("cut: 'return token + title\n    raise Va", "cut: '***"),
        ("invalid identifier 'titles'", "invalid identifier 'titles'"),
        ("invalid identifier 'TITLES' if title and token", "invalid identifier 'TITLES' if title and token"),
        ("Object 'D.S.T' does not exist or not authorized.", "Object 'D.S.T' does not exist or not authorized."),
    ],
)
def test_what_is_quoted_of_a_text_is_masked_and_the_rest_tells_what_is_wrong(message: str, told: str) -> None:
    assert redaction.without_quotations(message, {SOURCE}).endswith(told)


@pytest.mark.parametrize("text", ["'", "''", "", "\n", "BEGIN\nEND", "a'b"])
def test_a_text_of_which_nothing_tells_anything_hides_nothing(text: str) -> None:
    message = "syntax error: BEGIN without END, unexpected 'a' or ''"
    assert redaction.without_quotations(message, {text}) == message


def test_no_repr_or_complaint_shows_what_a_manifest_or_a_secret_holds() -> None:
    class UserSpec(Model):
        name: str
        password: str | None = prop("PASSWORD", secret=True, max_length=20)

    with pytest.raises(ValidationError) as refusal:
        UserSpec(name="U", password="canary" * 9)
    secret = Object({"kind": "Secret", "metadata": {"namespace": "team", "name": "login"}, "data": {"key": "canary"}})

    assert repr(UserSpec(name="U", password="canary")) == "UserSpec(name='U')"
    assert repr(secret) == "Object(Secret team/login)"
    assert "canary" not in str(refusal.value)
