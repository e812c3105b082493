"""GRANT, REVOKE and SHOW GRANTS."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import ACCOUNT_PRIVILEGES, OWNERSHIP, SYSTEM_ROLE_GRANTS
from freehold_devstack.snowflake.catalog import PUBLIC, CatalogObject, Grant, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import Types, parse_name, parse_type
from freehold_devstack.snowflake.object_type import ObjectType, Statement
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.results import DONE, Column, Result, status, text, timestamp

_ROLE, _USER = "ROLE", "USER"


@dataclass(frozen=True)
class Securable:
    """What a privilege is on: the account, or an object by its name."""

    object_type: ObjectType | None = None
    name: Name = ()

    def resolve(self, context: Context) -> CatalogObject:
        if self.object_type is None:
            return context.catalog.account
        return context.resolve(self.object_type, self.name, "GRANT")

    def privileges(self) -> frozenset[str]:
        return ACCOUNT_PRIVILEGES if self.object_type is None else self.object_type.privileges

    @property
    def kind(self) -> str:
        return "ACCOUNT" if self.object_type is None else self.object_type.kind


def find_principal(context: Context, kind: str, name: str) -> CatalogObject:
    """A role or user by its name; both are known to everybody who may grant."""
    found = context.catalog.find(kind, name)
    if found is None:
        raise context.missing(kind, name)
    return found


def _grantor(context: Context, obj: CatalogObject, privilege: str) -> tuple[bool, int | None]:
    """Whether the session may grant a privilege on an object, and which role is recorded as having granted it."""
    container = None if obj.parent is None else context.catalog[obj.parent]
    managed = container is not None and bool(container.properties.get("MANAGED ACCESS"))
    if managed and container is not None and context.authority.owns(container):
        return True, container.owner
    if not managed and context.authority.owns(obj):
        return True, obj.owner
    for grant in context.catalog.grants_on(obj):
        if not managed and grant.privilege == privilege and grant.grant_option and grant.to in context.authority.roles:
            return True, grant.to
    by = find_principal(context, _ROLE, "ACCOUNTADMIN").id if obj.owner is None else obj.owner
    return context.authority.holds_on_account("MANAGE GRANTS"), by


# --- GRANT -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GrantPrivileges:
    """GRANT <privileges> ON <securable> TO ROLE <role> [WITH GRANT OPTION]; no privileges stand for ALL."""

    privileges: Sequence[str]
    securable: Securable
    role: str
    grant_option: bool

    def execute(self, context: Context) -> Result:
        _check_kinds(self.privileges, self.securable)
        obj = self.securable.resolve(context)
        role = find_principal(context, _ROLE, self.role)
        wanted = self.privileges or sorted(self.securable.privileges())
        grantors = {privilege: _grantor(context, obj, privilege) for privilege in wanted}
        refused = [privilege for privilege, (allowed, _) in grantors.items() if not allowed]
        if len(refused) == len(wanted):
            raise errors.grant_refused()
        for privilege, (allowed, by) in grantors.items():
            if allowed:
                add_grant(context, Grant(privilege, obj.id, role.id, by, context.now, grant_option=self.grant_option))
        if refused:
            raise errors.grant_partial(refused)
        return DONE


def add_grant(context: Context, grant: Grant) -> None:
    """Store a grant; one that is there already at most gains the grant option."""
    for known in context.catalog.grants_on(context.catalog[grant.on]):
        if known.key == grant.key:
            if grant.grant_option and not known.grant_option:
                context.catalog.grant(replace(known, grant_option=True))
            return
    context.catalog.grant(grant)


@dataclass(frozen=True)
class GrantRole:
    """GRANT ROLE <role> TO { ROLE | USER } <grantee>."""

    role: str
    grantee_kind: str
    grantee: str

    def execute(self, context: Context) -> Result:
        role = find_principal(context, _ROLE, self.role)
        grantee = find_principal(context, self.grantee_kind, self.grantee)
        if role.name == PUBLIC:
            return status(
                "Granting role PUBLIC has no effect.  Every user and role has role PUBLIC implicitly granted."
            )
        allowed, by = _grantor(context, role, "USAGE")
        if not allowed:
            raise errors.grant_refused()
        if grantee.id == role.id or grantee.id in context.catalog.inherited_roles(role.id):
            raise errors.unnumbered(
                f"Role '{role.name}' cannot be granted to '{grantee.name}': roles would form a cycle."
            )
        add_grant(context, Grant("USAGE", role.id, grantee.id, by, context.now))
        return DONE


@dataclass(frozen=True)
class GrantOwnership:
    """GRANT OWNERSHIP ON <kind> <name> TO ROLE <role> [{ COPY | REVOKE } CURRENT GRANTS]."""

    securable: Securable
    role: str
    current_grants: str | None

    def execute(self, context: Context) -> Result:
        if self.securable.object_type is None:
            raise errors.wrong_privilege(self.securable.kind, OWNERSHIP)
        obj = self.securable.resolve(context)
        role = find_principal(context, _ROLE, self.role)
        manages = context.authority.holds_on_account("MANAGE GRANTS")
        if not (manages or context.authority.owns(obj)):
            raise errors.grant_refused()
        if not (manages or role.id in context.authority.roles):
            raise errors.unnumbered(
                f"{obj.kind} ownership can only be transferred to a role that is activated in the current session "
                "or by a role with account-level MANAGE GRANTS."
            )
        if obj.owner == role.id:
            return DONE
        self._settle_grants(context, obj, role)
        context.catalog.update(obj, replace(obj, owner=role.id))
        return DONE

    def _settle_grants(self, context: Context, obj: CatalogObject, new_owner: CatalogObject) -> None:
        grants = [grant for grant in context.catalog.grants_on(obj) if grant.by is not None]
        if obj.kind == _ROLE:
            return
        if grants and self.current_grants is None:
            first = min(grants, key=lambda grant: (context.catalog[grant.to].name, grant.privilege))
            raise errors.dependent_grant(first.privilege, context.print_path(obj), context.catalog[first.to].name)
        for grant in grants:
            context.catalog.revoke(grant)
            if self.current_grants == "COPY":
                context.catalog.grant(replace(grant, by=new_owner.id))


# --- REVOKE ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RevokePrivileges:
    """REVOKE [GRANT OPTION FOR] <privileges> ON <securable> FROM ROLE <role> [RESTRICT | CASCADE]."""

    privileges: Sequence[str]
    securable: Securable
    role: str
    option_only: bool
    cascade: bool

    def execute(self, context: Context) -> Result:
        _check_kinds(self.privileges, self.securable)
        obj = self.securable.resolve(context)
        role = find_principal(context, _ROLE, self.role)
        wanted = set(self.privileges or self.securable.privileges())
        held = context.catalog.grants_to(role.id)
        grants = [grant for grant in held if grant.on == obj.id and grant.privilege in wanted]
        return _revoke(context, obj, grants, option_only=self.option_only, cascade=self.cascade)


@dataclass(frozen=True)
class RevokeRole:
    """REVOKE ROLE <role> FROM { ROLE | USER } <grantee>."""

    role: str
    grantee_kind: str
    grantee: str

    def execute(self, context: Context) -> Result:
        role = find_principal(context, _ROLE, self.role)
        grantee = find_principal(context, self.grantee_kind, self.grantee)
        if (role.name, grantee.name) in SYSTEM_ROLE_GRANTS and self.grantee_kind == _ROLE:
            raise errors.system_role(role.name, "REVOKE")
        grants = [grant for grant in context.catalog.grants_to(grantee.id) if grant.on == role.id]
        return _revoke(context, role, grants)


def _revoke(
    context: Context, obj: CatalogObject, grants: Iterable[Grant], *, option_only: bool = False, cascade: bool = False
) -> Result:
    """Take grants away: all instances with MANAGE GRANTS, else those that the session's own roles made."""
    manages = context.authority.holds_on_account("MANAGE GRANTS")
    if not manages and not context.authority.owns(obj) and not context.authority.roles & {grant.by for grant in grants}:
        raise errors.revoke_refused()
    revocable = [grant for grant in grants if grant.by is not None and (manages or grant.by in context.authority.roles)]
    for grant in revocable:
        _revoke_dependents(context, obj, grant, cascade=cascade)
        if not option_only:
            context.catalog.revoke(grant)
        elif grant.grant_option:
            context.catalog.grant(replace(grant, grant_option=False))
    return DONE if revocable else status("Statement executed successfully. 0 objects affected.")


def _revoke_dependents(context: Context, obj: CatalogObject, grant: Grant, *, cascade: bool) -> None:
    """What the grantee granted on goes first, if CASCADE lets it."""
    if not grant.grant_option:
        return
    for dependent in context.catalog.grants_on(obj):
        if dependent.privilege == grant.privilege and dependent.by == grant.to:
            if not cascade:
                raise errors.dependents_skipped()
            _revoke_dependents(context, obj, dependent, cascade=True)
            context.catalog.revoke(dependent)


# --- parsing ---------------------------------------------------------------------------------------------------------


def _check_kinds(privileges: Iterable[str], securable: Securable) -> None:
    for privilege in privileges:
        if privilege not in securable.privileges():
            raise errors.wrong_privilege(securable.kind, privilege)


def _parse_privileges(parser: Parser, types: Types) -> list[str]:
    """Take the list before ON; ALL is the empty list."""
    if parser.accept("ALL"):
        parser.accept("PRIVILEGES")
        return []
    known = ACCOUNT_PRIVILEGES.union({OWNERSHIP}, *(kind.privileges for kind in types.values()))
    privileges: list[str] = []
    while not privileges or parser.accept(","):
        words = next((words for words in sorted(known, key=len, reverse=True) if parser.at(*words.split())), None)
        if words is None:
            raise parser.unexpected()
        parser.accept_phrase(words)
        privileges.append(words)
    if OWNERSHIP in privileges and len(privileges) > 1:
        raise errors.unnumbered("Cannot specify OWNERSHIP in privilege list.")
    return privileges


def _parse_securable(parser: Parser, types: Types) -> Securable:
    parser.expect("ON")
    if parser.accept("ACCOUNT"):
        return Securable()
    for bulk in ("ALL", "FUTURE"):
        if parser.at(bulk):
            raise errors.unsupported(f"GRANT ON {bulk}")
    object_type = parse_type(parser, types)
    return Securable(object_type, parse_name(parser, object_type, types))


def _parse_role(parser: Parser, preposition: str) -> str:
    parser.expect(preposition)
    for grantee in ("USER", "SHARE", "DATABASE ROLE", "APPLICATION"):
        if parser.at(*grantee.split()):
            raise errors.unsupported(f"GRANT {preposition} {grantee}")
    parser.accept(_ROLE)
    return parser.identifier()


def parse_grant(parser: Parser, types: Types) -> Statement:
    if parser.accept(_ROLE):
        role = parser.identifier()
        parser.expect("TO")
        return GrantRole(role, parser.choose(_ROLE, _USER), parser.identifier())
    privileges = _parse_privileges(parser, types)
    securable = _parse_securable(parser, types)
    role = _parse_role(parser, "TO")
    if privileges != [OWNERSHIP]:
        return GrantPrivileges(privileges, securable, role, parser.accept("WITH", "GRANT", "OPTION"))
    current_grants = None
    if not parser.at_end():
        current_grants = parser.choose("COPY", "REVOKE")
        parser.expect("CURRENT", "GRANTS")
    return GrantOwnership(securable, role, current_grants)


def parse_revoke(parser: Parser, types: Types) -> Statement:
    if parser.accept(_ROLE):
        role = parser.identifier()
        parser.expect("FROM")
        return RevokeRole(role, parser.choose(_ROLE, _USER), parser.identifier())
    option_only = parser.accept("GRANT", "OPTION", "FOR")
    privileges = _parse_privileges(parser, types)
    if privileges == [OWNERSHIP]:
        raise errors.unnumbered("OWNERSHIP can only be transferred.")
    securable = _parse_securable(parser, types)
    role = _parse_role(parser, "FROM")
    cascade = parser.accept("CASCADE")
    if not cascade:
        parser.accept("RESTRICT")
    return RevokePrivileges(privileges, securable, role, option_only, cascade)


# --- SHOW GRANTS -----------------------------------------------------------------------------------------------------

_COMMON = (
    timestamp("created_on"), text("privilege"), text("granted_on"), text("name"), text("granted_to"),
    text("grantee_name"), text("grant_option"), text("granted_by"),
)  # fmt: skip
_ON = (*_COMMON, text("granted_by_role_type"))
_TO_USER = (*_COMMON[:4], text("role"), *_COMMON[4:])
_OF = (timestamp("created_on"), text("role"), text("granted_to"), text("grantee_name"), text("granted_by"))


@dataclass(frozen=True)
class _Row:
    """A grant as SHOW GRANTS prints it; ownership is printed as a grant too."""

    grant: Grant
    obj: CatalogObject
    grantee: CatalogObject
    granted_on: str
    name: str
    granted_by: str

    def cells(self) -> dict[str, Scalar]:
        return {
            "created_on": self.grant.created_on,
            "privilege": self.grant.privilege,
            "granted_on": self.granted_on,
            "name": self.name,
            "granted_to": self.grantee.kind,
            "grantee_name": self.grantee.name,
            "grant_option": str(self.grant.grant_option).lower(),
            "granted_by": self.granted_by,
            "granted_by_role_type": _ROLE if self.granted_by else "",
            "role": self.name if self.obj.kind == _ROLE else None,
        }


def _row(context: Context, grant: Grant) -> _Row:
    obj, grantee = context.catalog[grant.on], context.catalog[grant.to]
    granted_by = "" if grant.by is None else context.catalog[grant.by].name
    return _Row(grant, obj, grantee, obj.kind.replace(" ", "_"), context.print_path(obj), granted_by)


def _ownership(obj: CatalogObject) -> list[Grant]:
    if obj.owner is None:
        return []
    return [Grant(OWNERSHIP, obj.id, obj.owner, obj.owner, obj.created_on, grant_option=True)]


def _result(columns: tuple[Column, ...], rows: Iterable[_Row]) -> Result:
    cells = [row.cells() for row in rows]
    return Result(columns, [tuple(row[column.name] for column in columns) for row in cells])


@dataclass(frozen=True)
class ShowGrantsOn:
    """SHOW GRANTS ON { ACCOUNT | <kind> <name> }."""

    securable: Securable

    def execute(self, context: Context) -> Result:
        obj = self.securable.resolve(context)
        rows = [_row(context, grant) for grant in (*_ownership(obj), *context.catalog.grants_on(obj))]
        return _result(_ON, sorted(rows, key=lambda row: (row.grantee.name, row.grant.privilege)))


@dataclass(frozen=True)
class ShowGrantsTo:
    """SHOW GRANTS [TO { ROLE | USER } <name>]; without a target: those of the session's user."""

    kind: str
    name: str | None

    def execute(self, context: Context) -> Result:
        grantee = self._grantee(context)
        catalog = context.catalog
        owned = catalog.owned_by(grantee.id) if self.kind == _ROLE else []
        grants = [grant for obj in owned for grant in _ownership(obj)]
        grants += [grant for grant in catalog.grants_to(grantee.id) if catalog.is_live(catalog[grant.on])]
        rows = [_row(context, grant) for grant in grants]
        rows.sort(key=lambda row: (row.granted_on, row.name, row.grant.privilege))
        return _result(_COMMON if self.kind == _ROLE else _TO_USER, rows)

    def _grantee(self, context: Context) -> CatalogObject:
        own = context.session.user
        if self.name is None:
            if own is None:
                raise errors.unsupported("SHOW GRANTS without a user")
            return context.catalog[own]
        grantee = find_principal(context, self.kind, self.name)
        resolvable = grantee.id == own or grantee.id in context.authority.roles or context.authority.sees(grantee)
        if not resolvable:
            raise context.missing(self.kind, self.name)
        return grantee


@dataclass(frozen=True)
class ShowGrantsOf:
    """SHOW GRANTS OF ROLE <name>: who holds it."""

    role: str

    def execute(self, context: Context) -> Result:
        role = find_principal(context, _ROLE, self.role)
        if not context.authority.sees(role):
            raise context.missing(_ROLE, self.role)
        rows = [_row(context, grant) for grant in context.catalog.grants_on(role)]
        return _result(_OF, sorted(rows, key=lambda row: (row.grantee.kind, row.grantee.name)))


def parse_show_grants(parser: Parser, types: Types) -> Statement:
    if parser.at("ON"):
        return ShowGrantsOn(_parse_securable(parser, types))
    if parser.accept("OF"):
        parser.expect(_ROLE)
        return ShowGrantsOf(parser.identifier())
    if parser.accept("TO"):
        return ShowGrantsTo(parser.choose(_ROLE, _USER), parser.identifier())
    return ShowGrantsTo(_USER, None)
