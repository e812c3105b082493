"""Where credentials may be sent."""

from __future__ import annotations

import pytest

from freehold import hosts


@pytest.mark.parametrize(
    "host",
    ["xy12345.snowflakecomputing.com", "ORG-ACC.privatelink.SnowflakeComputing.com", "org-acc.snowflakecomputing.cn."],
)
def test_snowflakes_own_domains_are_allowed_by_default(host: str) -> None:
    assert hosts.check(host, 443, hosts.SNOWFLAKE_HOSTS) is None


@pytest.mark.parametrize(
    "host",
    [
        "snowflakecomputing.com.evil.example",
        "evilsnowflakecomputing.com",
        "evil.example/.snowflakecomputing.com",
        "evil.example#.snowflakecomputing.com",
        "evil.example:443@x.snowflakecomputing.com",
        "x\n.snowflakecomputing.com",
        "",
        "..",
        "127.0.0.1",
    ],
)
def test_every_other_host_is_refused(host: str) -> None:
    assert hosts.check(host, 443, hosts.SNOWFLAKE_HOSTS)


@pytest.mark.parametrize(
    ("entry", "host", "port", "may"),
    [
        ("10.0.0.1:8443", "10.0.0.1", 8443, True),
        ("10.0.0.1:8443", "10.0.0.1", 443, False),
        ("10.0.0.1", "10.0.0.1", 8443, True),
        ("10.0.0.1", "10.0.0.11", 443, False),
        ("snowflake.test", "snowflake.test", 443, True),
        ("snowflake.test", "a.snowflake.test", 443, False),
        ("[::1]:8443", "[::1]", 8443, True),
        (" .Example.com ", "a.example.com", 443, True),
        ("", "example.com", 443, False),
        (".", "example.com", 443, False),
    ],
)
def test_an_entry_allows_a_domain_or_exactly_one_host(entry: str, host: str, port: int, may: bool) -> None:
    assert (hosts.check(host, port, [entry]) is None) is may


def test_a_refusal_names_the_host_and_the_remedy() -> None:
    refusal = hosts.check("evil.example", 443, hosts.SNOWFLAKE_HOSTS)
    assert refusal is not None
    assert "evil.example:443" in refusal
    assert "allowedHosts" in refusal
