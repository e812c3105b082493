"""Logging in with the real driver: credentials, roles and what the session starts with."""

import base64
import hashlib
import time
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.auth.key_pair import KeyPairs
from freehold_devstack.snowflake.auth.login import Login
from freehold_devstack.snowflake.auth.password import LOCK_AFTER, LOCK_SECONDS
from freehold_devstack.snowflake.catalog import Catalog
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.errors import LoginError
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.payloads import Credentials
from freehold_devstack.snowflake.seed import Seed, plant
from tests.endpoint.conftest import Clock, Connect, Keys, der, http_client, log_in, refused, rows


@pytest.mark.parametrize("kind", ["rsa", "ec"])
async def test_either_registered_key_logs_in(
    endpoint: SnowflakeEndpoint, connect: Connect, keys: Keys, kind: str
) -> None:
    connection = await connect(endpoint, private_key=der(getattr(keys, kind)))
    assert await rows(connection, "SELECT CURRENT_USER(), CURRENT_ROLE()") == [("OPERATOR", "OPERATOR")]


async def test_a_key_that_is_not_registered_is_refused_and_the_journal_knows_why(
    endpoint: SnowflakeEndpoint, connect: Connect, keys: Keys
) -> None:
    assert await refused(connect, endpoint, private_key=der(keys.stranger)) == 390144
    [attempt] = [entry for entry in endpoint.journal.since() if entry.kind == "login"]
    assert attempt.outcome == "390144"
    assert "fingerprint" in attempt.detail


async def test_a_token_that_has_expired_is_refused(endpoint: SnowflakeEndpoint, connect: Connect, clock: Clock) -> None:
    clock.now += 600
    assert await refused(connect, endpoint) == 390144


async def test_an_unknown_user_gets_the_answer_of_a_wrong_password(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    assert await refused(connect, endpoint, user="NOBODY", password="x") == 390100
    assert await refused(connect, endpoint, password="wrong") == 390100


async def test_the_password_logs_in(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint, password="correct horse")
    assert await rows(connection, "SELECT CURRENT_USER()") == [("OPERATOR",)]


async def test_a_disabled_user_is_refused(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    assert await refused(connect, endpoint, user="DISABLED", password="pw") == 390101


async def test_too_many_wrong_passwords_lock_the_user_for_a_while(
    endpoint: SnowflakeEndpoint, connect: Connect, clock: Clock
) -> None:
    for _ in range(LOCK_AFTER):
        assert await refused(connect, endpoint, password="wrong") == 390100
    assert await refused(connect, endpoint, password="correct horse") == 390102
    assert shown(endpoint, "mins_to_unlock") == "15"
    clock.now += LOCK_SECONDS
    await connect(endpoint, password="correct horse")
    assert shown(endpoint, "mins_to_unlock") is None


def shown(endpoint: SnowflakeEndpoint, column: str) -> object:
    [user] = endpoint.sql("SHOW USERS LIKE 'OPERATOR'", role="ACCOUNTADMIN").records()
    return user[column]


async def test_users_are_shown_with_their_last_log_in(
    endpoint: SnowflakeEndpoint, connect: Connect, clock: Clock
) -> None:
    assert shown(endpoint, "last_success_login") is None
    await refused(connect, endpoint, password="wrong")
    assert shown(endpoint, "last_success_login") is None
    await connect(endpoint)
    assert shown(endpoint, "last_success_login") == int(clock.now * 1000)


async def test_a_role_of_the_connection_must_exist_and_be_granted(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    assert await refused(connect, endpoint, role="NOSUCH") == 390189
    assert await refused(connect, endpoint, role="OTHER") == 390186
    connection = await connect(endpoint, role="PUBLIC")
    assert await rows(connection, "SELECT CURRENT_ROLE()") == [("PUBLIC",)]


async def test_an_account_of_another_name_does_not_answer(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    assert await refused(connect, endpoint, account="FREEHOLD-OTHER", password="correct horse") == 250001


@pytest.mark.parametrize(("owner", "name"), [("OPERATOR", "D"), ("SYSADMIN", None)])
async def test_what_the_connection_names_becomes_current_if_the_role_sees_it(
    endpoint: SnowflakeEndpoint, connect: Connect, owner: str, name: str | None
) -> None:
    endpoint.sql("CREATE DATABASE d", role=owner)
    endpoint.sql("CREATE WAREHOUSE d", role=owner)
    connection = await connect(endpoint, database="D", schema="PUBLIC", warehouse="D")
    schema = name and "PUBLIC"
    current = await rows(connection, "SELECT CURRENT_DATABASE(), CURRENT_SCHEMA(), CURRENT_WAREHOUSE()")
    assert current == [(name, schema, name)]
    async with http_client(endpoint) as http:
        answer = await log_in(http, databaseName="D", schemaName="PUBLIC", warehouse="D")
    info = {"databaseName": name, "schemaName": schema, "warehouseName": name, "roleName": "OPERATOR"}
    assert answer["sessionInfo"] == info


async def test_an_unknown_session_parameter_is_refused(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    assert await refused(connect, endpoint, session_parameters={"NO_SUCH": "1"}) == 1420


async def test_the_session_starts_with_the_connections_parameters(
    endpoint: SnowflakeEndpoint, connect: Connect
) -> None:
    connection = await connect(endpoint, session_parameters={"TIMEZONE": "UTC", "QUERY_TAG": "t"})
    [(key, value, _, level, *_)] = await rows(connection, "SHOW PARAMETERS LIKE 'TIMEZONE'")
    assert (key, value, level) == ("TIMEZONE", "UTC", "SESSION")
    assert endpoint.journal.statements("SHOW PARAMETERS")[-1].query_tag == "t"


async def test_a_log_in_can_be_made_to_fail(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    endpoint.faults.add(Fault(match="^LOGIN OPERATOR$", action="error", number=390100, message="no"))
    assert await refused(connect, endpoint) == 390100
    await connect(endpoint)


# --- tokens that the driver would not make ---------------------------------------------------------------------------

ACCOUNT = "FREEHOLD-DEVSTACK.OPERATOR"


def signed(keys: Keys, claims: dict[str, object], algorithm: str = "RS256") -> str:
    return jws.sign(claims, keys.rsa, alg=algorithm)


def good_claims(keys: Keys) -> dict[str, object]:
    public = keys.rsa.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    fingerprint = base64.b64encode(hashlib.sha256(public).digest()).decode()
    return {"iss": f"{ACCOUNT}.SHA256:{fingerprint}", "sub": ACCOUNT, "iat": 1000, "exp": 1100}


Check = Callable[[str, float], str]
"""Checks a token of OPERATOR's at a time, in seconds since 1970, and names the user."""


@pytest.fixture
def check(seed: Seed) -> Check:
    catalog = Catalog()
    plant(catalog, seed.accounts[0], 0)
    key_pairs = KeyPairs(seed.accounts[0].identity(), catalog)

    def check_one(token: str, now: float) -> str:
        credentials = {"LOGIN_NAME": "operator", "AUTHENTICATOR": "SNOWFLAKE_JWT", "TOKEN": token}
        login = Login.parse(Credentials.model_validate(credentials), {})
        return key_pairs.authenticate(login, now).user.name

    return check_one


def test_a_good_token_is_taken_while_it_lives(check: Check, keys: Keys) -> None:
    token = signed(keys, good_claims(keys))
    assert check(token, 1099) == "OPERATOR"
    with pytest.raises(LoginError):
        check(token, 1100)


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        (lambda claims: claims | {"sub": "FREEHOLD-OTHER.OPERATOR"}, "sub"),
        (lambda claims: claims | {"iss": str(claims["iss"]).replace("DEVSTACK", "OTHER")}, "iss"),
        (lambda claims: claims | {"iss": f"{ACCOUNT}.SHA256:AAAA"}, "fingerprint"),
        (lambda claims: claims | {"iat": 2000, "exp": 2100}, "future"),
        (lambda claims: claims | {"iat": 1000 - 3600, "exp": 9999}, "expired"),
        (lambda claims: {name: value for name, value in claims.items() if name != "exp"}, "exp"),
        (lambda claims: claims | {"exp": "1100"}, "exp"),
    ],
)
def test_a_token_with_a_wrong_claim_is_refused(
    check: Check, keys: Keys, spoil: Callable[[dict[str, object]], dict[str, object]], cause: str
) -> None:
    with pytest.raises(LoginError) as caught:
        check(signed(keys, spoil(good_claims(keys))), 1000)
    assert caught.value.number == 390144
    assert cause in caught.value.cause


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ES256"])
def test_a_token_of_another_algorithm_is_refused(check: Check, keys: Keys, algorithm: str) -> None:
    with pytest.raises(LoginError) as caught:
        check(signed(keys, good_claims(keys), algorithm), 1000)
    assert "algorithm" in caught.value.cause


def test_a_token_whose_claims_were_changed_after_signing_is_refused(check: Check, keys: Keys) -> None:
    header, _, signature = signed(keys, good_claims(keys)).split(".")
    _, claims, _ = signed(keys, good_claims(keys) | {"exp": 1200}).split(".")
    forged = f"{header}.{claims}.{signature}"
    with pytest.raises(LoginError) as caught:
        check(forged, 1000)
    assert "signature" in caught.value.cause


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "e30.e30.e30"])
def test_what_is_no_token_is_refused(check: Check, token: str) -> None:
    with pytest.raises(LoginError) as caught:
        check(token, time.time())
    assert caught.value.number == 390144
