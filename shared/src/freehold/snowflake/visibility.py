"""What roles have on the account, and which see everything by it: only what such a role doesn't find in SHOW is proved
to be absent.

RESOLVE ALL and MANAGE GRANTS on the account make SHOW list every object that follows the general rule; shares don't.
Source: "Access control privileges" in Snowflake's documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from freehold.identifiers import unquoted
from freehold.observation import Row

SEES_ALL = frozenset({"RESOLVE ALL", "MANAGE GRANTS"})
"""Privileges on the account, each of which makes everything visible."""


def holds_on_account(grants: Iterable[Row], privileges: Collection[str]) -> bool:
    """Whether rows of SHOW GRANTS TO ROLE hold one of several privileges on the account."""
    return any(row["granted_on"] == "ACCOUNT" and row["privilege"] in privileges for row in grants)


def inherited_roles(grants: Iterable[Row]) -> frozenset[str]:
    """The account roles granted to a role, by stored name, from rows of SHOW GRANTS TO ROLE."""
    return frozenset(
        unquoted(str(row["name"])) for row in grants if row["granted_on"] == "ROLE" and row["privilege"] == "USAGE"
    )
