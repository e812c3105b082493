"""Passwords, and the lock that too many wrong ones put on a user."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from freehold_devstack.snowflake.auth.login import Login, Proof, enabled, find_user, locked
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


@dataclass
class _Failures:
    count: int = 0
    locked_until: float = 0


class Passwords:
    """Checks passwords and counts the wrong ones."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._failures: dict[int, _Failures] = {}

    def authenticate(self, login: Login, now: float) -> Proof:
        """The user with this password.

        Raises:
            LoginError: 390100 for a wrong password or user, 390101 for a disabled user, 390102 for a locked one.
        """
        user = find_user(self._catalog, "LOGIN_NAME", login.login_name)
        wrong = LoginError(390100, "Incorrect username or password was specified.")
        if user is None:
            raise wrong
        failures = self._failures.setdefault(user.id, _Failures())
        if failures.locked_until > now and not _unlocked(user, failures.locked_until - LOCK_SECONDS):
            raise locked()
        stored = None if user.properties.get("TYPE") in _WITHOUT else user.properties.get("PASSWORD")
        if not stored or not is_password(str(stored), login.password):
            failures.count += 1
            if failures.count >= LOCK_AFTER:
                self._failures[user.id] = _Failures(locked_until=now + LOCK_SECONDS)
            raise wrong
        self._failures.pop(user.id)
        return Proof(enabled(user))


def _unlocked(user: CatalogObject, locked_on: float) -> bool:
    """Whether MINS_TO_UNLOCK = 0 has ended a lock."""
    unlocked_on = user.properties.get("UNLOCKED_ON")
    return isinstance(unlocked_on, int) and unlocked_on >= locked_on * 1000
