"""What no client of good faith sends: it is refused like anything else that is wrong, and nothing else comes of it."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest

from freehold_devstack.snowflake import queries
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.engine import Engine
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.queries import Request
from freehold_devstack.snowflake.seed import Seed
from freehold_devstack.snowflake.sessions import Session, SessionStore
from freehold_devstack.snowflake.statements import MAX_TEXT
from tests.endpoint.conftest import Clock, http_client, log_in

MASTER_VALIDITY = 14400
PYTHON = "CREATE FUNCTION f() RETURNS INT LANGUAGE PYTHON RUNTIME_VERSION = '3.11' HANDLER = 'f'"


# --- requests --------------------------------------------------------------------------------------------------------


@pytest.fixture
async def http(endpoint: SnowflakeEndpoint) -> AsyncIterator[aiohttp.ClientSession]:
    """A client with a session and without a driver."""
    async with http_client(endpoint) as client:
        client.headers["Authorization"] = f'Snowflake Token="{(await log_in(client))["token"]}"'
        yield client


async def answer(http: aiohttp.ClientSession, path: str, body: bytes, **headers: str) -> tuple[int, str | None]:
    """HTTP status and number of what a body is answered with."""
    async with http.post(path, data=body, headers=headers) as response:
        return response.status, (await response.json())["code"]


NO_PAYLOADS = (b"", b"{", b"null", b"[]", b'"text"', b"{}", b"\xff", b'{"a":' * 10_000)


@pytest.mark.parametrize(
    ("path", "bodies"),
    [
        (
            "/session/v1/login-request",
            [b'{"data":null}', b'{"data":[]}', b'{"data":{"LOGIN_NAME":1}}', b'{"data":{"SESSION_PARAMETERS":[]}}'],
        ),
        (
            "/queries/v1/query-request",
            [b'{"sqlText":null}', b'{"sqlText":"\\ud800"}', b'{"sqlText":"","parameters":{"QUERY_TAG":{}}}'],
        ),
        ("/queries/v1/abort-request", [b'{"requestId":1}']),
    ],
)
async def test_a_body_that_is_no_payload_is_refused(
    http: aiohttp.ClientSession, path: str, bodies: list[bytes]
) -> None:
    for body in (*NO_PAYLOADS, *bodies):
        assert await answer(http, path, body) == (200, "390142"), body[:40]


async def test_a_body_that_is_not_encoded_as_it_says_is_refused(http: aiohttp.ClientSession) -> None:
    path, body = "/queries/v1/query-request", b'{"sqlText":"SELECT 1"}'
    assert await answer(http, path, gzip.compress(body), **{"Content-Encoding": "gzip"}) == (200, None)
    assert await answer(http, path, body, **{"Content-Encoding": "gzip"}) == (200, "390142")


@pytest.mark.parametrize("part", ["W10", "e30", "bnVsbA", "W1tb" * 30_000])
async def test_a_token_that_is_none_is_refused(http: aiohttp.ClientSession, part: str) -> None:
    data = {"ACCOUNT_NAME": "FREEHOLD-DEVSTACK", "LOGIN_NAME": "OPERATOR", "AUTHENTICATOR": "SNOWFLAKE_JWT"}
    login = {"data": {**data, "TOKEN": f"{part}.{part}.{part}"}}
    async with http.post("/session/v1/login-request", json=login) as response:
        assert (await response.json())["code"] == "390144"


# --- statements ------------------------------------------------------------------------------------------------------


@pytest.fixture
def engine(seed: Seed, clock: Clock) -> Engine:
    engine = Engine(clock=clock)
    engine.add_accounts(*seed.accounts)
    return engine


@pytest.fixture
def session(engine: Engine) -> Session:
    session = engine.session_as(role="SYSADMIN")
    for sql in ("CREATE DATABASE d", "CREATE TABLE d.public.t (a NUMBER)", "CREATE WAREHOUSE w"):
        engine.run(session, sql)
    return session


def refusal(engine: Engine, session: Session, sql: str) -> str:
    """The number that a statement is refused with."""
    with pytest.raises(SqlError) as caught:
        engine.run(session, sql)
    return caught.value.code


@pytest.mark.parametrize(
    ("sql", "opening", "inner", "closing"),
    [
        ("CREATE STAGE s FILE_FORMAT = {}", "(", "1", ")"),
        ("CREATE STAGE s FILE_FORMAT = {}", "(A = ", "1", ")"),
        ("CREATE VIEW v AS SELECT {} AS b", "(", "1", ")"),
        ("CREATE VIEW v AS SELECT {} AS b", "NOT ", "TRUE", ""),
        ("CREATE VIEW v AS {}", "SELECT * FROM (", "SELECT 1 AS b", ")"),
        ("CREATE MASKING POLICY p AS (v VARCHAR) RETURNS VARCHAR -> {}", "(", "v", ")"),
        ("CREATE TABLE u (a {})", "ARRAY(", "NUMBER", ")"),
        ("CREATE TASK k SCHEDULE = '1 MINUTE' WHEN {} AS SELECT 1", "(", "TRUE", ")"),
    ],
)
def test_a_statement_that_is_nested_too_deeply_is_refused_and_leaves_nothing(
    engine: Engine, session: Session, sql: str, opening: str, inner: str, closing: str
) -> None:
    before = engine.context(session).catalog.next_id
    nested = sql.format(opening * 3000 + inner + closing * 3000)
    assert refusal(engine, session, nested) in {"999999", "000002", "001003"}
    assert engine.context(session).catalog.next_id == before
    assert engine.journal.since()[-1].outcome is not None


def test_a_text_of_more_than_a_megabyte_is_refused(engine: Engine, session: Session) -> None:
    longest = "CREATE SCHEMA s COMMENT = ''"
    assert refusal(engine, session, longest.replace("''", f"'{'x' * MAX_TEXT}'")) == "999999"
    engine.run(session, longest.replace("''", f"'{'x' * (MAX_TEXT - len(longest))}'"))


def test_a_number_that_no_record_can_hold_is_refused(engine: Engine, session: Session) -> None:
    assert refusal(engine, session, f"ALTER WAREHOUSE w SET AUTO_SUSPEND = {2**63}") == "001422"
    engine.run(session, f"ALTER WAREHOUSE w SET AUTO_SUSPEND = {2**63 - 1}")


@pytest.mark.parametrize(
    "sql",
    [
        "SHOW TABLES LIMIT {}",
        "ALTER TABLE t ADD COLUMN b VARCHAR({})",
        "ALTER SCHEMA public SET MAX_DATA_EXTENSION_TIME_IN_DAYS = {}",
        "CREATE SEQUENCE s START = {}",
        "CREATE STREAM s ON TABLE t AT (OFFSET => -{})",
        "CREATE TASK k SCHEDULE = '{} MINUTE' AS SELECT 1",
        "CREATE TASK k SCHEDULE = 'USING CRON {} * * * * UTC' AS SELECT 1",
        "CREATE TASK k SCHEDULE = 'USING CRON */{} * * * * UTC' AS SELECT 1",
        """CREATE TASK k SCHEDULE = '1 MINUTE' CONFIG = '{{"a": {}}}' AS SELECT 1""",
        PYTHON + " PACKAGES = ('numpy=={}') AS 'def f(): pass'",
    ],
)
def test_a_number_with_more_digits_than_any_number_has_is_refused(engine: Engine, session: Session, sql: str) -> None:
    assert refusal(engine, session, sql.format("9" * 5000)) in {"001003", "391525", "999999"}


def test_a_query_of_very_many_words_is_refused(engine: Engine, session: Session) -> None:
    view = "CREATE VIEW v AS SELECT a FROM t WHERE " + "a = 1 AND " * 3000 + "a = 2"
    assert refusal(engine, session, view) == "999999"


def test_a_python_body_that_is_nested_too_deeply_is_refused(engine: Engine, session: Session) -> None:
    assert refusal(engine, session, f"{PYTHON} AS 'def f(): return {'-' * 200_000}1'") == "100357"


def test_half_of_a_character_is_refused(engine: Engine, session: Session) -> None:
    assert refusal(engine, session, r"CREATE SCHEMA s COMMENT = '\ud83d'") == "999999"
    engine.run(session, r"CREATE SCHEMA s COMMENT = '\ud83d\ude00'")
    [schema] = engine.run(session, "SHOW SCHEMAS LIKE 's'").records()
    assert schema["comment"] == "\N{GRINNING FACE}"


def test_a_defect_of_the_endpoint_ends_the_query_and_is_logged(
    engine: Engine, session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(*_args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("freehold_devstack.snowflake.engine.parse_in", break_down)
    assert refusal(engine, session, "SELECT 1") == "000603"
    assert engine.journal.since()[-1].outcome == "000603"
    assert "ZeroDivisionError" in caplog.text


# --- roles -----------------------------------------------------------------------------------------------------------


def test_a_role_that_owns_itself_can_be_dropped(engine: Engine) -> None:
    admin = engine.session_as(role="ACCOUNTADMIN")
    engine.run(admin, "GRANT OWNERSHIP ON ROLE other TO ROLE other")
    engine.run(admin, "GRANT ROLE other TO ROLE ACCOUNTADMIN")
    engine.run(admin, "DROP ROLE other")
    assert engine.run(admin, "SHOW ROLES LIKE 'other'").rows == []


def test_a_role_that_was_dropped_while_it_was_active_has_no_rights(engine: Engine) -> None:
    admin = engine.session_as(role="ACCOUNTADMIN")
    engine.run(admin, "GRANT CREATE DATABASE ON ACCOUNT TO ROLE PUBLIC")
    active = engine.session_as(role="OTHER")
    engine.run(active, "CREATE DATABASE mine")
    engine.run(admin, "DROP ROLE other")
    assert refusal(engine, active, "CREATE DATABASE another") == "003001"
    assert refusal(engine, active, "DROP DATABASE mine") == "002003"
    assert engine.run(active, "SHOW DATABASES").rows == []


def test_roles_that_granted_a_privilege_to_each_other_lose_it_together(engine: Engine, session: Session) -> None:
    engine.run(session, "GRANT USAGE ON DATABASE d TO ROLE other WITH GRANT OPTION")
    to = "GRANT USAGE ON DATABASE d TO ROLE {} WITH GRANT OPTION"
    engine.run(engine.session_as(role="OTHER"), to.format("operator"))
    engine.run(engine.session_as(role="OPERATOR"), to.format("other"))
    engine.run(session, "REVOKE USAGE ON DATABASE d FROM ROLE other CASCADE")
    grants = engine.run(session, "SHOW GRANTS ON DATABASE d").records()
    assert [grant["privilege"] for grant in grants] == ["OWNERSHIP"]


# --- memory ----------------------------------------------------------------------------------------------------------


def test_answers_with_many_rows_make_room_for_new_ones(
    engine: Engine, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "_REMEMBERED_ROWS", 1)
    first, second = (engine.submit(session, Request("SHOW SCHEMAS", id=each)) for each in ("one", "two"))
    assert engine.queries.get(session, second.id) is second
    with pytest.raises(SqlError, match=first.id):
        engine.queries.get(session, first.id)
    assert engine.queries.of_request(session, "one") is None


def opened(store: SessionStore) -> Iterator[tuple[Session, str]]:
    """New sessions and their master tokens."""
    while True:
        session = Session(id=store.next_id(), account="DEVSTACK", user=1, role=1)
        yield session, store.open(session).master


def test_a_session_without_a_client_is_forgotten_in_the_end(clock: Clock) -> None:
    store = SessionStore(clock, master_validity=MASTER_VALIDITY)
    sessions = opened(store)
    (gone, gone_master), (kept, _) = next(sessions), next(sessions)
    clock.now += MASTER_VALIDITY + 1
    with pytest.raises(SqlError, match="expired"):
        store.renew(gone_master)
    clock.now += MASTER_VALIDITY
    next(sessions)
    for session in (gone, kept):
        with pytest.raises(KeyError):
            store.by_id(session.id)
    with pytest.raises(SqlError, match="not found"):
        store.renew(gone_master)


# --- faults ----------------------------------------------------------------------------------------------------------


async def test_a_session_that_ends_while_its_account_is_frozen_runs_nothing_more(
    endpoint: SnowflakeEndpoint, http: aiohttp.ClientSession
) -> None:
    async def close() -> Any:
        async with http.post("/session", params={"delete": "true"}) as response:
            return (await response.json())["code"]

    endpoint.faults.freeze("DEVSTACK")
    answers = [asyncio.create_task(close()) for _ in range(2)]
    statement = asyncio.create_task(answer(http, "/queries/v1/query-request", b'{"sqlText":"SELECT 1"}'))
    done, _ = await asyncio.wait({*answers, statement}, timeout=0.1)
    assert not done
    endpoint.faults.thaw("DEVSTACK")
    assert sorted(map(str, await asyncio.gather(*answers))) == ["390111", "None"]
    assert await statement == (200, "390111")


async def test_faults_that_meet_do_not_keep_a_session_alive(
    endpoint: SnowflakeEndpoint, http: aiohttp.ClientSession
) -> None:
    endpoint.faults.add(Fault(match="SELECT", action="lose-session"))
    endpoint.faults.add(Fault(match="SELECT", action="expire-token"))
    numbers = [await answer(http, "/queries/v1/query-request", b'{"sqlText":"SELECT 1"}') for _ in range(2)]
    assert numbers == [(200, "390111"), (200, "390111")]
