"""Log-ins with the real driver: what they set up and prove, and what people are told when they fail."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from freehold import session_parameters
from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import Password
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import (
    AccountChanged,
    CredentialsRefused,
    LoginFailed,
    RoleNotGranted,
    TlsFailed,
    Unreachable,
)
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import words
from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.faults import Fault
from freehold_devstack.snowflake.tls import Certificate

from .conftest import TAG, new_key
from .test_oauth import Scripted, answer, serving

UNASKED = "SNOWFLAKE_DISABLE_PLATFORM_DETECTION"


def logins(endpoint: SnowflakeEndpoint) -> int:
    return sum(entry.kind == "login" for entry in endpoint.journal.since())


async def test_a_log_in_proves_account_user_and_role(
    snowflake: Snowflake, settings: ConnectionSettings, password_settings: ConnectionSettings
) -> None:
    facts = await snowflake.verify(settings)

    assert (facts.key, facts.name) == ("AWS_EU_CENTRAL_1.FH00001", "FREEHOLD.DEVSTACK")
    assert (facts.user, facts.role) == ("OPERATOR", "OPERATOR")
    assert facts.version
    assert await snowflake.verify(password_settings) == facts


async def test_nothing_but_the_chosen_role_acts(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    facts = await snowflake.verify(settings.acting_as("seer above"))

    assert facts.role == "seer above"
    assert facts.active_secondary_roles == ""
    assert endpoint.journal.statements("USE SECONDARY ROLES NONE", outcome="ok")


async def test_the_parameters_that_are_ours_hold_from_the_log_in_on(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    others = ("QUOTED_IDENTIFIERS_IGNORE_CASE = TRUE", "TIMEZONE = 'Asia/Tokyo'", "ABORT_DETACHED_QUERY = FALSE")
    for each in others:
        endpoint.sql(f"ALTER USER OPERATOR SET {each}", role="ACCOUNTADMIN")

    rows = (await snowflake.execute(settings, words("SHOW PARAMETERS IN SESSION"), TAG)).rows

    told = {str(row["key"]): str(row["value"]).lower() for row in rows}
    assert {name: str(value).lower() for name, value in session_parameters.FIXED.items()}.items() <= told.items()
    assert told["STATEMENT_TIMEOUT_IN_SECONDS"] == "60"


async def test_the_driver_sends_no_telemetry(snowflake: Snowflake, settings: ConnectionSettings) -> None:
    async with snowflake._pool.session(settings) as session:
        assert not session.connection._connection.telemetry_enabled


def test_the_driver_is_told_not_to_ask_the_cloud_where_it_runs_before_it_is_loaded() -> None:
    watch = f"""
import os, sys
class Watch:
    def find_spec(self, name, *_):
        if name.startswith("snowflake.connector"):
            print(name, os.environ.get("{UNASKED}"))
sys.meta_path.insert(0, Watch())
import freehold.snowflake.driver
"""
    environment = {name: value for name, value in os.environ.items() if name != UNASKED}
    told = subprocess.run(
        [sys.executable, "-c", watch],
        env={**environment, "PYTHONPATH": ":".join(sys.path)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert "snowflake.connector true" in told
    assert {line.split()[1] for line in told} == {"true"}


async def test_a_statement_carries_the_tag_of_installation_and_resource(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    await snowflake.execute(settings, words("SELECT 1"), TAG)

    (entry,) = endpoint.journal.statements("SELECT 1$")
    assert entry.query_tag == TAG.text("prod")
    assert {each.query_tag for each in endpoint.journal.statements("^USE")} == {'{"freehold":"prod"}'}


async def test_a_wrong_password_is_tried_once_and_the_message_names_the_secret(
    snowflake: Snowflake, password_settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    wrong = replace(password_settings, credential=Password("Secret team/snowflake, key password", "canary"))

    with pytest.raises(CredentialsRefused, match="Secret team/snowflake, key password") as refusal:
        await snowflake.verify(wrong)

    assert refusal.value.number == 390100
    assert refusal.value.reason == "CredentialsError"
    assert refusal.value.error_class is ErrorClass.AUTHENTICATION
    assert "canary" not in str(refusal.value)
    assert logins(endpoint) == 1


async def test_an_unregistered_key_is_refused_with_its_fingerprint_and_the_way_to_the_cause(
    snowflake: Snowflake, settings: ConnectionSettings
) -> None:
    stranger, _ = new_key("Secret team/snowflake, key private_key.pem")

    with pytest.raises(CredentialsRefused) as refusal:
        await snowflake.verify(replace(settings, credential=stranger))

    assert refusal.value.number == 390144
    assert stranger.fingerprint in str(refusal.value)
    assert re.search(r"SYSTEM\$GET_LOGIN_FAILURE_DETAILS\('[0-9a-f-]{36}'\)", refusal.value.trace)


async def test_a_disabled_user_is_told_how_to_be_enabled(
    snowflake: Snowflake, password_settings: ConnectionSettings
) -> None:
    with pytest.raises(CredentialsRefused, match="SET DISABLED = FALSE"):
        await snowflake.verify(replace(password_settings, user="DISABLED", role=None))


@pytest.mark.parametrize("role", ["OTHER", "operator", "NO_SUCH_ROLE"])
async def test_a_role_that_the_user_lacks_fails_the_log_in(
    role: str, snowflake: Snowflake, settings: ConnectionSettings
) -> None:
    with pytest.raises(RoleNotGranted, match=rf"{role}.*GRANT ROLE") as failure:
        await snowflake.verify(settings.acting_as(role))

    assert failure.value.reason == "InvalidConfig"


async def test_a_warehouse_that_is_not_there_yet_does_not_fail_the_log_in(
    snowflake: Snowflake, settings: ConnectionSettings
) -> None:
    await snowflake.verify(replace(settings, warehouse="LATER"))


async def test_another_account_than_the_verified_one_gets_no_statement(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    elsewhere = replace(settings, account_key="AWS_US_EAST_1.OTHER")

    with pytest.raises(AccountChanged, match=r"AWS_US_EAST_1\.OTHER"):
        await snowflake.execute(elsewhere, words("CREATE DATABASE X"), TAG)

    assert not endpoint.journal.statements("CREATE DATABASE")


class Counting:
    """A budget that holds nothing back."""

    def __init__(self) -> None:
        self.taken = 0

    async def take(self, _settings: ConnectionSettings) -> None:
        self.taken += 1


@pytest.mark.parametrize("warehouse", [None, "LATER"])
@pytest.mark.parametrize("role", [None, "DEPUTY"])
async def test_each_statement_takes_of_the_budget_also_those_that_set_a_session_up(
    role: str | None, warehouse: str | None, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    budget = Counting()
    async with Snowflake("prod", budget=budget) as client:
        await client.verify(replace(settings, role=role, warehouse=warehouse))

    assert budget.taken == len(endpoint.journal.statements()) > 2


async def test_whose_default_role_a_session_could_not_be_set_up_for_is_told(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    endpoint.faults.add(Fault(match="^USE SECONDARY ROLES", action="error"))
    with pytest.raises(LoginFailed, match="couldn't be set up for the default role of user OPERATOR: "):
        await snowflake.verify(replace(settings, role=None))


async def test_an_unknown_account_is_said_to_be_unreachable(snowflake: Snowflake, settings: ConnectionSettings) -> None:
    with pytest.raises(Unreachable, match=r"403.*Check spec\.account"):
        await snowflake.verify(replace(settings, account="ACME-OTHER"))


async def test_an_untrusted_certificate_points_at_the_ca_bundle(
    snowflake: Snowflake, settings: ConnectionSettings
) -> None:
    with pytest.raises(TlsFailed, match=r"UnknownIssuer.*spec\.caBundle"):
        await snowflake.verify(replace(settings, ca_bundle=None))


async def test_a_host_that_nobody_listens_on_is_unreachable_at_once(
    snowflake: Snowflake, settings: ConnectionSettings
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with asyncio.timeout(5):
            with pytest.raises(Unreachable, match="refused") as failure:
                await snowflake.verify(replace(settings, port=unused.getsockname()[1]))

    assert failure.value.reason == "PingFailed"
    assert failure.value.error_class is ErrorClass.TRANSIENT


@pytest.mark.parametrize("tls", [True, False])
@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "307 Temporary", "308 Permanent Redirect"])
@pytest.mark.parametrize("domains", [(), (".localhost",)])
async def test_a_redirect_leads_to_no_host_but_those_that_the_installation_allows(
    domains: tuple[str, ...],
    status: str,
    tls: bool,
    snowflake: Snowflake,
    password_settings: ConnectionSettings,
    certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What the pods' environment lets be reached directly is for others.
    monkeypatch.setenv("NO_PROXY", "localhost")
    other = Scripted(answer("200 OK", b"{}"))
    async with serving(other, certificate if tls else None) as there:
        location = f"Location: http{'s' if tls else ''}://localhost:{there}/session/v1/login-request"
        first = Scripted(answer(status, b"", location))
        async with serving(first, certificate) as port:
            with pytest.raises(Unreachable):
                await snowflake.verify(replace(password_settings, port=port, domains=domains))

    assert (len(first.asked), len(other.asked)) == (1, len(domains))


async def test_a_port_without_tls_is_called_that(snowflake: Snowflake, settings: ConnectionSettings) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        with pytest.raises(TlsFailed):
            await snowflake.verify(replace(settings, port=server.sockets[0].getsockname()[1]))


async def test_many_tasks_log_in_once(
    snowflake: Snowflake, settings: ConnectionSettings, endpoint: SnowflakeEndpoint
) -> None:
    await asyncio.gather(*(snowflake.execute(settings, words("SELECT 1"), TAG) for _ in range(20)))

    assert logins(endpoint) == 1
    assert len(endpoint.journal.statements("SELECT 1$", outcome="ok")) == 20


async def test_a_rotated_key_closes_the_session_of_the_old_one(
    snowflake: Snowflake,
    settings: ConnectionSettings,
    password_settings: ConnectionSettings,
    endpoint: SnowflakeEndpoint,
) -> None:
    await snowflake.verify(settings)
    await snowflake.verify(password_settings)
    await snowflake.verify(settings)

    assert logins(endpoint) == 3


async def test_neither_secret_nor_statement_is_logged(
    snowflake: Snowflake, password_settings: ConnectionSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await snowflake.execute(password_settings, words("SELECT 'canary'"), TAG)
        with pytest.raises(LoginFailed):
            await snowflake.verify(replace(password_settings, credential=Password("Secret", "canary")))

    assert "canary" not in caplog.text
    assert "correct horse" not in caplog.text
