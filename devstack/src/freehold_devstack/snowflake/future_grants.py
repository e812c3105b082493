"""What new objects are granted by the future grants of the containers that they are made in."""

from dataclasses import replace

from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Grant
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants.privileges import grantable, managed_schema


def apply(context: Context, obj: CatalogObject) -> CatalogObject:
    """Give a new object its owner and its grants by the future grants in force; the record as it is then.

    https://docs.snowflake.com/en/sql-reference/sql/grant-privilege#future-grants-on-database-or-schema-objects
    """
    grants = _in_force(context, obj)
    owner = next((grant.to for grant in grants if grant.privilege == OWNERSHIP), obj.owner)
    if owner != obj.owner:
        obj = context.catalog.update(obj, replace(obj, owner=owner))
    for grant in grants:
        if grant.privilege != OWNERSHIP and grant.privilege in grantable(context, obj):
            context.catalog.grant(
                Grant(grant.privilege, obj.id, grant.to, obj.owner, context.now, grant_option=grant.grant_option)
            )
    return obj


def _in_force(context: Context, obj: CatalogObject) -> list[Grant]:
    """Those of the nearest container that has any for the kind: they shut out those of the database altogether."""
    for container in list(context.catalog.lineage(obj))[1:]:
        grants = [grant for grant in context.catalog.future_grants(container) if grant.future == obj.kind]
        if container.id != obj.parent and managed_schema(context, obj) is not None:
            grants = [grant for grant in grants if grant.privilege != OWNERSHIP]
        if grants:
            return grants
    return []
