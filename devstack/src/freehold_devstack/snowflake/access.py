"""With what rights a statement runs: the active roles, what they hold, own and see."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from freehold_devstack.snowflake.catalog import Catalog, CatalogObject
from freehold_devstack.snowflake.parser import phrases

OWNERSHIP = "OWNERSHIP"

_RESOLVES_EVERYTHING = ("MANAGE GRANTS", "RESOLVE ALL")

RESERVED_TO_ACCOUNTADMIN = frozenset(
    phrases("""
        BIND SERVICE ENDPOINT, CREATE ACCOUNT, CREATE API INTEGRATION, CREATE APPLICATION, CREATE APPLICATION PACKAGE,
        CREATE COMPUTE POOL, CREATE DATA CONNECTIVITY PROXY, CREATE DATABASE, CREATE FAILOVER GROUP, CREATE INTEGRATION,
        CREATE LISTING, CREATE NOTIFICATION INTEGRATION, CREATE PREVIEW APPLICATION, CREATE REPLICATION GROUP, CREATE
        SHARE, CREATE STORAGE INTEGRATION, CREATE WAREHOUSE, EXECUTE ALERT, EXECUTE AUTO CLASSIFICATION, EXECUTE MANAGED
        TASK, EXECUTE TASK, IMPORT ORGANIZATION USER GROUPS, IMPORT SHARE, MANAGE LISTING AUTO FULFILLMENT, MANAGE
        WAREHOUSES, MONITOR EXECUTION, MONITOR USAGE, OVERRIDE SHARE RESTRICTIONS
    """)
)
"""What only ACCOUNTADMIN can grant on the account:
https://docs.snowflake.com/en/user-guide/security-access-control-privileges#global-privileges-account-privileges"""

ACCOUNT_PRIVILEGES = RESERVED_TO_ACCOUNTADMIN.union(
    phrases("""
        APPLY AGGREGATION POLICY, APPLY AUTHENTICATION POLICY, APPLY CONTACT, APPLY JOIN POLICY, APPLY MASKING POLICY,
        APPLY PACKAGES POLICY, APPLY PASSWORD POLICY, APPLY PRIVACY POLICY, APPLY PROJECTION POLICY, APPLY ROW ACCESS
        POLICY, APPLY SESSION POLICY, APPLY STORAGE LIFECYCLE POLICY, APPLY TAG, ATTACH POLICY, AUDIT, CANCEL QUERY,
        CREATE EXTERNAL VOLUME, CREATE NETWORK POLICY, CREATE ORGANIZATION LISTING, CREATE ORGANIZATION PROFILE,
        CREATE ROLE, CREATE USER, EXECUTE DATA METRIC FUNCTION, EXECUTE MANAGED ALERT, IMPERSONATE, IMPORT ORGANIZATION
        LISTING, MANAGE ACCOUNT SUPPORT CASES, MANAGE ACCOUNTS, MANAGE APPLICATION SPECIFICATIONS, MANAGE CALLER
        GRANTS, MANAGE EVENT SHARING, MANAGE GRANTS, MANAGE ORGANIZATION SUPPORT CASES, MANAGE SHARE TARGET, MANAGE
        USER SUPPORT CASES, MANAGE VISIBILITY, MODIFY LOG EVENT LEVEL, MODIFY LOG LEVEL, MODIFY
        METRIC LEVEL, MODIFY SESSION LOG EVENT LEVEL, MODIFY SESSION LOG LEVEL, MODIFY SESSION METRIC LEVEL, MODIFY
        SESSION TRACE LEVEL, MODIFY TRACE LEVEL, MONITOR, MONITOR ROLE, MONITOR SECURITY, MONITOR
        USER, PURCHASE DATA EXCHANGE LISTING, READ SESSION, REPLICATE, RESOLVE ALL, USE AI FUNCTIONS, VIEW LINEAGE
    """)
)
"""What can be granted ON ACCOUNT."""

KNOWN_PRIVILEGES = ACCOUNT_PRIVILEGES.union(
    phrases("""
        APPLY, APPLYBUDGET, CREATE DATA EXCHANGE LISTING, DELETE, DELETE ERROR TABLE, EVOLVE SCHEMA, FAILOVER, IMPORTED
        PRIVILEGES, INGEST TELEMETRY, INSERT, MODIFY, MODIFY PROGRAMMATIC AUTHENTICATION METHODS, OPERATE, OWNERSHIP,
        READ, REBUILD, REFERENCES, REFERENCE_USAGE, SELECT, SELECT ERROR TABLE, TRUNCATE, UPDATE, USAGE, USE_ANY_ROLE,
        VIEW EXPANDED QUERY PROFILE, WRITE
    """)
)
"""What GRANT and REVOKE take for privileges, whatever they are on."""

PUBLIC_DATABASE_ROLES = phrases("""
    ALERT_VIEWER, CLASSIFICATION_VIEWER, CORE_VIEWER, DATA_PRIVACY_VIEWER, ML_USER, MONITORING_VIEWER,
    NOTIFICATION_VIEWER, SNOWFLAKE_TEMPLATE_SNOWGIT_VIEWER, SPCS_REGISTRY_VIEWER
""")
"""The database roles of the database SNOWFLAKE that everybody holds and nobody can revoke:
https://docs.snowflake.com/en/sql-reference/sql/show-grants"""

SYSTEM_ROLES: dict[str, tuple[str, ...]] = {
    "PUBLIC": (),
    "ORGADMIN": (),
    "USERADMIN": ("CREATE ROLE", "CREATE USER"),
    "SYSADMIN": ("CREATE DATABASE", "CREATE WAREHOUSE"),
    "SECURITYADMIN": ("CREATE NETWORK POLICY", "MANAGE GRANTS"),
    "ACCOUNTADMIN": (),
}
SYSTEM_ROLES["ACCOUNTADMIN"] = tuple(sorted(ACCOUNT_PRIVILEGES.difference(*SYSTEM_ROLES.values())))
"""The roles that every account has, and what each holds beyond what it inherits."""

SYSTEM_ROLE_GRANTS = (
    ("USERADMIN", "SECURITYADMIN"),
    ("SECURITYADMIN", "ACCOUNTADMIN"),
    ("SYSADMIN", "ACCOUNTADMIN"),
)
"""Which system role is granted to which."""


@dataclass(frozen=True)
class Authority:
    """The rights of one statement.

    Attributes:
        primary: The session's primary role.
        secondary: What is active beside it, without what that inherits: secondary roles and, while those are ALL, the
            user itself and the database roles granted to it.
    """

    catalog: Catalog
    primary: int
    secondary: frozenset[int] = frozenset()

    @cached_property
    def primary_roles(self) -> frozenset[int]:
        """The primary role and all it inherits: alone these authorise CREATE."""
        return self._with_inherited(self.primary)

    @cached_property
    def roles(self) -> frozenset[int]:
        """All active roles and what they inherit."""
        return self.primary_roles.union(*map(self._with_inherited, self.secondary))

    def _with_inherited(self, role: int) -> frozenset[int]:
        """A role and all it inherits: nothing of a role that was dropped while it was active."""
        is_live = self.catalog.is_live(self.catalog[role])
        return self.catalog.inherited_roles(role) | {role} if is_live else frozenset()

    def holds(self, privilege: str, obj: CatalogObject, *, primary_only: bool = False) -> bool:
        """Whether an active role was granted the privilege or owns the object."""
        roles = self.primary_roles if primary_only else self.roles
        return obj.owner in roles or any(
            grant.to in roles and grant.privilege == privilege for grant in self.catalog.grants_on(obj)
        )

    def owns(self, obj: CatalogObject, *, primary_only: bool = False) -> bool:
        return obj.owner in (self.primary_roles if primary_only else self.roles)

    def holds_on_account(self, *privileges: str, primary_only: bool = False) -> bool:
        """Whether an active role holds one of these privileges on the account."""
        return not (self._primary_on_account if primary_only else self._on_account).isdisjoint(privileges)

    @cached_property
    def _on_account(self) -> frozenset[str]:
        return frozenset[str]().union(*map(self.catalog.held_on_account, self.roles))

    @cached_property
    def _primary_on_account(self) -> frozenset[str]:
        return frozenset[str]().union(*map(self.catalog.held_on_account, self.primary_roles))

    def touches(self, obj: CatalogObject) -> bool:
        """Whether an active role has any privilege on the object and on everything that contains it."""
        return all(
            step.owner in self.roles
            or step.id in self.roles
            or any(grant.to in self.roles for grant in self.catalog.grants_on(step))
            for step in self.catalog.lineage(obj)
            if step.parent is not None
        )

    def sees(self, obj: CatalogObject, also: Collection[str] = ()) -> bool:
        """Whether SHOW lists the object and names resolve to it.

        Args:
            also: Privileges on the account that show all objects of this kind.
        """
        return self.resolves(obj, also) or self.touches(obj)

    def resolves(self, obj: CatalogObject, also: Collection[str] = ()) -> bool:
        """Whether the object is listed whatever privileges the roles have on it."""
        return self.holds_on_account(*_RESOLVES_EVERYTHING, *also) or self._manages(obj)

    def _manages(self, obj: CatalogObject) -> bool:
        """Whether it is in a managed access schema of an active role, which decides on all grants in there."""
        schema = None if obj.parent is None else self.catalog[obj.parent]
        return schema is not None and bool(schema.properties.get("MANAGED ACCESS")) and self.owns(schema)
