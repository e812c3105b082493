"""The endpoint's certificate: a test authority and a leaf below it, kept in a folder."""

import datetime
import ipaddress
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID = datetime.timedelta(days=365)


@dataclass(frozen=True)
class Certificate:
    """PEM files: the authority that clients trust, the leaf, and its key."""

    ca: Path
    cert: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.cert, self.key)
        return context


def issue(folder: Path, names: Iterable[str]) -> Certificate:
    """Issue a leaf for these host names and addresses, by the folder's authority, which is made if it isn't there."""
    folder.mkdir(parents=True, exist_ok=True)
    certificate = Certificate(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    ca_key, ca = _authority(certificate.ca, folder / "ca.key")
    key = ec.generate_private_key(ec.SECP256R1())
    leaf = (
        _builder("freehold-devstack snowflake", ca.subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_san(name) for name in names]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        # From Python 3.13 on, clients refuse a leaf that does not identify its authority's key.
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    _write_key(certificate.key, key)
    certificate.cert.write_bytes(leaf.public_bytes(Encoding.PEM))
    return certificate


def _authority(cert_path: Path, key_path: Path) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    if cert_path.exists() and key_path.exists():
        known = load_pem_private_key(key_path.read_bytes(), None)
        if isinstance(known, ec.EllipticCurvePrivateKey):
            return known, x509.load_pem_x509_certificate(cert_path.read_bytes())
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name("freehold-devstack test CA")
    usage = {"digital_signature": False, "content_commitment": False, "key_encipherment": False}
    usage |= {"data_encipherment": False, "key_agreement": False, "encipher_only": False, "decipher_only": False}
    cert = (
        _builder("freehold-devstack test CA", subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.KeyUsage(key_cert_sign=True, crl_sign=True, **usage), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write_key(key_path, key)
    cert_path.write_bytes(cert.public_bytes(Encoding.PEM))
    return key, cert


def _builder(common_name: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(common_name))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + _VALID)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _san(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
