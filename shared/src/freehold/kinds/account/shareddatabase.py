"""Databases that another account offers by a share."""

from __future__ import annotations

import re
from typing import Literal

from freehold import sql
from freehold.identifiers import InvalidName, split
from freehold.kinds.common import Name
from freehold.kinds.containers import CONTAINER_PRIVILEGES, ContainerSpec
from freehold.kinds.fields import comment, own_name, prop, tags, unsupported
from freehold.kinds.kind import Domain, Kind
from freehold.kinds.names import Level
from freehold.kinds.property import Place
from freehold.kinds.resource import exactly_one
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation
from freehold.sql import Sql

_NOT_OURS = "it has no effect on what belongs to another account: leave it out"
_REVOKED = "<revoked>"
"""What SHOW DATABASES prints as the origin of a database whose share was withdrawn."""


_ACCOUNT = re.compile("[A-Z0-9_]+")


def _share(text: str) -> tuple[str, ...]:
    """The name of another account's share.

    Raises:
        InvalidName: it isn't one.
    """
    parts = split(text)
    if len(parts) not in (2, 3):
        raise InvalidName(f"a share is named as ORGANIZATION.ACCOUNT.SHARE: {text!r}")
    if not all(_ACCOUNT.fullmatch(part) for part in parts[:-1]):
        raise InvalidName(f"organizations and accounts have letters, digits and underscores alone: {text!r}")
    return parts


class _Share(Codec):
    """The share that a database is made from, which SHOW tells some time after its creation."""

    def canonical(self, value: str) -> tuple[str, ...]:
        return _share(value)

    def read(self, raw: object) -> object:
        return UNKNOWN if raw in (None, "", _REVOKED) else split(str(raw))

    def matches(self, desired: tuple[str, ...], observed: object) -> bool:
        """Behind an account's locator SHOW may print its name: then the share's own name is all there is to compare."""
        if not isinstance(observed, tuple):
            return True
        return desired[-1:] == observed[-1:] if len(desired) != len(observed) else desired == observed


def _from_share(value: str) -> Sql:
    return sql.sql("FROM SHARE {name}", name=sql.identifier(*_share(value)))


class SharedDatabaseSpec(ContainerSpec):
    """A database that another account offers by a share: it can only be read, and keeps all but its comment."""

    name: Name = own_name()
    """The database's name as it is stored: case kept, never folded."""
    from_share: str | None = prop(
        "FROM SHARE",
        show="origin",
        codec=_Share(),
        clause=_from_share,
        place=Place.AFTER_NAME,
        check=_share,
        min_length=1,
        max_length=1024,
    )
    """The share, as ORGANIZATION.ACCOUNT.SHARE; the older form LOCATOR.SHARE is understood. A share makes one database
    in an account."""
    from_listing: str | None = unsupported(
        "Snowflake doesn't tell which listing a database was made from, so that another one's could be taken for it: "
        "name the share in fromShare",
        max_length=1024,
    )
    """The listing in the marketplace. This release makes databases from shares alone."""
    data_retention_time_in_days: int | None = unsupported(_NOT_OURS)
    """Has no effect here."""
    max_data_extension_time_in_days: int | None = unsupported(_NOT_OURS)
    """Has no effect here."""
    metric_level: Literal["ALL", "NONE"] | None = unsupported(_NOT_OURS)
    """Has no effect here."""
    comment: str | None = comment()
    """A note for people."""
    tags: dict[str, str] | None = tags()
    """Tag values by tag name."""


def _unready(observation: Observation) -> str | None:
    """The database is there before the share behind it is, and after."""
    origin = observation.row.get("origin")
    if origin == _REVOKED:
        return "can't be read any more, since the account that it comes from has withdrawn the share: ask who runs that"
    return None if origin else "can't be read yet, since Snowflake doesn't tell its share so far"


def _adoptable(observation: Observation) -> str | None:
    """All databases stand in the same SHOW."""
    if observation.row.get("origin"):
        return None
    return "it isn't made from a share"


SHARED_DATABASE = Kind(
    spec=SharedDatabaseSpec,
    domain=Domain.ACCOUNT,
    object_type="DATABASE",
    level=Level.ACCOUNT,
    # Its data are another account's, and stay there.
    holds_data=False,
    short_names=("sdb",),
    parameters=True,
    privileges={"IMPORT SHARE": "", **CONTAINER_PRIVILEGES},
    alterable=frozenset({"comment"}),
    rules=(exactly_one("fromShare", "fromListing"),),
    unready=_unready,
    adoptable=_adoptable,
)
