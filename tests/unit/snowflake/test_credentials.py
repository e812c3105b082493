"""Private keys as people store them: each form is read, or refused with the mistake's name and never its content."""

from __future__ import annotations

import base64
import hashlib
import traceback

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

from freehold.snowflake import credentials
from freehold.snowflake.credentials import (
    ClientCredentials,
    Credential,
    KeyPair,
    OAuthToken,
    Password,
    ProgrammaticAccessToken,
    key_pair,
)
from freehold.snowflake.errors import ConfigurationError

SOURCE = "Secret team/snowflake, key private_key.pem"
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
SHORT = rsa.generate_private_key(65537, 1024)  # noqa: S505 - to be refused
BIG = rsa.generate_private_key(65537, 4096)
PLAIN = NoEncryption()

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def pem(
    key: PrivateKey, encryption: KeySerializationEncryption = PLAIN, form: PrivateFormat = PrivateFormat.PKCS8
) -> bytes:
    return key.private_bytes(Encoding.PEM, form, encryption)


def der(
    key: PrivateKey, encryption: KeySerializationEncryption = PLAIN, form: PrivateFormat = PrivateFormat.PKCS8
) -> bytes:
    return key.private_bytes(Encoding.DER, form, encryption)


@pytest.mark.parametrize(
    ("stored", "passphrase", "key"),
    [
        pytest.param(pem(RSA), None, RSA, id="PKCS 8"),
        pytest.param(pem(RSA, form=PrivateFormat.TraditionalOpenSSL), None, RSA, id="PKCS 1"),
        pytest.param(pem(RSA, BestAvailableEncryption(b"secret")), b"secret", RSA, id="encrypted PKCS 8"),
        pytest.param(pem(EC), None, EC, id="EC"),
        pytest.param(pem(RSA).replace(b"\n", b"\r\n"), None, RSA, id="CRLF"),
        pytest.param(pem(RSA).rstrip(b"\n"), None, RSA, id="no last line break"),
        pytest.param(pem(RSA).replace(b"\n", b"\\n"), None, RSA, id="escaped line breaks"),
        pytest.param(pem(RSA).replace(b"\n", b"\\r\\n"), None, RSA, id="escaped CRLF"),
        pytest.param(pem(BIG), None, BIG, id="4096 bits"),
        pytest.param(pem(EC, form=PrivateFormat.TraditionalOpenSSL), None, EC, id="SEC 1"),
        pytest.param(pem(EC, BestAvailableEncryption(b"secret")), b"secret", EC, id="encrypted EC"),
        pytest.param(der(RSA), None, RSA, id="DER"),
        pytest.param(der(RSA, form=PrivateFormat.TraditionalOpenSSL), None, RSA, id="PKCS 1 in DER"),
        pytest.param(der(RSA, BestAvailableEncryption(b"secret")), b"secret", RSA, id="encrypted DER"),
        pytest.param(base64.b64encode(der(RSA)), None, RSA, id="base64 without armour"),
        pytest.param(base64.encodebytes(der(RSA)).replace(b"\n", b"\r\n"), None, RSA, id="the same in lines"),
        pytest.param(base64.b64encode(pem(RSA)), None, RSA, id="base64 of PEM"),
        pytest.param(pem(RSA, BestAvailableEncryption(b"secret")), b"secret\n", RSA, id="passphrase from an editor"),
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
        pytest.param(b"/etc/keys/rsa_key.p8", None, "is no private key", id="a path"),
        pytest.param(base64.b64encode(b"a text of no meaning"), None, "damaged", id="base64 of something else"),
        pytest.param(der(RSA)[:200], None, "damaged", id="cut DER"),
        pytest.param(der(RSA, BestAvailableEncryption(b"secret")), b"other", "passphrase is wrong", id="wrong for DER"),
        pytest.param(base64.b64encode(pem(RSA)), b"secret", "remove spec.credentials.passphraseKey", id="needless"),
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
    assert stored[middle : middle + 20].decode(errors="replace") not in str(refusal.value)


@pytest.mark.parametrize("stored", [b"ey.J.0", b"ey.J.0\n", b"  ey.J.0\r\n"])
def test_blanks_around_a_token_are_no_part_of_it(stored: bytes) -> None:
    assert credentials.token(stored, SOURCE) == "ey.J.0"


@pytest.mark.parametrize("stored", [b"token: canary", b"canary\ncanary", b"canary\xff", "canaryé".encode()])
def test_what_can_not_be_a_token_is_refused_without_being_shown(stored: bytes) -> None:
    with pytest.raises(ConfigurationError, match=SOURCE) as refusal:
        credentials.token(stored, SOURCE)

    assert "canary" not in "".join(traceback.format_exception(refusal.value))


@pytest.mark.parametrize(
    "credential",
    [
        KeyPair(SOURCE, b"canary", "SHA256:x"),
        Password(SOURCE, "canary"),
        ProgrammaticAccessToken(SOURCE, "canary"),
        OAuthToken(SOURCE, "canary"),
        ClientCredentials(SOURCE, "client", "canary", "https://idp.example/token", None),
    ],
)
def test_a_credential_prints_its_source_and_not_its_secret(credential: Credential) -> None:
    assert "canary" not in repr(credential)
    assert SOURCE in repr(credential)
