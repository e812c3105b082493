"""What goes together in a user, and what the server keeps of what it is given."""

import re
from collections.abc import Mapping
from dataclasses import replace

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa

from freehold_devstack.snowflake import errors, jws
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.auth.key_pair import KEYS, der_of
from freehold_devstack.snowflake.auth.password import hash_password, is_password
from freehold_devstack.snowflake.catalog import CatalogObject, Value
from freehold_devstack.snowflake.context import MILLISECONDS_PER_DAY, MILLISECONDS_PER_MINUTE, Context
from freehold_devstack.snowflake.network_access import PARAMETER as NETWORK_POLICY
from freehold_devstack.snowflake.network_access import check_activation

TYPES = ("PERSON", "SERVICE", "SERVICE_AGENT", "LEGACY_SERVICE")

_OF_PERSONS = frozenset({"FIRST_NAME", "MIDDLE_NAME", "LAST_NAME", "MINS_TO_BYPASS_MFA", "DISABLE_MFA"})
_OF_MACHINES = _OF_PERSONS | {"PASSWORD", "MUST_CHANGE_PASSWORD"}

FOREIGN: Mapping[str, frozenset[str]] = {
    "PERSON": frozenset(),
    "SERVICE": _OF_MACHINES,
    "SERVICE_AGENT": _OF_MACHINES,
    "LEGACY_SERVICE": _OF_PERSONS,
}
"""What a user of each type can't be given, and what isn't shown of it where it was given before."""

COUNTDOWNS: Mapping[str, tuple[str, int]] = {
    "DAYS_TO_EXPIRY": ("EXPIRES_AT", MILLISECONDS_PER_DAY),
    "MINS_TO_UNLOCK": ("LOCKED_UNTIL", MILLISECONDS_PER_MINUTE),
    "MINS_TO_BYPASS_MFA": ("MFA_BYPASSED_UNTIL", MILLISECONDS_PER_MINUTE),
}
"""What runs down, under which name its end is kept, and the milliseconds of a unit."""


_MIN_KEY_BITS = 2048

# https://docs.snowflake.com/en/user-guide/password-authentication: the policy without a policy of one's own.
_MIN_PASSWORD, _MAX_PASSWORD = 14, 256
_PASSWORD_RULES = {"DIGITS": r"\d", "UPPER_CASE": "[A-Z]", "LOWER_CASE": "[a-z]"}


def settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Check a user's record and keep passwords, keys and periods in the form in which they are used."""
    _check_type(draft, given)
    old = context.catalog.get(draft.id)
    properties = {**draft.properties, "LOGIN_NAME": _login_name(context, draft, old)}
    if old is None and "DISPLAY_NAME" not in given:
        properties["DISPLAY_NAME"] = draft.name
    properties |= _password(context, draft, old) if "PASSWORD" in given else {}
    for name in KEYS:
        properties |= _key(context, draft, name) if name in given else {}
    for name in COUNTDOWNS:
        properties |= _countdown(context, name, draft.properties.get(name)) if name in given else {}
        properties.pop(name, None)
    if "WORKLOAD_IDENTITY" in given:
        properties["WORKLOAD_IDENTITY_SET_ON"] = context.now
    if draft.properties["DISABLED"]:
        context.aborted.add(draft.id)
    if NETWORK_POLICY in given and NETWORK_POLICY in draft.parameters:
        _check_network_policy(context, draft)
    return replace(draft, properties=properties)


def _check_type(user: CatalogObject, given: frozenset[str]) -> None:
    kind = str(user.properties["TYPE"])
    for name in sorted(given & FOREIGN[kind]):
        if user.properties[name] is not None:
            raise errors.not_for_user_type(name, kind)
    if user.properties["WORKLOAD_IDENTITY"] is not None and kind == "PERSON":
        raise errors.unnumbered("Cannot set WORKLOAD_IDENTITY on users with TYPE=PERSON.", family=errors.EXECUTION)


def _login_name(context: Context, user: CatalogObject, old: CatalogObject | None) -> str:
    """By default the user's own name; no two users have the same."""
    login_name = str(user.properties["LOGIN_NAME"] or user.name).upper()
    if old is None or old.properties["LOGIN_NAME"] != login_name:
        others = (other for other in context.catalog.of_kind("USER") if other.id != user.id)
        if any(other.properties["LOGIN_NAME"] == login_name for other in others):
            raise errors.already_exists(login_name)
    return login_name


def _check_network_policy(context: Context, user: CatalogObject) -> None:
    policy = context.resolve(context.types["NETWORK POLICY"], (str(user.parameters[NETWORK_POLICY]),), "ALTER")
    context.require(OWNERSHIP, policy)
    check_activation(context, user, policy)


# --- credentials -----------------------------------------------------------------------------------------------------


def _password(context: Context, user: CatalogObject, old: CatalogObject | None) -> dict[str, Value]:
    """What is kept of a password. A first one may be weak, so that it can be a common one until it is changed."""
    password = user.properties["PASSWORD"]
    if password is None:
        return {}
    if old is not None:
        _check_password(str(password), old.properties["PASSWORD"])
    if len(str(password)) > _MAX_PASSWORD:
        raise errors.password_rejected("LENGTH")
    return {"PASSWORD": hash_password(str(password)), "PASSWORD_LAST_SET_TIME": context.now}


def _check_password(password: str, old: Value) -> None:
    if old is not None and is_password(str(old), password):
        raise errors.password_rejected("PRIOR_USE")
    if len(password) < _MIN_PASSWORD:
        raise errors.password_rejected("LENGTH")
    for reason, pattern in _PASSWORD_RULES.items():
        if not re.search(pattern, password):
            raise errors.password_rejected(reason)


def _key(context: Context, user: CatalogObject, name: str) -> dict[str, Value]:
    """When a key was set, which is one that can be used."""
    body = user.properties[name]
    if not body:
        return {}
    try:
        key = jws.read_der(der_of(str(body)))
    except (jws.UnsupportedKeyError, UnsupportedAlgorithm):
        raise errors.key_unsupported() from None
    except ValueError:
        raise errors.key_rejected("Invalid Public key") from None
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < _MIN_KEY_BITS:
        raise errors.key_rejected(f"Key length {key.key_size} is smaller than minimal requirement of {_MIN_KEY_BITS}.")
    return {f"{name}_LAST_SET_TIME": context.now}


def _countdown(context: Context, name: str, value: Value) -> dict[str, Value]:
    """When a period ends. A negative one has ended already, which only an expiry keeps."""
    end, unit = COUNTDOWNS[name]
    runs = isinstance(value, int) and (value > 0 or (value < 0 and name == "DAYS_TO_EXPIRY"))
    return {end: context.now + int(str(value)) * unit if runs else None}
