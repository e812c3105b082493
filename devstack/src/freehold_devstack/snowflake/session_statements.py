"""USE, ALTER SESSION, ALTER ACCOUNT, and SELECT as far as it asks for the session's own state."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import CURRENT, Context
from freehold_devstack.snowflake.ddl import Types, parse_assignments, parse_name, parse_unset, read, scalars
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.object_type import Form, ObjectType, Statement
from freehold_devstack.snowflake.parameters import PARAMETERS, SESSION_PARAMETERS
from freehold_devstack.snowflake.parser import Literal, Name, Parser
from freehold_devstack.snowflake.results import DONE, Column, Result, number, text
from freehold_devstack.snowflake.sessions import Secondary
from freehold_devstack.snowflake.tokens import TokenKind

VERSION = "10.37.0"
"""What CURRENT_VERSION() says."""

# --- USE -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UseObject:
    """USE { DATABASE | SCHEMA | WAREHOUSE } <name>."""

    object_type: ObjectType
    name: Name

    @property
    def form(self) -> Form:
        return Form("USE", self.object_type.kind, self.name)

    def execute(self, context: Context) -> Result:
        try:
            obj = context.resolve(self.object_type, self.name, "USE")
        except SqlError as error:
            raise errors.cannot_be_performed() if error.number == errors.MISSING else error from None
        context.require("USAGE", obj)
        make_current(context, obj)
        return DONE


def make_current(context: Context, obj: CatalogObject) -> None:
    """Make an object the current one of its kind; a database brings its schema PUBLIC, a schema its database."""
    session = context.session
    setattr(session, CURRENT[obj.kind], obj.id)
    if obj.kind == "DATABASE":
        public = context.catalog.find("SCHEMA", "PUBLIC", obj.id)
        session.schema = public.id if public is not None and context.sees(public) else None
    if obj.kind == "SCHEMA":
        session.database = obj.parent


@dataclass(frozen=True)
class UseRole:
    """USE ROLE <name>."""

    name: str

    @property
    def form(self) -> Form:
        return Form("USE", "ROLE", (self.name,))

    def execute(self, context: Context) -> Result:
        role = context.catalog.find("ROLE", self.name)
        if role is None:
            raise errors.cannot_be_performed()
        if context.session.user is not None and role.id not in context.catalog.inherited_roles(context.session.user):
            raise errors.role_not_assigned(role.name)
        context.session.role = role.id
        return DONE


@dataclass(frozen=True)
class UseSecondaryRoles:
    """USE SECONDARY ROLES { ALL | NONE | <role> [, …] }."""

    roles: Sequence[str] | str

    @property
    def form(self) -> Form:
        return Form("USE", "SECONDARY ROLES", (), self.roles if isinstance(self.roles, str) else ", ".join(self.roles))

    def execute(self, context: Context) -> Result:
        context.session.secondary = self._secondary(context)
        return DONE

    def _secondary(self, context: Context) -> Secondary:
        if self.roles == "ALL" or self.roles == "NONE":
            return "ALL" if self.roles == "ALL" else "NONE"
        ids = []
        for name in self.roles:
            role = context.catalog.find("ROLE", name)
            if role is None:
                raise errors.cannot_be_performed()
            if context.session.user is None or role.id not in context.catalog.inherited_roles(context.session.user):
                raise errors.role_not_assigned(name)
            ids.append(role.id)
        return tuple(ids)


def parse_use(parser: Parser, types: Types) -> Statement:
    if parser.accept("ROLE"):
        return UseRole(parser.identifier())
    if parser.accept("SECONDARY", "ROLES"):
        for word in ("ALL", "NONE"):
            if parser.accept(word):
                return UseSecondaryRoles(word)
        roles = [parser.identifier()]
        while parser.accept(","):
            roles.append(parser.identifier())
        return UseSecondaryRoles(roles)
    for kind in ("DATABASE", "SCHEMA", "WAREHOUSE"):
        if parser.accept(kind):
            return UseObject(types[kind], parse_name(parser, types[kind], types))
    name = parser.name(parts=2)
    return UseObject(types["DATABASE" if len(name) == 1 else "SCHEMA"], name)


# --- parameters of the session and the account -----------------------------------------------------------------------


@dataclass(frozen=True)
class SetParameters:
    """ALTER { SESSION | ACCOUNT } { SET … | UNSET … }; None stands for UNSET."""

    target: str
    values: Mapping[str, Literal | None]

    @property
    def form(self) -> Form:
        return Form("ALTER", self.target, (), ", ".join(self.values))

    def execute(self, context: Context) -> Result:
        known = SESSION_PARAMETERS if self.target == "SESSION" else PARAMETERS
        for name in self.values:
            if name not in known:
                raise errors.invalid_property(name, self.target)
        if self.target == "ACCOUNT":
            context.require_role("ACCOUNTADMIN")
        given = {name: literal for name, literal in self.values.items() if literal is not None}
        # What an object's levels of logging take on the account is not asked of the session's own.
        settings = {name: replace(PARAMETERS[name], requires=None) for name in given}
        read_values = scalars(read(context, settings, given))
        if self.target == "SESSION":
            context.session.parameters = self._changed(context.session.parameters, read_values)
        else:
            account = context.catalog.account
            context.catalog.update(account, replace(account, parameters=self._changed(account.parameters, read_values)))
        return DONE

    def _changed(self, old: Mapping[str, Scalar], new: Mapping[str, Scalar]) -> dict[str, Scalar]:
        return {name: value for name, value in old.items() if name not in self.values} | dict(new)


def parse_parameters(parser: Parser, target: str) -> Statement:
    if parser.choose("SET", "UNSET") == "SET":
        values = parse_assignments(parser, commas=True)
        if not values:
            raise parser.unexpected()
        return SetParameters(target, values)
    return SetParameters(target, parse_unset(parser))


# --- SELECT ----------------------------------------------------------------------------------------------------------


def _current_name(kind: str) -> Callable[[Context], Scalar]:
    return lambda context: context.current_name(kind)


def _user(context: Context) -> Scalar:
    return None if context.session.user is None else context.catalog[context.session.user].name


def _secondary_roles(context: Context) -> Scalar:
    if context.session.secondary == "NONE":
        return json.dumps({"roles": "", "value": ""}, separators=(",", ":"))
    active = (context.catalog[each] for each in context.authority.secondary - {context.session.role})
    roles = sorted(role.name for role in active if role.kind == "ROLE")
    value = "ALL" if context.session.secondary == "ALL" else ",".join(roles)
    return json.dumps({"roles": ",".join(roles), "value": value}, separators=(",", ":"))


_FUNCTIONS: Mapping[str, tuple[str, Callable[[Context], Scalar]]] = {
    "CURRENT_ACCOUNT": ("text", lambda context: context.identity.locator),
    "CURRENT_ACCOUNT_NAME": ("text", lambda context: context.identity.name),
    "CURRENT_DATABASE": ("text", _current_name("DATABASE")),
    "CURRENT_ORGANIZATION_NAME": ("text", lambda context: context.identity.organization),
    "CURRENT_REGION": ("text", lambda context: context.identity.region),
    "CURRENT_ROLE": ("text", _current_name("ROLE")),
    "CURRENT_SCHEMA": ("text", _current_name("SCHEMA")),
    "CURRENT_SECONDARY_ROLES": ("text", _secondary_roles),
    "CURRENT_SESSION": ("text", lambda context: str(context.session.id)),
    "CURRENT_TIMESTAMP": ("timestamp_ltz", lambda context: context.now),
    "CURRENT_USER": ("text", _user),
    "CURRENT_VERSION": ("text", lambda _: VERSION),
    "CURRENT_WAREHOUSE": ("text", _current_name("WAREHOUSE")),
}


@dataclass(frozen=True)
class Expression:
    """One item of a SELECT list: its column and its value."""

    column: Column
    value: Callable[[Context], Scalar]


@dataclass(frozen=True)
class Select:
    """SELECT of literals and CURRENT_…() functions, without FROM."""

    items: Sequence[Expression]

    @property
    def form(self) -> Form:
        return Form("SELECT", "", (), ", ".join(item.column.name for item in self.items))

    def execute(self, context: Context) -> Result:
        return Result(tuple(item.column for item in self.items), [tuple(item.value(context) for item in self.items)])


def parse_select(parser: Parser) -> Statement:
    items: list[Expression] = []
    while not items or parser.accept(","):
        item = _parse_expression(parser)
        if parser.accept("AS") or not (parser.at_end() or parser.at(",") or parser.at("FROM")):
            item = replace(item, column=replace(item.column, name=parser.identifier()))
        items.append(item)
    if parser.at("FROM"):
        raise errors.unsupported("SELECT FROM")
    return Select(items)


def _parse_expression(parser: Parser) -> Expression:
    token = parser.token
    if token.kind is TokenKind.NUMBER and token.text.isdigit():
        value = parser.integer()
        return Expression(number(token.text), lambda _: value)
    if token.kind is TokenKind.STRING:
        string = parser.string()
        return Expression(text(token.text), lambda _: string)
    if parser.accept("NULL"):
        return Expression(text("NULL"), lambda _: None)
    name = parser.word()
    parser.expect("(")
    if name not in _FUNCTIONS:
        raise errors.unknown_function(name)
    parser.expect(")")
    column_type, function = _FUNCTIONS[name]
    return Expression(Column(f"{name}()", column_type, scale=3 if column_type == "timestamp_ltz" else 0), function)
