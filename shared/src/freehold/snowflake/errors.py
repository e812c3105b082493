"""Exceptions for what goes wrong with Snowflake: each has a class, which says what a caller does about it."""

from __future__ import annotations

import re
from collections.abc import Callable

from freehold import sql
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.error_table.table import classify, find

OUTCOME_UNKNOWN = frozenset({603, 604, 630})
"""Server answers (internal error, cancelled, timed out) after which the statement may have run all the same."""

_UNTOLD = frozenset({ErrorClass.TRANSIENT, ErrorClass.SESSION})
"""Classes of answers that don't say what became of a statement that writes."""

_NOT_COMPILED = "SQL compilation error"
"""How the message of a statement begins that was refused before it ran."""

_STATEMENT_NOT_FOUND = 709
"""The server knows nothing (any more) of the statement whose result was asked for."""

INVISIBLE = frozenset({2003, 2043, 3001})
"""What a role is told that asks about an object whose contents it may not see (003001), or not tell from absence."""

NAME_TAKEN = frozenset({2002, 3041})
"""CREATE: the name is taken, by an object that is visible (2002) or not (3041)."""

_LACKING = re.compile(
    r'Your primary role (?P<role>"[^"]+"|\S+)(?: or one of your secondary roles)? must have '
    r"(?P<privilege>[A-Z][A-Z ]*[A-Z])(?: or any other privilege)? granted on "
    r"(?P<kind>[A-Z][A-Z ]*[A-Z])(?: (?P<name>.+?))?\.?(?:\n|$)"
)
"""What the server adds to some refusals: the grant that would help."""


def advice(number: int | None, message: str = "") -> str:
    """What people can do about an answer, empty where its message says it all."""
    if lacking := _LACKING.search(message):
        role, kind, name = lacking["role"], lacking["kind"], lacking["name"]
        securable = kind if kind == "ACCOUNT" or not name else f"{kind} {name}"
        grantee = role if role.startswith('"') else sql.identifier(role)
        condition = "If it exists, run" if classify(number) is ErrorClass.MISSING else "Run"
        return f"{condition} GRANT {lacking['privilege']} ON {securable} TO ROLE {grantee}."
    found = find(number, message)
    return found[1].advice if found else ""


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
        remedy: what people can do about it, empty where the message says it all; who knows better may change it.
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
        self.remedy = advice(number, message)

    @property
    def outcome_known(self) -> bool:
        """Whether the statement has certainly changed nothing."""
        if self.error_class is ErrorClass.UNKNOWN:
            return self.message.startswith(_NOT_COMPILED)
        return self.error_class not in _UNTOLD and self.number != _STATEMENT_NOT_FOUND

    @property
    def trace(self) -> str:
        """What leads to this one failure in Snowflake, for Events and logs: a condition must not change with each."""
        if failure := _FAILURE_ID.search(self.message):
            return f"an administrator gets the true cause by SELECT SYSTEM$GET_LOGIN_FAILURE_DETAILS('{failure[1]}')"
        incident = _INCIDENT.search(self.message)
        found = (f"query {self.query_id}" if self.query_id else "", incident[0].strip(" ;,") if incident else "")
        return ", ".join(filter(None, found))

    def withhold(self, redact: Callable[[str], str]) -> None:
        """Take out of the message what nobody is to be told."""
        self.message = redact(self.message)
        self.args = (self.message,)

    def __str__(self) -> str:
        state = f" ({self.sqlstate})" if self.sqlstate else ""
        number = "" if self.number is None else f"{self.number:06d}{state}: "
        # Snowflake puts a line break after the family of an error ("SQL compilation error:").
        text = " ".join(_INCIDENT.sub("", _FAILURE_ID.sub("", self.message)).split())
        return f"{number}{text.removesuffix('.')}. {self.remedy}" if self.remedy else f"{number}{text}"


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

    def __str__(self) -> str:
        told = super().__str__().removesuffix(".")
        return f"{told}. Nobody tries it again before the Secret or the ProviderConfig changes, or for half an hour"


class RoleNotGranted(LoginFailed):
    """The user may not act as the role that the session is for, or the role doesn't exist."""

    reason = "InvalidConfig"


class NotTried(LoginFailed):
    """The log-in didn't come as far as to the service, of which nothing is known by that."""


class Unreachable(LoginFailed):
    """The host can't be resolved or reached, or doesn't answer in time."""


class TlsFailed(LoginFailed):
    """The server's certificate isn't trusted, or TLS can't be agreed on."""


class AccountChanged(LoginFailed):
    """The log-in ended in another account than the one that was verified before."""

    reason = "AccountChanged"


class CircuitOpen(LoginFailed):
    """Connection or service has failed too often in a row: for a while, nobody sends anything.

    Attributes:
        retry_in: seconds after which trying may make sense, unless it does earlier.
    """

    reason = "CircuitOpen"

    def __init__(self, message: str, *, retry_in: float = 0.0) -> None:
        super().__init__(message, error_class=ErrorClass.TRANSIENT)
        self.retry_in = retry_in


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
    """The way to authenticate isn't supported, by this release or by this installation of it."""

    reason = "NotSupported"


class HostNotAllowed(ConfigurationError):
    """The installation doesn't allow Freehold to talk to this host."""

    reason = "HostNotAllowed"


class WorkloadIdentityNotAllowed(ConfigurationError):
    """The installation doesn't let this namespace log in as its own workload."""

    reason = "WorkloadIdentityNotAllowed"
