"""How grants are added to the catalog and taken out of it again, with what depends on them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from freehold_devstack.snowflake.catalog import CatalogObject, Grant, GrantKey
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants.privileges import managed_schema


def add(context: Context, grant: Grant) -> None:
    """Store a grant; one that is there already at most gains the grant option."""
    known = context.catalog.get_grant(grant.key)
    if known is None:
        context.catalog.grant(grant)
    elif grant.grant_option and not known.grant_option:
        context.catalog.grant(replace(known, grant_option=True))


@dataclass
class Outcome:
    """How many grants a REVOKE took away or weakened, and how many it left because others depend on them."""

    revoked: int = 0
    skipped: int = 0


def take(
    context: Context, obj: CatalogObject, instances: Iterable[Grant], *, option_only: bool, cascade: bool
) -> Outcome:
    """Take grants, or just their grant option, away.

    Args:
        cascade: Whether what the grantees granted on goes too; otherwise such grants stay and are counted.
    """
    outcome = Outcome()
    for grant in instances:
        if context.catalog.get_grant(grant.key) is None or (option_only and not grant.grant_option):
            continue
        dependents = _dependents(context, obj, grant)
        if dependents and not cascade:
            outcome.skipped += 1
            continue
        _take_all(context, obj, dependents, frozenset({grant.key}))
        if option_only:
            context.catalog.grant(replace(grant, grant_option=False))
        else:
            context.catalog.revoke(grant)
        outcome.revoked += 1
    return outcome


def _take_all(context: Context, obj: CatalogObject, grants: Iterable[Grant], taking: frozenset[GrantKey]) -> None:
    """Take grants and what depends on them, but for those that are being taken: roles may grant to each other."""
    for grant in grants:
        if grant.key not in taking and context.catalog.get_grant(grant.key) is not None:
            _take_all(context, obj, _dependents(context, obj, grant), taking | {grant.key})
            context.catalog.revoke(grant)


def _dependents(context: Context, obj: CatalogObject, grant: Grant) -> list[Grant]:
    """What the grantee granted on by this grant alone: none while it decides anyway or has another one's option."""
    schema = managed_schema(context, obj)
    if not grant.grant_option or grant.to == (obj if schema is None else schema).owner:
        return []
    same = [other for other in context.catalog.grants_on(obj) if other.privilege == grant.privilege]
    if any(other.to == grant.to and other.grant_option and other.key != grant.key for other in same):
        return []
    return [other for other in same if other.by == grant.to]


def forget(context: Context, principal: CatalogObject) -> None:
    """Take away all that was granted to a role, user or share, of it and by it, future grants included."""
    catalog = context.catalog
    to = (*catalog.grants_to(principal.id), *catalog.future_grants_to(principal.id))
    for grant in {*to, *catalog.grants_on(principal), *catalog.grants_by(principal.id)}:
        catalog.revoke(grant)


def inherit(context: Context, role: CatalogObject) -> None:
    """Give what a role owns to the session's role, as the DROP of the role does."""
    for owned in context.catalog.owned_by(role.id):
        context.catalog.update(owned, replace(owned, owner=context.session.role))
