"""What a statement works with: the account, the session, the rights and the time, and how names resolve."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP, Authority
from freehold_devstack.snowflake.catalog import Catalog, CatalogObject, Scalar, mapped
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.hints import Hints
from freehold_devstack.snowflake.object_type import ObjectType
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parameters import InForce, in_force
from freehold_devstack.snowflake.parser import Name, print_name
from freehold_devstack.snowflake.sessions import Session

MILLISECONDS_PER_DAY = 86_400_000
MILLISECONDS_PER_MINUTE = 60_000

_TIME_LIMIT = "STATEMENT_TIMEOUT_IN_SECONDS"

BUNDLES = {"2026_06": True, "2026_07": True, "2026_08": False}
"""The behaviour change bundles that an account can switch, and whether they are on where it says nothing."""

_TEMPORARY = "@"
"""What parts the name space of a kind from the session whose temporary objects are in it."""

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

    @property
    def names(self) -> frozenset[str]:
        """What clients may call it: its locator or ORGANIZATION-NAME, underscores of the name as hyphens or not."""
        hyphened = self.name.replace("_", "-")
        return frozenset({self.locator, f"{self.organization}-{self.name}", f"{self.organization}-{hyphened}"})


@dataclass(frozen=True)
class Context:
    """One statement's surroundings.

    Attributes:
        types: The object types by kind.
        now: Milliseconds since 1970.
        parameters: Session parameters that the client sent for this statement alone.
        peers: The catalogs of the other accounts here, as ORGANIZATION.ACCOUNT.
        aborted: Users and warehouses whose queries end with the statement, by id; it fills while the statement runs.
    """

    types: Types
    identity: AccountIdentity
    catalog: Catalog
    session: Session
    now: int
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    peers: Mapping[str, Catalog] = field(default_factory=dict)
    aborted: set[int] = field(default_factory=set)

    # --- rights --------------------------------------------------------------------------------------------------

    @cached_property
    def authority(self) -> Authority:
        match self.session.secondary:
            case "ALL" if self.session.user is not None:
                # What is granted to the user directly counts as well, database roles included.
                secondary = self.catalog.inherited_roles(self.session.user) | {self.session.user}
            case "ALL" | "NONE":
                secondary = frozenset()
            case roles:
                secondary = frozenset(roles)
        if self.session.roles is not None:
            secondary &= self.session.roles
        return Authority(self.catalog, self.session.role, secondary)

    def enabled(self, feature: str | None) -> bool:
        """Whether the edition has a feature; all that the types name need Enterprise."""
        return feature is None or self.identity.edition != "STANDARD"

    def bundle(self, name: str) -> bool:
        """Whether a behaviour change bundle is on in the account."""
        return bool({**BUNDLES, **mapped(self.catalog.account.properties.get("BUNDLES"))}[name])

    def sees(self, obj: CatalogObject) -> bool:
        """Whether names resolve to an object."""
        object_type = self.types.get(obj.kind)
        if object_type is not None and object_type.rights.known:
            return True
        return self._is_shared(obj) and self.authority.sees(obj, object_type.rights.visible_with if object_type else ())

    def _is_shared(self, obj: CatalogObject) -> bool:
        """Whether it is no other session's temporary object."""
        class_name, _, session = obj.namespace.partition(_TEMPORARY)
        return not session or obj.namespace == self.namespace(class_name, temporary=True)

    def namespace(self, class_name: str, *, temporary: bool) -> str:
        """The name space as the catalog keys it: a session has one of its own for what is temporary."""
        return f"{class_name}{_TEMPORARY}{self.session.id}" if temporary else class_name

    def is_temporary(self, obj: CatalogObject) -> bool:
        """Whether it is in a session's own name space."""
        return _TEMPORARY in obj.namespace

    def is_self(self, obj: CatalogObject) -> bool:
        """Whether it is the session's own user."""
        return obj.id == self.session.user

    def lists(self, obj: CatalogObject) -> bool:
        """Whether SHOW lists an object, which some types grant to fewer."""
        rights = self.types[obj.kind].rights
        if rights.shown_when is not None:
            return rights.shown_when(self, obj)
        if not self.sees(obj):
            return False
        if rights.shown_to is None or self.authority.resolves(obj, rights.visible_with):
            return True
        return any(self.authority.holds(privilege, obj) for privilege in (OWNERSHIP, *rights.shown_to))

    def require(self, privilege: str, obj: CatalogObject, *, primary_only: bool = False) -> None:
        """Refuse with 003001 unless an active role (only the primary, for CREATE) has the privilege."""
        instead = self.broader(privilege, obj)
        if not (
            any(self.authority.holds(each, obj, primary_only=primary_only) for each in (privilege, *instead))
            or self.authority.holds_on_account(*instead, primary_only=primary_only)
        ):
            raise self.insufficient(privilege, obj)

    def broader(self, privilege: str | None, obj: CatalogObject) -> list[str]:
        """What stands for a privilege on an object, held on it or on the account."""
        implied = self.types[obj.kind].rights.implied if obj.kind in self.types else {}
        return [broader for broader, stands_for in implied.items() if privilege in stands_for]

    def insufficient(self, privilege: str, obj: CatalogObject) -> SqlError:
        if obj.parent is None:
            name = path = self.identity.locator
        else:
            name, path = print_name((obj.name,)), self.print_path(obj)
        noun = self._noun(obj.kind)
        return errors.insufficient(noun, name, self._hints.granted(privilege, noun, path))

    def has_role(self, role: str, *, primary_only: bool = False) -> bool:
        """Whether a system role is active; for CREATE, whether the primary role is it or inherits it."""
        system = self.catalog.find("ROLE", role)
        active = self.authority.primary_roles if primary_only else self.authority.roles
        return system is not None and system.id in active

    def require_role(self, role: str, *, primary_only: bool = False) -> None:
        """Refuse with 003001 unless a system role is active, as `has_role` says."""
        if not self.has_role(role, primary_only=primary_only):
            raise errors.insufficient("ACCOUNT", self.identity.locator)

    def require_writable(self, container: CatalogObject) -> None:
        """Refuse changes to what is in a container that is read-only."""
        for step in self.catalog.lineage(container):
            if step.kind in self.types:
                self.types[step.kind].lifecycle.guarding(self, step)

    # --- names ---------------------------------------------------------------------------------------------------

    def print_path(self, obj: CatalogObject) -> str:
        return print_name(self.catalog.path(obj)) + ("" if obj.overload is None else f"({obj.overload})")

    def called(self, obj: CatalogObject) -> str:
        """What the status of a statement calls the object."""
        return self.print_path(obj) if self.types[obj.kind].qualified else obj.name

    def missing(self, kind: str, name: str) -> SqlError:
        noun = self._noun(kind)
        return errors.missing(noun, name, self._hints.seen(noun, name))

    def missing_in(self, container: CatalogObject, kind: str, name: str, overload: str | None = None) -> SqlError:
        """As `missing`, for a name in a container and the types of a function's arguments."""
        qualifiers = () if container.parent is None else self.catalog.path(container)
        signature = "" if overload is None else f"({overload})"
        return self.missing(kind, print_name((*qualifiers, name)) + signature)

    def _noun(self, kind: str) -> str:
        """What errors call a kind."""
        return (self.types[kind].noun if kind in self.types else "") or kind

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
            SqlError: 000002 for a type that the edition lacks, 002003 that names the first ancestor that is missing,
                090105 or 090106 without a current one.
        """
        if not self.enabled(object_type.feature):
            raise errors.unsupported(object_type.kind)
        if object_type.container == "ACCOUNT":
            return self.catalog.account
        outer = self.types[object_type.container]
        if len(name) > 1:
            return self.resolve(outer, name[:-1], verb)
        if (current := self.current(outer.kind)) is None:
            raise errors.no_current(outer.kind, f"{verb} {object_type.kind}")
        return current

    def lookup(
        self, object_type: ObjectType, name: str, container: CatalogObject, overload: str | None = None
    ) -> CatalogObject | None:
        """The object of this name in a container; None when it is absent or invisible, which look the same.

        Raises:
            SqlError: 999999 when the name is that of another kind.
        """
        obj = self._find(object_type.class_name, name, container, overload)
        if obj is not None and obj.kind != object_type.kind:
            raise errors.wrong_kind(obj.kind, object_type.kind)
        return obj

    def _find(
        self, class_name: str, name: str, container: CatalogObject, overload: str | None = None
    ) -> CatalogObject | None:
        """The visible object of this name, of whatever kind: the session's own hides that of all."""
        for temporary in (True, False):
            namespace = self.namespace(class_name, temporary=temporary)
            obj = self.catalog.find(namespace, name, container.id, overload)
            if obj is not None:
                return obj if self.sees(obj) else None
        return None

    def resolve(self, object_type: ObjectType, name: Name, verb: str, overload: str | None = None) -> CatalogObject:
        """The visible object of this name.

        Raises:
            SqlError: 002003 that names the object or its first missing ancestor; as `lookup`.
        """
        container = self.container(object_type, name, verb)
        obj = self.lookup(object_type, name[-1], container, overload)
        if obj is None:
            raise self.missing_in(container, object_type.kind, name[-1], overload)
        return obj

    def resolve_relation(self, name: Name, verb: str, called: str = "OBJECT") -> CatalogObject:
        """As `resolve`, for a table, a view or whatever else can be selected from.

        Args:
            called: What the error calls it.
        """
        table = self.types["TABLE"]
        container = self.container(table, name, verb)
        obj = self._find(table.class_name, name[-1], container)
        if obj is None:
            raise self.missing_in(container, called, name[-1])
        return obj

    def resolve_reference(self, kind: str, name: Name, verb: str) -> CatalogObject:
        """As `resolve`, for a kind that may have no declaration here and so no objects."""
        if kind not in self.types:
            raise self.missing(kind, print_name(name))
        return self.resolve(self.types[kind], name, verb)

    def owner_name(self, obj: CatalogObject) -> str:
        """As SHOW prints it: empty for what the system owns."""
        return "" if obj.owner is None else self.catalog[obj.owner].name

    def is_current(self, obj: CatalogObject) -> bool:
        return obj.dropped_on is None and getattr(self.session, CURRENT[obj.kind]) == obj.id

    def fluctuation(self, obj: CatalogObject, what: str, high: int) -> int:
        """A figure that moves by itself, from 0 to below `high`: the same all through a minute of the server's time."""
        return zlib.crc32(f"{obj.id} {what} {self.now // MILLISECONDS_PER_MINUTE}".encode()) % high

    # --- parameters ----------------------------------------------------------------------------------------------

    def parameter(self, obj: CatalogObject, name: str) -> InForce:
        """A parameter in force for an object."""
        return in_force(self.catalog, obj, name)

    def retention(self, obj: CatalogObject) -> int:
        """Days for which a dropped object can be brought back; what is transient has at most one, a share's none."""
        if obj.properties.get("ORIGIN"):
            return 0
        days = int(self.parameter(obj, "DATA_RETENTION_TIME_IN_DAYS").value or 0)
        return min(days, 1) if obj.properties.get("TRANSIENT") else days

    def retained(self, obj: CatalogObject) -> bool:
        """Whether a dropped object can still be brought back."""
        days = self.types[obj.kind].kept_days if obj.kind in self.types else None
        kept = (self.retention(obj) if days is None else days) * MILLISECONDS_PER_DAY
        return obj.dropped_on is not None and self.now < obj.dropped_on + kept

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
