"""Credentials out of a Secret: parsed here, so that a mistake is named before anything is sent.

Nothing in this module puts a secret, or a part of one, into a message or a `repr`. The `source` of each says for people
where it came from: `Secret team-a/snowflake, key private_key.pem`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_pem_private_key,
)

from freehold.snowflake.errors import ConfigurationError

_MINIMUM_RSA_BITS = 2048
_ARMOUR = b"-----BEGIN"
_SEQUENCE = b"\x30"
"""First byte of every key in DER."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A private key that Snowflake knows the public half of.

    Attributes:
        source: where it came from.
        private_key: unencrypted PKCS #8, DER.
        fingerprint: of the public key, as DESCRIBE USER prints it: `SHA256:<base64>`.
    """

    source: str
    private_key: bytes = field(repr=False)
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Password:
    """A password of a user."""

    source: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProgrammaticAccessToken:
    """A token of a user's that Snowflake has made."""

    source: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class OAuthToken:
    """An access token that somebody else fetches, and puts anew into the Secret before it expires."""

    source: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """What access tokens are fetched with, one for each log-in.

    Attributes:
        source: where the client secret came from.
        client_id: whom the token endpoint knows us as.
        client_secret: the proof.
        token_url: the token endpoint; https.
        scope: what is asked for; None for the session's role.
    """

    source: str
    client_id: str
    client_secret: str = field(repr=False)
    token_url: str
    scope: str | None


@dataclass(frozen=True, slots=True)
class WorkloadIdentity:
    """The identity of Freehold's own pod.

    Attributes:
        source: where it comes from.
        token_file: the token, which is renewed in place.
    """

    source: str
    token_file: Path


NamesRole = OAuthToken | ClientCredentials
"""Credentials that may open one role alone: it has to be the session's from the first, and no USE ROLE leads there."""

Credential = KeyPair | Password | ProgrammaticAccessToken | OAuthToken | ClientCredentials | WorkloadIdentity


def text(value: bytes, source: str) -> str:
    """A secret text as it was typed, without the line break that `echo` and editors leave at its end.

    Raises:
        ConfigurationError: it is no text.
    """
    try:
        return _without_line_break(value).decode()
    except UnicodeDecodeError:
        # Without the cause, which would show a part of it.
        raise ConfigurationError(f"{source}: the value is no text in UTF-8: store it as it is typed") from None


def token(value: bytes, source: str) -> str:
    """A token, of which blanks around it are no part.

    Raises:
        ConfigurationError: it can't be a token.
    """
    found = text(value.strip(), source)
    if not found.isascii() or not found.isprintable() or " " in found:
        raise ConfigurationError(f"{source}: the value is no token: store nothing but the token, in one line")
    return found


def key_pair(stored: bytes, passphrase: bytes | None, source: str) -> KeyPair:
    """Parse a private key.

    Args:
        stored: PKCS #8 (encrypted or not), PKCS #1 or SEC 1, RSA from 2048 bits or EC; in PEM, in DER, or as base64
            of either.
        passphrase: of an encrypted key; a line break at its end is no part of it.
        source: where the key came from, for messages.

    Raises:
        ConfigurationError: it can't be used; the message says why and what to do.
    """
    key = _loaded(_unwrapped(stored, source), _without_line_break(passphrase) if passphrase else None, source)
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


def _unwrapped(stored: bytes, source: str) -> bytes:
    """The key in PEM or DER, out of what tools and people make of it on its way into a Secret."""
    if _ARMOUR not in stored and not stored.startswith(_SEQUENCE):
        try:
            stored = base64.b64decode(b"".join(stored.replace(b"\\n", b"\n").split()), validate=True)
        except binascii.Error:
            raise ConfigurationError(
                f"{source}: this is no private key: a line -----BEGIN PRIVATE KEY----- or "
                "-----BEGIN ENCRYPTED PRIVATE KEY----- is missing, and it isn't base64 of one either"
            ) from None
    if _ARMOUR not in stored:
        return stored
    if b"PRIVATE KEY-----" not in stored:
        raise ConfigurationError(f"{source}: this is a public key or a certificate, the private key is needed")
    # Line breaks as environment variables and JSON spell them.
    return stored.replace(b"\\r", b"").replace(b"\\n", b"\n")


def _loaded(key: bytes, passphrase: bytes | None, source: str) -> PrivateKeyTypes:
    load = load_pem_private_key if _ARMOUR in key else load_der_private_key
    try:
        return load(key, passphrase)
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


def _without_line_break(value: bytes) -> bytes:
    return value.removesuffix(b"\n").removesuffix(b"\r")
