"""The connector, and all that its users would have to know about it: no other module imports `snowflake.connector`.

Measured on snowflake-connector-python 5.2 (a Rust core under a thin Python layer): it can't be used in a forked child;
`execute(timeout=...)` does nothing; cancelling the task that awaits a statement aborts the statement at the server; a
cursor that two tasks share loses results; a dead session still calls itself open and valid.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

# The core would otherwise ask cloud metadata services where it runs; it reads this when it is loaded.
os.environ.setdefault("SNOWFLAKE_DISABLE_PLATFORM_DETECTION", "true")

from snowflake.connector import aio, errors

from freehold import redaction, session_parameters
from freehold.observation import Row
from freehold.snowflake import authentication, route
from freehold.snowflake.credentials import KeyPair
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.error_table.table import classify
from freehold.snowflake.errors import (
    OUTCOME_UNKNOWN,
    CredentialsRefused,
    LoginFailed,
    OutcomeUnknown,
    RoleNotGranted,
    SnowflakeError,
    TlsFailed,
    Unreachable,
)
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql

# The core tells the course of each request, each proxy variable that it finds, and whatever a server says of a log-in,
# which may quote a secret. What matters is raised.
logging.getLogger("snowflake.connector").setLevel(logging.CRITICAL)

STATEMENT_TIMEOUT = timedelta(seconds=60)
"""Time limit that the server keeps for each statement, where the process sets no other one."""
BACKSTOP_SECONDS = 10
"""How long after that we abort a statement ourselves: the server's own limit should end it first."""
LOGIN_TIMEOUT = timedelta(seconds=60)
"""Time limit of a log-in; a shorter one hides the cause of a failure."""
CLOSE_SECONDS = 5
"""Time limit of a log-out, which is a courtesy."""

_CONNECTION_LOST = frozenset({250001, 250002})
"""The driver's own numbers for a connection that is gone; a server never sends them."""

_LOGIN_ERRORS: Mapping[int, type[LoginFailed]] = {
    390186: RoleNotGranted,
    390189: RoleNotGranted,
    390317: RoleNotGranted,
    390420: LoginFailed,
    390422: LoginFailed,
    390913: LoginFailed,
}
"""Refused log-ins that aren't the credential's fault, by number."""

_WRAPPING = re.compile(
    r"(?:Failed to login: )?(?:(?P<answered>Login error: )|HTTP request failed after retries: \w+ request\. )?"
    r"(?P<cause>.*?)(?:, code: \d+)?",
    re.DOTALL,
)
"""What the driver puts around a cause."""
_TLS_TEXTS = ("certificate", "TLS client creation failed", "fatal alert", "corrupt message")


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one statement.

    Attributes:
        rows: by column name in lower case; timestamps are aware, in UTC, to the millisecond.
        query_id: id of the query in Snowflake's history.
    """

    rows: tuple[Row, ...]
    query_id: str | None


class Connection:
    """One log-in, which any number of tasks may send statements over at a time.

    Attributes:
        lost: whether the server has ended the session; nothing more can be sent.
    """

    def __init__(self, connection: aio.Connection, patience: float, secrets: frozenset[str]) -> None:
        self._connection = connection
        self._patience = patience
        self._secrets = secrets
        self.lost = False

    @classmethod
    async def open(cls, settings: ConnectionSettings, query_tag: str, statement_timeout: timedelta) -> Self:
        """Log in, once: the driver repeats nothing.

        Args:
            settings: as whom and where to. The warehouse, and the role unless the credential has a say in it, are left
                to USE, which names them exactly.
            query_tag: tag of statements that have none of their own.
            statement_timeout: how long a statement may run, in whole seconds.

        Raises:
            LoginFailed: one of its subclasses, with a message for people.
        """
        limit = int(statement_timeout.total_seconds())
        ours: dict[str, object] = {
            **session_parameters.FIXED,
            session_parameters.TIMEOUT: limit,
            session_parameters.TAG: query_tag,
        }
        if settings.context.most_rows:
            ours[session_parameters.ROWS] = settings.context.most_rows
        patience = int((settings.login_timeout or LOGIN_TIMEOUT).total_seconds())
        proof = await authentication.options(settings, patience)
        secrets = frozenset({*redaction.secrets_of(settings), str(proof.get("token", ""))} - {""})
        with _root_store(settings.ca_bundle) as root_store:
            try:
                connection = await aio.connect(
                    account=settings.account,
                    host=settings.host,
                    port=settings.port,
                    protocol="https",
                    user=settings.user or "",
                    application="Freehold",
                    session_parameters={**dict(settings.parameters), **ours},
                    login_timeout=patience,
                    retry_max_attempts=1,
                    client_store_temporary_credential=False,
                    enable_server_session_keep_alive_auto_detection=False,  # unset, each connect warns
                    custom_root_store_path=root_store,
                    **route.options(settings),
                    **proof,
                )
            except errors.Error as error:
                raise _login_error(error, settings, secrets) from None
        return cls(connection, limit + BACKSTOP_SECONDS, secrets)

    async def execute(self, statement: Sql, query_tag: str | None = None, limit: timedelta | None = None) -> Result:
        """Send one statement and read its whole result.

        Cancelling the task aborts the statement; like `OutcomeUnknown`, it leaves open whether it has run.

        Args:
            statement: what is sent.
            query_tag: its tag; None for the connection's.
            limit: how long it may run, in whole seconds; None for as long as the connection's statements may.

        Raises:
            OutcomeUnknown: no answer came, or one that doesn't tell whether the statement has run.
            SnowflakeError: the server refused it.
        """
        parameters: dict[str, object] = {} if query_tag is None else {session_parameters.TAG: query_tag}
        patience = self._patience
        if limit is not None:
            seconds = int(limit.total_seconds())
            parameters[session_parameters.TIMEOUT], patience = seconds, seconds + BACKSTOP_SECONDS
        cursor = self._connection.cursor()
        try:
            async with asyncio.timeout(patience):
                await cursor.execute(statement.text, _statement_params=parameters or None)
                names = [column.name.lower() for column in cursor.description or ()]
                rows = await cursor.fetchall()
        except TimeoutError:
            raise OutcomeUnknown(
                f"no answer within {patience:g} seconds, the statement was aborted",
                error_class=ErrorClass.TRANSIENT,
            ) from None
        except errors.Error as error:
            self.lost = self.lost or _ends_session(error)
            raise _statement_error(error, statement, self._secrets) from None
        finally:
            # The driver keeps every error of a connection until it is closed.
            del self._connection.messages[:]
            cursor.close()
        return Result(tuple(_row(names, values) for values in rows), cursor.sfqid)

    async def close(self) -> None:
        """Log out; a log-out that fails leaves a session that the server ends by itself."""
        with contextlib.suppress(errors.Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._connection.close(retry=False)


@contextlib.contextmanager
def _root_store(pem: str | None) -> Iterator[str | None]:
    """A file with the trusted roots in a private folder, which the driver reads during the log-in only."""
    if pem is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="freehold-") as folder:
        path = Path(folder, "ca.pem")
        path.write_text(pem)
        yield str(path)


def _row(names: list[str], values: tuple[Any, ...]) -> Row:
    return {name: _value(value) for name, value in zip(names, values, strict=True)}


def _value(value: object) -> object:
    """A value of the driver; created_on has milliseconds, so that instants compare only when all are cut there."""
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.astimezone(UTC).replace(microsecond=aware.microsecond // 1000 * 1000)
    return value


def _ends_session(error: errors.Error) -> bool:
    return _session_ended(error) or error.errno in _CONNECTION_LOST


def _session_ended(error: errors.Error) -> bool:
    # 390112 has an exception of its own, whatever became of its number.
    return isinstance(error, errors.ReauthenticationRequest) or classify(error.errno) is ErrorClass.SESSION


def _cause(error: errors.Error) -> str:
    match = _WRAPPING.fullmatch(error.raw_msg)
    return match["cause"] if match else error.raw_msg


def _is_refusal(error: errors.Error) -> bool:
    """Whether the server has answered a log-in: by any number, known or not."""
    match = _WRAPPING.fullmatch(error.raw_msg)
    return bool(match and match["answered"]) or _session_ended(error)


def _statement_error(error: errors.Error, statement: Sql, secrets: frozenset[str]) -> SnowflakeError:
    """Our exception for a failed statement. Small numbers of other classes are kinds of the driver, not a server's."""
    cause = statement.redact(redaction.without(_cause(error), secrets))
    if _session_ended(error):
        return SnowflakeError(cause, number=error.errno, sqlstate=error.sqlstate, error_class=ErrorClass.SESSION)
    if not isinstance(error, errors.ProgrammingError | errors.IntegrityError):
        return OutcomeUnknown(cause, query_id=error.sfqid, error_class=ErrorClass.TRANSIENT)
    answer = OutcomeUnknown if error.errno in OUTCOME_UNKNOWN else SnowflakeError
    return answer(cause, number=error.errno, sqlstate=error.sqlstate, query_id=error.sfqid)


def _login_error(error: errors.Error, settings: ConnectionSettings, secrets: frozenset[str]) -> LoginFailed:
    """Our exception for a failed log-in, with a message that names what to look at."""
    cause = redaction.without(_cause(error), secrets)
    if _is_refusal(error):
        return _refusal(error, cause, settings)
    place = f"{settings.host}:{settings.port}"
    if any(text in cause for text in _TLS_TEXTS):
        return TlsFailed(
            f"TLS with {place} failed: {cause}. If the host's certificate comes from a private authority, put its root "
            "into spec.caBundle",
            error_class=ErrorClass.TRANSIENT,
        )
    return Unreachable(
        f"no log-in to {place}: {cause}. Check spec.account or spec.host, name resolution, and whether this cluster "
        "may reach that address",
        error_class=ErrorClass.TRANSIENT,
    )


def _refusal(error: errors.Error, cause: str, settings: ConnectionSettings) -> LoginFailed:
    """A log-in that the server refused. What isn't known counts as the credential's fault: repeating locks the user."""
    credential = settings.credential
    fingerprint = f" (fingerprint {credential.fingerprint})" if isinstance(credential, KeyPair) else ""
    # SQLSTATE is the driver's own here.
    kind = classify(error.errno, message=cause)
    if kind is ErrorClass.SESSION:
        # A token that has expired: there is no session yet that could be opened anew.
        kind = ErrorClass.AUTHENTICATION
    refused = kind in (ErrorClass.AUTHENTICATION, ErrorClass.UNKNOWN)
    failure = _LOGIN_ERRORS.get(error.errno, CredentialsRefused if refused else LoginFailed)
    who = f" of user {settings.user}" if settings.user else ""
    return failure(
        f"Snowflake refused the log-in{who} to account {settings.account} with "
        f"{credential.source}{fingerprint}: {cause}",
        number=error.errno,
        error_class=kind,
    )
