"""Which roles see everything: only what such a role doesn't find in SHOW is proved to be absent.

RESOLVE ALL and MANAGE GRANTS on the account make SHOW list every object that follows the general rule; shares don't.
Source: "Access control privileges" in Snowflake's documentation.
"""

from __future__ import annotations

from collections.abc import Iterable

from freehold.identifiers import unquoted
from freehold.observation import Row

_SEES_ALL = frozenset({"RESOLVE ALL", "MANAGE GRANTS"})


def sees_all(grants: Iterable[Row]) -> bool:
    """Whether rows of SHOW GRANTS TO ROLE hold a privilege that makes everything visible."""
    return any(row["granted_on"] == "ACCOUNT" and row["privilege"] in _SEES_ALL for row in grants)


def inherited_roles(grants: Iterable[Row]) -> frozenset[str]:
    """The account roles granted to a role, by stored name, from rows of SHOW GRANTS TO ROLE."""
    return frozenset(
        unquoted(str(row["name"])) for row in grants if row["granted_on"] == "ROLE" and row["privilege"] == "USAGE"
    )
