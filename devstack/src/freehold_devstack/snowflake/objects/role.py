"""ROLE: https://docs.snowflake.com/en/sql-reference/sql/create-role and the pages beside it."""

from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.object_type import ObjectType, Property, Show, ShowColumn
from freehold_devstack.snowflake.results import number, text, timestamp
from freehold_devstack.snowflake.show import stored
from freehold_devstack.snowflake.values import Text


def _dropping(context: Context, role: CatalogObject) -> None:
    """What the role owns falls to the role that drops it; what was granted to it, of it and by it is gone."""
    if role.id == context.session.role:
        name = context.print_path(role)
        message = f"{errors.EXECUTION}Cannot drop role {name} as it is the current primary role."
        raise SqlError(errors.UNKNOWN_NUMBER, errors.UNKNOWN_SQLSTATE, message)
    catalog = context.catalog
    for owned in catalog.owned_by(role.id):
        catalog.update(owned, replace(owned, owner=context.session.role))
    for grant in {*catalog.grants_to(role.id), *catalog.grants_on(role), *catalog.grants_by(role.id)}:
        catalog.revoke(grant)


def _is_default(context: Context, role: CatalogObject) -> Scalar:
    user = context.session.user
    return "Y" if user is not None and context.catalog[user].properties["DEFAULT_ROLE"] == role.name else "N"


def _is_inherited(context: Context, role: CatalogObject) -> Scalar:
    return "Y" if role.id in context.catalog.inherited_roles(context.session.role) else "N"


def _holders(context: Context, role: CatalogObject, kind: str) -> Scalar:
    """How many users or roles the role is granted to."""
    return len({grant.to for grant in context.catalog.grants_on(role) if context.catalog[grant.to].kind == kind})


_COLUMNS = (
    ShowColumn(timestamp("created_on"), lambda _, obj: obj.created_on),
    ShowColumn(text("name"), lambda _, obj: obj.name),
    ShowColumn(text("is_default"), _is_default),
    ShowColumn(text("is_current"), lambda context, obj: "Y" if context.is_current(obj) else "N"),
    ShowColumn(text("is_inherited"), _is_inherited),
    ShowColumn(number("assigned_to_users"), lambda context, obj: _holders(context, obj, "USER")),
    ShowColumn(number("granted_to_roles"), lambda context, obj: _holders(context, obj, "ROLE")),
    ShowColumn(number("granted_roles"), lambda context, obj: len(set(context.catalog.granted_roles(obj.id)))),
    ShowColumn(text("owner"), lambda context, obj: context.owner_name(obj)),
    ShowColumn(text("comment"), stored("COMMENT")),
)

TYPE = ObjectType(
    kind="ROLE",
    plural="ROLES",
    properties=(Property("COMMENT", Text(), default="", unset=""),),
    show=Show(_COLUMNS, starts_with=True, limit=True),
    or_alter=True,
    visible_with=("MONITOR ROLE",),
    dropping=_dropping,
)
