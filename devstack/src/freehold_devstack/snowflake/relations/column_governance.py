"""Masking policies and tags on the columns of tables and views.

https://docs.snowflake.com/en/user-guide/security-column-intro
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import parse_names
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.relations.columns import (
    Column,
    Masking,
    columns_of,
    find_column,
    masked_columns,
    parse_column_names,
    policy_of,
    with_columns,
)
from freehold_devstack.snowflake.relations.other_policies import PROJECTION_POLICY
from freehold_devstack.snowflake.relations.policy_rules import applicable, require_apply
from freehold_devstack.snowflake.relations.row_access import row_access_columns, with_renamed_arguments
from freehold_devstack.snowflake.tags import parse_tags, tagged, untagged

_MASKING_POLICY = "MASKING POLICY"
MAX_COLUMN_TAGS = 20
"""https://docs.snowflake.com/en/sql-reference/sql/alter-table-column"""


# --- in definitions --------------------------------------------------------------------------------------------------


def parse_attachment(parser: Parser, column: Column) -> Column | None:
    """Take what a column definition sets on the column, if it comes next: `[WITH] { MASKING POLICY … | TAG (…) }`."""
    for words in ("WITH", ""):
        if parser.accept_phrase(f"{words} {_MASKING_POLICY}"):
            return _once(column, replace(column, masking_policy=_parse_masking(parser, column.name)), "masking_policy")
        if parser.accept_phrase(f"{words} TAG ("):
            tags = parse_tags(parser)
            parser.expect(")")
            return _once(column, replace(column, tagging=tags), "tagging")
        if parser.accept_phrase(f"{words} {PROJECTION_POLICY}"):
            return _once(column, replace(column, projection_policy=parser.name(parts=3)), "projection_policy")
    return None


def _once(before: Column, after: Column, attribute: str) -> Column:
    if getattr(before, attribute):
        raise errors.duplicate_property(attribute.upper())
    return after


def _parse_masking(parser: Parser, column: str) -> Masking:
    policy = parser.name(parts=3)
    using = parse_column_names(parser) if parser.accept("USING") else (column,)
    if using[0] != column:
        raise errors.unnumbered(f"The first column of USING must be the masked column '{column}'.")
    return Masking(policy, using)


def attach(
    context: Context, relation: CatalogObject, new: Iterable[Column], columns: Sequence[Column]
) -> tuple[Column, ...]:
    """New columns with the policies and tags that their definitions name; `columns` are all of the relation."""
    attached: list[Column] = []
    for column in new:
        attached.append(_attached(context, relation, columns, column, (*columns, *attached)))
    return tuple(attached)


def _attached(
    context: Context, relation: CatalogObject, columns: Sequence[Column], column: Column, beside: Iterable[Column]
) -> Column:
    column = _projected(context, column)
    if column.masking_policy is not None:
        column = _masked(context, relation, columns, column, column.masking_policy)
    if column.tagging:
        column = replace(column, tags=_tagged(context, relation, column, beside), tagging=())
    return column


def _masked(
    context: Context, relation: CatalogObject, columns: Iterable[Column], column: Column, masking: Masking
) -> Column:
    """The column with a masking policy.

    Raises:
        SqlError: As `applicable`; 000904 for a column in USING, 999999 for one that a row access policy is given and
            for a virtual column under conditions.
    """
    if isinstance(masking.policy, int):
        return column
    using = [find_column(columns, name) for name in masking.using]
    policy = applicable(context, relation, _MASKING_POLICY, masking.policy, using)
    for name in masking.using:
        if name in row_access_columns(relation):
            raise errors.unnumbered(f"Column '{name}' is already an argument of a row access policy.")
    if column.expression is not None and len(using) > 1:
        raise errors.unnumbered(f"Virtual column '{column.name}' can't be masked under conditions.")
    return replace(column, masking_policy=Masking(policy.id, masking.using))


def _tagged(context: Context, relation: CatalogObject, column: Column, beside: Iterable[Column]) -> dict[str, str]:
    others = {tag for each in beside if each.name != column.name for tag in each.tags}
    tags = tagged(context, relation, column.tags, column.tagging, others)
    if len(tags) > MAX_COLUMN_TAGS:
        raise errors.unnumbered(f"A column can have at most {MAX_COLUMN_TAGS} tags.")
    return tags


# --- ALTER COLUMN ----------------------------------------------------------------------------------------------------

ColumnChange = Callable[[Context, CatalogObject, Column], Column]
"""What a clause of ALTER COLUMN makes of a column."""


def parse_column_governance(parser: Parser, name: str) -> ColumnChange | None:
    """Take { SET | UNSET } { MASKING POLICY | TAG } …, if one comes next."""
    if parser.accept("SET", "MASKING", "POLICY"):
        return _set_masking(_parse_masking(parser, name), force=parser.accept("FORCE"))
    if parser.accept("UNSET", "MASKING", "POLICY"):
        return _unset_masking
    if parser.accept("SET", "TAG"):
        tags = parse_tags(parser)
        return lambda context, relation, column: replace(
            column, tags=_tagged(context, relation, replace(column, tagging=tags), columns_of(relation))
        )
    if parser.accept("UNSET", "TAG"):
        names = parse_names(parser)
        return lambda context, relation, column: replace(column, tags=untagged(context, relation, column.tags, names))
    if parser.accept_phrase(f"SET {PROJECTION_POLICY}"):
        policy = parser.name(parts=3)
        parser.accept("FORCE")
        return lambda context, _, column: _projected(context, replace(column, projection_policy=policy))
    if parser.accept_phrase(f"UNSET {PROJECTION_POLICY}"):
        return _unset_projection
    return None


def _projected(context: Context, column: Column) -> Column:
    """Refuse with 002003 the projection policy that a definition names."""
    if column.projection_policy:
        context.resolve_reference(PROJECTION_POLICY, column.projection_policy, "CREATE")
    return column


def _unset_projection(_context: Context, _relation: CatalogObject, column: Column) -> Column:
    raise errors.unnumbered(f"Column '{column.name}' has no projection policy.")


def _set_masking(masking: Masking, *, force: bool) -> ColumnChange:
    def change(context: Context, relation: CatalogObject, column: Column) -> Column:
        if column.masking_policy is not None and not force:
            raise errors.masked_already()
        return _masked(context, relation, columns_of(relation), column, masking)

    return change


def _unset_masking(context: Context, relation: CatalogObject, column: Column) -> Column:
    policy = policy_of(context, column)
    if policy is None:
        raise errors.unnumbered(f"Column '{column.name}' has no masking policy.")
    require_apply(context, relation, policy)
    return replace(column, masking_policy=None)


# --- what policies use -----------------------------------------------------------------------------------------------


def columns_of_policies(relation: CatalogObject) -> frozenset[str]:
    """The columns that a masking policy or the row access policy is given."""
    return masked_columns(relation) | row_access_columns(relation)


def renamed_in_policies(
    relation: CatalogObject, renamed: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> CatalogObject:
    """The record whose policies are given the same columns by their new names."""
    columns = [
        column
        if (masking := column.masking_policy) is None
        else replace(column, masking_policy=replace(masking, using=renamed(masking.using)))
        for column in columns_of(relation)
    ]
    return with_renamed_arguments(with_columns(relation, columns), renamed)
