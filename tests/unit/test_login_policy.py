"""Where ProviderConfigs may have Freehold log in, and as whom: the same answer for admission and the controllers."""

from __future__ import annotations

from typing import Any

import pytest

from freehold import login_policy
from freehold.hosts import SNOWFLAKE_HOSTS
from freehold.kinds.account.providerconfig import ProviderConfigSpec
from freehold.login_policy import LoginPolicy

POLICY = LoginPolicy((*SNOWFLAKE_HOSTS, "idp.example.com", "proxy.example.com:3128"), frozenset({"platform"}))


def spec(**fields: Any) -> ProviderConfigSpec:
    return ProviderConfigSpec.model_validate({"account": "ACME-MAIN", "authenticationType": "KeyPair", **fields})


def asking(url: str) -> dict[str, Any]:
    reference = {"name": "snowflake", "key": "client_secret"}
    return {"oauth": {"clientId": "freehold", "clientSecretRef": reference, "tokenRequestURL": url}}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"region": "eu-central-1"},
        {"host": "x.privatelink.snowflakecomputing.com"},
        {"proxy": {"host": "proxy.example.com", "port": 3128}},
        asking("https://idp.example.com"),
        asking("https://IDP.example.com:8443/oauth2/token?p=policy"),
        asking("https://acme-main.snowflakecomputing.com/oauth/token-request"),
    ],
)
def test_what_the_installation_lists_may_be_connected_to(fields: dict[str, Any]) -> None:
    assert login_policy.check(POLICY, "team", spec(**fields)) is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"host": "evil.example"}, "spec.host: host evil.example:443"),
        ({"account": "evil.example/"}, "spec.account: 'evil.example/.snowflakecomputing.com' is no host name"),
        ({"region": "x.evil.example#"}, "spec.account: "),
        ({"proxy": {"host": "evil.example", "port": 3128}}, "spec.proxy.host: host evil.example:3128"),
        ({"proxy": {"host": "proxy.example.com", "port": 80}}, "spec.proxy.host: host proxy.example.com:80"),
        (asking("https://evil.example/token"), "spec.oauth.tokenRequestURL: host evil.example:443"),
    ],
)
def test_nothing_else_may(fields: dict[str, Any], told: str) -> None:
    forbidden = login_policy.check(POLICY, "team", spec(**fields))

    assert forbidden is not None
    assert forbidden.reason == "HostNotAllowed"
    assert forbidden.message.startswith(told)


@pytest.mark.parametrize(
    "url",
    [
        "https://idp.example.com@evil.example/",
        "https://idp.example.com:443@evil.example/",
        "https://evil.example\\@idp.example.com/",
        "https://evil.example#@idp.example.com/",
        "https://evil.example/@idp.example.com",
        "https://idp.example.com.evil.example/",
        "https://idp.example.com\n.evil.example/",
        "https://",
    ],
)
def test_a_url_in_which_parsers_might_see_different_hosts_is_none(url: str) -> None:
    forbidden = login_policy.check(POLICY, "team", spec(**asking(url)))

    assert forbidden is not None
    assert forbidden.reason == "HostNotAllowed"


@pytest.mark.parametrize(("namespace", "allowed"), [("platform", True), ("team", False), ("", False)])
def test_only_listed_namespaces_log_in_as_the_workload(namespace: str, allowed: bool) -> None:
    forbidden = login_policy.check(POLICY, namespace, spec(authenticationType="WorkloadIdentity"))

    assert (forbidden is None) is allowed
    if forbidden is not None:
        assert forbidden.reason == "WorkloadIdentityNotAllowed"
        assert "workloadIdentityNamespaces" in forbidden.message
