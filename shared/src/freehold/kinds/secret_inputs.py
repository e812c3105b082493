"""Values that a spec takes from Secrets: it says where they are, and statements alone get to see them.

What was applied last is remembered as a keyed hash whose key is the uid of the Secret: random, and known to those alone
who may read the Secret itself. Status thus tells nobody the value, not even one who guesses well; and a Secret that is
only labelled anew is no change, so that a password which its person has changed since isn't set back.
"""

from __future__ import annotations

import hmac
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from freehold import sql
from freehold.kinds.common import ObjectName
from freehold.kinds.fields import prop
from freehold.kinds.model import Model
from freehold.kinds.property import UNSET, DoneOn, Observe, Property, Reset
from freehold.kinds.values import Codec
from freehold.sql import Sql


class SecretKeyReference(Model):
    """A key of a Secret in the resource's own namespace."""

    name: ObjectName
    """Name of the Secret."""
    key: Annotated[str, StringConstraints(min_length=1, max_length=253)]
    """Key in its data."""

    def __str__(self) -> str:
        return f"Secret {self.name}, key {self.key}"


class SecretInput(SecretKeyReference):
    """The same with its value, which takes part in statements and in nothing else.

    Attributes:
        value: what the Secret holds.
        version: tells one value from another, and nothing of either.
    """

    value: str = Field(repr=False, exclude=True)
    version: str


def secret_input(reference: SecretKeyReference, value: str, uid: str) -> SecretInput:
    """A reference with its value.

    Args:
        reference: as the spec has it.
        value: what the Secret holds under its key.
        uid: of the Secret.
    """
    version = hmac.digest(uid.encode(), value.encode(), "sha256").hex()
    return SecretInput(name=reference.name, key=reference.key, value=value, version=version)


_UNREAD = Sql("<the value of a Secret>", sql.MASK)
"""Stands for a value where there is only a manifest. Nothing that holds it can be sent by mistake: it is no SQL."""


class SecretText(Codec):
    """The value of a Secret as a string literal, masked wherever people see it."""

    def render(self, value: Any) -> Sql:
        return sql.literal(value.value, secret=True) if isinstance(value, SecretInput) else _UNREAD


def secret(
    keyword: str,
    *,
    observe: Observe | None = None,
    reset: Reset = UNSET,
    done_on: DoneOn | None = None,
) -> Any:
    """A property whose value is in a Secret, and which Snowflake never tells: a `SecretKeyReference`. It is sent when
    the value changes, and where nothing is set.

    Args:
        keyword: Snowflake's name of the property.
        observe: reads None where nothing is set; UNKNOWN otherwise.
        reset: how it goes back when removed.
        done_on: the answer of an object that has the value already.
    """
    return prop(
        keyword,
        observe=observe,
        codec=SecretText(),
        reset=reset,
        own_statement=done_on is not None,
        secret=True,
        on_change=True,
        done_on=done_on,
    )


def from_secret(*, instead_of: str) -> Any:
    """A `SecretKeyReference` in place of a text in the manifest, for what need not be hidden but often comes with what
    has to be, such as a public key.

    Args:
        instead_of: attribute of the text.
    """
    return Field(default=None, json_schema_extra=Property(instead_of=instead_of))
