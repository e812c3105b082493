"""What CLONE of a container copies besides the container: all that is in it."""

from collections.abc import Iterator
from dataclasses import replace

from freehold_devstack.snowflake.catalog import CatalogObject, Grant
from freehold_devstack.snowflake.context import Context


def clone_members(context: Context, source: CatalogObject, clone: CatalogObject) -> None:
    """Copy what is in a container, with its owners and grants; the container itself only hands on its future grants."""
    for grant in context.catalog.future_grants(source):
        context.catalog.grant(replace(grant, on=clone.id, created_on=context.now))
    copies = dict(_copy_members(context, source, clone))
    for copy in map(context.catalog.__getitem__, copies.values()):
        completed = context.types[copy.kind].copying.cloned(context, copy, copies)
        if completed is not copy:
            context.catalog.update(copy, completed)


def _copy_members(context: Context, source: CatalogObject, clone: CatalogObject) -> Iterator[tuple[int, int]]:
    """The ids of what is copied and of the copies."""
    for member in context.catalog.children(source.id):
        if not context.types[member.kind].copying.clonable(member):
            continue
        copy = replace(member, id=context.catalog.next_id, parent=clone.id, created_on=context.now)
        context.catalog.add(copy)
        for grant in (*context.catalog.grants_on(member), *context.catalog.future_grants(member)):
            context.catalog.grant(
                Grant(grant.privilege, copy.id, grant.to, grant.by, context.now, grant.grant_option, grant.future)
            )
        yield member.id, copy.id
        yield from _copy_members(context, member, copy)
