"""The HTTPS server and its certificate, over real TLS."""

from __future__ import annotations

import asyncio
import base64
import io
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from yarl import URL

from freehold.claim_store import ClaimStore
from freehold.kube.objects import Object
from freehold.resolve import live
from freehold_devstack.pki import Authority, Key, Pair
from freehold_webhook.admission import Admission
from freehold_webhook.certificates import CertificateError, Certificates
from freehold_webhook.readiness import why_not_trusted
from freehold_webhook.server import LARGEST_REVIEW, Server
from tests.harness.memory import MemoryKube
from tests.unit.webhook.test_review import review

SERVICE = "freehold-webhook.freehold.svc"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def folder(tmp_path: Path, authority: Authority) -> Path:
    issue(authority).write(tmp_path, "tls")
    return tmp_path


def issue(authority: Authority, *, key: Key | None = None, valid: tuple[int, int] = (-60, 60)) -> Pair:
    """A pair for the webhook.

    Args:
        authority: signs it.
        key: its key, a new one by default.
        valid: minutes from now on between which it is valid.
    """
    begin, end = (datetime.now(UTC) + timedelta(minutes=each) for each in valid)
    return authority.issue("webhook", names=[SERVICE, "127.0.0.1"], key=key, valid=(begin, end))


@pytest.fixture
def certificates(folder: Path) -> Certificates:
    return Certificates(folder)


@pytest.fixture
def server() -> Server:
    kube = MemoryKube()
    return Server(Admission(ClaimStore(kube), live(kube), allowed_hosts=[]), strict=False)


@pytest.fixture
async def url(server: Server, certificates: Certificates) -> AsyncIterator[str]:
    async with server.serve(0, certificates, host="127.0.0.1") as port:
        yield f"https://127.0.0.1:{port}/validate"


@pytest.fixture
async def client(authority: Authority) -> AsyncIterator[aiohttp.ClientSession]:
    trust = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session:
        yield session
    # The transports of TLS connections close in the loop's next rounds.
    await asyncio.sleep(0)


async def served(url: str, authority: Authority) -> int:
    """Serial number of the certificate that a new connection is shown; the client prefers EC keys to RSA ones."""
    trust = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    host, _, port = url.removeprefix("https://").removesuffix("/validate").partition(":")
    _, writer = await asyncio.open_connection(host, int(port), ssl=trust)
    leaf = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return x509.load_der_x509_certificate(leaf).serial_number


def serial(pair: Pair) -> int:
    return x509.load_pem_x509_certificate(pair.certificate).serial_number


async def test_a_review_is_answered(url: str, client: aiohttp.ClientSession) -> None:
    async with client.post(url, data=review(subResource="status")) as response:
        assert response.status == 200
        assert (await response.json())["response"] == {"uid": "7", "allowed": True}


@pytest.mark.parametrize(("method", "path"), [("POST", "/"), ("POST", "/validate/x"), ("GET", "/validate")])
async def test_nothing_else_is_served(url: str, client: aiohttp.ClientSession, method: str, path: str) -> None:
    async with client.request(method, URL(url).with_path(path), data=review(subResource="status")) as response:
        assert response.status == 404


async def test_what_is_no_review_is_a_bad_request(url: str, client: aiohttp.ClientSession) -> None:
    async with client.post(url, data=b"{}") as response:
        assert response.status == 400


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "nonsense"])
async def test_what_is_not_encoded_as_it_says_is_a_bad_request(
    url: str, client: aiohttp.ClientSession, encoding: str
) -> None:
    headers = {"Content-Encoding": encoding}
    async with client.post(url, data=b"\x1f\x8bnothing", headers=headers) as response:
        assert response.status == 400


async def test_what_is_larger_than_any_review_is_refused(url: str, client: aiohttp.ClientSession) -> None:
    async with client.post(url, data=io.BytesIO(b" " * (LARGEST_REVIEW + 1))) as response:
        assert response.status == 413


async def test_a_review_of_two_large_objects_is_taken(url: str, client: aiohttp.ClientSession) -> None:
    large = {"metadata": {"name": "x"}, "spec": {"comment": "x" * 3 * 2**20}}
    async with client.post(
        url, data=io.BytesIO(review(subResource="status", object=large, oldObject=large))
    ) as response:
        assert response.status == 200


async def test_while_draining_connections_are_closed_after_their_answer(
    server: Server, url: str, client: aiohttp.ClientSession
) -> None:
    server.draining = True
    async with client.post(url, data=review(subResource="status")) as response:
        assert response.status == 200
        assert response.headers["Connection"] == "close"


async def test_a_new_certificate_is_served_and_open_connections_live_on(
    url: str, client: aiohttp.ClientSession, folder: Path, certificates: Certificates, authority: Authority
) -> None:
    async with client.post(url, data=review(subResource="status")) as response:
        assert response.status == 200
    renewed = issue(authority)
    renewed.write(folder, "tls")
    certificates.reload()
    assert await served(url, authority) == serial(renewed)
    async with client.post(url, data=review(subResource="status")) as response:
        assert response.status == 200


@pytest.mark.parametrize("name", ["tls.crt", "tls.key"])
async def test_a_torn_pair_keeps_the_old_certificate_until_it_is_whole(
    url: str, folder: Path, certificates: Certificates, authority: Authority, name: str
) -> None:
    old = serial(Pair((folder / "tls.crt").read_bytes(), b""))
    renewed = issue(authority)
    contents = {"tls.crt": renewed.certificate, "tls.key": renewed.key}
    (folder / name).write_bytes(contents.pop(name))
    certificates.reload()
    assert await served(url, authority) == old
    for other, content in contents.items():
        (folder / other).write_bytes(content)
    certificates.reload()
    assert await served(url, authority) == serial(renewed)


@pytest.mark.parametrize("broken", [b"", b"-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"])
async def test_a_broken_certificate_keeps_the_old_one(
    url: str, folder: Path, certificates: Certificates, authority: Authority, broken: bytes
) -> None:
    old = await served(url, authority)
    (folder / "tls.crt").write_bytes(broken)
    certificates.reload()
    assert await served(url, authority) == old


async def test_a_pair_with_a_key_of_another_type_is_served_to_those_who_prefer_the_old_type(
    url: str, folder: Path, certificates: Certificates, authority: Authority
) -> None:
    for key in (rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())):
        renewed = issue(authority, key=key)
        renewed.write(folder, "tls")
        certificates.reload()
        assert await served(url, authority) == serial(renewed)


@pytest.mark.parametrize("valid", [(-60, -1), (1, 60)], ids=["expired", "not valid yet"])
async def test_a_pair_that_is_not_valid_now_keeps_the_old_one(
    url: str, folder: Path, certificates: Certificates, authority: Authority, valid: tuple[int, int]
) -> None:
    old = await served(url, authority)
    issue(authority, valid=valid).write(folder, "tls")
    certificates.reload()
    assert await served(url, authority) == old


async def test_a_process_begins_with_an_expired_pair_and_says_so_until_it_is_renewed(
    tmp_path: Path, authority: Authority
) -> None:
    issue(authority, valid=(-60, -1)).write(tmp_path, "tls")
    certificates = Certificates(tmp_path)
    trusting = configuration(authority.pair.certificate)
    assert "expired" in (why_not_trusted(trusting, certificates) or "")
    issue(authority).write(tmp_path, "tls")
    certificates.reload()
    assert why_not_trusted(trusting, certificates) is None


async def test_a_certificate_that_goes_away_keeps_being_served(
    url: str, folder: Path, certificates: Certificates, authority: Authority
) -> None:
    old = await served(url, authority)
    (folder / "tls.crt").unlink()
    certificates.reload()
    assert await served(url, authority) == old


async def test_new_files_are_noticed(folder: Path, certificates: Certificates, authority: Authority, url: str) -> None:
    watching = asyncio.create_task(certificates.watch(0.01))
    renewed = issue(authority)
    renewed.write(folder, "tls")
    async with asyncio.timeout(5):
        while await served(url, authority) != serial(renewed):
            pass
    watching.cancel()


def test_a_process_does_not_begin_without_a_certificate(tmp_path: Path) -> None:
    with pytest.raises(CertificateError):
        Certificates(tmp_path)


def configuration(bundle: bytes | None, **client: object) -> Object:
    """A ValidatingWebhookConfiguration as cert-manager's CA injector leaves it."""
    where = client or {"service": {"name": "freehold-webhook", "namespace": "freehold", "path": "/validate"}}
    trust = {} if bundle is None else {"caBundle": base64.b64encode(bundle).decode()}
    return Object({"webhooks": [{"name": "admission.freehold.dev", "clientConfig": {**where, **trust}}]})


def test_ready_when_the_api_servers_bundle_verifies_our_certificate(
    certificates: Certificates, authority: Authority
) -> None:
    assert why_not_trusted(configuration(authority.pair.certificate), certificates) is None
    by_url = configuration(authority.pair.certificate, url="https://127.0.0.1:9443/validate")
    assert why_not_trusted(by_url, certificates) is None


def test_not_ready_before_a_bundle_was_injected(certificates: Certificates) -> None:
    assert "has no caBundle yet" in (why_not_trusted(configuration(None), certificates) or "")


def test_not_ready_with_the_bundle_of_another_authority(certificates: Certificates) -> None:
    why = why_not_trusted(configuration(Authority().pair.certificate), certificates)
    assert "doesn't verify our certificate" in (why or "")


def test_not_ready_with_a_certificate_for_another_name(certificates: Certificates, authority: Authority) -> None:
    elsewhere = {"name": "freehold-webhook", "namespace": "elsewhere"}
    why = why_not_trusted(configuration(authority.pair.certificate, service=elsewhere), certificates)
    assert "freehold-webhook.elsewhere.svc" in (why or "")


def test_not_ready_with_a_bundle_that_is_none(certificates: Certificates) -> None:
    assert why_not_trusted(configuration(b"nonsense"), certificates) is not None
