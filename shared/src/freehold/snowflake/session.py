"""A session that acts in one role only, and the facts that its log-in has proved."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from freehold import sql
from freehold.observation import Row
from freehold.snowflake.credentials import NamesRole
from freehold.snowflake.driver import Connection
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import AccountChanged, LoginFailed, RoleNotGranted, SnowflakeError
from freehold.snowflake.settings import ConnectionSettings
from freehold.sql import Sql

FACTS = sql.words(
    "SELECT CURRENT_REGION() AS REGION, CURRENT_ACCOUNT() AS LOCATOR, CURRENT_ORGANIZATION_NAME() AS ORGANIZATION, "
    'CURRENT_ACCOUNT_NAME() AS ACCOUNT_NAME, CURRENT_USER() AS "USER", CURRENT_ROLE() AS "ROLE", '
    "CURRENT_SECONDARY_ROLES() AS SECONDARY_ROLES, CURRENT_VERSION() AS VERSION"
)
"""Asks who and where we are."""

_ROLE_REFUSED = frozenset({2003, 2043, 3013})
"""USE ROLE: the role isn't granted to the user (3013), or doesn't exist for it."""


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """What the server says of a session.

    Attributes:
        region: CURRENT_REGION().
        locator: CURRENT_ACCOUNT().
        organization: CURRENT_ORGANIZATION_NAME().
        account_name: CURRENT_ACCOUNT_NAME().
        user: CURRENT_USER().
        role: CURRENT_ROLE().
        secondary_roles: CURRENT_SECONDARY_ROLES(), JSON.
        version: CURRENT_VERSION().
    """

    region: str
    locator: str
    organization: str
    account_name: str
    user: str
    role: str
    secondary_roles: str
    version: str

    @property
    def key(self) -> str:
        """What identities are computed from; a rename of the account doesn't change it."""
        return f"{self.region}.{self.locator}"

    @property
    def name(self) -> str:
        """The account for people."""
        return f"{self.organization}.{self.account_name}"

    @property
    def active_secondary_roles(self) -> str:
        """The secondary roles by name, empty when none acts."""
        return str(json.loads(self.secondary_roles)["roles"]) if self.secondary_roles else ""


@dataclass(frozen=True, slots=True)
class Session:
    """An open connection in which nothing acts but its primary role.

    Attributes:
        connection: the connection. Its role never changes.
        facts: what its log-in proved.
    """

    connection: Connection
    facts: AccountFacts

    @classmethod
    async def open(cls, settings: ConnectionSettings, query_tag: str, statement_timeout: timedelta) -> Self:
        """Log in, activate exactly the wanted role, and make sure where we are.

        With secondary roles, which are on by default, a session could drop what its role doesn't own.

        Raises:
            LoginFailed: one of its subclasses; no statement of a resource was sent.
        """
        connection = await Connection.open(settings, query_tag, statement_timeout)
        try:
            return cls(connection, await _set_up(connection, settings))
        except BaseException:
            await connection.close()
            raise


def facts_of(rows: Sequence[Row]) -> AccountFacts:
    """What the server has answered to `FACTS`."""
    (row,) = rows
    return AccountFacts(**{name: str(value or "") for name, value in row.items()})


def statements(settings: ConnectionSettings) -> int:
    """How many statements set a session up, after its log-in."""
    return len([*_uses(settings), FACTS])


def _uses(settings: ConnectionSettings) -> Mapping[Sql, Collection[ErrorClass]]:
    """What is activated, in this order, each with the refusals that do no harm."""
    uses: dict[Sql, Collection[ErrorClass]] = {}
    if settings.role is not None and not isinstance(settings.credential, NamesRole):
        uses[sql.sql("USE ROLE {role}", role=sql.identifier(settings.role))] = ()
    uses[sql.words("USE SECONDARY ROLES NONE")] = ()
    if warehouse := settings.context.warehouse or settings.warehouse:
        # Few statements need it, and Freehold may be yet to create it.
        harmless = (ErrorClass.MISSING, ErrorClass.PERMISSION)
        uses[sql.sql("USE WAREHOUSE {name}", name=sql.identifier(warehouse))] = harmless
    if namespace := settings.context.namespace:
        word = sql.words("DATABASE" if len(namespace) == 1 else "SCHEMA")
        uses[sql.sql("USE {word} {name}", word=word, name=sql.identifier(*namespace))] = ()
    return uses


async def _set_up(connection: Connection, settings: ConnectionSettings) -> AccountFacts:
    try:
        for statement, harmless in _uses(settings).items():
            await _use(connection, statement, harmless)
        facts = facts_of((await connection.execute(FACTS)).rows)
    except SnowflakeError as error:
        raise _set_up_failed(error, settings) from error
    if settings.role not in (None, facts.role) or facts.active_secondary_roles:
        raise RoleNotGranted(
            f"the session acts as {facts.role} with secondary roles {facts.secondary_roles}, although nothing but "
            f"{settings.role or facts.role} was activated: look for a session policy of the user"
        )
    if settings.account_key not in (None, facts.key):
        raise AccountChanged(
            f"the log-in to {settings.host} ended in account {facts.name} ({facts.key}), but {settings.account_key} "
            "was verified before: nothing is sent. Point the ProviderConfig back, or make a new one for the new account"
        )
    return facts


async def _use(connection: Connection, statement: Sql, harmless: Collection[ErrorClass]) -> None:
    try:
        await connection.execute(statement)
    except SnowflakeError as error:
        if error.error_class not in harmless:
            raise


def _set_up_failed(error: SnowflakeError, settings: ConnectionSettings) -> LoginFailed:
    # The same numbers tell of a database or schema that isn't there.
    role_refused = error.number in _ROLE_REFUSED and not settings.context.namespace
    failure = RoleNotGranted if role_refused else LoginFailed
    user = settings.user or "..."
    # Without a role of its own, a session begins in that of its user.
    role = f"role {settings.role}" if settings.role is not None else f"the default role of user {user}"
    remedy = f". Create the role or grant it: GRANT ROLE ... TO USER {user}" if role_refused else ""
    return failure(
        f"the session couldn't be set up for {role}: {error.message}{remedy}",
        number=error.number,
        sqlstate=error.sqlstate,
        query_id=error.query_id,
        error_class=error.error_class,
    )
