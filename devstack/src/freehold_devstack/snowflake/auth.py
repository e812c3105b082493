"""Who is logging in: passwords, and JSON web tokens signed with a key that is registered for the user."""

import base64
import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass
from typing import Any, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_der_public_key

from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.context import AccountIdentity
from freehold_devstack.snowflake.errors import LoginError
from freehold_devstack.snowflake.seed import hash_password

_T = TypeVar("_T", str, int)

LOCK_AFTER = 5
"""Wrong passwords in a row that lock a user."""
LOCK_SECONDS = 15 * 60
JWT_MAX_LIFE = 3600
"""Seconds from `iat` for which a token is good, whatever its `exp` says."""
CLOCK_SKEW = 60
"""Seconds by which a token may have been issued in the future."""


@dataclass
class _Failures:
    count: int = 0
    locked_until: float = 0


class Authenticator:
    """Checks the credentials of one account's users."""

    def __init__(self, identity: AccountIdentity, catalog: Catalog) -> None:
        self._identity = identity
        self._catalog = catalog
        self._failures: dict[int, _Failures] = {}

    def by_password(self, login_name: str, password: str, now: float) -> CatalogObject:
        """The user with this password.

        Raises:
            LoginError: 390100 for a wrong password or user, 390101 for a disabled user, 390102 for a locked one.
        """
        user = self._find(login_name)
        wrong = LoginError(390100, "Incorrect username or password was specified.")
        if user is None:
            raise wrong
        failures = self._failures.setdefault(user.id, _Failures())
        if failures.locked_until > now:
            raise LoginError(
                390102,
                "Your user account has been temporarily locked due to too many failed attempts. "
                "Try again after 15 minutes or contact your account administrator for assistance.",
            )
        stored = user.properties.get("PASSWORD")
        if stored is None or not hmac.compare_digest(str(stored), hash_password(password, user.name)):
            failures.count += 1
            if failures.count >= LOCK_AFTER:
                self._failures[user.id] = _Failures(locked_until=now + LOCK_SECONDS)
            raise wrong
        self._failures.pop(user.id)
        return _enabled(user)

    def by_key_pair(self, login_name: str, token: str, now: float) -> CatalogObject:
        """The user who signed this JSON web token.

        Raises:
            LoginError: 390144 whatever is wrong with the token: its `cause` says what.
        """
        user = self._find(login_name)
        try:
            return _enabled(self._signer(user, token, now))
        except _InvalidTokenError as error:
            raise LoginError(390144, f"JWT token is invalid. [{uuid.uuid4()}]", cause=str(error)) from None

    def _find(self, login_name: str) -> CatalogObject | None:
        wanted = login_name.upper()
        return next((user for user in self._catalog.members("USER") if user.properties["LOGIN_NAME"] == wanted), None)

    def _signer(self, user: CatalogObject | None, token: str, now: float) -> CatalogObject:
        """The user, if the token is this user's, good and current."""
        if user is None:
            raise _InvalidTokenError("no user has this login name")
        header, claims, signed, signature = _decode(token)
        subject = _claim(claims, "sub", str)
        accounts = {
            f"{self._identity.organization}-{name}"
            for name in (self._identity.name, self._identity.name.replace("_", "-"))
        } | {self._identity.locator}
        if subject not in {f"{account}.{user.properties['LOGIN_NAME']}" for account in accounts}:
            raise _InvalidTokenError(f"sub {subject} is not this account and user")
        prefix, _, fingerprint = _claim(claims, "iss", str).rpartition(".SHA256:")
        if prefix != subject:
            raise _InvalidTokenError(f"iss {claims['iss']} does not begin with sub {subject}")
        key = _registered_key(user, fingerprint)
        issued, expires = _claim(claims, "iat", int), _claim(claims, "exp", int)
        if issued > now + CLOCK_SKEW:
            raise _InvalidTokenError("iat is in the future")
        if now >= min(expires, issued + JWT_MAX_LIFE):
            raise _InvalidTokenError("the token has expired")
        _verify(key, str(header.get("alg")), signed, signature)
        return user


class _InvalidTokenError(Exception):
    """Why a JSON web token is refused."""


def _enabled(user: CatalogObject) -> CatalogObject:
    if user.properties["DISABLED"]:
        raise LoginError(390101, "User access disabled. Contact your local system administrator.")
    return user


def _decode(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    """Header, claims, the signed text and the signature."""
    try:
        signed, _, signature = token.rpartition(".")
        header, claims = (json.loads(_base64url(part)) for part in signed.split("."))
        return dict(header), dict(claims), signed.encode(), _base64url(signature)
    except (ValueError, TypeError) as error:
        raise _InvalidTokenError(f"not a JSON web token: {error}") from None


def _base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _claim(claims: dict[str, Any], name: str, kind: type[_T]) -> _T:
    value = claims.get(name)
    if not isinstance(value, kind):
        raise _InvalidTokenError(f"{name} is missing or of the wrong type")
    return value


def _registered_key(user: CatalogObject, fingerprint: str) -> rsa.RSAPublicKey | ec.EllipticCurvePublicKey:
    for name in ("RSA_PUBLIC_KEY", "RSA_PUBLIC_KEY_2"):
        stored = user.properties[name]
        if stored is None:
            continue
        der = bytes.fromhex(str(stored))
        if base64.b64encode(hashlib.sha256(der).digest()).decode() == fingerprint:
            key = load_der_public_key(der)
            if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
                return key
    raise _InvalidTokenError(f"no public key of the user has the fingerprint {fingerprint}")


def _verify(key: rsa.RSAPublicKey | ec.EllipticCurvePublicKey, algorithm: str, signed: bytes, signature: bytes) -> None:
    try:
        if isinstance(key, rsa.RSAPublicKey) and algorithm == "RS256":
            key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
            return
        if isinstance(key, ec.EllipticCurvePublicKey) and algorithm == "ES256":
            half = len(signature) // 2
            numbers = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
            key.verify(encode_dss_signature(*numbers), signed, ec.ECDSA(hashes.SHA256()))
            return
    except InvalidSignature:
        raise _InvalidTokenError("the signature does not fit the registered key") from None
    raise _InvalidTokenError(f"algorithm {algorithm} does not fit the registered key")
