"""A public-key infrastructure of the devstack's own: one CA that signs everything, and the kubeconfigs that use it."""

import base64
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=365)
SKEW = timedelta(hours=1)
"""How far clocks may be apart: certificates are valid from this long ago."""

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> None:
        """Write `name`.crt and `name`.key."""
        (folder / f"{name}.crt").write_bytes(self.certificate)
        key = folder / f"{name}.key"
        key.touch(mode=0o600)
        key.write_bytes(self.key)

    @classmethod
    def read(cls, folder: Path, name: str) -> Self:
        """The pair that `write` has left."""
        return cls((folder / f"{name}.crt").read_bytes(), (folder / f"{name}.key").read_bytes())


class Authority:
    """A certificate authority that lives as long as what it was made for."""

    def __init__(self, known: Pair | None = None) -> None:
        """
        Args:
            known: certificate and key of an authority that was made earlier; a new one by default.
        """
        if known is not None:
            key = serialization.load_pem_private_key(known.key, None)
            if not isinstance(key, ec.EllipticCurvePrivateKey):
                raise TypeError(f"an authority's key is an EC key, not a {type(key).__name__}")
            self._key, self.pair = key, known
            self._subject = x509.load_pem_x509_certificate(known.certificate).subject
            return
        self._key = ec.generate_private_key(ec.SECP256R1())
        name = _name("devstack-ca")
        certificate = (
            _builder(name, name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_KEY_CERT_SIGN, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self._subject = certificate.subject
        self.pair = Pair(certificate.public_bytes(serialization.Encoding.PEM), private_pem(self._key))

    def issue(
        self,
        common_name: str,
        *,
        organization: str | None = None,
        names: Sequence[str] = (),
        key: Key | None = None,
        valid: tuple[datetime, datetime] | None = None,
    ) -> Pair:
        """Sign a certificate for servers and clients.

        Args:
            common_name: to Kubernetes, the user.
            organization: to Kubernetes, the group.
            names: DNS names and IP addresses that the server is reached by.
            key: what it is for; a new EC key by default.
            valid: from when to when; from now on for `LIFETIME` by default.
        """
        key = key or ec.generate_private_key(ec.SECP256R1())
        usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        # From Python 3.13 on, clients refuse a leaf that doesn't identify its authority's key.
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            _builder(_name(common_name, organization), self._subject, key.public_key(), valid)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(usages, critical=False)
            .add_extension(authority, critical=False)
        )
        if names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general_name(n) for n in names]), critical=False
            )
        certificate = builder.sign(self._key, hashes.SHA256())
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), private_pem(key))


def private_pem(key: Key | None = None) -> bytes:
    """A private key as unencrypted PEM; a new one by default."""
    return (key or ec.generate_private_key(ec.SECP256R1())).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def kubeconfig(server: str, ca: bytes, credentials: Pair | str, namespace: str = "default") -> str:
    """A self-contained kubeconfig.

    Args:
        server: URL of the API server.
        ca: PEM of the authority that its certificate is checked against.
        credentials: a client certificate, or a service account's token.
        namespace: the one that commands mean when they name none.
    """
    match credentials:
        case Pair(certificate, key):
            user = {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}
        case token:
            user = {"token": token}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "devstack",
            "contexts": [
                {"name": "devstack", "context": {"cluster": "devstack", "user": "user", "namespace": namespace}}
            ],
            "clusters": [
                {"name": "devstack", "cluster": {"server": server, "certificate-authority-data": _base64(ca)}}
            ],
            "users": [{"name": "user", "user": user}],
        }
    )


_KEY_CERT_SIGN = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey,
    valid: tuple[datetime, datetime] | None = None,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    begin, end = valid or (now - SKEW, now + LIFETIME)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
    )


def _name(common_name: str, organization: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(attributes)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
