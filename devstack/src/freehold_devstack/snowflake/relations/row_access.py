"""Row access policies on tables and views.

https://docs.snowflake.com/en/user-guide/security-row-intro
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Given, Part
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.relations.columns import columns_of, find_column, masked_columns, parse_column_names
from freehold_devstack.snowflake.relations.policy_rules import applicable, require_apply

ROW_ACCESS_POLICY = "ROW ACCESS POLICY"
"""Kind of the policy, and the property that holds it with the columns that it is given."""


@dataclass(frozen=True, slots=True)
class RowAccess:
    """The row access policy on a table or view.

    Attributes:
        policy: Its id; its name until the statement that sets it is executed.
        on: The columns that it is given.
    """

    policy: int | Name
    on: tuple[str, ...]


def row_access_of(relation: CatalogObject) -> RowAccess | None:
    """The row access policy on a table or view."""
    values: Any = relation.properties.get(ROW_ACCESS_POLICY)
    return None if values is None else RowAccess(values["policy"], tuple(values["on"]))


def row_access_columns(relation: CatalogObject) -> frozenset[str]:
    """The columns that the row access policy is given."""
    access = row_access_of(relation)
    return frozenset() if access is None else frozenset(access.on)


def _with_row_access(relation: CatalogObject, access: RowAccess | None) -> CatalogObject:
    values = None if access is None else asdict(access)
    return replace(relation, properties={**relation.properties, ROW_ACCESS_POLICY: values})


def with_renamed_arguments(
    relation: CatalogObject, renamed: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> CatalogObject:
    """The record whose row access policy is given the same columns by their new names."""
    access = row_access_of(relation)
    return relation if access is None else _with_row_access(relation, replace(access, on=renamed(access.on)))


# --- CREATE ----------------------------------------------------------------------------------------------------------


def _parse(parser: Parser) -> RowAccess:
    policy = parser.name(parts=3)
    parser.expect("ON")
    return RowAccess(policy, parse_column_names(parser))


def _parse_clause(parser: Parser) -> Given:
    return {ROW_ACCESS_POLICY: asdict(_parse(parser))}


CLAUSES = (Part(ROW_ACCESS_POLICY, _parse_clause), Part(f"WITH {ROW_ACCESS_POLICY}", _parse_clause))
"""The clause of CREATE TABLE and CREATE VIEW."""


def protected(context: Context, relation: CatalogObject) -> CatalogObject:
    """The record of a new relation with the row access policy that its definition names, if it names one.

    Raises:
        SqlError: As `applicable`; 000904 for a column, 999999 for one that a masking policy is given.
    """
    access = row_access_of(relation)
    return relation if access is None else _protected(context, relation, access)


def _protected(context: Context, relation: CatalogObject, access: RowAccess) -> CatalogObject:
    if isinstance(access.policy, int):
        return relation
    columns = [find_column(columns_of(relation), name) for name in access.on]
    policy = applicable(context, relation, ROW_ACCESS_POLICY, access.policy, columns)
    for name in access.on:
        if name in masked_columns(relation):
            raise errors.unnumbered(f"Column '{name}' is already an argument of a masking policy.")
    return _with_row_access(relation, RowAccess(policy.id, access.on))


# --- ALTER -----------------------------------------------------------------------------------------------------------


def _parse_add(parser: Parser) -> Act:
    access = _parse(parser)

    def act(context: Context, relation: CatalogObject) -> None:
        if row_access_of(relation) is not None:
            raise errors.one_policy(relation.name, "ROW_ACCESS_POLICY")
        context.catalog.update(relation, _protected(context, relation, access))

    return act


def _parse_drop(parser: Parser) -> Act:
    """Take the rest of DROP ROW ACCESS POLICY <policy> [, ADD ROW ACCESS POLICY …]."""
    name = parser.name(parts=3)
    added = None
    if parser.accept(","):
        parser.expect("ADD", *ROW_ACCESS_POLICY.split())
        added = _parse(parser)

    def act(context: Context, relation: CatalogObject) -> None:
        policy = context.resolve_reference(ROW_ACCESS_POLICY, name, "ALTER")
        current = row_access_of(relation)
        if current is None or current.policy != policy.id:
            raise errors.unnumbered(f"Row access policy '{policy.name}' is not on '{relation.name}'.")
        relation = context.catalog.update(relation, _unprotected(context, relation, policy))
        if added is not None:
            context.catalog.update(relation, _protected(context, relation, added))

    return act


def _unprotected(context: Context, relation: CatalogObject, policy: CatalogObject) -> CatalogObject:
    require_apply(context, relation, policy)
    return _with_row_access(relation, None)


def _parse_drop_all(_parser: Parser) -> Act:
    def act(context: Context, relation: CatalogObject) -> None:
        current = row_access_of(relation)
        if current is not None and isinstance(current.policy, int):
            context.catalog.update(relation, _unprotected(context, relation, context.catalog[current.policy]))

    return act


ACTIONS = (
    Action(f"ADD {ROW_ACCESS_POLICY}", _parse_add, None),
    Action(f"DROP {ROW_ACCESS_POLICY}", _parse_drop, None),
    Action("DROP ALL ROW ACCESS POLICIES", _parse_drop_all, None),
)
"""The forms of ALTER TABLE and ALTER VIEW about row access policies."""
