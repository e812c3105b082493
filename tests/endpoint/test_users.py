"""Logging in with the real driver as users that statements make and change."""

import base64
import hashlib
import textwrap
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.faults import Fault
from tests.endpoint.conftest import Clock, Connect, Keys, PrivateKey, der, error_number, refused, rows

Run = Callable[[str], list[tuple[object, ...]]]
"""Runs a statement as ACCOUNTADMIN."""


@pytest.fixture
def run(endpoint: SnowflakeEndpoint) -> Run:
    def run_one(sql: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in endpoint.sql(sql, role="ACCOUNTADMIN").rows]

    run_one("CREATE USER made PASSWORD = 'the first one'")
    return run_one


async def test_a_password_logs_in_by_the_login_name(endpoint: SnowflakeEndpoint, connect: Connect, run: Run) -> None:
    connection = await connect(endpoint, user="made", password="the first one")
    assert await rows(connection, "SELECT CURRENT_USER(), CURRENT_ROLE()") == [("MADE", "PUBLIC")]
    run("ALTER USER made RENAME TO named_anew")
    connection = await connect(endpoint, user="made", password="the first one")
    assert await rows(connection, "SELECT CURRENT_USER()") == [("NAMED_ANEW",)]
    run("ALTER USER named_anew SET LOGIN_NAME = 'other' PASSWORD = 'Something 2 remember'")
    assert await refused(connect, endpoint, user="made", password="Something 2 remember") == 390100
    assert await refused(connect, endpoint, user="other", password="the first one") == 390100
    await connect(endpoint, user="other", password="Something 2 remember")


async def test_a_key_logs_in_until_it_is_unset(
    endpoint: SnowflakeEndpoint, connect: Connect, keys: Keys, run: Run
) -> None:
    run(f"ALTER USER made SET RSA_PUBLIC_KEY_2 = '{body(keys.rsa)}'")
    await connect(endpoint, user="MADE", private_key=der(keys.rsa))
    run("ALTER USER made UNSET RSA_PUBLIC_KEY_2")
    assert await refused(connect, endpoint, user="MADE", private_key=der(keys.rsa)) == 390144


async def test_a_key_is_described_as_it_was_written(
    endpoint: SnowflakeEndpoint, connect: Connect, keys: Keys, run: Run
) -> None:
    written = "\n".join(textwrap.wrap(body(keys.rsa), 64))
    run(f"ALTER USER made SET RSA_PUBLIC_KEY = '{written}' RSA_PUBLIC_KEY_2 = ''")
    described = {row[0]: row[1] for row in run("DESCRIBE USER made")}
    assert (described["RSA_PUBLIC_KEY"], described["RSA_PUBLIC_KEY_2"]) == (written, "")
    digest = hashlib.sha256(base64.b64decode(body(keys.rsa))).digest()
    assert described["RSA_PUBLIC_KEY_FP"] == f"SHA256:{base64.b64encode(digest).decode()}"
    assert (described["RSA_PUBLIC_KEY_2_FP"], described["RSA_PUBLIC_KEY_2_LAST_SET_TIME"]) == ("null", "null")
    await connect(endpoint, user="MADE", private_key=der(keys.rsa))


def body(key: PrivateKey) -> str:
    """A public key as SQL has it."""
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(public).decode()


# https://docs.snowflake.com/en/user-guide/key-pair-auth: the algorithms
@pytest.mark.parametrize("curve", [ec.SECP256R1, ec.SECP384R1, ec.SECP521R1])
async def test_a_key_on_a_known_curve_logs_in(
    endpoint: SnowflakeEndpoint, connect: Connect, run: Run, curve: type[ec.EllipticCurve]
) -> None:
    key = ec.generate_private_key(curve())
    run(f"ALTER USER made SET RSA_PUBLIC_KEY = '{body(key)}'")
    await connect(endpoint, user="MADE", private_key=der(key))


def test_a_key_on_another_curve_is_refused(run: Run) -> None:
    with pytest.raises(SqlError, match="unsupported key algorithm"):
        run(f"ALTER USER made SET RSA_PUBLIC_KEY = '{body(ec.generate_private_key(ec.SECP256K1()))}'")


async def test_an_access_token_logs_in_until_it_is_removed(
    endpoint: SnowflakeEndpoint, connect: Connect, run: Run
) -> None:
    run("CREATE NETWORK POLICY here ALLOWED_IP_LIST = ('127.0.0.1')")
    run("ALTER USER made SET NETWORK_POLICY = here")
    [(name, secret)] = run("ALTER USER made ADD PAT t")
    assert name == "T"
    token = {"user": "MADE", "authenticator": "PROGRAMMATIC_ACCESS_TOKEN", "token": secret}
    await connect(endpoint, **token)
    run("ALTER USER made REMOVE PAT t")
    assert await refused(connect, endpoint, **token) is not None


@pytest.mark.parametrize(
    ("change", "number"),
    [
        ("DISABLED = TRUE", 390101),
        ("DAYS_TO_EXPIRY = -1", 999999),
        ("MINS_TO_UNLOCK = 5", 390102),
        ("TYPE = SERVICE", 390100),
    ],
)
async def test_what_a_user_is_set_to_keeps_it_out(
    endpoint: SnowflakeEndpoint, connect: Connect, run: Run, change: str, number: int
) -> None:
    run(f"ALTER USER made SET {change}")
    assert await refused(connect, endpoint, user="MADE", password="the first one") == number


async def test_periods_end_by_themselves(endpoint: SnowflakeEndpoint, connect: Connect, clock: Clock, run: Run) -> None:
    run("ALTER USER made SET MINS_TO_UNLOCK = 5 DAYS_TO_EXPIRY = 2")
    clock.now += 301
    await connect(endpoint, user="MADE", password="the first one")
    clock.now += 2 * 86_400
    assert await refused(connect, endpoint, user="MADE", password="the first one") is not None


async def test_the_network_policy_of_the_user_or_else_of_the_account_governs(
    endpoint: SnowflakeEndpoint, connect: Connect, run: Run
) -> None:
    run("CREATE NETWORK POLICY away ALLOWED_IP_LIST = ('203.0.113.0/24')")
    run("CREATE NETWORK POLICY here ALLOWED_IP_LIST = ('127.0.0.1')")
    run("ALTER USER made SET NETWORK_POLICY = away")
    assert await refused(connect, endpoint, user="MADE", password="the first one") == 390420
    run("ALTER USER made UNSET NETWORK_POLICY")
    await connect(endpoint, user="MADE", password="the first one")
    run("ALTER ACCOUNT SET NETWORK_POLICY = here")
    await connect(endpoint, user="MADE", password="the first one")


async def test_the_defaults_of_the_user_become_current(endpoint: SnowflakeEndpoint, connect: Connect, run: Run) -> None:
    for sql in (
        "CREATE DATABASE d",
        "CREATE SCHEMA d.s",
        "CREATE WAREHOUSE w",
        "CREATE ROLE reader",
        "GRANT USAGE ON DATABASE d TO ROLE reader",
        "GRANT USAGE ON ALL SCHEMAS IN DATABASE d TO ROLE reader",
        "GRANT USAGE ON WAREHOUSE w TO ROLE reader",
        "GRANT ROLE reader TO USER made",
        "ALTER USER made SET DEFAULT_ROLE = reader DEFAULT_WAREHOUSE = w DEFAULT_NAMESPACE = d.s",
    ):
        run(sql)
    current = "SELECT CURRENT_ROLE(), CURRENT_WAREHOUSE(), CURRENT_DATABASE(), CURRENT_SCHEMA()"
    made = {"user": "MADE", "password": "the first one"}
    assert await rows(await connect(endpoint, **made), current) == [("READER", "W", "D", "S")]
    assert await rows(await connect(endpoint, **made, schema="PUBLIC"), current) == [("READER", "W", "D", "PUBLIC")]
    assert await rows(await connect(endpoint, **made, database="NONE"), current) == [("READER", "W", None, None)]


# --- users who are logged in -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statements", "number"),
    [
        (("ALTER USER made SET DISABLED = TRUE",), 390101),
        (("DROP USER made",), 390111),
        (
            ("CREATE NETWORK POLICY away ALLOWED_IP_LIST = ('10.0.0.1')", "ALTER USER made SET NETWORK_POLICY = away"),
            390420,
        ),
    ],
)
async def test_who_may_log_in_no_more_may_ask_no_more(
    endpoint: SnowflakeEndpoint, connect: Connect, run: Run, statements: tuple[str, ...], number: int
) -> None:
    connection = await connect(endpoint, user="made", password="the first one")
    await rows(connection, "SELECT 1")
    for statement in statements:
        run(statement)
    assert await error_number(connection, "SELECT 1") == number


@pytest.mark.parametrize(
    "statement",
    ["ALTER USER made ABORT ALL QUERIES", "ALTER USER made SET DISABLED = TRUE", "ALTER WAREHOUSE w ABORT ALL QUERIES"],
)
async def test_the_running_queries_of_a_user_or_a_warehouse_can_be_aborted(
    endpoint: SnowflakeEndpoint, connect: Connect, run: Run, statement: str
) -> None:
    run("CREATE WAREHOUSE w")
    run("GRANT USAGE ON WAREHOUSE w TO ROLE PUBLIC")
    endpoint.faults.add(Fault(match="^SELECT", action="hang", times=2))
    for options in ({"user": "made", "password": "the first one", "warehouse": "W"}, {}):
        await (await connect(endpoint, **options)).cursor().execute_async("SELECT 1")
    run(statement)
    await endpoint.journal.wait_for(lambda journal: bool(journal.statements("SELECT", outcome="000604")))
    outcomes = {entry.user: entry.outcome for entry in endpoint.journal.statements("SELECT")}
    assert outcomes == {"MADE": "000604", "OPERATOR": None}
