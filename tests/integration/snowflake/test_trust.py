"""Whose certificate a log-in accepts: one of the ProviderConfig's authorities, or where it names none the machine's."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import ClientCredentials
from freehold.snowflake.errors import TlsFailed
from freehold.snowflake.oauth import fetch_token
from freehold.snowflake.settings import ConnectionSettings
from freehold_devstack.snowflake.tls import Certificate, issue

from .conftest import PASSWORD
from .test_oauth import GOOD, Scripted, answer, serving

LOGIN = f"""
import asyncio, sys
from freehold.snowflake.client import Snowflake
from freehold.snowflake.credentials import Password
from freehold.snowflake.settings import ConnectionSettings

async def login():
    credential = Password("Secret", {PASSWORD!r})
    where = ("FREEHOLD-DEVSTACK", "127.0.0.1", int(sys.argv[1]))
    async with Snowflake("test") as snowflake:
        facts = await snowflake.verify(ConnectionSettings("n/p", *where, "OPERATOR", None, None, credential))
        print(facts.user)

asyncio.run(login())
"""


@pytest.fixture
def stranger(tmp_path: Path) -> str:
    """Another authority than the endpoint's, in PEM."""
    return Path(issue(tmp_path, ["localhost"]).ca).read_text()


@pytest.fixture
def store(trusted: bool, certificate: Certificate, stranger: str, tmp_path: Path) -> str:
    """The machine's authorities: the endpoint's or the other one."""
    path = tmp_path / "store.pem"
    path.write_text(Path(certificate.ca).read_text() if trusted else stranger)
    return str(path)


@pytest.mark.parametrize(("trusted", "told"), [(True, "OPERATOR"), (False, "TlsFailed")])
async def test_snowflake_is_trusted_by_the_machines_authorities_where_the_provider_names_none(
    told: str, settings: ConnectionSettings, store: str
) -> None:
    # A process of its own: the driver reads the machine's authorities once.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", LOGIN, str(settings.port)),
        env={"PYTHONPATH": ":".join(sys.path), "SSL_CERT_FILE": store},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(30):
        output, _ = await process.communicate()

    assert told in output.decode()


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_token_endpoint_is_trusted_in_the_same_way(
    trusted: bool, settings: ConnectionSettings, certificate: Certificate, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", store)
    async with serving(Scripted(answer("200 OK", GOOD)), certificate) as port:
        client = ClientCredentials("Secret", "freehold", "secret", f"https://127.0.0.1:{port}/token", None)
        asking = fetch_token(client, replace(settings, ca_bundle=None), 5)
        if trusted:
            assert await asking == "good"
        else:
            with pytest.raises(TlsFailed):
                await asking


async def test_a_provider_that_names_authorities_trusts_no_others(
    settings: ConnectionSettings,
    certificate: Certificate,
    stranger: str,
    snowflake: Snowflake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.ca))
    with pytest.raises(TlsFailed):
        await snowflake.verify(replace(settings, ca_bundle=stranger))
