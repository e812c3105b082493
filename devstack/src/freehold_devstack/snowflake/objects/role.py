"""ROLE: https://docs.snowflake.com/en/sql-reference/sql/create-role and the pages beside it."""

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Property
from freehold_devstack.snowflake.grants import records, shares
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.results import boolean, number, text
from freehold_devstack.snowflake.show_columns import COMMENT, CREATED_ON, NAME, OWNER
from freehold_devstack.snowflake.values import Text


def _dropping(context: Context, role: CatalogObject) -> None:
    """What the role owns falls to the role that drops it; what was granted to it, of it and by it is gone."""
    name = context.print_path(role)
    if role.id == context.session.role:
        raise errors.unnumbered(f"Cannot drop role {name} as it is the current primary role.", family=errors.EXECUTION)
    for owned in context.catalog.owned_by(role.id):
        if owned.kind == "DATABASE" and shares.is_shared(context, owned):
            raise errors.unnumbered(f"Cannot drop role {name} as it owns the shared database {owned.name}.")
    records.inherit(context, role)
    records.forget(context, role)


def _is_default(context: Context, role: CatalogObject) -> Scalar:
    user = context.session.user
    return "Y" if user is not None and context.catalog[user].properties.get("DEFAULT_ROLE") == role.name else "N"


def is_inherited(context: Context, role: CatalogObject) -> Scalar:
    """Whether the session's primary role holds the role."""
    return "Y" if role.id in context.catalog.inherited_roles(context.session.role) else "N"


def holders(context: Context, role: CatalogObject, kind: str) -> Scalar:
    """To how many of a kind the role is granted."""
    return len({grant.to for grant in context.catalog.grants_on(role) if context.catalog[grant.to].kind == kind})


_COLUMNS = (
    CREATED_ON,
    NAME,
    ShowColumn(text("is_default"), _is_default),
    ShowColumn(text("is_current"), lambda context, obj: "Y" if context.is_current(obj) else "N"),
    ShowColumn(text("is_inherited"), is_inherited),
    ShowColumn(number("assigned_to_users"), lambda context, obj: holders(context, obj, "USER")),
    ShowColumn(number("granted_to_roles"), lambda context, obj: holders(context, obj, "ROLE")),
    ShowColumn(number("granted_roles"), lambda context, obj: len(set(context.catalog.granted_roles(obj.id)))),
    OWNER,
    COMMENT,
)

_TERSE = (*_COLUMNS[:5], ShowColumn(boolean("is_from_organization_user_group"), lambda *_: False))

TYPE = ObjectType(
    kind="ROLE",
    plural="ROLES",
    properties=(Property("COMMENT", Text(), default="", unset=""),),
    show=Show(_COLUMNS, terse=_TERSE, starts_with=True, limit=True),
    or_alter=True,
    rights=Rights(
        visible_with=("MONITOR ROLE",),
    ),
    lifecycle=Lifecycle(
        dropping=_dropping,
    ),
)
