"""Policies that the account and its users may have and that can't be made here, so that there is none to attach."""

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.parser import Name

KINDS = ("AUTHENTICATION POLICY", "PASSWORD POLICY", "SESSION POLICY")


def attach(context: Context, holder: CatalogObject, kind: str, name: Name) -> None:
    """SET <kind> <name> [FORCE].

    Raises:
        SqlError: 003001 without the right to apply such policies, 002003 for a policy that is missing.
    """
    if not context.authority.owns(holder):
        context.require(f"APPLY {kind}", context.catalog.account)
    context.resolve_reference(kind, name, "ALTER")
    raise errors.unsupported(f"{kind} on {holder.kind}")


def detach(context: Context, holder: CatalogObject, kind: str) -> None:
    """UNSET <kind>.

    Raises:
        SqlError: 003001 as `attach`; 999999 as there is nothing to take away.
    """
    if not context.authority.owns(holder):
        context.require(f"APPLY {kind}", context.catalog.account)
    raise errors.unnumbered(f"Any policy of kind {kind.replace(' ', '_')} is not attached to {holder.kind}.")
