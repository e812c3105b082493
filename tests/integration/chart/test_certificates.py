"""The webhook's certificates, in each of the chart's ways."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.verification import PolicyBuilder, Store

from freehold_devstack.pki import Authority
from freehold_devstack.processes import until
from tests.harness.chart import NAMESPACE
from tests.integration.chart.release import READY_SECONDS, Release, service_account, webhook_process

pytestmark = pytest.mark.xdist_group("chart")

AUTHORITY = "freehold-webhook-authority"


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


def bundle(release: Release) -> bytes:
    """What the API server is told to trust."""
    [webhook] = release.get("validatingwebhookconfiguration", "freehold")["webhooks"]
    return base64.b64decode(webhook["clientConfig"]["caBundle"])


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
    injected = "--for=jsonpath={.webhooks[0].clientConfig.caBundle}"
    issued.kubectl("wait", "validatingwebhookconfiguration/freehold", injected, "--timeout=60s")
    assert secret(issued, "freehold-root")["tls.crt"].strip() in bundle(issued)


@pytest.fixture
def self_managed(release: Release, tmp_path: Path) -> Iterator[Release]:
    """The release without cert-manager, and a webhook that has become ready with a certificate of its own."""
    release.install("certificates.mode=selfManaged")
    secret_of_ours = f"--self-managed-secret={NAMESPACE}/{AUTHORITY}"
    with webhook_process(release, tmp_path, secret_of_ours) as ready:
        until(ready, READY_SECONDS, "the webhook to be ready")
        yield release
    release.install()


def test_without_cert_manager_the_webhook_makes_what_the_api_server_trusts(self_managed: Release) -> None:
    data = secret(self_managed, AUTHORITY)
    root, leaf = (x509.load_pem_x509_certificate(data[name]) for name in ("ca.crt", "tls.crt"))
    verifier = PolicyBuilder().store(Store([root])).build_server_verifier(x509.DNSName("freehold-webhook.freehold.svc"))
    assert verifier.verify(leaf, []) == [leaf, root]
    assert bundle(self_managed) == data["ca.crt"]
    assert not self_managed.get("certificates", "--namespace", NAMESPACE)["items"]


def test_an_upgrade_keeps_what_the_webhook_has_made(self_managed: Release) -> None:
    before = secret(self_managed, AUTHORITY), bundle(self_managed)
    self_managed.install("certificates.mode=selfManaged", "logLevel=debug")
    assert (secret(self_managed, AUTHORITY), bundle(self_managed)) == before


def test_a_webhook_that_manages_certificates_writes_its_own_secret_and_configuration_alone(
    self_managed: Release,
) -> None:
    user = service_account("webhook")

    def may(verb: str, what: str) -> bool:
        query = ("auth", "can-i", verb, what, "--namespace", NAMESPACE)
        return self_managed.kubectl(*query, user=user, check=False).stdout.strip() == "yes"

    ours, configuration = f"secret/{AUTHORITY}", "validatingwebhookconfiguration/freehold"
    assert all(may(verb, what) for verb in ("get", "update") for what in (ours, configuration))
    others = ("secret/other", "validatingwebhookconfiguration/other")
    assert not any(may(verb, what) for verb in ("get", "update") for what in others)
    everywhere = ("list", "watch", "create", "patch", "delete")
    assert not any(may(verb, what) for verb in everywhere for what in (ours, configuration, "secrets"))


def test_a_certificate_of_ones_own_is_mounted_and_its_authority_trusted(release: Release, tmp_path: Path) -> None:
    authority = Authority().pair.certificate
    (tmp_path / "ca.crt").write_bytes(authority)
    values = ("certificates.mode=provided", "certificates.secretName=mine")
    manifests = release.manifests(*values, files=(f"certificates.caBundle={tmp_path / 'ca.crt'}",))
    [configuration] = (each for each in manifests if each["kind"] == "ValidatingWebhookConfiguration")
    assert base64.b64decode(configuration["webhooks"][0]["clientConfig"]["caBundle"]) == authority
    assert "annotations" not in configuration["metadata"]
    [deployment] = (
        each for each in manifests if (each["kind"], each["metadata"]["name"]) == ("Deployment", "freehold-webhook")
    )
    assert {"name": "certificates", "secret": {"secretName": "mine"}} in deployment["spec"]["template"]["spec"][
        "volumes"
    ]
    assert not [each for each in manifests if each["apiVersion"] == "cert-manager.io/v1"]
