"""What there is in the Snowflake account, as an administrator sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from freehold.kinds.kind import Kind
from freehold.kinds.names import Level
from freehold.kinds.resource import plural
from tests.chaos.samples import OTHERS, container
from tests.harness.endpoint import Endpoint

STRANGER = "ACCOUNTADMIN"
"""Role of whoever makes objects beside ours."""

STRANGERS = frozenset({"NotVisible", "OwnedByOther", "Replaced", "ResourceAlreadyExists"})
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


async def rows(
    endpoint: Endpoint, kind: Kind, pattern: str, databases: Collection[str] | None = None
) -> dict[Parts, Row]:
    """The rows of SHOW whose names match a pattern of LIKE, by name, without what changes by itself.

    Args:
        endpoint: Snowflake.
        kind: of the objects.
        pattern: of their names.
        databases: where those that lie in databases are looked for; by default where runs may leave them, for
            databases of other runs come and go.
    """
    found: dict[Parts, Row] = {}
    types = kind.shown_as or plural(kind.object_type)
    for scope, outer in _scopes(kind, databases):
        for row in await send(endpoint, f"SHOW {types} LIKE '{pattern}'{scope}"):
            inner = (str(row[kind.database_column]), str(row["schema_name"])) if kind.level is Level.SCHEMA else outer
            stable = {column: value for column, value in row.items() if column not in kind.volatile}
            found[(*inner, str(row["name"]))] = stable
    return found


def _scopes(kind: Kind, databases: Collection[str] | None) -> list[tuple[str, Parts]]:
    """Where objects of a kind are looked for, each with what SHOW doesn't print of it."""
    if kind.level is not Level.DATABASE:
        return [(" IN ACCOUNT" if kind.level is Level.SCHEMA else "", ())]
    wanted = (container(kind)[0], OTHERS) if databases is None else databases
    return [(f' IN DATABASE "{name}"', (name,)) for name in wanted]
