"""Passwords, and the lock that too many wrong ones put on a user."""

import hashlib
import hmac
import secrets
from collections import Counter
from dataclasses import replace

from freehold_devstack.snowflake.auth.login import Login, Proof, check_lock, enabled, find_user
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.errors import LoginError

LOCK_AFTER = 5
"""Wrong passwords in a row that lock a user."""
LOCK_SECONDS = 15 * 60

_WITHOUT = frozenset({"SERVICE", "SERVICE_AGENT"})
"""Types of users that no password logs in, not even one from before."""


def hash_password(password: str, salt: bytes | None = None) -> str:
    """What is stored of a password: the salt, by default a new one, and the digest."""
    salt = secrets.token_bytes(8) if salt is None else salt
    return f"{salt.hex()}${hashlib.scrypt(password.encode(), salt=salt, n=2**10, r=8, p=1).hex()}"


def is_password(stored: str, password: str) -> bool:
    """Whether a stored hash is that of a password."""
    salt, _, _ = stored.partition("$")
    return hmac.compare_digest(stored, hash_password(password, bytes.fromhex(salt)))


class Passwords:
    """Checks passwords and counts the wrong ones."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._failures: Counter[int] = Counter()

    def authenticate(self, login: Login, now: float) -> Proof:
        """The user with this password.

        Raises:
            LoginError: 390100 for a wrong password or user, 390101 for a disabled user, 390102 for a locked one.
        """
        user = find_user(self._catalog, "LOGIN_NAME", login.login_name)
        wrong = LoginError(390100, "Incorrect username or password was specified.")
        if user is None:
            raise wrong
        check_lock(user, now)
        stored = None if user.properties.get("TYPE") in _WITHOUT else user.properties.get("PASSWORD")
        if not stored or not is_password(str(stored), login.password):
            self._count(user, now)
            wrong.keeps_changes = True
            raise wrong
        del self._failures[user.id]
        return Proof(enabled(user))

    def _count(self, user: CatalogObject, now: float) -> None:
        """Count a wrong password, the last of which locks the user."""
        self._failures[user.id] += 1
        if self._failures[user.id] == LOCK_AFTER:
            del self._failures[user.id]
            until = {"LOCKED_UNTIL": int((now + LOCK_SECONDS) * 1000)}
            self._catalog.update(user, replace(user, properties={**user.properties, **until}))
