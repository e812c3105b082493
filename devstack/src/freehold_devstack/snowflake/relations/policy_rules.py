"""What setting a policy takes, be it on a column or on the whole of a table or view."""

from collections.abc import Sequence
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import data_type
from freehold_devstack.snowflake.parser import Name
from freehold_devstack.snowflake.relations.columns import Column

_INTERNAL = {"VARCHAR": "TEXT", "NUMBER": "FIXED", "FLOAT": "REAL"}
"""What the errors about policies call a type."""


def applicable(
    context: Context, relation: CatalogObject, kind: str, name: Name, columns: Sequence[Column]
) -> CatalogObject:
    """The policy of a kind and name, if the session may set it on a relation, with these columns as arguments.

    Raises:
        SqlError: 000002 on an edition without policies, 002003, 003001; 999999 for columns that don't fit.
    """
    if not context.enabled(kind):
        raise errors.unsupported(kind)
    policy = context.resolve_reference(kind, name, "ALTER")
    require_apply(context, relation, policy)
    _check_arguments(policy, columns)
    return policy


def require_apply(context: Context, relation: CatalogObject, policy: CatalogObject) -> None:
    """Refuse who may neither apply all policies of the kind nor this one to what is their own.

    Raises:
        SqlError: 003001.
    """
    if not context.authority.holds_on_account(f"APPLY {policy.kind}"):
        context.require("APPLY", policy)
        context.require(OWNERSHIP, relation)


def _check_arguments(policy: CatalogObject, columns: Sequence[Column]) -> None:
    arguments: Any = policy.properties["ARGUMENTS"]
    if len(arguments) != len(columns):
        raise errors.unnumbered(f"{policy.kind.capitalize()} '{policy.name}' takes {len(arguments)} argument(s).")
    for argument, column in zip(arguments, columns, strict=True):
        wanted = data_type(argument["type"]).base
        if wanted != column.type.base:
            raise errors.unnumbered(
                f"COLUMN data type {column.type} does not match with {policy.kind.lower()} data type "
                f"{_INTERNAL.get(wanted, wanted)}."
            )
