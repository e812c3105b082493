"""What can be granted to a share, and in which order.

https://docs.snowflake.com/en/sql-reference/sql/grant-privilege-share, grant-database-role-share
"""

from collections.abc import Mapping, Sequence

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants.grantees import DATABASE_ROLE, SHARE
from freehold_devstack.snowflake.grants.privileges import REFERENCE_USAGE, USAGE, manages_grants
from freehold_devstack.snowflake.grants.securables import AllObjects, Existing

ORIGIN = "ORIGIN"
"""Property of a database: the share that it was made from, as ORGANIZATION.ACCOUNT.SHARE."""

_SHAREABLE: Mapping[str, frozenset[str]] = {
    "DATABASE": frozenset({USAGE, REFERENCE_USAGE}),
    "SCHEMA": frozenset({USAGE}),
    "FUNCTION": frozenset({USAGE}),
    "TABLE": frozenset({"EVOLVE SCHEMA", "SELECT"}),
    "VIEW": frozenset({"SELECT"}),
    "TAG": frozenset({"READ"}),
}

_READ_ONLY = frozenset({USAGE, "SELECT", "REFERENCES", "READ"})
"""What a database role in a share may hold."""


def check_form(context: Context, share: CatalogObject, securable: Existing, privileges: Sequence[str]) -> None:
    """Refuse what no GRANT to a share can say, whatever the objects are.

    Raises:
        SqlError: 003102 without rights on the share, 003111 for a bulk form, 999999 for ALL.
    """
    if not (context.authority.owns(share) or manages_grants(context)):
        raise errors.grant_refused()
    if not privileges:
        raise errors.unnumbered("ALL PRIVILEGES can't be granted to a share.")
    if not isinstance(securable, AllObjects):
        return
    in_bulk = securable.kind == "TABLE" or (securable.kind == "VIEW" and not share.properties["SECURE_OBJECTS_ONLY"])
    if not in_bulk or securable.scope.object_type.kind != "SCHEMA" or list(privileges) != ["SELECT"]:
        raise errors.bulk_restricted("grant", securable.kind, SHARE)


def check(context: Context, share: CatalogObject, obj: CatalogObject, privilege: str) -> None:
    """Refuse a privilege on an object that can't go into the share, or not yet."""
    if privilege not in _SHAREABLE.get(obj.kind, frozenset()):
        raise errors.unnumbered(f"Privilege '{privilege}' on {obj.kind} can't be granted to a share.")
    if privilege == REFERENCE_USAGE:
        if shared_database(context, share) is None:
            raise errors.reference_before_usage(obj.name, share.name)
        return
    check_database(context, share, obj)
    must_be_secure = obj.kind == "FUNCTION" or (obj.kind == "VIEW" and share.properties["SECURE_OBJECTS_ONLY"])
    if must_be_secure and not is_secure(obj):
        raise errors.not_secure()
    if obj.kind not in {"DATABASE", "SCHEMA"} and not _is_in(context, share, context.catalog[obj.parent or 0]):
        raise errors.unnumbered(f"USAGE on its schema must be granted to share '{share.name}' first.")


def is_secure(obj: CatalogObject) -> bool:
    return bool(obj.properties.get("SECURE"))


def shared_database(context: Context, share: CatalogObject) -> CatalogObject | None:
    """The one database that the share has USAGE on."""
    granted = (context.catalog[grant.on] for grant in context.catalog.grants_to(share.id) if grant.privilege == USAGE)
    return next((obj for obj in granted if obj.kind == "DATABASE" and context.catalog.is_live(obj)), None)


def check_database(context: Context, share: CatalogObject, obj: CatalogObject) -> None:
    """Refuse an object of another database than the share's; the first database comes before all that is in it."""
    database = shared_database(context, share)
    own = next(step for step in context.catalog.lineage(obj) if step.kind == "DATABASE")
    if database is None and obj.kind != "DATABASE":
        raise errors.share_without_database(share.name)
    if database is not None and database.id != own.id:
        raise errors.other_database_shared(obj.kind, context.print_path(obj))


def withdraw(context: Context, share: CatalogObject, database: CatalogObject) -> None:
    """Take everything out of the share that is in a database."""
    for grant in context.catalog.grants_to(share.id):
        if database.id in {step.id for step in context.catalog.lineage(context.catalog[grant.on])}:
            context.catalog.revoke(grant)


def check_role(context: Context, share: CatalogObject, role: CatalogObject) -> None:
    """Refuse a database role that can't go into the share."""
    if not (context.authority.owns(share) or manages_grants(context)):
        raise errors.grant_refused()
    check_database(context, share, role)
    if context.catalog.future_grants_to(role.id):
        raise errors.unnumbered("Cannot share a database role with future grants to it.")
    if any(context.catalog[held].kind == DATABASE_ROLE for held in context.catalog.granted_roles(role.id)):
        raise errors.unnumbered("Cannot share a database role that another database role is granted to.")
    for grant in context.catalog.grants_to(role.id):
        _check_role_privilege(share, context.catalog[grant.on], grant.privilege)


def _check_role_privilege(share: CatalogObject, obj: CatalogObject, privilege: str) -> None:
    name = f"privilege '{privilege}' on {obj.kind.capitalize()} '{obj.name}'"
    if privilege not in _READ_ONLY:
        raise errors.unnumbered(f"Cannot share a database role that is granted {name}.")
    if obj.kind == "VIEW" and not is_secure(obj) and share.properties["SECURE_OBJECTS_ONLY"]:
        raise errors.unnumbered(f"Cannot share a database role that is granted {name}:\n{errors.NOT_SECURE}")


def is_imported(obj: CatalogObject) -> bool:
    """Whether it is a database that was made from another account's share."""
    return bool(obj.properties.get(ORIGIN))


def is_shared(context: Context, database: CatalogObject) -> bool:
    """Whether a database is in a share, or was made from another account's."""
    holders = (context.catalog[grant.to] for grant in context.catalog.grants_on(database))
    return is_imported(database) or any(holder.kind == SHARE for holder in holders)


def is_in_a_share(context: Context, role: CatalogObject) -> bool:
    """Whether a database role is granted to a share."""
    return any(context.catalog[grant.to].kind == SHARE for grant in context.catalog.grants_on(role))


def _is_in(context: Context, share: CatalogObject, obj: CatalogObject) -> bool:
    return any(grant.to == share.id and grant.privilege == USAGE for grant in context.catalog.grants_on(obj))
