"""Which row of SHOW GRANTS is which grant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from freehold import slots
from freehold.identity import Slot
from freehold.kinds.account.grantprivilegestoaccountrole import GRANT_PRIVILEGES_TO_ACCOUNT_ROLE as KIND

ROLE = slots.of("ROLE", "R")
TABLE = slots.of("TABLE", "DB", "S", "T")
IN_SCHEMA = slots.of("SCHEMA", "DB", "S")
AT = datetime(2026, 1, 1, tzinfo=UTC)
ROW = {"created_on": AT, "privilege": "SELECT", "granted_on": "TABLE", "granted_to": "ROLE", "grantee_name": "R"}
FUTURE_ROW = {"created_on": AT, "privilege": "SELECT", "grant_on": "TABLE", "grant_to": "ROLE", "grantee_name": "R"}


@pytest.mark.parametrize(
    ("slot", "row", "same"),
    [
        (slots.grant("SELECT", TABLE, ROLE), ROW, True),
        (slots.grant("INSERT", TABLE, ROLE), ROW, False),
        (slots.grant("SELECT", TABLE, slots.of("ROLE", "r")), ROW, False),
        (slots.grant("SELECT", TABLE, slots.of("ROLE", "r")), {**ROW, "grantee_name": '"r"'}, True),
        (slots.grant("SELECT", TABLE, slots.of("ROLE", "a.b")), {**ROW, "grantee_name": '"a.b"'}, True),
        (slots.grant("SELECT", TABLE, ROLE), {**ROW, "granted_to": "DATABASE_ROLE"}, False),
        (slots.grant("SELECT", TABLE, ROLE), {**ROW, "granted_to": "USER"}, False),
        (
            slots.grant("SELECT", TABLE, slots.of("DATABASE ROLE", "DB", "R")),
            {**ROW, "granted_to": "DATABASE_ROLE"},
            True,
        ),
        (
            slots.grant("SELECT", TABLE, slots.of("DATABASE ROLE", "DB", "R")),
            {**ROW, "granted_to": "DATABASE_ROLE", "grantee_name": "DB.R"},
            True,
        ),
        (slots.grant("IMPORTED PRIVILEGES", slots.of("DATABASE", "D"), ROLE), {**ROW, "privilege": "USAGE"}, True),
        (slots.grant("SELECT", slots.future_in("TABLES", IN_SCHEMA), ROLE), FUTURE_ROW, True),
        (slots.grant("SELECT", slots.future_in("VIEWS", IN_SCHEMA), ROLE), FUTURE_ROW, False),
        (
            slots.grant("USAGE", slots.future_in("FILE FORMATS", IN_SCHEMA), ROLE),
            {**FUTURE_ROW, "privilege": "USAGE", "grant_on": "FILE_FORMAT"},
            True,
        ),
        (
            slots.grant("APPLY", slots.future_in("PASSWORD POLICIES", IN_SCHEMA), ROLE),
            {**FUTURE_ROW, "privilege": "APPLY", "grant_on": "PASSWORD_POLICY"},
            True,
        ),
    ],
)
def test_a_row_is_a_grant_if_all_of_it_is_the_same(slot: Slot, row: dict[str, Any], same: bool) -> None:
    found = KIND.row_of(KIND.target_of(slot), [row])
    assert (found is not None) is same


def test_of_several_grantors_the_first_one_counts() -> None:
    """What somebody else has granted later doesn't turn our grant into another one."""
    later = {**ROW, "created_on": datetime(2026, 2, 1, tzinfo=UTC)}
    target = KIND.target_of(slots.grant("SELECT", TABLE, ROLE))
    assert KIND.row_of(target, [later, ROW]) == ROW
