"""What there is in the Snowflake account, as an administrator sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from freehold.kinds.kind import Kind
from tests.harness.endpoint import Endpoint

STRANGER = "ACCOUNTADMIN"
"""Role of whoever makes objects beside ours."""

STRANGERS = frozenset({"OwnedByOther", "Replaced", "ResourceAlreadyExists"})
"""Reasons that leave a stranger's object alone."""

Row = Mapping[str, Any]
"""Of SHOW, by column."""

Parts = tuple[str, ...]
"""An object's stored name, with what it lies in."""


async def send(endpoint: Endpoint, statement: str, role: str = STRANGER) -> list[dict[str, Any]]:
    """Send a statement as somebody else.

    Raises:
        RefusedError: it is refused.
    """
    return await asyncio.to_thread(endpoint.sql, statement, role)


async def rows(endpoint: Endpoint, kind: Kind, pattern: str) -> dict[Parts, Row]:
    """The rows of SHOW whose names match a pattern of LIKE, by name, without what changes by itself."""
    columns = ("database_name", "schema_name")[: kind.level.value - 1]
    everywhere = " IN ACCOUNT" if columns else ""
    shown = await send(endpoint, f"SHOW {kind.object_type}S LIKE '{pattern}'{everywhere}")
    return {
        tuple(str(row[column]) for column in (*columns, "name")): {
            column: value for column, value in row.items() if column not in kind.volatile
        }
        for row in shown
    }
