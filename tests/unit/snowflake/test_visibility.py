"""Which grants let a role see everything."""

from __future__ import annotations

import pytest

from freehold.observation import Row
from freehold.snowflake.visibility import SEES_ALL, holds_on_account, inherited_roles


def grant(privilege: str, granted_on: str, name: str) -> Row:
    return {"privilege": privilege, "granted_on": granted_on, "name": name}


@pytest.mark.parametrize("privilege", ["RESOLVE ALL", "MANAGE GRANTS"])
def test_resolve_all_or_manage_grants_on_the_account_shows_everything(privilege: str) -> None:
    assert holds_on_account([grant("USAGE", "WAREHOUSE", "W"), grant(privilege, "ACCOUNT", "XY12345")], SEES_ALL)


@pytest.mark.parametrize(
    "other",
    [
        grant("MANAGE GRANTS", "DATABASE", "D"),
        grant("CREATE DATABASE", "ACCOUNT", "XY12345"),
        grant("MONITOR USAGE", "ACCOUNT", "XY12345"),
    ],
)
def test_no_other_grant_shows_everything(other: Row) -> None:
    assert not holds_on_account([other], SEES_ALL)


def test_only_account_roles_are_inherited_and_their_names_lose_their_quotes() -> None:
    grants = [
        grant("USAGE", "ROLE", "PLAIN"),
        grant("USAGE", "ROLE", '"with "" quote"'),
        grant("OWNERSHIP", "ROLE", "OWNED"),
        grant("USAGE", "DATABASE_ROLE", "D.R"),
        grant("USAGE", "DATABASE", "D"),
    ]

    assert inherited_roles(grants) == {"PLAIN", 'with " quote'}
