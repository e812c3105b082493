"""ProviderConfigs: the API server itself holds each authentication type to exactly its fields."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kube.client import Kube
from freehold.kube.errors import Invalid

CREDENTIALS = {"secretRef": {"name": "snowflake", "key": "private_key.pem"}}
OAUTH = {
    "clientId": "freehold",
    "clientSecretRef": {"name": "snowflake", "key": "client_secret"},
    "tokenRequestURL": "https://idp.example.com/oauth2/token",
}
PROXY = {"host": "proxy.example.com", "port": 3128}

KEY_PAIR = {"authenticationType": "KeyPair", "user": "FREEHOLD", "credentials": CREDENTIALS}
CLIENT = {"authenticationType": "OAuthClientCredentials", "oauth": OAUTH}
WORKLOAD = {"authenticationType": "WorkloadIdentity"}

LEGAL: dict[str, dict[str, Any]] = {
    "key pair": KEY_PAIR,
    "encrypted key": KEY_PAIR | {"credentials": CREDENTIALS | {"passphraseKey": "passphrase"}},
    "password": KEY_PAIR | {"authenticationType": "UsernamePassword"},
    "access token": KEY_PAIR | {"authenticationType": "ProgrammaticAccessToken"},
    "OAuth token": {"authenticationType": "OAuthToken", "credentials": CREDENTIALS},
    "OAuth token of a user": KEY_PAIR | {"authenticationType": "OAuthToken"},
    "client credentials": CLIENT,
    "workload": WORKLOAD,
    "workload by OIDC": WORKLOAD | {"workloadIdentity": {"provider": "OIDC"}},
    "proxy": KEY_PAIR | {"proxy": PROXY | {"credentialsRef": {"name": "snowflake", "key": "proxy"}}},
    "session": KEY_PAIR
    | {
        "loginTimeoutSeconds": 10,
        "requestTimeoutSeconds": 10,
        "queryTag": "cost center 7",
        "sessionParameters": {"LOCK_TIMEOUT": "60"},
    },
}

ILLEGAL = {
    "no credentials": ({"authenticationType": "KeyPair", "user": "U"}, "must have credentials: name the Secret"),
    "token without Secret": ({"authenticationType": "OAuthToken"}, "must have credentials"),
    "no user": ({"authenticationType": "KeyPair", "credentials": CREDENTIALS}, "must have user: write the login name"),
    "passphrase of a password": (
        LEGAL["password"] | {"credentials": CREDENTIALS | {"passphraseKey": "p"}},
        "credentials.passphraseKey goes with authenticationType KeyPair only: remove it",
    ),
    "no client": ({"authenticationType": "OAuthClientCredentials"}, "must have oauth: write clientId"),
    "client of a key": (KEY_PAIR | {"oauth": OAUTH}, "oauth goes with authenticationType OAuthClientCredentials only"),
    "Secret of a client": (
        CLIENT | {"credentials": CREDENTIALS},
        "credentials goes with authenticationType KeyPair or",
    ),
    "Secret of a workload": (WORKLOAD | {"credentials": CREDENTIALS}, "credentials goes with"),
    "user of a workload": (WORKLOAD | {"user": "U"}, "the user that Snowflake has for the token: remove user"),
    "workload of a key": (KEY_PAIR | {"workloadIdentity": {}}, "workloadIdentity goes with authenticationType"),
    "workload of a cloud": (
        WORKLOAD | {"workloadIdentity": {"provider": "AWS"}},
        "workloadIdentity.provider OIDC only",
    ),
    "token file": (WORKLOAD | {"workloadIdentity": {"tokenFilePath": "/var/run/secrets/x"}}, "the chart says alone"),
    "audience": (WORKLOAD | {"workloadIdentity": {"audience": "x"}}, "the chart's workloadIdentity.audience"),
    "token URL without TLS": (CLIENT | {"oauth": OAUTH | {"tokenRequestURL": "http://idp.example.com"}}, "^https://"),
    "two Secrets": (
        KEY_PAIR | {"proxy": PROXY | {"credentialsRef": {"name": "other", "key": "proxy"}}},
        "credentials.secretRef and proxy.credentialsRef must name the same Secret",
    ),
    "two Secrets of a client": (
        CLIENT | {"proxy": PROXY | {"credentialsRef": {"name": "other", "key": "proxy"}}},
        "oauth.clientSecretRef and proxy.credentialsRef must name the same Secret",
    ),
    "parameter of ours": (KEY_PAIR | {"sessionParameters": {"QUERY_TAG": "x"}}, "must not set ABORT_DETACHED_QUERY"),
    "the same in small letters": (KEY_PAIR | {"sessionParameters": {"query_tag": "x"}}, "written in capital letters"),
    "quotes in the tag": (KEY_PAIR | {"queryTag": 'a"b'}, "queryTag"),
    "endless log-in": (KEY_PAIR | {"loginTimeoutSeconds": 3601}, "loginTimeoutSeconds"),
}


GUIDE = Path(__file__).parents[3] / "docs/authentication.md"


async def create(kube: Kube, namespace: str, spec: dict[str, Any]) -> None:
    path = PROVIDER_CONFIG.path
    manifest = {
        "apiVersion": path.api_version,
        "kind": path.kind,
        "metadata": {"name": "default"},
        "spec": {"account": "ACME-MAIN", **spec},
    }
    await kube.create(path, manifest, namespace, dry_run=True)


@pytest.mark.parametrize("spec", LEGAL.values(), ids=LEGAL)
async def test_each_type_is_admitted_with_its_fields(kube: Kube, namespace: str, spec: dict[str, Any]) -> None:
    await create(kube, namespace, spec)


@pytest.mark.parametrize(("spec", "message"), ILLEGAL.values(), ids=ILLEGAL)
async def test_a_field_too_few_or_too_many_is_refused_with_its_name(
    kube: Kube, namespace: str, spec: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        await create(kube, namespace, spec)

    assert message in str(refusal.value)


async def test_the_manifests_of_the_guide_are_admitted(kube: Kube, namespace: str) -> None:
    manifests = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)]
    assert manifests
    for manifest in manifests:
        await create(kube, namespace, manifest["spec"])
