"""Logging in with the real driver by tokens: programmatic access tokens, OAuth and workload identities."""

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.issuer import PATH, Issuer
from freehold_devstack.snowflake.seed import Seed, SeedAccount
from tests.endpoint.conftest import Clock, Connect, Start, error_number, http_client, refused, rows

ISSUER = "https://issuer.test"
ELSEWHERE = "https://kubernetes.test"
AUDIENCE = "https://freehold-devstack.test"
SUBJECT = "system:serviceaccount:team:freehold"

FACTS = {
    "issuer": {
        "url": ISSUER,
        "clients": {
            "freehold": {
                "secret": "shh",
                "claims": {"sub": "robot", "aud": AUDIENCE},
                "scopes": ["session:role:OPERATOR", "session:role:PUBLIC"],
            }
        },
    },
    "accounts": [
        {
            "roles": {"OPERATOR": {}, "OTHER": {}},
            "external_oauth": [{"issuer": ISSUER, "audience_list": [AUDIENCE]}],
            "allowed_ip_list": ["127.0.0.0/8"],
            "users": {
                "ROBOT": {
                    "roles": ["OPERATOR", "OTHER", "ACCOUNTADMIN"],
                    "default_role": "OPERATOR",
                    "password": "correct horse",
                    "access_tokens": {
                        "GOOD": {"secret": "pat-good"},
                        "LIMITED": {"secret": "pat-limited", "role_restriction": "OTHER"},
                        "OLD": {"secret": "pat-old", "expires_at": "2020-01-01T00:00:00Z"},
                        "OFF": {"secret": "pat-off", "disabled": True},
                    },
                    "workload_identity": {"issuer": ISSUER, "subject": SUBJECT},
                },
                "CHOOSY": {
                    "workload_identity": {"issuer": ELSEWHERE, "subject": SUBJECT, "audiences": ["freehold"]},
                    "access_tokens": {"ONE": {"secret": "pat-choosy"}},
                },
                "OFF": {"disabled": True, "access_tokens": {"ONE": {"secret": "pat-of-off"}}},
            },
        }
    ],
}


@pytest.fixture
def seed() -> Seed:
    return Seed.model_validate(FACTS)


@pytest.fixture
def issuer(endpoint: SnowflakeEndpoint) -> Issuer:
    assert endpoint.issuer is not None
    return endpoint.issuer


def pat(secret: str, **options: str) -> dict[str, str]:
    return {"user": "ROBOT", "authenticator": "PROGRAMMATIC_ACCESS_TOKEN", "token": secret, **options}


def oauth(token: str, **options: str) -> dict[str, str]:
    return {"user": "ROBOT", "authenticator": "OAUTH", "token": token, **options}


def access(issuer: Issuer, **claims: object) -> str:
    """A good access token, but for these claims."""
    return issuer.token(**{"sub": "robot", "aud": AUDIENCE, "scp": ["session:role:OPERATOR"], **claims})


# --- programmatic access tokens --------------------------------------------------------------------------------------


async def test_a_token_logs_in_as_its_user(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint, **pat("pat-good"))
    assert await rows(connection, "SELECT CURRENT_USER(), CURRENT_ROLE()") == [("ROBOT", "OPERATOR")]


@pytest.mark.parametrize(
    ("secret", "user", "cause"),
    [
        ("garbage", "ROBOT", "no user has this token"),
        ("pat-old", "ROBOT", "it has expired"),
        ("pat-off", "ROBOT", "it is disabled"),
        ("pat-good", "CHOOSY", "it is a token of ROBOT"),
    ],
)
async def test_a_token_that_is_no_good_is_refused_without_a_reason(
    endpoint: SnowflakeEndpoint, connect: Connect, secret: str, user: str, cause: str
) -> None:
    assert await refused(connect, endpoint, **pat(secret, user=user)) == 394400
    assert endpoint.journal.since()[-1].detail == cause


async def test_a_token_of_a_disabled_user_is_refused(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    assert await refused(connect, endpoint, **pat("pat-of-off", user="OFF")) == 390101


async def test_a_token_expires(seed: Seed, start: Start, connect: Connect, clock: Clock) -> None:
    token = seed.accounts[0].users["ROBOT"].access_tokens["GOOD"]
    token.expires_at = datetime.fromtimestamp(clock.now + 10, UTC)
    endpoint = await start()
    await connect(endpoint, **pat("pat-good"))
    clock.now += 10
    assert await refused(connect, endpoint, **pat("pat-good")) == 394400


async def test_a_token_for_one_role_opens_no_other(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    connection = await connect(endpoint, **pat("pat-limited"))
    assert await rows(connection, "SELECT CURRENT_ROLE()") == [("OTHER",)]
    assert await refused(connect, endpoint, **pat("pat-limited", role="OPERATOR")) == 390186
    assert await error_number(connection, "USE ROLE OPERATOR") == 3013
    endpoint.sql("CREATE DATABASE d", role="SYSADMIN")
    endpoint.sql("GRANT USAGE ON DATABASE d TO ROLE operator", role="SYSADMIN")
    assert await rows(connection, "SHOW DATABASES") == []


async def test_a_token_needs_a_network_policy_unless_the_account_says_otherwise(
    seed: Seed, start: Start, connect: Connect
) -> None:
    [account] = seed.accounts
    account.allowed_ip_list = None
    assert await refused(connect, await start(), **pat("pat-good")) == 390432
    account.pat_network_policy_evaluation = "ENFORCED_NOT_REQUIRED"
    await connect(await start(), **pat("pat-good"))


# --- OAuth -----------------------------------------------------------------------------------------------------------


async def test_an_access_token_logs_in_with_a_role_that_it_names(
    endpoint: SnowflakeEndpoint, connect: Connect, issuer: Issuer
) -> None:
    connection = await connect(endpoint, **oauth(access(issuer)))
    assert await rows(connection, "SELECT CURRENT_USER(), CURRENT_ROLE()") == [("ROBOT", "OPERATOR")]
    assert await error_number(connection, "USE ROLE OTHER") == 3013


@pytest.mark.parametrize(
    ("claims", "number"),
    [
        ({"aud": "https://elsewhere.test"}, 390303),
        ({"iss": "https://elsewhere.test"}, 390303),
        ({"exp": 1}, 390318),
        ({"iat": 9_999_999_999}, 390303),
        ({"sub": "nobody"}, 390304),
        ({"sub": "choosy"}, 390309),
        ({"scp": []}, 390317),
        ({"scp": ["session:role:OTHER"]}, 390317),
        ({"scp": "session:role:OPERATOR,session:role:OTHER"}, None),
        ({"scp": ["session:role-any"]}, 390317),
    ],
)
async def test_a_token_says_who_and_what_for(
    endpoint: SnowflakeEndpoint, connect: Connect, issuer: Issuer, claims: Mapping[str, Any], number: int | None
) -> None:
    if number is None:
        await connect(endpoint, **oauth(access(issuer, **claims)))
    else:
        assert await refused(connect, endpoint, **oauth(access(issuer, **claims))) == number


async def test_what_the_issuer_has_not_signed_is_refused(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    assert await refused(connect, endpoint, **oauth(access(Issuer(ISSUER)))) == 390303
    assert await refused(connect, endpoint, **oauth("garbage")) == 390303


async def test_no_token_opens_a_role_that_the_integration_blocks(
    endpoint: SnowflakeEndpoint, connect: Connect, issuer: Issuer
) -> None:
    token = access(issuer, scp=["session:role:ACCOUNTADMIN"])
    assert await refused(connect, endpoint, **oauth(token, role="ACCOUNTADMIN")) == 390317


async def test_any_role_is_open_where_the_integration_lets_it(seed: Seed, start: Start, connect: Connect) -> None:
    seed.accounts[0].external_oauth[0].any_role_mode = "ENABLE"
    endpoint = await start()
    assert endpoint.issuer is not None
    connection = await connect(endpoint, **oauth(access(endpoint.issuer, scp=["session:role-any"]), role="OTHER"))
    await rows(connection, "USE ROLE OPERATOR")


async def test_the_driver_fetches_a_token_by_client_credentials(endpoint: SnowflakeEndpoint, connect: Connect) -> None:
    credentials = {
        "user": "ROBOT",
        "authenticator": "OAUTH_CLIENT_CREDENTIALS",
        "oauth_client_id": "freehold",
        "oauth_client_secret": "shh",
        "oauth_token_request_url": f"https://127.0.0.1:{endpoint.port}{PATH}/token",
        "role": "OPERATOR",
    }
    connection = await connect(endpoint, **credentials)
    assert await rows(connection, "SELECT CURRENT_USER(), CURRENT_ROLE()") == [("ROBOT", "OPERATOR")]
    assert await refused(connect, endpoint, **credentials | {"oauth_client_secret": "guess"}) is not None
    assert await refused(connect, endpoint, **credentials | {"role": "OTHER"}) is not None
    assert [entry.outcome for entry in endpoint.journal.since() if entry.kind == "login"] == ["ok"]


# --- workload identities ---------------------------------------------------------------------------------------------


@pytest.fixture
def workload(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, str]]:
    """Options for a workload's identity token; the driver gives it to hosts of Snowflake's alone unless told so."""
    monkeypatch.setenv("SNOWFLAKE_WIF_ALLOWED_HOST_SUFFIXES", "127.0.0.1")
    return lambda token: {"authenticator": "WORKLOAD_IDENTITY", "workload_identity_provider": "OIDC", "token": token}


Workload = Callable[[str], dict[str, str]]


async def test_an_identity_token_logs_in_as_the_user_of_its_subject(
    endpoint: SnowflakeEndpoint, connect: Connect, issuer: Issuer, workload: Workload
) -> None:
    token = issuer.token(sub=SUBJECT, aud=["snowflakecomputing.com"])
    connection = await connect(endpoint, user="", **workload(token))
    assert await rows(connection, "SELECT CURRENT_USER()") == [("ROBOT",)]


@pytest.mark.parametrize(
    ("claims", "cause"),
    [
        ({"sub": "system:serviceaccount:team:other"}, "subject"),
        ({"aud": "freehold"}, "aud"),
        ({"exp": 1}, "expired"),
        ({"iss": "https://elsewhere.test"}, "issuer"),
    ],
)
async def test_an_identity_token_that_is_no_good_is_refused(
    endpoint: SnowflakeEndpoint,
    connect: Connect,
    issuer: Issuer,
    workload: Workload,
    claims: Mapping[str, Any],
    cause: str,
) -> None:
    token = issuer.token(**{"sub": SUBJECT, "aud": "snowflakecomputing.com", **claims})
    assert await refused(connect, endpoint, **workload(token)) == 999999
    assert cause in endpoint.journal.since()[-1].detail


KEYS = [
    rsa.generate_private_key(65537, 2048),
    *(ec.generate_private_key(curve()) for curve in (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)),
]


@pytest.mark.parametrize("key", KEYS)
async def test_an_issuer_elsewhere_is_known_by_its_key_set(
    seed: Seed, start: Start, connect: Connect, workload: Workload, key: jws.PrivateKey
) -> None:
    elsewhere = Issuer(ELSEWHERE, key=key)
    known = {**FACTS, "issuers": {ELSEWHERE: elsewhere.keys}}
    seed.issuers.update(Seed.model_validate(known).issuers)
    connection = await connect(await start(), **workload(elsewhere.token(sub=SUBJECT, aud="freehold")))
    assert await rows(connection, "SELECT CURRENT_USER()") == [("CHOOSY",)]


def basic(given: str) -> str:
    return f"Basic {base64.b64encode(given.encode()).decode()}"


@pytest.mark.parametrize(
    ("authorization", "grant", "scope", "error"),
    [
        (basic("freehold:shh"), "client_credentials", "session:role:OTHER", "invalid_scope"),
        (basic("freehold:shh"), "password", "", "unsupported_grant_type"),
        (basic("freehold:guess"), "client_credentials", "", "invalid_client"),
        (basic("nobody:shh"), "client_credentials", "", "invalid_client"),
        ("Basic §", "client_credentials", "", "invalid_client"),
        ("Bearer shh", "client_credentials", "", "invalid_client"),
        ("", "client_credentials", "", "invalid_client"),
    ],
)
async def test_the_issuer_gives_nothing_to_strangers(
    endpoint: SnowflakeEndpoint, authorization: str, grant: str, scope: str, error: str
) -> None:
    form, headers = {"grant_type": grant, "scope": scope}, {"Authorization": authorization}
    async with http_client(endpoint) as http, http.post(f"{PATH}/token", data=form, headers=headers) as response:
        assert (await response.json())["error"] == error


async def test_the_issuer_tells_where_its_keys_are(endpoint: SnowflakeEndpoint, issuer: Issuer) -> None:
    async with http_client(endpoint) as http:
        async with http.get(f"{PATH}/.well-known/openid-configuration") as response:
            told = await response.json()
        async with http.get(told["jwks_uri"]) as response:
            [key] = (await response.json())["keys"]
    assert told["issuer"] == ISSUER
    jws.Token.parse(issuer.token()).verify(jws.read_jwk(key))


@pytest.mark.parametrize("entry", [{}, {"kty": "oct"}, {"kty": "EC", "crv": "secp256k1"}, {"kty": "RSA", "n": "AQ"}])
def test_a_key_of_another_kind_is_no_part_of_a_seed(entry: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="JSON web key"):
        Seed.model_validate({"issuers": {ELSEWHERE: {"keys": [entry]}}})


# --- policies --------------------------------------------------------------------------------------------------------


async def test_a_way_to_log_in_that_the_policy_does_not_list_is_refused(
    seed: Seed, start: Start, connect: Connect
) -> None:
    seed.accounts[0].users["ROBOT"].authentication_methods = ["PROGRAMMATIC_ACCESS_TOKEN"]
    endpoint = await start()
    await connect(endpoint, **pat("pat-good"))
    assert await refused(connect, endpoint, user="ROBOT", password="correct horse") == 390202


async def test_an_address_that_the_network_policy_does_not_list_is_refused(
    seed: Seed, start: Start, connect: Connect
) -> None:
    seed.accounts[0].users["ROBOT"].allowed_ip_list = ["10.0.0.0/8"]
    assert await refused(connect, await start(), user="ROBOT", password="correct horse") == 390420


def test_a_network_must_be_one() -> None:
    with pytest.raises(ValueError, match="network"):
        SeedAccount(allowed_ip_list=["home"])


async def test_a_way_that_there_is_not_is_refused(endpoint: SnowflakeEndpoint) -> None:
    async with http_client(endpoint) as http:
        data = {"ACCOUNT_NAME": "FREEHOLD-DEVSTACK", "LOGIN_NAME": "ROBOT", "AUTHENTICATOR": "EXTERNALBROWSER"}
        async with http.post("/session/v1/login-request", json={"data": data}) as response:
            assert (await response.json())["code"] == "390139"
