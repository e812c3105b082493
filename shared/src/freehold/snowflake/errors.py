"""What Snowflake's error numbers mean for a caller, and the exceptions that carry them.

The table follows Snowflake's documentation and its own clients' sources; Snowflake publishes no full list. Numbers are
six digits on the wire with leading zeros dropped here: 002003 is 2003.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType


class ErrorClass(Enum):
    """What a caller does about an error."""

    TERMINAL = "terminal-until-change"
    """Nothing before the spec, the Secret or a dependency changes."""
    SYNTAX = "syntax"
    """As terminal, and a bug of ours or a feature newer than the account."""
    PERMISSION = "permission"
    """Back off up to minutes: somebody has to grant something."""
    MISSING = "missing-dependency"
    """Wait for the dependency. Absent and invisible look the same."""
    EXISTS = "already-exists"
    """The name is taken: ours by an attempt of unknown outcome, to be adopted, or a conflict."""
    CONFLICT = "conflict/in-use"
    """Serialise and retry with jitter; when dropping, dependants go first."""
    AUTHENTICATION = "authentication"
    """No further log-in of this credential before it changes: repeated failures lock the user."""
    SESSION = "session"
    """The session is gone: log in anew, repeat reads at once and writes after observing."""
    THROTTLED = "throttled"
    """Lower the concurrency and back off."""
    TRANSIENT = "transient"
    """Observe, then retry with back-off."""
    UNSUPPORTED = "unsupported-edition-or-feature"
    """As terminal, until the account is upgraded."""
    UNKNOWN = "unknown"
    """Not in the table: slow back-off, never success and never absence."""


_NUMBERS: Mapping[ErrorClass, tuple[int, ...]] = {
    ErrorClass.TERMINAL: (
        *(7, 682, 709, 904, 906, 939),
        *(1007, 1008, 1011, 1038, 1044, 1045, 1420, 1422, 1425, 1435, 1471, 1481),
        *(2014, 2016, 2018, 2019, 2023, 2025, 2026, 2028, 2029, 2035, 2057, 2212, 2263, 2857),
        *(3002, 3008, 3028, 3033, 3038, 3042, 3104, 3105, 3127, 3639, 3813, 3909, 4101, 4800, 10402, 40052, 40053),
        *(90030, 90084, 90088, 90089, 90105, 90106, 90153, 90201, 90207, 90263, 90337, 90348, 90838),
        *(91361, 91385, 91386, 91456, 91457, 91857, 93200, 98519, 98806, 99207),
        *(100035, 100038, 100051, 100072, 100108, 100132, 100357),
        *(390142, 391407, 391464, 391516, 391525, 391892, 391918, 393925, 393962, 395018, 399115, 511503, 604001),
    ),
    ErrorClass.SYNTAX: (8, 900, 1003, 1494, 2211, 90208),
    ErrorClass.PERMISSION: (3001, 3011, 3012, 3013, 3102, 3103, 91089, 391529),
    ErrorClass.MISSING: (
        *(606, 608, 1757, 1999, 2001, 2003, 2037, 2043, 2141, 2143, 3167),
        *(90025, 90268, 91003, 91016, 91017, 91083, 91085, 91093),
        *(390201, 391528, 391531, 391920, 394209, 395069, 397007, 397012, 397013, 398529, 505001),
    ),
    ErrorClass.EXISTS: (1030, 1998, 2002, 3041, 3524, 99106, 390950),
    ErrorClass.CONFLICT: (
        *(625, 1492, 1520, 3036, 3101, 3122, 3504, 3529, 3549, 90063, 90064, 91421, 91423, 98507, 98508),
        *(391480, 393926, 393950, 604009),
    ),
    ErrorClass.AUTHENTICATION: (
        *(390100, 390101, 390102, 390120, 390123, 390126, 390127, 390129, 390136, 390137, 390138, 390139, 390140),
        *(390144, 390186, 390189, 390191, 390202, 390302, 390303, 390304, 390309, 390317, 390401, 390420, 390422),
        *(390432, 390511, 390913, 394300, 394301, 394302, 394303, 394304, 394305, 394306, 394307, 394400),
        *(394507, 394508, 394633),
    ),
    ErrorClass.SESSION: (390104, 390110, 390111, 390112, 390113, 390114, 390115, 390195, 390318, 390400),
    ErrorClass.THROTTLED: (610, 90073, 390701),
    ErrorClass.TRANSIENT: (603, 604, 605, 619, 630, 695, 91369),
    ErrorClass.UNSUPPORTED: (2, 1423, 2004, 2139, 2140, 3078, 99201, 391404, 391801, 511300),
}

CLASS_OF: Mapping[int, ErrorClass] = MappingProxyType(
    {number: kind for kind, numbers in _NUMBERS.items() for number in numbers}
)
"""Class by number."""

_TEXTS: tuple[tuple[str, ErrorClass], ...] = (
    ("Specified password has expired", ErrorClass.AUTHENTICATION),
    ("Multi-factor authentication is required", ErrorClass.AUTHENTICATION),
    ("Your account is suspended", ErrorClass.AUTHENTICATION),
    ("marked for decommission", ErrorClass.AUTHENTICATION),
    ("Object found is of type", ErrorClass.EXISTS),
    ("read-only secondary database", ErrorClass.TERMINAL),
    ("it is the current primary role", ErrorClass.CONFLICT),
)
"""Answers whose number isn't known publicly."""

_SQLSTATES: Mapping[str, ErrorClass] = {
    **dict.fromkeys(
        ("22023", "22000", "42601", "42P13", "42S21", "42602", "23001", "P0000", "P0001"), ErrorClass.TERMINAL
    ),
    "42000": ErrorClass.SYNTAX,
    "42501": ErrorClass.PERMISSION,
    **dict.fromkeys(("02000", "42S02", "57P03"), ErrorClass.MISSING),
    "42710": ErrorClass.EXISTS,
    **dict.fromkeys(("2BP01", "23505", "55000", "03000"), ErrorClass.CONFLICT),
    "0A000": ErrorClass.UNSUPPORTED,
    **dict.fromkeys(("57014", "XX000"), ErrorClass.TRANSIENT),
}

_SQLSTATE_CLASSES: Mapping[str, ErrorClass] = {"28": ErrorClass.AUTHENTICATION, "08": ErrorClass.TRANSIENT}
"""By the first two characters of SQLSTATE."""

OUTCOME_UNKNOWN = frozenset({603, 604, 630})
"""Server answers (internal error, cancelled, timed out) after which the statement may have run all the same."""

_UNTOLD = frozenset({ErrorClass.TRANSIENT, ErrorClass.SESSION, ErrorClass.UNKNOWN})
"""Classes of answers that don't say what became of a statement that writes."""

_STATEMENT_NOT_FOUND = 709
"""The server knows nothing (any more) of the statement whose result was asked for."""

SESSION_LOST = frozenset({390104, *range(390110, 390116), 390195, 390318})
"""Numbers after which a connection must be dropped, whatever the driver says of its validity."""

NAME_TAKEN = frozenset({2002, 3041})
"""CREATE: the name is taken, by an object that is visible (2002) or not (3041)."""

_ADVICE: Mapping[int, str] = {
    606: "Grant USAGE on the ProviderConfig's warehouse to the role; Snowflake says this also when one is configured.",
    608: "Resume the warehouse, or set its AUTO_RESUME.",
    3041: "The object exists but the role can't see it: choose another name, or ask its owner for a grant.",
    90073: "Raise the resource monitor's quota, or wait for its next interval.",
    390100: "Check the user name and the Secret. Each refused log-in counts towards the lock of the user.",
    390101: "Enable the user: ALTER USER ... SET DISABLED = FALSE.",
    390102: "Wait 15 minutes, or unlock the user: ALTER USER ... SET MINS_TO_UNLOCK = 0.",
    390144: "Check that the user exists, that its RSA_PUBLIC_KEY or RSA_PUBLIC_KEY_2 belongs to this private key, that "
    "the account is spelt ORGANIZATION-ACCOUNT, and the clock.",
    390186: "Grant the role to the user: GRANT ROLE ... TO USER ...",
    390189: "Create the role, or grant it to the user: GRANT ROLE ... TO USER ...",
    390202: "Add the authentication method to the user's authentication policy.",
    390420: "Add Freehold's egress address to the network policy of the user or account.",
    390422: "Add Freehold's egress address to the network policy of the user or account.",
    390913: "The trial has ended: add billing information to the account.",
    394303: "Correct the clock of the node.",
    394304: "Register the public key of this private key with the user: ALTER USER ... SET RSA_PUBLIC_KEY = ...",
    394307: "Spell the account as ORGANIZATION-ACCOUNT.",
    394508: "Use a key pair: a password with multi-factor authentication needs a person.",
}


def classify(number: int | None, sqlstate: str | None = None, message: str = "") -> ErrorClass:
    """The class of a server's answer: by number, else by known text, else by SQLSTATE."""
    if number is not None and number in CLASS_OF:
        return CLASS_OF[number]
    for text, kind in _TEXTS:
        if text in message:
            return kind
    state = sqlstate or ""
    return _SQLSTATES.get(state) or _SQLSTATE_CLASSES.get(state[:2], ErrorClass.UNKNOWN)


def advice(number: int | None) -> str:
    """What the user can do about a number, empty where the message says it all."""
    return _ADVICE.get(number, "") if number is not None else ""


_FAILURE_ID = re.compile(r"\s*\[([0-9a-f-]{36})\]")
"""Id of a refused log-in in the server's message."""

_INCIDENT = re.compile(r"[\s;,]*\bincident \d+")
"""Id of an internal error in the server's message."""


class SnowflakeError(Exception):
    """A statement or a log-in failed. Its text is for people and the same each time; the ids are in `trace`.

    Attributes:
        number: the server's number, None when the failure isn't an answer of the server.
        sqlstate: its SQLSTATE.
        message: its text, without a secret.
        query_id: id of the query in Snowflake's history.
        error_class: what to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        number: int | None = None,
        sqlstate: str | None = None,
        query_id: str | None = None,
        error_class: ErrorClass | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.number = number
        self.sqlstate = sqlstate
        self.query_id = query_id
        self.error_class = error_class or classify(number, sqlstate, message)

    @property
    def outcome_known(self) -> bool:
        """Whether the statement has certainly changed nothing."""
        return self.error_class not in _UNTOLD and self.number != _STATEMENT_NOT_FOUND

    @property
    def trace(self) -> str:
        """What leads to this one failure in Snowflake, for Events and logs: a condition must not change with each."""
        if failure := _FAILURE_ID.search(self.message):
            return f"an administrator gets the true cause by SELECT SYSTEM$GET_LOGIN_FAILURE_DETAILS('{failure[1]}')"
        incident = _INCIDENT.search(self.message)
        found = (f"query {self.query_id}" if self.query_id else "", incident[0].strip(" ;,") if incident else "")
        return ", ".join(filter(None, found))

    def __str__(self) -> str:
        number = "" if self.number is None else f"{self.number:06d} ({self.sqlstate or '-'}): "
        hint = advice(self.number)
        text = _INCIDENT.sub("", _FAILURE_ID.sub("", self.message))
        # Snowflake puts a line break after the family of an error ("SQL compilation error:").
        return f"{number}{' '.join(text.split())}" + (f" {hint}" if hint else "")


class OutcomeUnknown(SnowflakeError):
    """The statement may or may not have run: no answer came, or one that doesn't tell. Observe before repeating."""

    @property
    def outcome_known(self) -> bool:
        return False


class Incomplete(SnowflakeError):
    """SHOW answered with as many rows as it ever does: what is missing from it isn't absent."""


class LoginFailed(SnowflakeError):
    """No session could be opened; no statement was sent.

    Attributes:
        reason: reason of the condition that reports it.
    """

    reason = "PingFailed"

    @property
    def outcome_known(self) -> bool:
        return True


class CredentialsRefused(LoginFailed):
    """The server refused the user or the credential. Not to be repeated before either changes."""

    reason = "CredentialsError"


class RoleNotGranted(LoginFailed):
    """The user may not act as the role that the session is for, or the role doesn't exist."""

    reason = "InvalidConfig"


class Unreachable(LoginFailed):
    """The host can't be resolved or reached, or doesn't answer in time."""


class TlsFailed(LoginFailed):
    """The server's certificate isn't trusted, or TLS can't be agreed on."""


class AccountChanged(LoginFailed):
    """The log-in ended in another account than the one that was verified before."""

    reason = "AccountChanged"


class ConfigurationError(Exception):
    """The ProviderConfig or its Secret can't be used; nothing was sent.

    The message names the field or the Secret's key, what is wrong with it and what to do.

    Attributes:
        reason: reason of the condition that reports it.
    """

    reason = "InvalidConfig"


class SecretNotFound(ConfigurationError):
    """The Secret, the key in it, or its value is missing."""

    reason = "SecretNotFound"


class NotSupported(ConfigurationError):
    """The way to authenticate isn't supported by this release."""

    reason = "NotSupported"


class HostNotAllowed(ConfigurationError):
    """The installation doesn't allow Freehold to talk to this host."""

    reason = "HostNotAllowed"
