"""The analytics platform of docs/scenarios: applied and deleted in any order, and mended in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from freehold_devstack.processes import until
from tests.harness.endpoint import Endpoint
from tests.integration.controllers.tenant import Tenant
from tests.integration.scenario.manifests import Scene, declared, prepared, shuffled
from tests.soak.installation import Installation

pytestmark = pytest.mark.xdist_group("scenario")

PLATFORM = "data-platform"
SECONDS = 120.0
"""How long each phase may take on a busy machine; a quiet one needs a quarter of it."""

LISTS = (
    *("DATABASES", "WAREHOUSES", "ROLES", "USERS", "SHARES", "INTEGRATIONS", "NETWORK POLICIES"),
    *("GRANTS ON ACCOUNT", "GRANTS TO ROLE SYSADMIN"),
)
"""What SHOW tells of an account; all else lies in databases."""

DRIFT = {
    "ALTER WAREHOUSE REPORTING SET WAREHOUSE_SIZE = 'XLARGE', COMMENT = 'faster'": (
        "SHOW WAREHOUSES LIKE 'REPORTING'",
        {"size": "Small", "comment": "Dashboards and people"},
    ),
    "REVOKE DATABASE ROLE MARTS.READER FROM ROLE ANALYST": (
        "SHOW GRANTS TO ROLE ANALYST",
        {"privilege": "USAGE", "name": "MARTS.READER"},
    ),
    "REVOKE SELECT ON TABLE RAW.SHOP.ORDERS FROM DATABASE ROLE RAW.READER": (
        "SHOW GRANTS TO DATABASE ROLE RAW.READER",
        {"privilege": "SELECT", "name": "RAW.SHOP.ORDERS"},
    ),
    "ALTER TABLE RAW.SHOP.ORDERS SET COMMENT = 'whose?'": (
        "SHOW TABLES LIKE 'ORDERS' IN SCHEMA RAW.SHOP",
        {"comment": "What they buy"},
    ),
    "ALTER TASK MARTS.SALES.SUM_UP SET SCHEDULE = '5 MINUTES'": (
        "SHOW TASKS LIKE 'SUM_UP' IN SCHEMA MARTS.SALES",
        {"schedule": "USING CRON 0 * * * * Europe/Berlin"},
    ),
    "DROP FILE FORMAT RAW.LAKE.EXPORTS": (
        "SHOW FILE FORMATS IN SCHEMA RAW.LAKE",
        {"name": "EXPORTS"},
    ),
}
"""What a stranger does, and what tells that it is mended: a query, and cells of one of its rows."""


@pytest.fixture
async def installation() -> AsyncIterator[Installation]:
    async with Installation((PLATFORM,), "--field-exports", "--resync-interval=5") as started:
        yield started


def _account(endpoint: Endpoint) -> dict[str, list[str]]:
    """Names of all that there is in the account."""
    found = {each: endpoint.sql(f"SHOW {each}") for each in LISTS}
    return {each: sorted(str((row.get("privilege"), row["name"])) for row in rows) for each, rows in found.items()}


def _unmended(endpoint: Endpoint) -> str:
    """What strangers did and nobody has mended, beside what there is now."""
    found = {statement: (endpoint.sql(query), cells) for statement, (query, cells) in DRIFT.items()}
    return "\n".join(
        f"{statement}: {rows}"
        for statement, (rows, cells) in found.items()
        if not any(row.items() >= cells.items() for row in rows)
    )


def _prepare(installation: Installation) -> None:
    """What README tells the platform team to do; the account is the endpoint's."""
    installation.endpoint.sql("GRANT MANAGE GRANTS ON ACCOUNT TO ROLE FREEHOLD")
    manifests = prepared()
    (provider,) = (each for each in manifests if each["kind"] == "ProviderConfig")
    Scene(installation.control_plane).apply(each for each in manifests if each is not provider)
    facts = {key: provider["spec"][key] for key in ("allowedNamespaces", "allowedRoles")}
    Tenant(installation.control_plane, installation.endpoint, PLATFORM).provider("ANNA", budget=None, **facts)


def _live(installation: Installation) -> None:
    """From the first apply to the empty account."""
    endpoint, scene = installation.endpoint, Scene(installation.control_plane)
    before = _account(endpoint)
    scene.apply(shuffled(declared(), seed=1))
    scene.ready(SECONDS)
    for statement in DRIFT:
        endpoint.sql(statement)
    until(lambda: not _unmended(endpoint), SECONDS, "drift to be mended", lambda: _unmended(endpoint))
    scene.ready(SECONDS)
    scene.delete(shuffled(declared(), seed=2))
    scene.gone(SECONDS)
    assert _account(endpoint) == before


async def test_in_any_order_it_comes_is_mended_and_goes_without_a_trace(installation: Installation) -> None:
    await asyncio.to_thread(_prepare, installation)
    await asyncio.to_thread(_live, installation)
