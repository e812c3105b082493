"""Certificates are renewed while the API server asks about resources: with failurePolicy Fail every failure shows."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from freehold.claim_store import ClaimStore
from freehold.kube.client import Kube
from freehold.kube.errors import Conflict
from freehold.kube.objects import SECRETS, VALIDATING_WEBHOOK_CONFIGURATIONS
from freehold.resolve import live
from freehold_devstack.pki import Authority, Key, Pair
from freehold_webhook.admission import Admission
from freehold_webhook.authority import AUTHORITY_KEY, BUNDLE, LEAF, LEAF_KEY
from freehold_webhook.certificates import Certificates
from freehold_webhook.self_managed import SelfManaged
from freehold_webhook.server import Server
from tests.harness.chart import NAMESPACE
from tests.integration.webhook.harness import DATABASE, Account, Site, WebhookProcess, eventually

pytestmark = pytest.mark.xdist_group("webhook")

ROTATIONS = 10
SECRET = (NAMESPACE, "freehold-webhook-authority")
FAILURES = "freehold_webhook_certificate_failures_total"
MINUTE = timedelta(minutes=1)


@asynccontextmanager
async def traffic(account: Account) -> AsyncIterator[None]:
    """Ask both replicas about resources all the time; a request that fails, fails the test."""
    here = account.site.namespaces[0]
    stop = asyncio.Event()

    async def ask(replica: int) -> int:
        body = account.database(here, f"traffic-{replica}", f"TRAFFIC_{replica}", replica=replica)
        requests = 0
        while not stop.is_set():
            await account.kube.create(DATABASE, body, here, dry_run=True)
            requests += 1
        return requests

    running = [asyncio.create_task(ask(index % 2)) for index in range(4)]
    try:
        yield
    finally:
        stop.set()
        answered = await asyncio.gather(*running)
    assert min(answered) > ROTATIONS


async def test_mounted_pairs_are_renewed_ten_times_without_a_failed_request(account: Account) -> None:
    """As kubelet swaps a mounted Secret: EC and RSA in turn, then torn, then expired, at last by a new authority."""
    site = account.site
    replicas, urls = site.replicas[:2], [replica.url for replica in site.replicas[:2]]

    async def rotate(authority: Authority, key: Key) -> None:
        pair = site.issue(authority=authority, key=key)
        site.mount(pair)
        await eventually(lambda: all_serve(replicas, authority, pair), "the new certificate")

    async with traffic(account):
        for round_ in range(ROTATIONS - 2):
            await rotate(site.authority, new_key(round_))
        now = datetime.now(UTC)
        current, torn = site.issue(), site.issue()
        expired = site.issue(valid=(now - 2 * MINUTE, now - MINUTE))
        site.mount(current)
        await eventually(lambda: all_serve(replicas, site.authority, current), "the certificate before the bad ones")
        for failures, bad in enumerate((Pair(torn.certificate, current.key), expired), start=1):
            site.mount(bad)
            await eventually(complaints(replicas, failures), "complaints about a pair that is not to be used")
            assert await all_serve(replicas, site.authority, current)
        successor = Authority()
        site.register(*urls, trusted=[site.authority, successor])
        await rotate(successor, new_key(0))
        site.register(*urls, trusted=[successor])
        site.authority = successor
        await rotate(successor, new_key(1))


def new_key(number: int) -> Key:
    return rsa.generate_private_key(65537, 2048) if number % 2 else ec.generate_private_key(ec.SECP256R1())


async def all_serve(replicas: list[WebhookProcess], authority: Authority, pair: Pair) -> bool:
    bundle = authority.pair.certificate
    return all([await served(replica.port, bundle) == serial(pair.certificate) for replica in replicas])


def complaints(replicas: list[WebhookProcess], count: int) -> Callable[[], Awaitable[bool]]:
    async def all_complain() -> bool:
        metrics = [(await replica.probe("/metrics"))[1].splitlines() for replica in replicas]
        counted = [line for lines in metrics for line in lines if line.startswith(f"{FAILURES} ")]
        return len(counted) == len(replicas) and all(float(line.split()[1]) >= count for line in counted)

    return all_complain


@dataclass(frozen=True)
class Member:
    """A replica that manages its certificate itself, in this process, where a test says when it looks."""

    part: SelfManaged
    certificates: Certificates
    port: int

    async def look(self) -> None:
        """A round that ends well: one that another member has overtaken is repeated."""
        while True:
            with suppress(Conflict):
                await self.part.maintain()
                break
        self.certificates.reload()


@pytest.fixture
async def webhook_kube(site: Site) -> AsyncIterator[Kube]:
    """The API server, with the rights that the chart gives the webhook."""
    async with site.as_component("webhook") as kube:
        yield kube


@pytest.fixture
async def empty_secret(kube: Kube) -> None:
    """The Secret as the chart makes it."""
    secret = await kube.get(SECRETS, SECRET[1], SECRET[0])
    await kube.replace(SECRETS, {**secret.raw, "data": {}})


async def remove(kube: Kube, *parts: str) -> None:
    """Take parts out of the Secret, as an administrator does who wants them replaced."""
    await kube.patch(SECRETS, SECRET[1], SECRET[0], {"data": dict.fromkeys(parts)})


@pytest.mark.usefixtures("empty_secret")
async def test_self_made_pairs_are_renewed_ten_times_without_a_failed_request(
    account: Account, kube: Kube, webhook_kube: Kube, tmp_path: Path
) -> None:
    site = account.site
    async with AsyncExitStack() as stack:
        members = [
            await stack.enter_async_context(member(site, webhook_kube, folder)) for folder in folders_in(tmp_path, 2)
        ]
        site.register(*(f"https://127.0.0.1:{each.port}/validate" for each in members), trusted=[])
        try:
            await asyncio.gather(*(each.look() for each in members))
            seen = {await agreed(members, kube)}
            async with traffic(account):
                for round_ in range(ROTATIONS):
                    if round_ == ROTATIONS // 2:
                        # The authority is trusted by all before anything that it signs is served.
                        await remove(kube, AUTHORITY_KEY)
                        await asyncio.gather(*(each.look() for each in members))
                    await remove(kube, LEAF, LEAF_KEY)
                    await asyncio.gather(*(each.look() for each in members))
                    seen.add(await agreed(members, kube))
            assert len(seen) == ROTATIONS + 1
        finally:
            site.register(*(replica.url for replica in site.replicas[:2]))


@asynccontextmanager
async def member(site: Site, kube: Kube, folder: Path) -> AsyncIterator[Member]:
    site.issue().write(folder, "tls")
    certificates = Certificates(folder)
    server = Server(Admission(ClaimStore(kube), live(kube), allowed_hosts=[], budget=25), strict=True)
    async with server.serve(0, certificates, host="127.0.0.1") as port:
        yield Member(SelfManaged(kube, site.name, SECRET, folder), certificates, port)


async def agreed(members: list[Member], kube: Kube) -> int:
    """Serial number of the leaf in the Secret, which every member serves."""
    data = (await kube.get(SECRETS, SECRET[1], SECRET[0])).raw["data"]
    leaf, bundle = (base64.b64decode(data[part]) for part in (LEAF, BUNDLE))
    assert {await served(each.port, bundle) for each in members} == {serial(leaf)}
    return serial(leaf)


@pytest.mark.usefixtures("empty_secret")
async def test_replicas_that_start_at_once_agree_on_one_authority_and_are_trusted(
    account: Account, kube: Kube, tmp_path: Path
) -> None:
    site = account.site
    folders = folders_in(tmp_path, 3)
    options = f"--self-managed-secret={SECRET[0]}/{SECRET[1]}"
    replicas = [site.replica(f"--certificate-dir={folder}", options, "--budget=25", "--drain=0") for folder in folders]
    site.register(*(replica.url for replica in replicas), trusted=[])
    try:
        for replica in replicas:
            await eventually(replica.ready, "a replica to be ready")
        assert len({(folder / LEAF).read_bytes() for folder in folders}) == 1
        configuration = await kube.get(VALIDATING_WEBHOOK_CONFIGURATIONS, site.name)
        bundle = base64.b64decode(configuration.raw["webhooks"][0]["clientConfig"]["caBundle"])
        assert len(x509.load_pem_x509_certificates(bundle)) == 1
        for number in range(len(replicas)):
            body = account.database(site.namespaces[0], f"by-{number}", f"BY_{number}", replica=number)
            await account.kube.create(DATABASE, body, site.namespaces[0])
    finally:
        for replica in replicas:
            replica.terminate()
            await replica.ended()
        site.register(*(replica.url for replica in site.replicas[:2]))


def folders_in(parent: Path, count: int) -> list[Path]:
    folders = [parent / str(number) for number in range(count)]
    for folder in folders:
        folder.mkdir()
    return folders


async def served(port: int, bundle: bytes) -> int:
    """Serial number of the certificate that a new connection is shown, by a client that trusts a bundle."""
    trust = ssl.create_default_context(cadata=bundle.decode())
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    except ssl.SSLCertVerificationError:
        return 0
    leaf = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return x509.load_der_x509_certificate(leaf).serial_number


def serial(certificate: bytes) -> int:
    return x509.load_pem_x509_certificate(certificate).serial_number
