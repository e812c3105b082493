"""MASKING POLICY: https://docs.snowflake.com/en/sql-reference/sql/create-masking-policy and the pages beside it."""

from freehold_devstack.snowflake import errors, policy_references
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import data_type
from freehold_devstack.snowflake.functions import register
from freehold_devstack.snowflake.grammar import REFUSED, Property
from freehold_devstack.snowflake.policies import RETURNS, arguments_of, check_unused, policy_type, settled
from freehold_devstack.snowflake.values import Boolean

_EXEMPT = "EXEMPT_OTHER_POLICIES"


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """A policy masks a value with one of the same type; what it exempts is settled while it masks nothing."""
    masked = arguments_of(draft)[0].type
    if masked is None or masked.base != data_type(str(draft.properties[RETURNS])).base:
        raise errors.unnumbered("Masking policy function argument and return type mismatch.")
    old = context.catalog.get(draft.id)
    if old is not None and old.properties[_EXEMPT] != draft.properties[_EXEMPT]:
        check_unused(context, old)
    return settled(context, draft, given)


def _options(_context: Context, policy: CatalogObject) -> Scalar:
    return '{"EXEMPT_OTHER_POLICIES": "TRUE"}' if policy.properties[_EXEMPT] else ""


register(policy_references.FUNCTION)

TYPE = policy_type(
    "MASKING POLICY",
    settle=_settle,
    properties=(Property(_EXEMPT, Boolean(), False, unset=REFUSED, only="CREATE"),),
    options=_options,
)
