"""From a log-in request to a session: the account, the user, the role and the session parameters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from freehold_devstack.snowflake.catalog import PUBLIC, CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.engine import Account
from freehold_devstack.snowflake.errors import LoginError, SqlError, invalid_parameter_value, invalid_property
from freehold_devstack.snowflake.parameters import PARAMETERS, SESSION_PARAMETERS
from freehold_devstack.snowflake.parser import Literal
from freehold_devstack.snowflake.sessions import Session
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import Boolean, Integer, InvalidValueError

_DRIVER_FACTS = frozenset(
    {"CLIENT_APPLICATION_PATH", "CLIENT_COMPILER", "CLIENT_RUNTIME_NAME", "CLIENT_RUNTIME_VERSION"}
)
"""What the driver tells of itself among the session parameters; they are none."""

_BARE = re.compile(r"[A-Z_][A-Z0-9_$]*")
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')


@dataclass(frozen=True)
class Login:
    """What a client asks for.

    Attributes:
        authenticator: SNOWFLAKE for a password, SNOWFLAKE_JWT for a key pair.
        role, database, schema, warehouse: As written in the connection; None where it names none.
    """

    account: str
    login_name: str
    authenticator: str
    password: str
    token: str
    parameters: Mapping[str, Any]
    role: str | None = None
    database: str | None = None
    schema: str | None = None
    warehouse: str | None = None

    @classmethod
    def parse(cls, data: Mapping[str, Any], query: Mapping[str, str]) -> "Login":
        """Read the body's `data` and the URL's query."""
        return cls(
            account=str(data.get("ACCOUNT_NAME", "")),
            login_name=str(data.get("LOGIN_NAME", "")),
            authenticator=str(data.get("AUTHENTICATOR", "SNOWFLAKE")).upper(),
            password=str(data.get("PASSWORD", "")),
            token=str(data.get("TOKEN", "")),
            parameters=data.get("SESSION_PARAMETERS") or {},
            role=query.get("roleName") or None,
            database=query.get("databaseName") or None,
            schema=query.get("schemaName") or None,
            warehouse=query.get("warehouse") or None,
        )


def authenticate(login: Login, account: Account, now: float) -> CatalogObject:
    """The user, if the credentials are good.

    Raises:
        LoginError: They are not.
    """
    match login.authenticator:
        case "SNOWFLAKE":
            return account.authenticator.by_password(login.login_name, login.password, now)
        case "SNOWFLAKE_JWT":
            return account.authenticator.by_key_pair(login.login_name, login.token, now)
        case other:
            raise LoginError(390139, f"The specified authenticator is not accepted: {other}.")


def open_session(login: Login, account: Account, user: CatalogObject, session_id: int) -> Session:
    """The session that a log-in starts; nothing is current in it yet.

    Raises:
        LoginError: 390186 or 390189 for a role that the user lacks or that does not exist.
        SqlError: 001420 or 001008 for a session parameter.
    """
    return Session(
        id=session_id,
        account=account.identity.name,
        user=user.id,
        role=_role(login, account, user).id,
        secondary="NONE" if user.properties["DEFAULT_SECONDARY_ROLES"] == "NONE" else "ALL",
        parameters=wire_values(login.parameters),
    )


def make_named_current(login: Login, context: Context) -> None:
    """Make current what the connection names and the session's roles see.

    The rest is left out without a word, as if it were not there; statements find out later.
    """
    account = context.catalog.account
    if (database := _seen(context, "DATABASE", login.database, account)) is not None:
        context.session.database = database.id
        schema = _seen(context, "SCHEMA", login.schema, database)
        context.session.schema = None if schema is None else schema.id
    warehouse = _seen(context, "WAREHOUSE", login.warehouse, account)
    context.session.warehouse = None if warehouse is None else warehouse.id


def _seen(context: Context, kind: str, written: str | None, container: CatalogObject) -> CatalogObject | None:
    name = None if written is None else _stored_name(written)
    return None if name is None else context.lookup(context.types[kind], name, container)


def _stored_name(written: str) -> str | None:
    """The name that a connection's text stands for; None where folding would make another one of it."""
    if quoted := _QUOTED.fullmatch(written):
        return quoted[1].replace('""', '"')
    return written if _BARE.fullmatch(written) else None


def _role(login: Login, account: Account, user: CatalogObject) -> CatalogObject:
    held = account.catalog.inherited_roles(user.id)
    if login.role is None:
        default = account.catalog.find("ROLE", str(user.properties["DEFAULT_ROLE"]))
        return default if default is not None and default.id in held else account.role(PUBLIC)
    advice = "Contact your local system administrator, or attempt to login with another role, e.g. PUBLIC."
    name = _stored_name(login.role)
    role = None if name is None else account.catalog.find("ROLE", name)
    if role is None:
        text = f"Role '{login.role}' specified in the connect string does not exist or not authorized. {advice}"
        raise LoginError(390189, text)
    if role.id not in held:
        text = f"Role '{role.name}' specified in the connect string is not granted to this user. {advice}"
        raise LoginError(390186, text)
    return role


def wire_values(sent: Mapping[str, object]) -> dict[str, Scalar]:
    """Session parameters as a client sends them outside SQL: typed, or as text.

    Raises:
        SqlError: 001420 for an unknown parameter, 001008 for a value that it does not take.
    """
    names = {name: name.upper() for name in sent if name.upper() not in _DRIVER_FACTS}
    return {known: _wire_value(known, sent[name]) for name, known in names.items()}


def _wire_value(name: str, value: object) -> Scalar:
    if name not in SESSION_PARAMETERS:
        raise invalid_property(name, "SESSION")
    parameter, written = PARAMETERS[name], str(value)
    if isinstance(parameter.type, Boolean):
        literal = Literal(TokenKind.WORD, written, written.upper())
    elif isinstance(parameter.type, Integer):
        literal = Literal(TokenKind.NUMBER, written, written)
    else:
        literal = Literal(TokenKind.STRING, written, written)
    try:
        return parameter.type.read(literal)
    except InvalidValueError:
        raise invalid_parameter_value(written, name) from None


def refusal(error: SqlError) -> LoginError:
    """Any refusal as the log-in endpoint sends it."""
    return error if isinstance(error, LoginError) else LoginError(error.number, error.message)
