"""JSON web tokens signed with a key that is registered for the user."""

import base64
import hashlib
import uuid

from freehold_devstack.snowflake import jws
from freehold_devstack.snowflake.auth.login import Login, Proof, enabled, find_user
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.context import AccountIdentity
from freehold_devstack.snowflake.errors import LoginError
from freehold_devstack.snowflake.jws import InvalidTokenError

MAX_LIFE = 3600
"""Seconds from `iat` for which a token is good, whatever its `exp` says."""
CLOCK_SKEW = 60
"""Seconds by which a token may have been issued in the future."""

KEYS = ("RSA_PUBLIC_KEY", "RSA_PUBLIC_KEY_2")
"""The properties that hold a user's keys, as they were written."""


def der_of(key: str) -> bytes:
    """The DER that a key is the base64 of, whatever blanks and line breaks it is written with.

    Raises:
        ValueError: It is no base64.
    """
    return base64.b64decode("".join(key.split()), validate=True)


class KeyPairs:
    """Checks tokens against the keys of one account's users."""

    def __init__(self, identity: AccountIdentity, catalog: Catalog) -> None:
        self._identity = identity
        self._catalog = catalog

    def authenticate(self, login: Login, now: float) -> Proof:
        """The user who signed the token.

        Raises:
            LoginError: 390144 whatever is wrong with the token: its `cause` says what.
        """
        try:
            return Proof(enabled(self._signer(login, now)))
        except InvalidTokenError as error:
            raise LoginError(390144, f"JWT token is invalid. [{uuid.uuid4()}]", cause=str(error)) from None

    def _signer(self, login: Login, now: float) -> CatalogObject:
        """The user, if the token is this user's, good and current."""
        user = find_user(self._catalog, "LOGIN_NAME", login.login_name)
        if user is None:
            raise InvalidTokenError("no user has this login name")
        token = jws.Token.parse(login.token)
        subject = token.claim("sub", str)
        if subject not in {f"{name}.{user.properties['LOGIN_NAME']}" for name in self._identity.names}:
            raise InvalidTokenError(f"sub {subject} is not this account and user")
        prefix, _, fingerprint = token.claim("iss", str).rpartition(".SHA256:")
        if prefix != subject:
            raise InvalidTokenError(f"iss {token.claims['iss']} does not begin with sub {subject}")
        key = _registered_key(user, fingerprint)
        token.check_times(now, skew=CLOCK_SKEW, life=MAX_LIFE)
        token.verify(key)
        return user


def _registered_key(user: CatalogObject, fingerprint: str) -> jws.PublicKey:
    for name in KEYS:
        stored = user.properties.get(name)
        if not stored:
            continue
        der = der_of(str(stored))
        if base64.b64encode(hashlib.sha256(der).digest()).decode() == fingerprint:
            return jws.read_der(der)
    raise InvalidTokenError(f"no public key of the user has the fingerprint {fingerprint}")
