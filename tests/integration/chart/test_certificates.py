"""The certificate chain of the chart, issued by cert-manager."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.verification import PolicyBuilder, Store

from tests.harness.chart import NAMESPACE
from tests.integration.chart.release import Release

pytestmark = pytest.mark.xdist_group("chart")


@pytest.fixture(scope="module")
def issued(release: Release) -> Release:
    """The release once the webhook's certificate is there."""
    release.kubectl(
        *("wait", "--namespace", NAMESPACE, "--for=condition=Ready", "certificate/freehold-webhook", "--timeout=60s")
    )
    return release


def secret(release: Release, name: str) -> dict[str, bytes]:
    data = release.get("secret", name, "--namespace", NAMESPACE)["data"]
    return {key: base64.b64decode(value) for key, value in data.items()}


def test_the_root_verifies_what_the_webhook_serves(issued: Release) -> None:
    root = x509.load_pem_x509_certificate(secret(issued, "freehold-root")["tls.crt"])
    leaf = x509.load_pem_x509_certificate(secret(issued, "freehold-webhook")["tls.crt"])
    verifier = PolicyBuilder().store(Store([root])).build_server_verifier(x509.DNSName("freehold-webhook.freehold.svc"))
    assert verifier.verify(leaf, []) == [leaf, root]


def test_both_are_p256_and_last_ten_years_and_ninety_days(issued: Release) -> None:
    for name, lifetime in (("freehold-root", timedelta(hours=87_600)), ("freehold-webhook", timedelta(hours=2_160))):
        certificate = x509.load_pem_x509_certificate(secret(issued, name)["tls.crt"])
        key = certificate.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert isinstance(key.curve, ec.SECP256R1)
        assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == lifetime


def test_the_api_server_is_told_to_trust_the_root(issued: Release) -> None:
    bundle = "{.webhooks[0].clientConfig.caBundle}"
    issued.kubectl("wait", "validatingwebhookconfiguration/freehold", f"--for=jsonpath={bundle}", "--timeout=60s")
    injected = issued.get("validatingwebhookconfiguration", "freehold")["webhooks"][0]["clientConfig"]["caBundle"]
    assert secret(issued, "freehold-root")["tls.crt"].strip() in base64.b64decode(injected)
