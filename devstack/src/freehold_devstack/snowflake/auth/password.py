"""Passwords, and the lock that too many wrong ones put on a user."""

import hashlib
import hmac
from dataclasses import dataclass

from freehold_devstack.snowflake.auth.login import Login, Proof, enabled, find_user
from freehold_devstack.snowflake.catalog import Catalog
from freehold_devstack.snowflake.errors import LoginError

LOCK_AFTER = 5
"""Wrong passwords in a row that lock a user."""
LOCK_SECONDS = 15 * 60


def hash_password(password: str, user: str) -> str:
    """What is stored of a password."""
    return hashlib.scrypt(password.encode(), salt=user.encode(), n=2**10, r=8, p=1).hex()


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
        if failures.locked_until > now:
            raise LoginError(
                390102,
                "Your user account has been temporarily locked due to too many failed attempts. "
                "Try again after 15 minutes or contact your account administrator for assistance.",
            )
        stored = user.properties.get("PASSWORD")
        if stored is None or not hmac.compare_digest(str(stored), hash_password(login.password, user.name)):
            failures.count += 1
            if failures.count >= LOCK_AFTER:
                self._failures[user.id] = _Failures(locked_until=now + LOCK_SECONDS)
            raise wrong
        self._failures.pop(user.id)
        return Proof(enabled(user))
