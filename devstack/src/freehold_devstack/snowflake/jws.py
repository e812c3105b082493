"""JSON web tokens and keys (RFC 7515, 7517 to 7519), signed with RSA or EC keys: reading, checking and making them."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_der_public_key

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

_RSA_DIGESTS = {"RS256": hashes.SHA256(), "RS384": hashes.SHA384(), "RS512": hashes.SHA512()}


@dataclass(frozen=True)
class _Curve:
    """A curve, and what signs with its keys.

    Attributes:
        name: The curve's name in JSON web keys.
    """

    name: str
    algorithm: str
    curve: ec.EllipticCurve
    digest: hashes.HashAlgorithm

    @property
    def bytes(self) -> int:
        """Length of each half of a signature and of each coordinate of a key."""
        return (self.curve.key_size + 7) // 8


_CURVES = {
    curve.curve.name: curve
    for curve in (
        _Curve("P-256", "ES256", ec.SECP256R1(), hashes.SHA256()),
        _Curve("P-384", "ES384", ec.SECP384R1(), hashes.SHA384()),
        _Curve("P-521", "ES512", ec.SECP521R1(), hashes.SHA512()),
    )
}

_T = TypeVar("_T", str, int)


class InvalidTokenError(Exception):
    """Why a token is refused."""


class ExpiredTokenError(InvalidTokenError):
    """The token was good once."""


class UnsupportedKeyError(ValueError):
    """A key that no token is signed with."""


@dataclass(frozen=True)
class Token:
    """A token as it was received: nothing of it is proved before `verify`."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    _signed: bytes
    _signature: bytes

    @classmethod
    def parse(cls, text: str) -> "Token":
        """Read the compact form.

        Raises:
            InvalidTokenError: It is none.
        """
        try:
            signed, _, signature = text.rpartition(".")
            header, claims = (orjson.loads(_decode(part)) for part in signed.split("."))
            return cls(dict(header), dict(claims), signed.encode(), _decode(signature))
        except (ValueError, TypeError) as error:
            raise InvalidTokenError(f"not a JSON web token: {error}") from None

    def verify(self, key: PublicKey) -> None:
        """Check the signature.

        Raises:
            InvalidTokenError: The key has not signed it, or its algorithm is not the key's.
        """
        algorithm = self.header.get("alg")
        try:
            if isinstance(key, rsa.RSAPublicKey) and algorithm in _RSA_DIGESTS:
                key.verify(self._signature, self._signed, padding.PKCS1v15(), _RSA_DIGESTS[algorithm])
                return
            if isinstance(key, ec.EllipticCurvePublicKey) and algorithm == (curve := _curve(key)).algorithm:
                halves = self._signature[: curve.bytes], self._signature[curve.bytes :]
                numbers = (int.from_bytes(half, "big") for half in halves)
                key.verify(encode_dss_signature(*numbers), self._signed, ec.ECDSA(curve.digest))
                return
        except InvalidSignature:
            raise InvalidTokenError("the signature does not fit the key") from None
        raise InvalidTokenError(f"algorithm {algorithm} does not fit the key")

    def claim(self, name: str, kind: type[_T]) -> _T:
        """A claim that must be there.

        Raises:
            InvalidTokenError: It is not, or of another type.
        """
        value = self.claims.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InvalidTokenError(f"{name} is missing or of the wrong type")
        return value

    @property
    def audiences(self) -> frozenset[str]:
        """The claim `aud`, one or several; what is no text is none."""
        audience = self.claims.get("aud")
        several = audience if isinstance(audience, list) else [audience]
        return frozenset(each for each in several if isinstance(each, str))

    def check_times(self, now: float, *, skew: float, life: float | None = None) -> None:
        """Check `iat` and `exp`.

        Args:
            skew: Seconds by which it may have been issued in the future.
            life: Seconds after which it is too old, whatever its `exp` says.

        Raises:
            ExpiredTokenError: It is too old.
            InvalidTokenError: It was issued in the future, or says too little.
        """
        issued, expires = self.claim("iat", int), self.claim("exp", int)
        if issued > now + skew:
            raise InvalidTokenError("iat is in the future")
        if now >= (expires if life is None else min(expires, issued + life)):
            raise ExpiredTokenError("the token has expired")


def sign(claims: Mapping[str, object], key: PrivateKey, **header: str) -> str:
    """Make a token; `header` is what stands in it besides algorithm and type."""
    algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else _curve(key).algorithm
    parts = ({"alg": algorithm, "typ": "JWT", **header}, claims)
    text = ".".join(_encode(orjson.dumps(part)) for part in parts)
    if isinstance(key, rsa.RSAPrivateKey):
        signature = key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    else:
        curve = _curve(key)
        numbers = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(curve.digest)))
        signature = b"".join(number.to_bytes(curve.bytes, "big") for number in numbers)
    return f"{text}.{_encode(signature)}"


def read_der(der: bytes) -> PublicKey:
    """A public key from its DER form.

    Raises:
        UnsupportedKeyError: It is neither an RSA key nor an EC key on a known curve.
        ValueError: It is no key at all.
    """
    key = load_der_public_key(der)
    if not isinstance(key, PublicKey):
        raise UnsupportedKeyError("neither an RSA key nor an EC key")
    if isinstance(key, ec.EllipticCurvePublicKey):
        _curve(key)
    return key


def _curve(key: ec.EllipticCurvePublicKey | ec.EllipticCurvePrivateKey) -> _Curve:
    if key.curve.name not in _CURVES:
        raise UnsupportedKeyError(f"an EC key on the curve {key.curve.name}")
    return _CURVES[key.curve.name]


def print_jwk(key: PublicKey, key_id: str) -> dict[str, str]:
    """A public key as an entry of a JSON Web Key Set."""
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        return {"kty": "RSA", "alg": "RS256", "kid": key_id, "n": _number(numbers.n), "e": _number(numbers.e)}
    point = key.public_numbers()
    curve = _curve(key)
    coordinates = (_encode(each.to_bytes(curve.bytes, "big")) for each in (point.x, point.y))
    facts = {"kty": "EC", "crv": curve.name, "alg": curve.algorithm, "kid": key_id}
    return facts | dict(zip("xy", coordinates, strict=True))


def read_jwk(entry: Mapping[str, object]) -> PublicKey:
    """A public key from an entry of a JSON Web Key Set.

    Raises:
        ValueError: It is neither an RSA key nor one on a known curve.
    """
    try:
        if entry["kty"] == "RSA":
            n, e = (int.from_bytes(_decode(str(entry[name])), "big") for name in "ne")
            return rsa.RSAPublicNumbers(e, n).public_key()
        for curve in _CURVES.values():
            if (entry["kty"], entry["crv"]) == ("EC", curve.name):
                x, y = (int.from_bytes(_decode(str(entry[name])), "big") for name in "xy")
                return ec.EllipticCurvePublicNumbers(x, y, curve.curve).public_key()
    except KeyError as error:
        raise ValueError(f"a JSON web key without {error.args[0]}") from None
    raise ValueError(f"a JSON web key of the type {entry['kty']}")


def _number(value: int) -> str:
    return _encode(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
