"""Credentials out of a Secret: parsed here, so that a mistake is named before anything is sent.

Nothing in this module puts a secret, or a part of one, into a message or a `repr`.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from freehold.snowflake.errors import ConfigurationError

_MINIMUM_RSA_BITS = 2048


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A private key that Snowflake knows the public half of.

    Attributes:
        source: where it came from, for messages: `Secret team-a/snowflake, key private_key.pem`.
        private_key: unencrypted PKCS #8, DER.
        fingerprint: of the public key, as DESCRIBE USER prints it: `SHA256:<base64>`.
    """

    source: str
    private_key: bytes = field(repr=False)
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Password:
    """A password of a user.

    Attributes:
        source: where it came from, for messages.
        password: the password itself.
    """

    source: str
    password: str = field(repr=False)


Credential = KeyPair | Password


def key_pair(pem: bytes, passphrase: bytes | None, source: str) -> KeyPair:
    """Parse a private key.

    Args:
        pem: PKCS #8 (encrypted or not) or PKCS #1, in PEM, RSA from 2048 bits or EC.
        passphrase: of an encrypted key.
        source: where the key came from, for messages.

    Raises:
        ConfigurationError: it can't be used; the message says why and what to do.
    """
    _check_form(pem, source)
    try:
        key = load_pem_private_key(pem, passphrase)
    except TypeError as error:
        raise ConfigurationError(
            f"{source}: the private key is encrypted: put its passphrase into the same Secret and name the key in "
            "spec.credentials.passphraseKey"
            if passphrase is None
            else f"{source}: the private key isn't encrypted: remove spec.credentials.passphraseKey"
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ConfigurationError(
            f"{source}: the private key can't be read: it is damaged or of an unknown form"
            if passphrase is None
            else f"{source}: the private key can't be decrypted: the passphrase is wrong, or the key is damaged"
        ) from error
    if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        raise ConfigurationError(f"{source}: Snowflake takes RSA and EC keys, this one is of another kind")
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size < _MINIMUM_RSA_BITS:
        raise ConfigurationError(
            f"{source}: the RSA key has {key.key_size} bits, Snowflake asks for {_MINIMUM_RSA_BITS} or more"
        )
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(
        source=source,
        private_key=key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        fingerprint="SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode(),
    )


def _check_form(pem: bytes, source: str) -> None:
    """Name the mistakes that a parser only calls invalid."""
    if b"\\n" in pem:
        raise ConfigurationError(
            f"{source}: the private key holds the two characters \\n where line breaks belong: store the file as it "
            "is (kubectl create secret generic ... --from-file=...)"
        )
    if b"-----BEGIN" not in pem:
        raise ConfigurationError(
            f"{source}: the private key isn't PEM: a line -----BEGIN PRIVATE KEY----- or "
            "-----BEGIN ENCRYPTED PRIVATE KEY----- is missing"
        )
    if b"PRIVATE KEY-----" not in pem:
        raise ConfigurationError(f"{source}: this is a public key or a certificate, the private key is needed")
