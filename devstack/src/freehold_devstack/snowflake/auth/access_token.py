"""Programmatic access tokens: secrets that stand for a user, and often for one role."""

import hashlib
import hmac
from collections.abc import Iterator, Mapping

from freehold_devstack.snowflake.auth.login import Login, Proof, RoleLimit, enabled
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Value, mapped
from freehold_devstack.snowflake.errors import LoginError

TOKENS = "PROGRAMMATIC_ACCESS_TOKENS"
"""The property of a user that holds its tokens by name."""


def hash_secret(secret: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


class AccessTokens:
    """Checks tokens against those of one account's users."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def authenticate(self, login: Login, now: float) -> Proof:
        """The user of the token.

        Raises:
            LoginError: 394400 whatever is wrong with the token: its `cause` says what. 390101 for a disabled user.
        """
        user, token = self._find(login.token)
        if str(user.properties["LOGIN_NAME"]) != login.login_name.upper():
            raise _invalid(f"it is a token of {user.name}")
        if token["DISABLED"]:
            raise _invalid("it is disabled")
        expires = token["EXPIRES_AT"]
        if isinstance(expires, int) and expires <= now * 1000:
            raise _invalid("it has expired")
        role = token["ROLE_RESTRICTION"]
        if role is None:
            return Proof(enabled(user))
        return Proof(enabled(user), RoleLimit(frozenset({str(role)}), _wrong_role, str(role)))

    def _find(self, secret: str) -> tuple[CatalogObject, Mapping[str, Value]]:
        hashed = hash_secret(secret)
        for user, token in self._tokens():
            if hmac.compare_digest(str(token["SECRET"]), hashed):
                return user, token
        raise _invalid("no user has this token")

    def _tokens(self) -> Iterator[tuple[CatalogObject, Mapping[str, Value]]]:
        for user in self._catalog.members("USER"):
            for token in mapped(user.properties.get(TOKENS)).values():
                yield user, mapped(token)


def _invalid(cause: str) -> LoginError:
    return LoginError(394400, "Programmatic access token is invalid.", cause=cause)


def _wrong_role(role: str) -> LoginError:
    return LoginError(
        390186,
        f"Role '{role}' specified in the connect string is not granted to this user, or is not permitted for the "
        "credentials being used. Contact your local system administrator, or attempt to login with another role, e.g. "
        "PUBLIC.",
    )
