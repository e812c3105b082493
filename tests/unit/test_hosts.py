"""Where credentials may be sent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from freehold import hosts

VALUES_SCHEMA = Path(__file__).parents[2] / "charts/freehold/values.schema.json"


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


ENTRIES = [
    # entry, hosts that it allows, hosts that it doesn't
    ("10.0.0.1", ["10.0.0.1:443", "10.0.0.1:8443"], ["10.0.0.11:443"]),
    ("10.0.0.1:8443", ["10.0.0.1:8443"], ["10.0.0.1:443"]),
    ("snowflake.test", ["snowflake.test:443"], ["a.snowflake.test:443", "snowflake.test.evil:443"]),
    ("snowflake.test:65535", ["snowflake.test:65535"], ["snowflake.test:443"]),
    (".Example.com", ["a.example.com:443", "a.b.example.com:1"], ["example.com:443", "anexample.com:443"]),
    (".example.com:8443", ["a.example.com:8443"], ["a.example.com:443", "example.com:8443"]),
    ("[::1]", ["[::1]:443"], ["[::2]:443"]),
    ("[::1]:8443", ["[::1]:8443"], ["[::1]:443"]),
    *(
        (entry, [], ["a:443", "a.example.com:443"])
        for entry in (
            *(
                "",
                ".",
                ":443",
                "*",
                "a:0",
                "a:99999",
                "a:65536",
                "a:0443",
                "a:https",
                "a.",
                ".example.com.",
                "https://a",
            ),
        )
    ),
]


@pytest.mark.parametrize(("entry", "allowed", "refused"), ENTRIES)
def test_an_entry_allows_a_domain_or_one_host_and_perhaps_one_port_of_it(
    entry: str, allowed: list[str], refused: list[str]
) -> None:
    def may(address: str) -> bool:
        host, _, port = address.rpartition(":")
        return hosts.check(host, int(port), [entry]) is None

    assert [each for each in allowed if not may(each)] == []
    assert [each for each in refused if may(each)] == []


@pytest.mark.parametrize(("entry", "allowed"), [(entry, allowed) for entry, allowed, _ in ENTRIES])
def test_the_chart_takes_exactly_the_entries_that_allow_something(entry: str, allowed: list[str]) -> None:
    pattern = json.loads(VALUES_SCHEMA.read_text())["definitions"]["host"]["pattern"]
    assert bool(re.search(pattern, entry)) is bool(allowed)


def test_blanks_around_an_entry_mean_nothing() -> None:
    assert hosts.check("a.example.com", 443, [" .example.com "]) is None


def test_a_refusal_names_the_host_and_the_remedy() -> None:
    refusal = hosts.check("evil.example", 443, hosts.SNOWFLAKE_HOSTS)
    assert refusal is not None
    assert "evil.example:443" in refusal
    assert "allowedHosts" in refusal
