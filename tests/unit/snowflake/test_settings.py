"""From ProviderConfig and Secret to connection settings: every mistake is named before a packet is sent."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from freehold.hosts import SNOWFLAKE_HOSTS
from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.login_policy import LoginPolicy
from freehold.snowflake.credentials import Password
from freehold.snowflake.errors import ConfigurationError, HostNotAllowed, NotSupported, SecretNotFound
from freehold.snowflake.settings import ConnectionSettings, Proxy, settings_from

SECRET = {"password": b"pa55\n"}


def spec(**changes: object) -> ProviderConfigSpec:
    return ProviderConfigSpec.model_validate(
        {
            "account": "ACME-MAIN",
            "user": "FREEHOLD",
            "authenticationType": "UsernamePassword",
            "credentials": {"secretRef": {"name": "snowflake", "key": "password"}},
            **changes,
        }
    )


def settings(
    spec: ProviderConfigSpec, secret: dict[str, bytes] | None = SECRET, hosts: tuple[str, ...] = SNOWFLAKE_HOSTS
) -> ConnectionSettings:
    policy = LoginPolicy(hosts, frozenset({"team"}), Path("/token"))
    return settings_from(spec, namespace="team", name="default", secret=secret, policy=policy)


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ({"account": "ACME-MAIN_1"}, "acme-main-1.snowflakecomputing.com"),
        ({"account": None, "organizationName": "ACME", "accountName": "MAIN"}, "acme-main.snowflakecomputing.com"),
        ({"account": "XY12345", "region": "eu-central-1"}, "xy12345.eu-central-1.snowflakecomputing.com"),
        ({"account": "XY12345", "region": "cn-northwest-1.aws"}, "xy12345.cn-northwest-1.aws.snowflakecomputing.cn"),
        ({"host": "x.privatelink.snowflakecomputing.com"}, "x.privatelink.snowflakecomputing.com"),
    ],
)
def test_the_host_follows_from_the_account_unless_it_is_given(fields: dict[str, object], host: str) -> None:
    found = settings(spec(**fields))

    assert (found.host, found.port) == (host, 443)


def test_the_line_break_that_editors_leave_is_no_part_of_a_password() -> None:
    assert settings(spec()).credential == Password("Secret team/snowflake, key password", "pa55")


def test_a_host_that_the_installation_does_not_allow_is_refused() -> None:
    with pytest.raises(HostNotAllowed, match=r"evil\.example"):
        settings(spec(host="evil.example"))


CREDENTIALS = {"secretRef": {"name": "snowflake", "key": "password"}}
OAUTH = {
    "clientId": "c",
    "clientSecretRef": CREDENTIALS["secretRef"],
    "tokenRequestURL": "https://x.snowflakecomputing.com",
}
NEEDING = {
    **{
        kind: {"authenticationType": kind}
        for kind in ("UsernamePassword", "KeyPair", "ProgrammaticAccessToken", "OAuthToken")
    },
    "OAuthClientCredentials": {"authenticationType": "OAuthClientCredentials", "credentials": None, "oauth": OAUTH},
    "proxy": {
        "authenticationType": "WorkloadIdentity",
        "credentials": None,
        "proxy": {"host": "p.snowflakecomputing.com", "port": 80, "credentialsRef": CREDENTIALS["secretRef"]},
    },
}
"""What logs in with the key `password` of the Secret, or gets past the proxy with it."""


@pytest.mark.parametrize("fields", NEEDING.values(), ids=NEEDING)
@pytest.mark.parametrize(
    ("secret", "message"),
    [
        (None, "Secret team/snowflake doesn't exist: create it with the key password"),
        ({"pass": b"x"}, "has no key password: it has pass"),
        ({}, "has no key password: it has none"),
        ({"password": b""}, "value of key password is empty"),
        ({"password": b"\n"}, "value of key password is empty"),
    ],
)
def test_a_missing_secret_key_or_value_is_named(
    fields: dict[str, object], secret: dict[str, bytes] | None, message: str
) -> None:
    with pytest.raises(SecretNotFound, match=message):
        settings(spec(**fields), secret)


def test_a_missing_passphrase_is_named() -> None:
    with pytest.raises(SecretNotFound, match="no key passphrase"):
        settings(spec(authenticationType="KeyPair", credentials=CREDENTIALS | {"passphraseKey": "passphrase"}))


@pytest.mark.parametrize(
    ("fields", "secret", "message"),
    [
        ({"credentials": None}, SECRET, r"spec\.credentials is missing"),
        ({"user": None}, SECRET, r"spec\.user is missing"),
        ({"authenticationType": "OAuthClientCredentials"}, SECRET, r"spec\.oauth is missing"),
        ({}, {"password": b"\xff"}, "key password: the value is no text"),
        (NEEDING["proxy"], {"password": b"team"}, "key password: the value isn't USER:PASSWORD"),
        ({"sessionParameters": {"Query_Tag": "x", "LOCK_TIMEOUT": "1"}}, SECRET, "relies on Query_Tag: remove"),
        ({"sessionParameters": {"ROWS_PER_RESULTSET": "1"}}, SECRET, "relies on ROWS_PER_RESULTSET"),
        (
            {"authenticationType": "WorkloadIdentity", "workloadIdentity": {"provider": "AWS"}},
            None,
            r"spec\.workloadIdentity\.provider AWS isn't supported",
        ),
    ],
)
def test_what_the_api_server_should_have_refused_is_refused_all_the_same(
    fields: dict[str, object], secret: dict[str, bytes] | None, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        settings(spec(**fields), secret)


def test_a_workload_identity_that_the_installation_has_not_is_not_supported() -> None:
    policy = LoginPolicy(SNOWFLAKE_HOSTS, frozenset({"team"}))
    wanted = spec(authenticationType="WorkloadIdentity", credentials=None, user=None)
    with pytest.raises(NotSupported, match=r"workloadIdentity\.enabled"):
        settings_from(wanted, namespace="team", name="default", secret=None, policy=policy)


def test_limits_parameters_tag_and_proxy_are_part_of_the_session() -> None:
    found = settings(
        spec(
            loginTimeoutSeconds=7,
            requestTimeoutSeconds=8,
            queryTag="cost center 7",
            sessionParameters={"WEEK_START": "1", "LOCK_TIMEOUT": "9"},
            proxy={"host": "p.snowflakecomputing.com", "port": 80, "credentialsRef": CREDENTIALS["secretRef"]},
        ),
        {"password": b"team:pa:ss\n"},
    )

    assert (found.login_timeout, found.statement_timeout) == (timedelta(seconds=7), timedelta(seconds=8))
    assert (found.query_tag, found.parameters) == ("cost center 7", (("LOCK_TIMEOUT", "9"), ("WEEK_START", "1")))
    assert found.proxy == Proxy("http", "p.snowflakecomputing.com", 80, "team", "pa:ss")
    assert "pa:ss" not in repr(found)
    assert hash(found)


def test_a_ca_bundle_without_certificate_is_refused() -> None:
    broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

    with pytest.raises(ConfigurationError, match="caBundle"):
        settings(spec(caBundle=broken))


def test_settings_that_differ_in_the_role_share_a_login_and_those_that_differ_in_the_secret_do_not() -> None:
    before = settings(spec(role="A"))

    assert before.same_login(before.acting_as("B"))
    assert not before.same_login(settings(spec(role="A"), {"password": b"other"}))


def test_acting_as_no_role_in_particular_keeps_the_role() -> None:
    before = settings(spec(role="A"))

    assert before.acting_as(None) is before
    assert before.acting_as("B").role == "B"
