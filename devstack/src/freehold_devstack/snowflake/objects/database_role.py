"""DATABASE ROLE: https://docs.snowflake.com/en/sql-reference/sql/create-database-role and the pages beside it."""

from collections.abc import Mapping
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Grant, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Property
from freehold_devstack.snowflake.grants import records
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.objects.role import holders, is_inherited
from freehold_devstack.snowflake.results import number, text
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
)
from freehold_devstack.snowflake.values import Text


def _created(context: Context, role: CatalogObject) -> None:
    """It may use its database from the start, which nobody can take away."""
    if role.parent is not None:
        context.catalog.grant(Grant("USAGE", role.parent, role.id, None, context.now))


def _dropping(context: Context, role: CatalogObject) -> None:
    """What it owns falls to the role that drops it; a role with future grants takes MANAGE GRANTS to drop."""
    catalog = context.catalog
    made = (grant for grant in catalog.grants_by(role.id) if grant.future is not None)
    if any((*catalog.future_grants_to(role.id), *made)) and not context.authority.holds_on_account("MANAGE GRANTS"):
        raise errors.unnumbered(
            f"Database role '{context.print_path(role)}' has future grants: dropping it takes MANAGE GRANTS."
        )
    records.inherit(context, role)
    records.forget(context, role)


def _cloned(context: Context, role: CatalogObject, copies: Mapping[int, int]) -> CatalogObject:
    """In the copy of a database its own roles hold and own what the original's do there."""
    _created(context, role)
    original = next(old for old, new in copies.items() if new == role.id)
    catalog = context.catalog
    for obj in map(catalog.__getitem__, (*copies.values(), *([] if role.parent is None else [role.parent]))):
        for grant in (*catalog.grants_on(obj), *catalog.future_grants(obj)):
            if grant.to == original:
                catalog.revoke(grant)
                catalog.grant(replace(grant, to=role.id))
        if obj.owner == original:
            catalog.update(obj, replace(obj, owner=role.id))
    return catalog[role.id]


def _database_roles(context: Context, role: CatalogObject) -> Scalar:
    """How many database roles are granted to it."""
    return len(set(context.catalog.granted_roles(role.id)))


_COLUMNS = (
    CREATED_ON,
    NAME,
    ShowColumn(text("is_default"), lambda *_: "N"),
    ShowColumn(text("is_current"), lambda *_: "N"),
    ShowColumn(text("is_inherited"), is_inherited),
    ShowColumn(number("granted_to_roles"), lambda context, obj: holders(context, obj, "ROLE")),
    ShowColumn(number("granted_to_database_roles"), lambda context, obj: holders(context, obj, "DATABASE ROLE")),
    ShowColumn(number("granted_database_roles"), _database_roles),
    OWNER,
    COMMENT,
    OWNER_ROLE_TYPE,
)

TYPE = ObjectType(
    kind="DATABASE ROLE",
    plural="DATABASE ROLES",
    container="DATABASE",
    title="Role",
    qualified=True,
    properties=(Property("COMMENT", Text(), default="", unset=""),),
    show=Show(_COLUMNS, required=True, limit=True),
    or_alter=True,
    moves=False,
    tagged_at_creation=False,
    copying=Copying(
        clone="OWNERSHIP",
        cloned=_cloned,
    ),
    rights=Rights(
        # Whoever has any right on the database may list its roles.
        shown_when=lambda *_: True,
    ),
    lifecycle=Lifecycle(
        created=_created,
        dropping=_dropping,
    ),
)
