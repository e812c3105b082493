"""A kind with a secret in its statements: what a release without one can't show."""

from __future__ import annotations

from freehold.kinds.common import Name, SnowflakeSpec
from freehold.kinds.fields import comment, own_name, prop
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level


class UserSpec(SnowflakeSpec):
    """A user."""

    name: Name = own_name()
    """The user's name as it is stored."""
    password: str | None = prop("PASSWORD", secret=True)
    """What the user logs in with."""
    comment: str | None = comment()
    """A note for people."""


USER = Kind(
    spec=UserSpec,
    domain=Domain.ACCOUNT,
    object_type="USER",
    level=Level.ACCOUNT,
    holds_data=False,
    short_names=("usr",),
)
