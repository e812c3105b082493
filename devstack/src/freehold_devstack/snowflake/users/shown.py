"""What SHOW USERS and DESCRIBE USER print."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping

from freehold_devstack.snowflake.auth.access_token import TOKENS
from freehold_devstack.snowflake.auth.key_pair import KEYS, der_of
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value, texts
from freehold_devstack.snowflake.context import MILLISECONDS_PER_DAY, MILLISECONDS_PER_MINUTE, Context
from freehold_devstack.snowflake.object_type import Show, ShowColumn
from freehold_devstack.snowflake.results import Column, Result, boolean, text, timestamp
from freehold_devstack.snowflake.show_columns import printed_time
from freehold_devstack.snowflake.users.rules import FOREIGN

_Shown = Callable[[Context, CatalogObject], Scalar]


def own(user: CatalogObject, name: str) -> Value:
    """A property, unless it is one that the user's type hides."""
    return None if name in FOREIGN[str(user.properties["TYPE"])] else user.properties.get(name)


def _plain(name: str) -> _Shown:
    def value(_context: Context, user: CatalogObject) -> Scalar:
        kept = own(user, name)
        return kept if isinstance(kept, str | int) else None

    return value


def _flag(name: str) -> _Shown:
    return lambda _, user: str(bool(own(user, name))).lower()


def _has(name: str) -> _Shown:
    return lambda _, user: bool(own(user, name))


def _secondary_roles(_context: Context, user: CatalogObject) -> Scalar:
    return json.dumps(texts(user.properties["DEFAULT_SECONDARY_ROLES"]), separators=(",", ":"))


def _days_to_expiry(context: Context, user: CatalogObject) -> Scalar:
    """Whole seconds as a fraction of days; what has expired goes on counting."""
    end = user.properties.get("EXPIRES_AT")
    seconds = (end - context.now) // 1000 if isinstance(end, int) else 0
    return str(seconds * 1000 / MILLISECONDS_PER_DAY) if isinstance(end, int) else None


def _minutes(name: str, end_name: str) -> _Shown:
    """Whole minutes that are left."""

    def value(context: Context, user: CatalogObject) -> Scalar:
        end = user.properties.get(end_name)
        hidden = name in FOREIGN[str(user.properties["TYPE"])]
        running = isinstance(end, int) and end > context.now and not hidden
        return str((int(str(end)) - context.now) // MILLISECONDS_PER_MINUTE) if running else None

    return value


def _last_login(_context: Context, user: CatalogObject) -> Scalar:
    when = user.properties.get("LAST_SUCCESS_LOGIN")
    return when if isinstance(when, int) else None


def _until(name: str) -> _Shown:
    def value(context: Context, user: CatalogObject) -> Scalar:
        end = user.properties.get(name)
        return end if isinstance(end, int) and (end > context.now or name == "EXPIRES_AT") else None

    return value


# --- SHOW USERS ------------------------------------------------------------------------------------------------------


def _private(column: Column, value: _Shown) -> ShowColumn:
    """A column that is empty without the right to see what a user is."""

    def shown(context: Context, user: CatalogObject) -> Scalar:
        sees = context.authority.owns(user) or context.authority.holds_on_account("MANAGE GRANTS", "MONITOR USER")
        return value(context, user) if sees else None

    return ShowColumn(column, shown)


_NAME = ShowColumn(text("name"), lambda _, user: user.name)
_CREATED_ON = ShowColumn(timestamp("created_on"), lambda _, user: user.created_on)
_DISPLAY_NAME = _private(text("display_name"), _plain("DISPLAY_NAME"))
_FIRST_NAME = _private(text("first_name"), _plain("FIRST_NAME"))
_LAST_NAME = _private(text("last_name"), _plain("LAST_NAME"))
_EMAIL = _private(text("email"), _plain("EMAIL"))
_COMMENT = _private(text("comment"), _plain("COMMENT"))
_HAS_PASSWORD = _private(boolean("has_password"), _has("PASSWORD"))
_HAS_KEY = _private(boolean("has_rsa_public_key"), lambda _, user: any(user.properties.get(name) for name in KEYS))
_TYPE = _private(text("type"), _plain("TYPE"))
_HAS_MFA = _private(boolean("has_mfa"), lambda *_: False)
_HAS_PAT = _private(boolean("has_pat"), _has(TOKENS))
_FROM_ORGANIZATION = _private(boolean("is_from_organization_user"), lambda *_: False)

SHOW = Show(
    (
        _NAME,
        _CREATED_ON,
        _private(text("login_name"), _plain("LOGIN_NAME")),
        _DISPLAY_NAME,
        _FIRST_NAME,
        _LAST_NAME,
        _EMAIL,
        _private(text("mins_to_unlock"), _minutes("MINS_TO_UNLOCK", "LOCKED_UNTIL")),
        _private(text("days_to_expiry"), _days_to_expiry),
        _COMMENT,
        _private(text("disabled"), _flag("DISABLED")),
        _private(text("must_change_password"), _flag("MUST_CHANGE_PASSWORD")),
        _private(text("snowflake_lock"), lambda *_: "false"),
        _private(text("default_warehouse"), _plain("DEFAULT_WAREHOUSE")),
        _private(text("default_namespace"), _plain("DEFAULT_NAMESPACE")),
        _private(text("default_role"), _plain("DEFAULT_ROLE")),
        _private(text("default_secondary_roles"), _secondary_roles),
        _private(text("ext_authn_duo"), lambda *_: "false"),
        _private(text("ext_authn_uid"), lambda *_: None),
        _private(text("mins_to_bypass_mfa"), _minutes("MINS_TO_BYPASS_MFA", "MFA_BYPASSED_UNTIL")),
        ShowColumn(text("owner"), lambda context, user: context.owner_name(user)),
        _private(timestamp("last_success_login"), _last_login),
        ShowColumn(timestamp("expires_at_time"), _until("EXPIRES_AT")),
        ShowColumn(timestamp("locked_until_time"), _until("LOCKED_UNTIL")),
        _HAS_PASSWORD,
        _HAS_KEY,
        _TYPE,
        _HAS_MFA,
        _HAS_PAT,
        _private(boolean("has_workload_identity"), _has("WORKLOAD_IDENTITY")),
        _FROM_ORGANIZATION,
    ),
    terse=(
        _NAME,
        _CREATED_ON,
        _DISPLAY_NAME,
        _FIRST_NAME,
        _LAST_NAME,
        _EMAIL,
        _private(text("org_identity"), lambda *_: None),
        _COMMENT,
        _HAS_PASSWORD,
        _HAS_KEY,
        _TYPE,
        _HAS_MFA,
        _HAS_PAT,
        _private(boolean("has_federated_workload_authentication"), _has("WORKLOAD_IDENTITY")),
        _FROM_ORGANIZATION,
    ),
    starts_with=True,
    limit=True,
)


# --- DESCRIBE USER ---------------------------------------------------------------------------------------------------


def _nothing(*_: object) -> Scalar:
    return None


def _fingerprint(name: str) -> _Shown:
    def value(_context: Context, user: CatalogObject) -> Scalar:
        key = user.properties.get(name)
        if not key:
            return None
        return f"SHA256:{base64.b64encode(hashlib.sha256(der_of(str(key))).digest()).decode()}"

    return value


def _time(name: str) -> _Shown:
    def value(_context: Context, user: CatalogObject) -> Scalar:
        when = user.properties.get(name)
        return printed_time(when) if isinstance(when, int) else None

    return value


_PROPERTIES: Mapping[str, tuple[_Shown, str, str]] = {
    "NAME": (lambda _, user: user.name, "null", "Name"),
    "COMMENT": (_plain("COMMENT"), "null", "Comment on the user"),
    "DISPLAY_NAME": (_plain("DISPLAY_NAME"), "null", "Name that is displayed"),
    "TYPE": (_plain("TYPE"), "null", "Type of the user"),
    "LOGIN_NAME": (_plain("LOGIN_NAME"), "null", "Name to log in with"),
    "FIRST_NAME": (_plain("FIRST_NAME"), "null", "First name"),
    "MIDDLE_NAME": (_plain("MIDDLE_NAME"), "null", "Middle name"),
    "LAST_NAME": (_plain("LAST_NAME"), "null", "Last name"),
    "EMAIL": (_plain("EMAIL"), "null", "E-mail address"),
    "PASSWORD": (lambda _, user: "********" if own(user, "PASSWORD") else None, "null", "Password"),
    "MUST_CHANGE_PASSWORD": (_flag("MUST_CHANGE_PASSWORD"), "false", "Whether the password has to be changed"),
    "DISABLED": (_flag("DISABLED"), "false", "Whether the user can't log in"),
    "SNOWFLAKE_LOCK": (lambda *_: "false", "false", "Whether Snowflake has locked the user"),
    "SNOWFLAKE_SUPPORT": (lambda *_: "false", "false", "Whether Snowflake's support may use the user"),
    "DAYS_TO_EXPIRY": (_days_to_expiry, "null", "Days until the user expires"),
    "MINS_TO_UNLOCK": (_minutes("MINS_TO_UNLOCK", "LOCKED_UNTIL"), "null", "Minutes until the lock ends"),
    "DEFAULT_WAREHOUSE": (_plain("DEFAULT_WAREHOUSE"), "null", "Warehouse after log-in"),
    "DEFAULT_NAMESPACE": (_plain("DEFAULT_NAMESPACE"), "null", "Database or schema after log-in"),
    "DEFAULT_ROLE": (_plain("DEFAULT_ROLE"), "null", "Primary role after log-in"),
    "DEFAULT_SECONDARY_ROLES": (_secondary_roles, '["ALL"]', "Secondary roles after log-in"),
    "EXT_AUTHN_DUO": (lambda *_: "false", "false", "Whether Duo is the second factor"),
    "EXT_AUTHN_UID": (_nothing, "null", "Id at Duo"),
    "DEFAULT_MFA_METHOD": (_nothing, "null", "Second factor that is asked for"),
    "HAS_MFA": (lambda *_: "false", "false", "Whether a second factor is enrolled"),
    "HAS_PAT": (_flag(TOKENS), "false", "Whether there is a programmatic access token"),
    "HAS_WORKLOAD_IDENTITY": (_flag("WORKLOAD_IDENTITY"), "false", "Whether a workload can log in"),
    "MINS_TO_BYPASS_MFA": (
        _minutes("MINS_TO_BYPASS_MFA", "MFA_BYPASSED_UNTIL"),
        "null",
        "Minutes for which no second factor is asked",
    ),
    "MINS_TO_BYPASS_NETWORK_POLICY": (_nothing, "null", "Minutes for which no network policy holds"),
    "RSA_PUBLIC_KEY": (_plain(KEYS[0]), "null", "Public key"),
    "RSA_PUBLIC_KEY_FP": (_fingerprint(KEYS[0]), "null", "Fingerprint of the public key"),
    "RSA_PUBLIC_KEY_LAST_SET_TIME": (_time(f"{KEYS[0]}_LAST_SET_TIME"), "null", "When the public key was set"),
    "RSA_PUBLIC_KEY_2": (_plain(KEYS[1]), "null", "Second public key"),
    "RSA_PUBLIC_KEY_2_FP": (_fingerprint(KEYS[1]), "null", "Fingerprint of the second public key"),
    "RSA_PUBLIC_KEY_2_LAST_SET_TIME": (_time(f"{KEYS[1]}_LAST_SET_TIME"), "null", "When the second key was set"),
    "PASSWORD_LAST_SET_TIME": (_time("PASSWORD_LAST_SET_TIME"), "null", "When the password was set"),
    "CUSTOM_LANDING_PAGE_URL": (_nothing, "null", "Reserved"),
    "CUSTOM_LANDING_PAGE_URL_FLUSH_NEXT_UI_LOAD": (lambda *_: "false", "false", "Reserved"),
    "IS_FROM_ORGANIZATION_USER": (lambda *_: "false", "false", "Whether it is a user of the organization"),
}
"""The properties that DESCRIBE lists: their values, defaults and descriptions."""


def describe(context: Context, user: CatalogObject) -> Result:
    columns = tuple(map(text, ("property", "value", "default", "description")))
    rows = [
        (name, "null" if (value := shown(context, user)) is None else str(value), default, description)
        for name, (shown, default, description) in _PROPERTIES.items()
    ]
    return Result(columns, rows)
