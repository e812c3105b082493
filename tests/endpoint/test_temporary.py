"""Temporary objects: each session has its own, which hide those of all and are gone with it."""

from typing import Any

import pytest
from snowflake.connector.errors import ProgrammingError

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from tests.endpoint.conftest import Connect, rows


async def _sessions(endpoint: SnowflakeEndpoint, connect: Connect) -> tuple[Any, Any]:
    one, other = await connect(endpoint), await connect(endpoint)
    await rows(one, "CREATE DATABASE d")
    await rows(one, "CREATE TABLE d.public.t (a INT)")
    return one, other


async def test_a_temporary_table_hides_another_in_its_own_session_alone(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    one, other = await _sessions(endpoint, connect)
    await rows(one, "CREATE TEMPORARY TABLE d.public.t (b DATE)")
    assert [row[0] for row in await rows(one, "DESCRIBE TABLE d.public.t")] == ["B"]
    assert [row[0] for row in await rows(other, "DESCRIBE TABLE d.public.t")] == ["A"]
    assert len(await rows(other, "SHOW TABLES IN SCHEMA d.public")) == 1


async def test_no_other_session_finds_a_temporary_table(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    one, other = await _sessions(endpoint, connect)
    await rows(one, "CREATE TEMPORARY TABLE d.public.mine (b DATE)")
    with pytest.raises(ProgrammingError, match="does not exist or not authorized"):
        await rows(other, "DROP TABLE d.public.mine")
    await rows(other, "CREATE TABLE d.public.mine (c INT)")
    assert [row[0] for row in await rows(one, "DESCRIBE TABLE d.public.mine")] == ["B"]
