"""The way to an account: what is reached directly, what through a proxy, and that nothing else is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freehold.snowflake.route import options, storage
from freehold.snowflake.settings import Proxy
from tests.unit.snowflake.test_pool import SETTINGS

HERE = replace(SETTINGS, host="acme.snowflakecomputing.com", domains=(".snowflakecomputing.com",))
NOWHERE = {"proxy_host": "127.0.0.1", "proxy_port": 1, "proxy_scheme": "http"}
PROXY = Proxy("https", "proxy.example.com", 3128, "team", "pa:ss", bypass="internal.example.com")
THROUGH = {
    "proxy_host": "proxy.example.com",
    "proxy_port": 3128,
    "proxy_scheme": "https",
    "proxy_user": "team",
    "proxy_password": "pa:ss",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_proxy_nothing_is_reached_but_the_host_its_domains_and_the_storage_of_its_region() -> None:
    assert options(replace(HERE, domains=())) == {**NOWHERE, "no_proxy": "acme.snowflakecomputing.com"}
    known = replace(HERE, account_key="AWS_EU_CENTRAL_1.XY12345")
    reached = "acme.snowflakecomputing.com,.snowflakecomputing.com,.s3.amazonaws.com,.s3.eu-central-1.amazonaws.com"
    assert options(known) == {**NOWHERE, "no_proxy": reached}


def test_all_goes_through_the_proxy_of_the_provider_also_what_others_would_be_reached_directly() -> None:
    assert options(replace(HERE, proxy=PROXY)) == THROUGH


def test_a_host_that_bypasses_the_proxy_is_the_only_one() -> None:
    around = replace(HERE, proxy=replace(PROXY, bypass="internal.example.com, ACME.snowflakecomputing.com"), domains=())
    assert options(around) == {**NOWHERE, "no_proxy": "acme.snowflakecomputing.com"}


@pytest.mark.parametrize(
    ("name", "value", "proxy"),
    [
        ("HTTPS_PROXY", "https://team:pa%3Ass@proxy.example.com:3128", THROUGH),
        ("https_proxy", "proxy:8080", {"proxy_host": "proxy", "proxy_port": 8080, "proxy_scheme": "http"}),
        ("ALL_PROXY", "http://proxy", {"proxy_host": "proxy", "proxy_port": 80, "proxy_scheme": "http"}),
    ],
)
def test_the_proxy_of_the_environment_leads_to_all_but_the_hosts_that_need_none(
    name: str, value: str, proxy: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert options(HERE) == proxy
    monkeypatch.setenv("NO_PROXY", "snowflakecomputing.com,cluster.local")
    assert options(replace(HERE, domains=())) == {**NOWHERE, "no_proxy": "acme.snowflakecomputing.com"}


@pytest.mark.parametrize(
    ("key", "hosts"),
    [
        ("AWS_US_WEST_2.A", [".s3.amazonaws.com", ".s3.us-west-2.amazonaws.com"]),
        ("PUBLIC.AWS_US_WEST_2.A", [".s3.amazonaws.com", ".s3.us-west-2.amazonaws.com"]),
        ("AWS_US_GOV_WEST_1_FHPLUS.A", [".s3.amazonaws.com", ".s3.us-gov-west-1.amazonaws.com"]),
        ("AWS_CN_NORTHWEST_1.A", [".s3.amazonaws.com", ".s3.cn-northwest-1.amazonaws.com.cn"]),
        ("GCP_EUROPE_WEST4.A", ["storage.googleapis.com"]),
        ("", []),
    ],
)
def test_large_results_are_in_the_storage_of_the_accounts_cloud(key: str, hosts: list[str]) -> None:
    assert list(storage(key)) == hosts


def test_an_account_in_azure_has_its_results_in_blobs() -> None:
    assert ".blob.core.windows.net" in list(storage("AZURE_WESTEUROPE.A"))
