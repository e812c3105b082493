"""A session that acts in one role only, and the facts that its log-in has proved."""

from __future__ import annotations

import json
from collections.abc import Sequence
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


async def _set_up(connection: Connection, settings: ConnectionSettings) -> AccountFacts:
    try:
        if settings.role is not None and not isinstance(settings.credential, NamesRole):
            await connection.execute(sql.sql("USE ROLE {role}", role=sql.identifier(settings.role)))
        await connection.execute(sql.words("USE SECONDARY ROLES NONE"))
        if settings.warehouse is not None:
            await _use_warehouse(connection, settings.warehouse)
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


async def _use_warehouse(connection: Connection, name: str) -> None:
    """Activate the warehouse if it is there: few statements need it, and Freehold may be yet to create it."""
    try:
        await connection.execute(sql.sql("USE WAREHOUSE {name}", name=sql.identifier(name)))
    except SnowflakeError as error:
        if error.error_class not in (ErrorClass.MISSING, ErrorClass.PERMISSION):
            raise


def _set_up_failed(error: SnowflakeError, settings: ConnectionSettings) -> LoginFailed:
    role_refused = error.number in _ROLE_REFUSED
    failure = RoleNotGranted if role_refused else LoginFailed
    user = settings.user or "..."
    remedy = f". Create the role or grant it: GRANT ROLE ... TO USER {user}" if role_refused else ""
    return failure(
        f"the session couldn't be set up for role {settings.role}: {error.message}{remedy}",
        number=error.number,
        sqlstate=error.sqlstate,
        query_id=error.query_id,
        error_class=error.error_class,
    )
