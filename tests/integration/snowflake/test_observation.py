"""Observing one object: the row of exactly that name, its parameters and details, and what absence is worth."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from freehold.kinds.registry import KINDS
from freehold.observation import Depth, Observation, Parameter
from freehold.snowflake import scopes
from freehold.snowflake.client import Snowflake
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import Incomplete, SnowflakeError
from freehold.snowflake.settings import ConnectionSettings
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint

from .conftest import TAG


class Observer:
    """Observes as the given settings."""

    def __init__(self, snowflake: Snowflake, settings: ConnectionSettings) -> None:
        self._snowflake = snowflake
        self._settings = settings

    async def __call__(self, kind: str, *parts: str, depth: Depth = "shallow") -> Observation | None:
        target = KINDS[kind].target(parts)
        details = tuple(KINDS[kind].details)
        return await self._snowflake.observe(self._settings, KINDS[kind], target, depth, TAG, details=details)


@pytest.fixture
def observe(snowflake: Snowflake, settings: ConnectionSettings) -> Observer:
    return Observer(snowflake, settings)


async def test_the_row_is_that_of_exactly_the_name_though_like_matches_more(
    observe: Observer, endpoint: SnowflakeEndpoint
) -> None:
    for name in ("A_B", "AXB", "a_b"):
        endpoint.sql(f"CREATE DATABASE \"{name}\" COMMENT = '{name}'", role="OPERATOR")

    found = await observe("Database", "A_B")

    assert found is not None
    assert (found.row["name"], found.row["comment"]) == ("A_B", "A_B")
    assert found.parameters is None


@pytest.mark.parametrize("name", ["it's", "100%", "back\\slash", 'quo"te', "dots.in.it", "ÜNICODE ☃"])
async def test_an_object_is_found_whatever_its_name(name: str, observe: Observer, endpoint: SnowflakeEndpoint) -> None:
    quoted = name.replace('"', '""')
    endpoint.sql(f'CREATE DATABASE "{quoted}"', role="OPERATOR")
    endpoint.sql(f'CREATE SCHEMA "{quoted}"."{quoted}"', role="OPERATOR")

    assert await observe("Database", name, depth="deep") is not None
    assert await observe("Schema", name, name, depth="deep") is not None


async def test_a_deep_observation_adds_parameters_with_their_level_and_details(
    observe: Observer, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.sql("CREATE DATABASE D DATA_RETENTION_TIME_IN_DAYS = 3", role="OPERATOR")

    found = await observe("Database", "D", depth="deep")

    assert found is not None
    assert found.parameters is not None
    assert found.parameters["DATA_RETENTION_TIME_IN_DAYS"] == Parameter("3", "DATABASE")
    assert found.parameters["LOG_LEVEL"].level == ""
    assert found.details is not None
    assert found.details["replication"] == ()
    assert found.details.keys() == {"account", "replication"}


async def test_a_role_that_only_sees_that_an_object_is_there_gets_its_row(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    for statement in ("CREATE DATABASE THEIRS", "CREATE TABLE THEIRS.PUBLIC.T (A INT)"):
        endpoint.sql(statement, role="ACCOUNTADMIN")
    table = KINDS["Table"]

    found = await snowflake.observe(
        settings.acting_as("SEER"), table, table.target(("THEIRS", "PUBLIC", "T")), "deep", TAG, details=["columns"]
    )

    assert found is not None
    assert (found.owner, found.details) == ("ACCOUNTADMIN", None)
    assert found.unreadable.startswith("002003")


async def test_a_view_that_its_table_left_behind_is_seen_and_told(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    for statement in (
        "CREATE DATABASE D",
        "CREATE TABLE D.PUBLIC.T (A INT)",
        "CREATE VIEW D.PUBLIC.V AS SELECT * FROM D.PUBLIC.T",
        "ALTER TABLE D.PUBLIC.T ADD COLUMN B INT",
    ):
        endpoint.sql(statement, role="OPERATOR")
    view = KINDS["View"]

    found = await snowflake.observe(settings, view, view.target(("D", "PUBLIC", "V")), "deep", TAG, details=["columns"])

    assert found is not None
    assert (found.row["is_secure"], found.details) == ("false", {})
    assert found.broken.startswith("002057")
    assert view.ailment(found) == found.broken


async def test_what_is_not_there_is_none(observe: Observer) -> None:
    assert await observe("Warehouse", "NO_SUCH") is None


async def test_those_who_look_at_objects_of_one_container_share_a_show_of_it(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "PAGE", 4)
    endpoint.sql("CREATE DATABASE D", role="OPERATOR")
    names = ["a", "it's", "T1", "T10", "T100", "T2", "Ü%_", "Z"]
    for number, name in enumerate(names):
        endpoint.sql(f"CREATE TABLE D.PUBLIC.\"{name}\" (A INT) COMMENT = '{number}'", role="OPERATOR")
    table, now = KINDS["Table"], time.monotonic()

    async def observe(name: str, depth: Depth = "shallow") -> Observation | None:
        target = table.target(("D", "PUBLIC", name))
        return await snowflake.observe(settings, table, target, depth, TAG, details=["columns"], not_before=now)

    found = [await observe(name) for name in (*names, *names)]

    assert [each and each.row["comment"] for each in found] == [str(number) for number in range(len(names))] * 2
    assert [each and each.shared for each in found] == [False] + [True] * (2 * len(names) - 1)
    assert [entry.text for entry in endpoint.journal.statements("SHOW TABLES")] == [
        'SHOW TABLES LIKE \'a\' IN SCHEMA "D"."PUBLIC"',
        'SHOW TABLES IN SCHEMA "D"."PUBLIC" LIMIT 4',
        'SHOW TABLES IN SCHEMA "D"."PUBLIC" LIMIT 4 FROM \'T2\'',
        'SHOW TABLES IN SCHEMA "D"."PUBLIC" LIMIT 4 FROM \'Ü%_\'',
    ]
    deep = await observe("Z", "deep")
    assert deep is not None
    assert deep.details is not None
    assert (deep.shared, deep.details["columns"][0]["name"]) == (True, "A")
    assert await observe("z") is None
    assert endpoint.journal.statements("SHOW TABLES")[-1].text.startswith("SHOW TABLES LIKE 'z'")


async def test_a_missing_parent_is_an_error_of_its_class(observe: Observer) -> None:
    with pytest.raises(SnowflakeError) as failure:
        await observe("Schema", "NO_SUCH", "S")

    assert failure.value.error_class is ErrorClass.MISSING


async def test_a_full_answer_without_the_row_is_incomplete_and_with_it_is_not(
    observe: Observer, endpoint: SnowflakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.sql("CREATE DATABASE AXB", role="OPERATOR")
    monkeypatch.setattr(scopes, "SHOW_LIMIT", 1)

    assert await observe("Database", "AXB") is not None
    with pytest.raises(Incomplete):
        await observe("Database", "A_B")


@pytest.mark.parametrize(
    ("role", "verdict"), [("OPERATOR", False), ("SEER", True), ("seer above", True), ("DEPUTY", True)]
)
async def test_a_role_sees_all_by_its_own_grant_or_one_that_it_inherits(
    role: str, verdict: bool, snowflake: Snowflake, settings: ConnectionSettings
) -> None:
    assert await snowflake.sees_all(settings.acting_as(role), TAG) is verdict


async def test_the_users_default_role_is_asked_about_when_none_is_configured(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    assert not await snowflake.sees_all(replace(settings, role=None), TAG)
    assert endpoint.journal.statements('SHOW GRANTS TO ROLE "OPERATOR"')


async def test_a_privilege_that_was_revoked_proves_nothing_any_more(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    seer = settings.acting_as("SEER")
    assert await snowflake.sees_all(seer, TAG)
    endpoint.sql("REVOKE RESOLVE ALL ON ACCOUNT FROM ROLE SEER", role="ACCOUNTADMIN")
    assert not await snowflake.sees_all(seer, TAG)
