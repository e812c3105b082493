"""What a statement works with: the account, the session, the rights and the time, and how names resolve."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import Authority
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Scalar
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.hints import Hints
from freehold_devstack.snowflake.object_type import ObjectType
from freehold_devstack.snowflake.parameters import InForce, in_force
from freehold_devstack.snowflake.parser import Name, print_name
from freehold_devstack.snowflake.sessions import Session

MILLISECONDS_PER_DAY = 86_400_000

_TIME_LIMIT = "STATEMENT_TIMEOUT_IN_SECONDS"

CURRENT = {"DATABASE": "database", "SCHEMA": "schema", "WAREHOUSE": "warehouse", "ROLE": "role"}
"""Kinds of which a session has a current object, and the session's attribute for it."""


@dataclass(frozen=True)
class AccountIdentity:
    """How an account is called and what it may do.

    Attributes:
        edition: STANDARD, ENTERPRISE or BUSINESS_CRITICAL.
        peers: The other accounts of the organization, as ORGANIZATION.ACCOUNT.
        hints: Whether errors name the privilege that is missing, as servers since 2026 do.
    """

    organization: str
    name: str
    locator: str
    region: str
    edition: str = "ENTERPRISE"
    peers: frozenset[str] = frozenset()
    hints: bool = True

    @property
    def qualified(self) -> str:
        return f"{self.organization}.{self.name}"


@dataclass(frozen=True)
class Context:
    """One statement's surroundings.

    Attributes:
        types: The object types by kind.
        now: Milliseconds since 1970.
        parameters: Session parameters that the client sent for this statement alone.
    """

    types: Mapping[str, ObjectType]
    identity: AccountIdentity
    catalog: Catalog
    session: Session
    now: int
    parameters: Mapping[str, Scalar] = field(default_factory=dict)

    # --- rights --------------------------------------------------------------------------------------------------

    @cached_property
    def authority(self) -> Authority:
        match self.session.secondary:
            case "NONE":
                secondary: frozenset[int] = frozenset()
            case "ALL" if self.session.user is not None:
                secondary = self.catalog.inherited_roles(self.session.user)
            case "ALL":
                secondary = frozenset()
            case roles:
                secondary = frozenset(roles)
        return Authority(self.catalog, self.session.role, secondary)

    def enabled(self, feature: str | None) -> bool:
        """Whether the edition has a feature; all that the types name need Enterprise."""
        return feature is None or self.identity.edition != "STANDARD"

    def sees(self, obj: CatalogObject) -> bool:
        object_type = self.types.get(obj.kind)
        return self.authority.sees(obj, object_type.visible_with if object_type else ())

    def require(self, privilege: str, obj: CatalogObject, *, primary_only: bool = False) -> None:
        """Refuse with 003001 unless an active role (only the primary, for CREATE) has the privilege."""
        implied = self.types[obj.kind].implied if obj.kind in self.types else {}
        instead = [broader for broader, stands_for in implied.items() if privilege in stands_for]
        if not (
            any(self.authority.holds(each, obj, primary_only=primary_only) for each in (privilege, *instead))
            or self.authority.holds_on_account(*instead, primary_only=primary_only)
        ):
            raise self.insufficient(privilege, obj)

    def insufficient(self, privilege: str, obj: CatalogObject) -> SqlError:
        if obj.parent is None:
            name = path = self.identity.locator
        else:
            name, path = print_name((obj.name,)), self.print_path(obj)
        return errors.insufficient(obj.kind, name, self._hints.granted(privilege, obj.kind, path))

    def require_role(self, role: str) -> None:
        """Refuse with 003001 unless a system role is active."""
        system = self.catalog.find("ROLE", role)
        if system is None or system.id not in self.authority.roles:
            raise errors.insufficient("ACCOUNT", self.identity.locator)

    # --- names ---------------------------------------------------------------------------------------------------

    def print_path(self, obj: CatalogObject) -> str:
        return print_name(self.catalog.path(obj))

    def missing(self, kind: str, name: str) -> SqlError:
        return errors.missing(kind, name, self._hints.seen(kind, name))

    @property
    def _hints(self) -> Hints:
        role = self.catalog[self.session.role].name if self.identity.hints else None
        return Hints(role, self.identity.locator)

    def current(self, kind: str) -> CatalogObject | None:
        """The session's current object of a kind, if there still is one and the role sees it."""
        object_id: int | None = getattr(self.session, CURRENT[kind])
        if object_id is None:
            return None
        obj = self.catalog[object_id]
        return obj if self.catalog.is_live(obj) and self.sees(obj) else None

    def current_name(self, kind: str) -> str | None:
        """What CURRENT_<kind>() says; the primary role is told whatever became of it."""
        obj = self.catalog[self.session.role] if kind == "ROLE" else self.current(kind)
        return None if obj is None else obj.name

    def container(self, object_type: ObjectType, name: Name, verb: str) -> CatalogObject:
        """What an object of this name lives in: written before it, or the session's current one.

        Raises:
            SqlError: 002003 that names the first ancestor that is missing, 090105 or 090106 without a current one.
        """
        if object_type.container == "ACCOUNT":
            return self.catalog.account
        outer = self.types[object_type.container]
        if len(name) > 1:
            return self.resolve(outer, name[:-1], verb)
        if (current := self.current(outer.kind)) is None:
            raise errors.no_current(outer.kind, f"{verb} {object_type.kind}")
        return current

    def lookup(self, object_type: ObjectType, name: str, container: CatalogObject) -> CatalogObject | None:
        """The object of this name in a container; None when it is absent or invisible, which look the same."""
        obj = self.catalog.find(object_type.class_name, name, container.id)
        return obj if obj is not None and obj.kind == object_type.kind and self.sees(obj) else None

    def resolve(self, object_type: ObjectType, name: Name, verb: str) -> CatalogObject:
        """The visible object of this name.

        Raises:
            SqlError: 002003 that names the object or its first missing ancestor.
        """
        container = self.container(object_type, name, verb)
        obj = self.lookup(object_type, name[-1], container)
        if obj is None:
            raise self.missing(object_type.kind, print_name((*self._prefix(container), name[-1])))
        return obj

    def resolve_reference(self, kind: str, name: Name, verb: str) -> CatalogObject:
        """As `resolve`, for a kind that may have no declaration here and so no objects."""
        if kind not in self.types:
            raise self.missing(kind, print_name(name))
        return self.resolve(self.types[kind], name, verb)

    def _prefix(self, container: CatalogObject) -> Name:
        return () if container.parent is None else self.catalog.path(container)

    def owner_name(self, obj: CatalogObject) -> str:
        """As SHOW prints it: empty for what the system owns."""
        return "" if obj.owner is None else self.catalog[obj.owner].name

    def is_current(self, obj: CatalogObject) -> bool:
        return obj.dropped_on is None and getattr(self.session, CURRENT[obj.kind]) == obj.id

    # --- parameters ----------------------------------------------------------------------------------------------

    def parameter(self, obj: CatalogObject, name: str) -> InForce:
        """A parameter in force for an object."""
        return in_force(self.catalog, obj, name)

    def retention(self, obj: CatalogObject) -> int:
        """Days for which a dropped object can be brought back; what is transient has at most one."""
        days = int(self.parameter(obj, "DATA_RETENTION_TIME_IN_DAYS").value or 0)
        return min(days, 1) if obj.properties.get("TRANSIENT") else days

    def retained(self, obj: CatalogObject) -> bool:
        return obj.dropped_on is not None and self.now < obj.dropped_on + self.retention(obj) * MILLISECONDS_PER_DAY

    def time_limit(self) -> float | None:
        """Seconds that the statement may take: the lower limit of session and warehouse, 0 being none."""
        limits = [self.session_parameter(_TIME_LIMIT).value]
        if (warehouse := self.current("WAREHOUSE")) is not None:
            limits.append(self.parameter(warehouse, _TIME_LIMIT).value)
        return min((float(limit) for limit in limits if limit), default=None)

    def session_parameter(self, name: str) -> InForce:
        """A parameter in force for the statement: sent with it, set on session, user or account, else the default."""
        if name in self.parameters:
            return InForce(self.parameters[name], "SESSION")
        if name in self.session.parameters:
            return InForce(self.session.parameters[name], "SESSION")
        holder = self.catalog.account if self.session.user is None else self.catalog[self.session.user]
        return in_force(self.catalog, holder, name)
