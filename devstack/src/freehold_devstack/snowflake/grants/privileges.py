"""Privileges: their words, what can be granted on which object, and who may grant it in whose name."""

from collections.abc import Collection, Iterable

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import ACCOUNT_PRIVILEGES, OWNERSHIP, RESERVED_TO_ACCOUNTADMIN
from freehold_devstack.snowflake.catalog import ACCOUNT_ID, CatalogObject, Grant
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants.grantees import DATABASE_ROLE, ROLE, SHARE, USER
from freehold_devstack.snowflake.grants.securables import Existing, FutureObjects
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Parser

IMPORTED = "IMPORTED PRIVILEGES"
REFERENCE_USAGE = "REFERENCE_USAGE"
READ, WRITE, USAGE = "READ", "WRITE", "USAGE"

_RENAMED = {"CREATE DATA EXCHANGE LISTING": "CREATE LISTING"}


def parse_privileges(parser: Parser, types: Types) -> list[str]:
    """Take the list before ON; ALL is the empty list.

    Raises:
        SqlError: 001003 at the first word of what is no privilege, 999999 for OWNERSHIP beside another one.
    """
    if parser.accept("ALL"):
        parser.accept("PRIVILEGES")
        return []
    listed = parser.list_of(lambda: parser.choose_any(types.grantable))
    privileges = [_RENAMED.get(words, words) for words in listed]
    if OWNERSHIP in privileges and len(privileges) > 1:
        raise errors.unnumbered("Cannot specify OWNERSHIP in privilege list.", family="")
    return privileges


def check_kind(privileges: Iterable[str], securable: Existing | FutureObjects) -> None:
    """Refuse with 003008 a privilege that the kind of object does not have."""
    is_policy = securable.kind.endswith("_POLICY") and securable.kind != "NETWORK_POLICY"
    kind = "POLICY" if is_policy else securable.kind
    for privilege in privileges:
        special = securable.kind == "DATABASE" and privilege in {IMPORTED, REFERENCE_USAGE}
        if privilege not in securable.privileges and not special:
            raise errors.wrong_privilege(kind, privilege)


def grantable(context: Context, obj: CatalogObject) -> frozenset[str]:
    """What can be granted on this very object besides OWNERSHIP: what ALL stands for."""
    if obj.id == ACCOUNT_ID:
        return ACCOUNT_PRIVILEGES
    privileges = context.types[obj.kind].rights.grantable
    if obj.kind != "STAGE":
        return privileges
    return privileges - ({READ, WRITE} if obj.properties.get("URL") else {USAGE})


def check_stage(context: Context, obj: CatalogObject, privileges: Iterable[str]) -> None:
    """Refuse with 003038 what the kind of stage does not have."""
    for privilege in privileges:
        if obj.kind == "STAGE" and privilege not in grantable(context, obj):
            raise errors.stage_privilege(privilege, "external" if obj.properties.get("URL") else "internal")


def check_grantee(context: Context, obj: CatalogObject, grantee: CatalogObject, privileges: Collection[str]) -> None:
    """Refuse what this kind of grantee can't be granted.

    https://docs.snowflake.com/en/sql-reference/sql/grant-privilege, grant-privilege-user
    """
    if grantee.kind == DATABASE_ROLE and grantee.parent not in {step.id for step in context.catalog.lineage(obj)}:
        raise errors.unnumbered(
            f"Database role '{context.print_path(grantee)}' can only be granted privileges on its database and the "
            "objects in it."
        )
    if REFERENCE_USAGE in privileges and grantee.kind != SHARE:
        raise errors.unnumbered(f"Privilege '{REFERENCE_USAGE}' can only be granted to a share.")
    if grantee.kind != USER:
        return
    if context.parameter(context.catalog.account, "DISABLE_USER_PRIVILEGE_GRANTS").value:
        raise errors.unnumbered("Granting privileges to users is disabled in this account.")
    for privilege in privileges:
        if is_reserved_to_roles(privilege):
            raise errors.unnumbered(f"Privilege '{privilege}' can't be granted to a user.")


def is_reserved_to_roles(privilege: str) -> bool:
    """Whether a user can't be granted it."""
    return privilege.split(maxsplit=1)[0] in {"CREATE", OWNERSHIP}


# --- who may grant ---------------------------------------------------------------------------------------------------


def managed_schema(context: Context, obj: CatalogObject) -> CatalogObject | None:
    """The managed access schema that the object is in, whose owner decides instead of the object's."""
    schema = None if obj.parent is None else context.catalog[obj.parent]
    return schema if schema is not None and schema.properties.get("MANAGED ACCESS") else None


def manages_grants(context: Context) -> bool:
    return context.authority.holds_on_account("MANAGE GRANTS")


def represented(context: Context, obj: CatalogObject) -> int:
    """In whose name MANAGE GRANTS grants on an object: its owner's, ACCOUNTADMIN's for what is the system's."""
    if obj.owner is not None:
        return obj.owner
    accountadmin = context.catalog.find(ROLE, "ACCOUNTADMIN")
    if accountadmin is None:
        raise context.missing(ROLE, "ACCOUNTADMIN")
    return accountadmin.id


def grantor(context: Context, obj: CatalogObject, privilege: str) -> int | None:
    """The role that is recorded as having granted the privilege; None when the session may not grant it.

    https://docs.snowflake.com/en/sql-reference/sql/show-grants#usage-notes
    """
    authority, schema = context.authority, managed_schema(context, obj)
    if obj.id == ACCOUNT_ID and privilege in RESERVED_TO_ACCOUNTADMIN:
        return represented(context, obj) if context.has_role("ACCOUNTADMIN") else None
    if schema is not None and authority.owns(schema):
        return schema.owner
    if schema is None and authority.owns(obj):
        return obj.owner
    if schema is None:
        for grant in context.catalog.grants_on(obj):
            if grant.privilege == privilege and grant.grant_option and grant.to in authority.roles:
                return grant.to
    return represented(context, obj) if manages_grants(context) else None


def revocable(context: Context, obj: CatalogObject, instances: Iterable[Grant]) -> list[Grant]:
    """Those instances that the session may take away: its own roles', all with MANAGE GRANTS, never the system's."""
    schema = managed_schema(context, obj)
    all_of_them = manages_grants(context) or (schema is not None and context.authority.owns(schema))
    return [
        grant
        for grant in instances
        if grant.by is not None and (all_of_them or (schema is None and grant.by in context.authority.roles))
    ]
