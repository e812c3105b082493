"""ROW ACCESS POLICY: https://docs.snowflake.com/en/sql-reference/sql/create-row-access-policy and its neighbours."""

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.policies import RETURNS, policy_type, settled


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """A policy says of each row whether it is shown."""
    returns = draft.properties[RETURNS]
    if returns != "BOOLEAN":
        raise errors.unnumbered(f"Row access policy return type '{returns}' is not BOOLEAN.")
    return settled(context, draft, given)


TYPE = policy_type("ROW ACCESS POLICY", settle=_settle)
