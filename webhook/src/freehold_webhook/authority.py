"""Certificates that the webhook makes for itself: an authority that clients trust, and the leaf that it signs. Pure.

Both live in the data of one Secret. `maintained` says what that data should be now, so that however many replicas ask,
a compare-and-set on the Secret decides whose answer counts.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

BUNDLE = "ca.crt"
"""What clients trust: the authority, and those before it as long as something that they signed may be served."""
AUTHORITY_KEY = "ca.key"
LEAF, LEAF_KEY = "tls.crt", "tls.key"

AUTHORITY_LIFETIME = timedelta(days=3650)
AUTHORITY_RENEWAL = timedelta(days=180)
"""How long before its end an authority is replaced: it outlives every leaf that it signs."""
LEAF_LIFETIME = timedelta(days=90)
LEAF_RENEWAL = timedelta(days=30)
"""How long before its end a leaf is replaced."""

SKEW = timedelta(hours=1)
"""How far clocks may be apart: certificates are valid from this long before they are made."""
SETTLING = timedelta(hours=1)
"""How long a new authority is only trusted before it signs: until then, every API server has learnt of it."""

CURVE = ec.SECP256R1()

Data = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class _Signed:
    """A certificate with its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def ends_within(self, time: timedelta, now: datetime) -> bool:
        return self.certificate.not_valid_after_utc - now < time


def maintained(data: Data, names: Sequence[str], now: datetime) -> dict[str, bytes]:
    """What the Secret should hold: what it holds, but for what is missing, unusable or due to be replaced.

    Without the leaf a new one is made by the same authority; without the authority's key a new authority is, and the
    old one's leaf is served until API servers trust the new one.

    Args:
        data: what it holds; what can't be read counts as missing.
        names: DNS names and addresses that clients connect to.
        now: the time.
    """
    trusted = [each for each in _certificates(data.get(BUNDLE)) if each.not_valid_after_utc > now]
    authority = _signed(trusted[:1], data.get(AUTHORITY_KEY))
    leaf = _signed(_certificates(data.get(LEAF)), data.get(LEAF_KEY))
    if leaf is not None and not _serves(leaf, trusted, names, now):
        leaf = None
    if authority is None or authority.ends_within(AUTHORITY_RENEWAL, now):
        authority = _new_authority(now)
        trusted = [authority.certificate, *trusted]
    settled = now >= authority.certificate.not_valid_before_utc + SKEW + SETTLING
    if leaf is None or (leaf.ends_within(LEAF_RENEWAL, now) and settled):
        leaf = _new_leaf(authority, names, now)
    return {
        BUNDLE: b"".join(map(_pem, trusted)),
        AUTHORITY_KEY: _key_pem(authority.key),
        LEAF: _pem(leaf.certificate),
        LEAF_KEY: _key_pem(leaf.key),
    }


def _serves(leaf: _Signed, trusted: Sequence[x509.Certificate], names: Sequence[str], now: datetime) -> bool:
    """Whether clients that trust these authorities would take the leaf for all of these names."""
    return (
        leaf.certificate.not_valid_after_utc > now
        and {_name(each) for each in names} <= _names(leaf.certificate)
        and any(_issued(leaf.certificate, each) for each in trusted)
    )


def _issued(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _names(certificate: x509.Certificate) -> set[x509.GeneralName]:
    try:
        return set(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return set()


def _new_authority(now: datetime) -> _Signed:
    key = ec.generate_private_key(CURVE)
    # Named by the moment: clients that trust two of them tell them apart.
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"freehold-webhook {now:%Y-%m-%dT%H:%M:%SZ}")])
    builder = (
        _builder(subject, subject, key.public_key(), AUTHORITY_LIFETIME, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
    )
    return _Signed(builder.sign(key, hashes.SHA256()), key)


def _new_leaf(authority: _Signed, names: Sequence[str], now: datetime) -> _Signed:
    key = ec.generate_private_key(CURVE)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "freehold-webhook")])
    issuer = authority.certificate.subject
    builder = (
        _builder(subject, issuer, key.public_key(), LEAF_LIFETIME, now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False)
    )
    return _Signed(builder.sign(authority.key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lifetime: timedelta, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _certificates(pem: bytes | None) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem or b"")
    except ValueError:
        return []


def _signed(certificates: Sequence[x509.Certificate], pem: bytes | None) -> _Signed | None:
    """The first certificate with its key; None where either is missing or they don't belong together."""
    try:
        key = load_pem_private_key(pem or b"", None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    if not certificates or not isinstance(key, ec.EllipticCurvePrivateKey):
        return None
    return _Signed(certificates[0], key) if certificates[0].public_key() == key.public_key() else None


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
