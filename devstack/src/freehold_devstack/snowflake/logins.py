"""From a log-in request to a session: the role, what is current, and the session parameters."""

import re
from collections.abc import Mapping

from freehold_devstack.snowflake.accounts import Account
from freehold_devstack.snowflake.auth.login import Login, Proof
from freehold_devstack.snowflake.catalog import PUBLIC, CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.errors import LoginError, SqlError, invalid_parameter_value, invalid_property
from freehold_devstack.snowflake.parameters import PARAMETERS, SESSION_PARAMETERS
from freehold_devstack.snowflake.parser import Literal
from freehold_devstack.snowflake.sessions import Secondary, Session
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import Boolean, Integer, InvalidValueError

_DRIVER_FACTS = frozenset(
    {"CLIENT_APPLICATION_PATH", "CLIENT_COMPILER", "CLIENT_RUNTIME_NAME", "CLIENT_RUNTIME_VERSION"}
)
"""What the driver tells of itself among the session parameters; they are none."""

_BARE = re.compile(r"[A-Z_][A-Z0-9_$]*")
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')
_ADVICE = "Contact your local system administrator, or attempt to login with another role, e.g. PUBLIC."


def open_session(login: Login, account: Account, proof: Proof, session_id: int) -> Session:
    """The session that a log-in starts; nothing is current in it yet.

    Raises:
        LoginError: 390186 or 390189 for a role that the user lacks or that does not exist, 390186 or 390317 for one
            that the token forbids.
        SqlError: 001420 or 001008 for a session parameter.
    """
    held = {account.catalog[role].name: role for role in account.catalog.inherited_roles(proof.user.id)}
    return Session(
        id=session_id,
        account=account.identity.name,
        user=proof.user.id,
        role=_role(login, account, proof, held).id,
        secondary=_secondary(proof.user),
        roles=None if proof.limit is None else frozenset(held[name] for name in proof.limit.roles & held.keys()),
        parameters=wire_values(login.parameters),
        address=login.address,
        authenticator=login.authenticator,
    )


def _secondary(user: CatalogObject) -> Secondary:
    """DEFAULT_SECONDARY_ROLES: all where nothing is said, none as an empty list or by that word."""
    default = user.properties.get("DEFAULT_SECONDARY_ROLES", "ALL")
    return "ALL" if default is None or (default and default != "NONE") else "NONE"


def make_named_current(login: Login, context: Context) -> None:
    """Make current what the connection names, or else the user's defaults, as far as the session's roles see it.

    The rest is left out without a word, as if it were not there; statements find out later.
    """
    account = context.catalog.account
    default_database, default_schema, default_warehouse = _defaults(context)
    database_name, schema_name = default_database, default_schema
    if login.database is not None:
        database_name, schema_name = _stored_name(login.database), None
    if login.schema is not None:
        schema_name = _stored_name(login.schema)
    if (database := _seen(context, "DATABASE", database_name, account)) is not None:
        context.session.database = database.id
        schema = _seen(context, "SCHEMA", schema_name, database)
        context.session.schema = None if schema is None else schema.id
    warehouse_name = default_warehouse if login.warehouse is None else _stored_name(login.warehouse)
    warehouse = _seen(context, "WAREHOUSE", warehouse_name, account)
    context.session.warehouse = None if warehouse is None else warehouse.id


def _defaults(context: Context) -> tuple[str | None, str | None, str | None]:
    """The database, schema and warehouse that the session's user has after a log-in."""
    if context.session.user is None:
        return None, None, None
    properties = context.catalog[context.session.user].properties
    database, _, schema = str(properties.get("DEFAULT_NAMESPACE") or "").partition(".")
    return database or None, schema or None, str(properties.get("DEFAULT_WAREHOUSE") or "") or None


def _seen(context: Context, kind: str, name: str | None, container: CatalogObject) -> CatalogObject | None:
    return None if name is None else context.lookup(context.types[kind], name, container)


def _stored_name(written: str) -> str | None:
    """The name that a connection's text stands for; None where folding would make another one of it."""
    if quoted := _QUOTED.fullmatch(written):
        return quoted[1].replace('""', '"')
    return written if _BARE.fullmatch(written) else None


def _role(login: Login, account: Account, proof: Proof, held: Mapping[str, int]) -> CatalogObject:
    if login.role is not None:
        return _permitted(_named_role(login.role, account, held), proof)
    preferred = proof.limit.default if proof.limit is not None else None
    name = preferred or str(proof.user.properties.get("DEFAULT_ROLE"))
    return _permitted(account.role(name if name in held else PUBLIC), proof)


def _named_role(written: str, account: Account, held: Mapping[str, int]) -> CatalogObject:
    name = _stored_name(written)
    role = None if name is None else account.catalog.find("ROLE", name)
    if role is None:
        text = f"Role '{written}' specified in the connect string does not exist or not authorized. {_ADVICE}"
        raise LoginError(390189, text)
    if role.name not in held:
        text = f"Role '{role.name}' specified in the connect string is not granted to this user. {_ADVICE}"
        raise LoginError(390186, text)
    return role


def _permitted(role: CatalogObject, proof: Proof) -> CatalogObject:
    """The role, if the token that was logged in with does not forbid it."""
    if proof.limit is None or role.name in proof.limit.roles:
        return role
    raise proof.limit.refusal(role.name)


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
