"""The certificate that is served: a new pair gets a context of its own, which is chosen handshake by handshake.

Loading a pair into a context that is in use is no way to renew it: a torn pair breaks the context for good, and a pair
of another key type is added beside the old one.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from freehold_webhook.metrics import CERTIFICATE_EXPIRY, CERTIFICATE_FAILURES

INTERVAL = 1.0
"""Seconds between two looks at the folder."""

_log = logging.getLogger(__name__)


class CertificateError(Exception):
    """The certificate or its key can't be used."""


class Certificates:
    """The pair `tls.crt` and `tls.key` of a folder, such as a mounted Secret.

    Attributes:
        context: for the server; its handshakes use the latest good pair.
    """

    def __init__(self, folder: Path) -> None:
        """
        Raises:
            CertificateError: there is no good pair to begin with.
        """
        self._paths = (folder / "tls.crt", folder / "tls.key")
        self._complaint = ""
        self._seen = self._read()
        # One that has expired is better than none: the process tells so and waits for the next.
        self._use(*self._load())
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.sni_callback = self._choose

    async def watch(self, interval: float = INTERVAL) -> None:
        """Look for a new pair again and again, until cancelled. Polling sees every way of replacing a file."""
        while True:
            await asyncio.sleep(interval)
            self.reload()

    def reload(self) -> None:
        """Take over a new pair when there is a good one. Any other changes nothing and is tried again."""
        try:
            pair = self._read()
            if pair == self._seen:
                return
            context, leaf = self._load()
            _check_validity(leaf, datetime.now(UTC))
            self._use(context, leaf)
            self._seen = pair
        except CertificateError as error:
            if str(error) != self._complaint:
                CERTIFICATE_FAILURES.inc()
                _log.error("the new certificate is not used, the old one is still served: %s", error)
            self._complaint = str(error)
        else:
            self._complaint = ""
            _log.info("a new certificate is served")

    def why_not_trusted(self, bundle: str, server_name: str) -> str | None:
        """Why a client that trusts `bundle` would refuse our certificate; None when it wouldn't.

        Args:
            bundle: certificates of the trusted authorities, PEM.
            server_name: the name that the client connects to.
        """
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            client.load_verify_locations(cadata=bundle)
            _handshake(client, self.context, server_name)
        except ssl.SSLError as error:
            return str(error)
        return None

    def _choose(self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._current

    def _use(self, context: ssl.SSLContext, leaf: x509.Certificate) -> None:
        self._current = context
        CERTIFICATE_EXPIRY.set(leaf.not_valid_after_utc.timestamp())

    def _read(self) -> tuple[bytes, ...]:
        try:
            return tuple(path.read_bytes() for path in self._paths)
        except OSError as error:
            raise CertificateError(str(error)) from error

    def _load(self) -> tuple[ssl.SSLContext, x509.Certificate]:
        certificate, key = self._paths
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(certificate, key)
            leaf = x509.load_pem_x509_certificate(certificate.read_bytes())
        except (OSError, ValueError) as error:
            raise CertificateError(f"{certificate} and {key}: {error}") from error
        return context, leaf


def _check_validity(leaf: x509.Certificate, now: datetime) -> None:
    if not leaf.not_valid_before_utc <= now <= leaf.not_valid_after_utc:
        begin, end = leaf.not_valid_before_utc, leaf.not_valid_after_utc
        raise CertificateError(f"it is valid from {begin:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S} UTC alone")


def _handshake(client: ssl.SSLContext, server: ssl.SSLContext, server_name: str) -> None:
    """A TLS handshake without a network."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=server_name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    while ends:
        for end in tuple(ends):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            ends.remove(end)
