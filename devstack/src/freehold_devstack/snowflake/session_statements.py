"""USE, ALTER SESSION and ALTER ACCOUNT."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import attachments, errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import CURRENT, Context
from freehold_devstack.snowflake.ddl import parse_assignments, parse_name, parse_unset, read, scalars
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.network_access import PARAMETER as NETWORK_POLICY
from freehold_devstack.snowflake.network_access import check_activation
from freehold_devstack.snowflake.object_type import Form, ObjectType, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parameters import PARAMETERS, SESSION_PARAMETERS
from freehold_devstack.snowflake.parser import Literal, Name, Parser
from freehold_devstack.snowflake.results import DONE, Result
from freehold_devstack.snowflake.sessions import Secondary

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


def _may_use(context: Context, role: CatalogObject) -> bool:
    """Whether the session's user holds a role, and its credentials do not limit it to others."""
    session = context.session
    held = session.user is None or role.id in context.catalog.inherited_roles(session.user)
    return held and (session.roles is None or role.id in session.roles)


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
        if not _may_use(context, role):
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
            if context.session.user is None or not _may_use(context, role):
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
        return UseSecondaryRoles(parser.list_of(parser.identifier))
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
            self._check_rights(context)
        given = {name: literal for name, literal in self.values.items() if literal is not None}
        # What an object's levels of logging take on the account is not asked of the session's own.
        settings = {name: replace(PARAMETERS[name], requires=None) for name in given}
        read_values = scalars(read(context, settings, given))
        if self.target == "SESSION":
            context.session.parameters = self._changed(context.session.parameters, read_values)
        else:
            account = context.catalog.account
            if policy := read_values.get(NETWORK_POLICY):
                attached = context.resolve(context.types["NETWORK POLICY"], (str(policy),), "ALTER")
                check_activation(context, account, attached)
            context.catalog.update(account, replace(account, parameters=self._changed(account.parameters, read_values)))
        return DONE

    def _check_rights(self, context: Context) -> None:
        """The network policy is the one parameter of the account that security administrators may set."""
        attaches = context.has_role("SECURITYADMIN") or context.authority.holds_on_account("ATTACH POLICY")
        if self.values.keys() != {NETWORK_POLICY} or not attaches:
            context.require_role("ACCOUNTADMIN")

    def _changed(self, old: Mapping[str, Scalar], new: Mapping[str, Scalar]) -> dict[str, Scalar]:
        return {name: value for name, value in old.items() if name not in self.values} | dict(new)


@dataclass(frozen=True)
class SetResourceMonitor:
    """ALTER ACCOUNT { SET RESOURCE_MONITOR = <monitor> | UNSET RESOURCE_MONITOR }; None stands for UNSET."""

    monitor: str | None

    @property
    def form(self) -> Form:
        return Form("ALTER", "ACCOUNT", (), "RESOURCE_MONITOR")

    def execute(self, context: Context) -> Result:
        context.require_role("ACCOUNTADMIN")
        if self.monitor is not None:
            monitor = context.resolve(context.types["RESOURCE MONITOR"], (self.monitor,), "ALTER")
            if monitor.properties["NOTIFY_USERS"]:
                raise errors.account_monitor_notifies(monitor.name)
        account = context.catalog.account
        properties = {**account.properties, "RESOURCE_MONITOR": self.monitor}
        context.catalog.update(account, replace(account, properties=properties))
        return DONE


@dataclass(frozen=True)
class AttachPolicy:
    """ALTER ACCOUNT { SET <kind> <policy> [FORCE] | UNSET <kind> }; without a name it is UNSET."""

    kind: str
    policy: Name = ()

    @property
    def form(self) -> Form:
        return Form("ALTER", "ACCOUNT", (), self.kind)

    def execute(self, context: Context) -> Result:
        if self.policy:
            attachments.attach(context, context.catalog.account, self.kind, self.policy)
        else:
            attachments.detach(context, context.catalog.account, self.kind)
        return DONE


def parse_parameters(parser: Parser, target: str) -> Statement:
    if target == "ACCOUNT" and (special := _parse_special(parser)):
        return special
    if parser.choose("SET", "UNSET") == "SET":
        values = parse_assignments(parser, commas=True)
        if not values:
            raise parser.unexpected()
        return SetParameters(target, values)
    return SetParameters(target, parse_unset(parser))


def _parse_special(parser: Parser) -> Statement | None:
    """Take what ALTER ACCOUNT sets or unsets in a statement of its own."""
    if parser.accept("SET", "RESOURCE_MONITOR", "="):
        return SetResourceMonitor(parser.identifier())
    if parser.accept("UNSET", "RESOURCE_MONITOR"):
        return SetResourceMonitor(None)
    for kind in attachments.KINDS:
        if parser.accept_phrase(f"SET {kind}"):
            policy = parser.name(parts=3)
            parser.accept("FORCE")
            return AttachPolicy(kind, policy)
        if parser.accept_phrase(f"UNSET {kind}"):
            return AttachPolicy(kind)
    return None
