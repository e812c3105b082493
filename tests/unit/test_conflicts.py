"""What is told of an owner, by how much may be told and by who asks."""

from __future__ import annotations

import pytest

from freehold.claims import Claim, Holder, new_claim
from freehold.conflicts import Detail, awaited, contested, owned
from freehold.identity import Identity, Name


def holder(namespace: str, name: str, kind: str = "Table") -> Holder:
    return Holder(group="snowflake.freehold.dev", kind=kind, namespace=namespace, name=name, uid="1")


def claim(kind: str = "Table") -> Claim:
    identity = Identity("R.A", "TABLE", Name(("D", "S", "T")))
    return new_claim(identity, "ACME.PROD", holder("secret-team", "orders", kind))


@pytest.mark.parametrize(
    ("detail", "namespace", "owner"),
    [
        (Detail.FULL, "secret-team", "Table secret-team/orders"),
        (Detail.FULL, "b", "Table secret-team/orders"),
        (Detail.NAMESPACE, "secret-team", "Table secret-team/orders"),
        (Detail.NAMESPACE, "b", "a Table in another namespace"),
        (Detail.NONE, "secret-team", "another resource"),
        (Detail.NONE, "b", "another resource"),
    ],
)
@pytest.mark.parametrize(
    ("say", "verb"), [(owned, "is owned by"), (contested, "is claimed by"), (awaited, "comes over from")]
)
def test_what_is_owned_is_said_in_full_and_by_whom_as_far_as_may_be_known(
    say: object, verb: str, detail: Detail, namespace: str, owner: str
) -> None:
    assert callable(say)
    said = say(claim(), holder(namespace, "mine"), detail)
    assert said.startswith(f'Table "D"."S"."T" in account ACME.PROD {verb} {owner}')
    assert ("orders" in said) is ("orders" in owner)
    assert "\n" not in said


def test_whoever_may_know_the_owner_is_told_how_to_follow_it() -> None:
    said = owned(claim(), holder("b", "mine"), Detail.FULL)
    assert "delete that resource first" in said
    assert "freehold.dev/hand-over-to=b/mine" in said


def test_nobody_is_told_to_hand_over_to_another_kind() -> None:
    said = owned(claim("View"), holder("b", "mine"), Detail.FULL)
    assert "delete that resource first" in said
    assert "hand-over" not in said


@pytest.mark.parametrize("detail", [Detail.NAMESPACE, Detail.NONE])
def test_whoever_may_not_know_the_owner_is_told_whom_to_ask(detail: Detail) -> None:
    said = owned(claim(), holder("b", "mine"), detail)
    assert "choose another name, or ask who runs Freehold" in said
    assert "secret-team" not in said
