"""SHOW GRANTS in all its forms.

https://docs.snowflake.com/en/sql-reference/sql/show-grants
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP, PUBLIC_DATABASE_ROLES
from freehold_devstack.snowflake.catalog import PUBLIC, ROLE_KINDS, CatalogObject, Grant, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import parse_name, parse_target, parse_type
from freehold_devstack.snowflake.grants.grantees import DATABASE_ROLE, ROLE, SHARE, USER, Grantee, parse_grantee
from freehold_devstack.snowflake.grants.privileges import REFERENCE_USAGE, USAGE, managed_schema, manages_grants
from freehold_devstack.snowflake.grants.securables import Account, OneObject, Scope, at_kind
from freehold_devstack.snowflake.grants.shares import ORIGIN
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Parser, print_name
from freehold_devstack.snowflake.results import Column, Result, text, timestamp

BARE_GRANTEES = "2026_06"
"""Since this bundle SHOW GRANTS OF DATABASE ROLE prints grantees that are database roles without their database."""

_COMMON = (
    timestamp("created_on"), text("privilege"), text("granted_on"), text("name"), text("granted_to"),
    text("grantee_name"), text("grant_option"), text("granted_by"),
)  # fmt: skip
_ON = (*_COMMON, text("granted_by_role_type"))
_TO_USER = (*_COMMON[:4], text("role"), *_COMMON[4:])
_OF = (timestamp("created_on"), text("role"), text("granted_to"), text("grantee_name"), text("granted_by"))
_OF_SHARE = (timestamp("created_on"), text("share"), *_OF[2:])
_FUTURE = (
    timestamp("created_on"), text("privilege"), text("grant_on"), text("name"), text("grant_to"),
    text("grantee_name"), text("grant_option"),
)  # fmt: skip

_Order = tuple[str, ...]


@dataclass(frozen=True)
class _Row:
    """A grant as SHOW GRANTS prints it; ownership is printed as a grant too."""

    context: Context
    grant: Grant

    @property
    def obj(self) -> CatalogObject:
        return self.context.catalog[self.grant.on]

    @property
    def grantee(self) -> CatalogObject:
        return self.context.catalog[self.grant.to]

    @property
    def granted_on(self) -> str:
        kind = self.obj.kind if self.grant.future is None else self.grant.future
        return self.context.types[kind].securable if kind in self.context.types else kind

    @property
    def name(self) -> str:
        path = self.context.print_path(self.obj)
        return path if self.grant.future is None else f"{path}.<{self.granted_on}>"

    @property
    def grantee_name(self) -> str:
        name = print_name((self.grantee.name,))
        return f"{self.context.identity.locator}.{name}" if self.grantee.kind == SHARE else name

    @property
    def grant_option(self) -> bool:
        """Owners decide on what they own, but nobody hands on what is in a managed access schema."""
        is_managed = self.grant.future is None and managed_schema(self.context, self.obj) is not None
        return self.grant.grant_option and not is_managed

    def cells(self) -> dict[str, Scalar]:
        """Its values by column, whatever the form."""
        by = None if self.grant.by is None else self.context.catalog[self.grant.by]
        kind = self.grantee.kind.replace(" ", "_")
        return {
            "created_on": self.grant.created_on,
            "privilege": self.grant.privilege,
            "granted_on": self.granted_on,
            "grant_on": self.granted_on,
            "name": self.name,
            "granted_to": kind,
            "grant_to": kind,
            "grantee_name": self.grantee_name,
            "grant_option": str(self.grant_option).lower(),
            "granted_by": "" if by is None else print_name((by.name,)),
            "granted_by_role_type": "" if by is None else by.kind.replace(" ", "_"),
            "role": self.name if self.obj.kind == ROLE else None,
        }


def _ownership(obj: CatalogObject) -> list[Grant]:
    if obj.owner is None:
        return []
    return [Grant(OWNERSHIP, obj.id, obj.owner, obj.owner, obj.created_on, grant_option=True)]


def _rows(context: Context, grants: Iterable[Grant], order: Callable[[_Row], _Order]) -> list[_Row]:
    """Grants whose objects and grantees are still there; REFERENCE_USAGE is never shown."""
    live = context.catalog.is_live
    rows = [_Row(context, grant) for grant in grants if grant.privilege != REFERENCE_USAGE]
    return sorted((row for row in rows if live(row.obj) and live(row.grantee)), key=order)


def _table(columns: tuple[Column, ...], cells: Iterable[Mapping[str, Scalar]]) -> Result:
    return Result(columns, [tuple(row[column.name] for column in columns) for row in cells])


def _result(
    context: Context, columns: tuple[Column, ...], grants: Iterable[Grant], order: Callable[[_Row], _Order]
) -> Result:
    return _table(columns, [row.cells() for row in _rows(context, grants, order)])


@dataclass(frozen=True)
class ShowGrants:
    """A form of SHOW GRANTS with its LIMIT.

    Attributes:
        words: What follows SHOW GRANTS, for people.
        answer: The rows, before they are limited.
    """

    words: str
    answer: Callable[[Context], Result]
    limit: int | None = None

    @property
    def form(self) -> Form:
        limit = "" if self.limit is None else f" LIMIT {self.limit}"
        return Form("SHOW", "GRANTS", (), f"{self.words}{limit}".strip())

    def execute(self, context: Context) -> Result:
        result = self.answer(context)
        return Result(result.columns, result.rows[: self.limit])


# --- ON --------------------------------------------------------------------------------------------------------------


def _management(obj: CatalogObject) -> list[Grant]:
    """What the owner of a managed access schema holds on it besides: the grants on all that is in it."""
    if obj.owner is None or not obj.properties.get("MANAGED ACCESS"):
        return []
    return [Grant("MANAGE GRANTS", obj.id, obj.owner, obj.owner, obj.created_on)]


def _on(obj_of: Callable[[Context], CatalogObject]) -> Callable[[Context], Result]:
    def answer(context: Context) -> Result:
        obj = obj_of(context)
        grants = [
            grant
            for grant in context.catalog.grants_on(obj)
            # Users that hold an account role are left to SHOW GRANTS OF.
            if obj.kind != ROLE or context.catalog[grant.to].kind != USER
        ]
        return _result(
            context,
            _ON,
            (*_ownership(obj), *_management(obj), *grants),
            lambda row: (row.grantee.name, row.grant.privilege),
        )

    return answer


def _parse_on(parser: Parser, types: Types) -> tuple[str, Callable[[Context], Result]]:
    if parser.accept("ACCOUNT"):
        return "ON ACCOUNT", _on(lambda context: Account().resolve(context, "SHOW")[0])
    if not at_kind(parser, types):
        name = parser.name(parts=3)
        return f"ON {print_name(name)}", _on(lambda context: context.resolve_relation(name, "SHOW"))
    securable = OneObject(parse_target(parser, parse_type(parser, types), types))
    return f"ON {securable}", _on(lambda context: securable.resolve(context, "SHOW")[0])


# --- TO and OF -------------------------------------------------------------------------------------------------------


def _known(context: Context, grantee: Grantee) -> CatalogObject:
    """Whom a SHOW GRANTS is about.

    Raises:
        SqlError: 002003 for a role or share that the session can't resolve, 003001 for somebody else's user.
    """
    found = grantee.resolve(context, "SHOW")
    authority = context.authority
    if found.id == context.session.user or found.id in authority.roles or authority.owns(found):
        return found
    if manages_grants(context) or (grantee.kind != USER and context.sees(found)):
        return found
    if grantee.kind == USER:
        raise context.insufficient(OWNERSHIP, found)
    raise context.missing(grantee.kind, context.print_path(found))


def _by_kind_and_name(row: _Row) -> _Order:
    return (row.granted_on, row.name, row.grant.privilege)


def _to(grantee: Grantee) -> Callable[[Context], Result]:
    def answer(context: Context) -> Result:
        found = _known(context, grantee)
        return _granted_to(context, found)

    return answer


def _granted_to(context: Context, grantee: CatalogObject) -> Result:
    catalog = context.catalog
    owned = catalog.owned_by(grantee.id) if grantee.kind in ROLE_KINDS else []
    grants = [grant for obj in owned for grant in _ownership(obj)] + catalog.grants_to(grantee.id)
    if (grantee.kind, grantee.name) != (ROLE, PUBLIC):
        return _result(context, _TO_USER if grantee.kind == USER else _COMMON, grants, _by_kind_and_name)
    cells = [row.cells() for row in _rows(context, grants, _by_kind_and_name)]
    cells += [_of_everybody(grantee, name) for name in PUBLIC_DATABASE_ROLES]
    return _table(_COMMON, sorted(cells, key=lambda row: [str(row[each]) for each in ("granted_on", "name")]))


def _of_everybody(public: CatalogObject, name: str) -> dict[str, Scalar]:
    """The row of a database role of SNOWFLAKE, a database that isn't here."""
    return {
        "created_on": public.created_on,
        "privilege": USAGE,
        "granted_on": "DATABASE_ROLE",
        "name": name,
        "granted_to": ROLE,
        "grantee_name": PUBLIC,
        "grant_option": "false",
        "granted_by": "",
    }


def _to_session_user(context: Context) -> Result:
    if context.session.user is None:
        raise errors.unsupported("SHOW GRANTS without a user")
    return _granted_to(context, context.catalog[context.session.user])


def _of(role: Grantee) -> Callable[[Context], Result]:
    def answer(context: Context) -> Result:
        found = _known(context, role)
        rows = _rows(context, context.catalog.grants_on(found), lambda row: (row.grantee.kind, row.grantee.name))
        cells = [row.cells() | {"role": row.name, "grantee_name": _holder(context, row)} for row in rows]
        return _table(_OF, cells)

    return answer


def _holder(context: Context, row: _Row) -> str:
    qualified = row.grantee.kind == DATABASE_ROLE and not context.bundle(BARE_GRANTEES)
    return context.print_path(row.grantee) if qualified else row.grantee_name


def _of_share(share: Grantee) -> Callable[[Context], Result]:
    def answer(context: Context) -> Result:
        found = _known(context, share)
        origin = f"{context.identity.qualified}.{print_name((found.name,))}"
        rows = [
            (database.created_on, found.name, "ACCOUNT", account, "")
            for account, catalog in sorted(context.peers.items())
            for database in catalog.members("DATABASE")
            if database.properties.get(ORIGIN) == origin
        ]
        return Result(_OF_SHARE, rows)

    return answer


# --- FUTURE ----------------------------------------------------------------------------------------------------------


def _future_order(row: _Row) -> _Order:
    return (row.grantee.name, row.granted_on, row.name, row.grant.privilege)


def _future_in(scope: Scope) -> Callable[[Context], Result]:
    def answer(context: Context) -> Result:
        container = scope.resolve(context, "SHOW")
        return _result(context, _FUTURE, context.catalog.future_grants(container), _future_order)

    return answer


def _future_to(role: Grantee) -> Callable[[Context], Result]:
    def answer(context: Context) -> Result:
        grants = context.catalog.future_grants_to(_known(context, role).id)
        return _result(context, _FUTURE, grants, _future_order)

    return answer


# --- parsing ---------------------------------------------------------------------------------------------------------


def _parse_limit(parser: Parser) -> int | None:
    return parser.integer() if parser.accept("LIMIT") else None


def _parse_grantee_form(parser: Parser) -> tuple[str, Callable[[Context], Result]]:
    if parser.accept("TO"):
        grantee = parse_grantee(parser, ROLE, DATABASE_ROLE, USER, SHARE)
        return f"TO {grantee}", _to(grantee)
    if parser.accept("OF"):
        grantee = parse_grantee(parser, ROLE, DATABASE_ROLE, SHARE)
        return f"OF {grantee}", _of_share(grantee) if grantee.kind == SHARE else _of(grantee)
    return "", _to_session_user


def parse_show_grants(parser: Parser, types: Types) -> Statement:
    """Read what follows SHOW GRANTS."""
    words, answer = _parse_on(parser, types) if parser.accept("ON") else _parse_grantee_form(parser)
    return ShowGrants(words, answer, _parse_limit(parser))


def parse_show_future_grants(parser: Parser, types: Types) -> Statement:
    """Read what follows SHOW FUTURE GRANTS."""
    if parser.choose("IN", "TO") == "TO":
        role = parse_grantee(parser, ROLE, DATABASE_ROLE)
        return ShowGrants(f"FUTURE TO {role}", _future_to(role), _parse_limit(parser))
    container = types[parser.choose("DATABASE", "SCHEMA")]
    scope = Scope(container, parse_name(parser, container, types))
    return ShowGrants(f"FUTURE {scope}", _future_in(scope), _parse_limit(parser))
