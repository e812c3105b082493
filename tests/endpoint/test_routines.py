"""What cases can't say of functions: limits that take long statements, and two sessions beside one another."""

from dataclasses import replace

import pytest

from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.seed import SeedAccount
from freehold_devstack.snowflake.sessions import Session


@pytest.fixture
def engine() -> Engine:
    engine = Engine(clock=lambda: 1_800_000_000)
    engine.add_accounts(SeedAccount())
    engine.run_as("CREATE DATABASE d", role="SYSADMIN")
    return engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session_as(role="SYSADMIN")


def create(arguments: int, name: str, body: str = "1") -> str:
    signature = ", ".join(f'"{name}{number}" FLOAT' for number in range(arguments))
    return f"CREATE FUNCTION d.public.f({signature}) RETURNS INT AS '{body}'"


def test_a_function_takes_up_to_500_arguments(engine: Engine, session: Session) -> None:
    with pytest.raises(SqlError, match="at most 500 arguments"):
        engine.run(session, create(501, "a"))
    engine.run(session, create(500, "a"))


def test_name_arguments_and_returned_type_are_at_most_9800_bytes(engine: Engine, session: Session) -> None:
    with pytest.raises(SqlError) as caught:
        engine.run(session, create(100, "é" * 60))
    assert (caught.value.code, caught.value.message) == (
        "009024",
        "Function name (including parameter and return type) too long.",
    )
    engine.run(session, create(100, "e" * 60))


def test_a_body_is_at_most_a_mebibyte(engine: Engine, session: Session) -> None:
    with pytest.raises(SqlError, match="longer than 1,048,576 bytes"):
        engine.run(session, create(0, "", "1 --" + "é" * 2**19))


def test_a_temporary_function_is_hidden_from_other_sessions(engine: Engine, session: Session) -> None:
    other = replace(session, id=1)
    engine.run(session, "CREATE TEMPORARY FUNCTION d.public.f() RETURNS INT AS '1'")
    assert len(engine.run(session, "SHOW USER FUNCTIONS IN ACCOUNT").rows) == 1
    assert engine.run(other, "SHOW USER FUNCTIONS IN ACCOUNT").rows == []
    engine.run(other, "CREATE FUNCTION d.public.f(x INT DEFAULT 1) RETURNS INT AS 'x'")
    with pytest.raises(SqlError, match="ambiguous"):
        engine.run(other, "CREATE FUNCTION d.public.f() RETURNS INT AS '1'")
