"""Private keys as people store them: each form is read, or refused with the mistake's name and never its content."""

from __future__ import annotations

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

from freehold.snowflake.credentials import KeyPair, Password, key_pair
from freehold.snowflake.errors import ConfigurationError

SOURCE = "Secret team/snowflake, key private_key.pem"
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
SHORT = rsa.generate_private_key(65537, 1024)  # noqa: S505 - to be refused
PLAIN = NoEncryption()


def pem(
    key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey,
    encryption: KeySerializationEncryption = PLAIN,
    form: PrivateFormat = PrivateFormat.PKCS8,
) -> bytes:
    return key.private_bytes(Encoding.PEM, form, encryption)


@pytest.mark.parametrize(
    ("stored", "passphrase", "key"),
    [
        pytest.param(pem(RSA), None, RSA, id="PKCS 8"),
        pytest.param(pem(RSA, form=PrivateFormat.TraditionalOpenSSL), None, RSA, id="PKCS 1"),
        pytest.param(pem(RSA, BestAvailableEncryption(b"secret")), b"secret", RSA, id="encrypted PKCS 8"),
        pytest.param(pem(EC), None, EC, id="EC"),
        pytest.param(pem(RSA).replace(b"\n", b"\r\n"), None, RSA, id="CRLF"),
        pytest.param(pem(RSA).rstrip(b"\n"), None, RSA, id="no last line break"),
    ],
)
def test_a_private_key_is_read_in_every_usual_form(
    stored: bytes, passphrase: bytes | None, key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
) -> None:
    found = key_pair(stored, passphrase, SOURCE)

    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert load_der_private_key(found.private_key, None).public_key() == key.public_key()
    assert found.fingerprint == "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode()


@pytest.mark.parametrize(
    ("stored", "passphrase", "mistake"),
    [
        pytest.param(pem(RSA).replace(b"\n", b"\\n"), None, r"two characters \\n", id="escaped line breaks"),
        pytest.param(base64.b64encode(pem(RSA)), None, "isn't PEM", id="no armour"),
        pytest.param(b"/etc/keys/rsa_key.p8", None, "isn't PEM", id="a path"),
        pytest.param(
            RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            None,
            "public key or a certificate",
            id="the public half",
        ),
        pytest.param(pem(RSA, BestAvailableEncryption(b"secret")), None, "passphraseKey", id="no passphrase"),
        pytest.param(pem(RSA, BestAvailableEncryption(b"secret")), b"other", "passphrase is wrong", id="wrong one"),
        pytest.param(pem(RSA), b"secret", "remove spec.credentials.passphraseKey", id="needless passphrase"),
        pytest.param(pem(RSA)[:200] + b"\n-----END PRIVATE KEY-----\n", None, "damaged", id="cut"),
        pytest.param(pem(ed25519.Ed25519PrivateKey.generate()), None, "RSA and EC", id="Ed25519"),
        pytest.param(pem(SHORT), None, "1024 bits", id="short"),
    ],
)
def test_an_unusable_key_is_refused_with_the_name_of_the_mistake(
    stored: bytes, passphrase: bytes | None, mistake: str
) -> None:
    with pytest.raises(ConfigurationError, match=mistake) as refusal:
        key_pair(stored, passphrase, SOURCE)

    assert SOURCE in str(refusal.value)
    middle = len(stored) // 2
    assert stored[middle : middle + 20].decode() not in str(refusal.value)


def test_a_credential_prints_its_source_and_not_its_secret() -> None:
    key = KeyPair(SOURCE, b"canary", "SHA256:x")

    assert "canary" not in repr(key) + repr(Password(SOURCE, "canary"))
    assert SOURCE in repr(key)
