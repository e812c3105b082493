"""Masking policies and tags on the columns, and row access policies on the whole, of tables and views."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType, data_type
from freehold_devstack.snowflake.ddl import parse_names
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.grammar import Act, Action, Given, Part
from freehold_devstack.snowflake.parser import Name, Parser, phrases
from freehold_devstack.snowflake.relations.columns import (
    Column,
    Masking,
    columns_of,
    find_column,
    policy_of,
    with_columns,
)
from freehold_devstack.snowflake.tags import parse_tags, tagged, untagged

MASKING_POLICY = "MASKING POLICY"
ROW_ACCESS_POLICY = "ROW ACCESS POLICY"
"""Kind of the policy, and the property that holds it with the columns that it is given."""

_NOT_BUILT = phrases("AGGREGATION POLICY, JOIN POLICY, PROJECTION POLICY, STORAGE LIFECYCLE POLICY, CONTACT")
MAX_COLUMN_TAGS = 20
"""https://docs.snowflake.com/en/sql-reference/sql/alter-table-column"""


def parse_columns(parser: Parser) -> tuple[str, ...]:
    """Take `(column [, …])`.

    Raises:
        SqlError: 001003 for anything else, 002025 for a column that is named twice.
    """
    parser.expect("(")
    columns: list[str] = []
    while not columns or parser.accept(","):
        column = parser.identifier()
        if column in columns:
            raise errors.duplicate_column(column)
        columns.append(column)
    parser.expect(")")
    return tuple(columns)


# --- policies in common ----------------------------------------------------------------------------------------------


def _applicable(context: Context, relation: CatalogObject, kind: str, name: Name) -> CatalogObject:
    """The policy, if the session may set it on this relation.

    Raises:
        SqlError: 000002 on an edition without policies, 002003, 003001.
    """
    if not context.enabled(kind):
        raise errors.unsupported(kind)
    policy = context.resolve_reference(kind, name, "ALTER")
    _require_apply(context, relation, policy)
    return policy


def _require_apply(context: Context, relation: CatalogObject, policy: CatalogObject) -> None:
    if not context.authority.holds_on_account(f"APPLY {policy.kind}"):
        context.require("APPLY", policy)
        context.require(OWNERSHIP, relation)


def _check_arguments(
    policy: CatalogObject, columns: Sequence[Column], mismatch: Callable[[Column, str], SqlError]
) -> None:
    """Refuse columns that a policy's arguments don't take."""
    arguments: Any = policy.properties["ARGUMENTS"]
    if len(arguments) != len(columns):
        raise errors.unnumbered(f"{policy.kind.capitalize()} '{policy.name}' takes {len(arguments)} argument(s).")
    for argument, column in zip(arguments, columns, strict=True):
        wanted = data_type(argument["type"])
        if wanted.base != column.type.base:
            raise mismatch(column, _internal(wanted))


def _internal(wanted: DataType) -> str:
    """What the errors about policies call a type."""
    return {"VARCHAR": "TEXT", "NUMBER": "FIXED", "FLOAT": "REAL"}.get(wanted.base, wanted.base)


# --- masking policies and tags on columns ----------------------------------------------------------------------------


def parse_attachment(parser: Parser, column: Column) -> Column | None:
    """Take what a column definition sets on the column, if it comes next: a masking policy or tags."""
    for words in ("WITH", ""):
        if parser.accept(*words.split(), "MASKING", "POLICY"):
            return _once(column, replace(column, masking_policy=_parse_masking(parser, column.name)), "masking_policy")
        if parser.accept(*words.split(), "TAG", "("):
            tags = parse_tags(parser)
            parser.expect(")")
            return _once(column, replace(column, tagging=tags), "tagging")
        for policy in _NOT_BUILT:
            if parser.accept(*words.split(), *policy.split()):
                raise errors.unsupported(policy)
    return None


def _once(before: Column, after: Column, attribute: str) -> Column:
    if getattr(before, attribute):
        raise errors.duplicate_property(attribute.upper())
    return after


def _parse_masking(parser: Parser, column: str) -> Masking:
    policy = parser.name(parts=3)
    using = parse_columns(parser) if parser.accept("USING") else (column,)
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
    if column.masking_policy is not None:
        column = masked(context, relation, columns, column, column.masking_policy)
    if column.tagging:
        column = replace(column, tags=_tagged(context, relation, column, beside), tagging=())
    return column


def masked(
    context: Context, relation: CatalogObject, columns: Iterable[Column], column: Column, masking: Masking
) -> Column:
    """The column with a masking policy.

    Raises:
        SqlError: As `_applicable`; 000904 for a column in USING, 999999 for one that doesn't fit.
    """
    if isinstance(masking.policy, int):
        return column
    policy = _applicable(context, relation, MASKING_POLICY, masking.policy)
    _check_arguments(policy, [find_column(columns, name) for name in masking.using], _unmaskable)
    if column.name in _row_access_columns(relation):
        raise errors.unnumbered(f"Column '{column.name}' is already an argument of a row access policy.")
    return replace(column, masking_policy=Masking(policy.id, masking.using))


def _unmaskable(column: Column, wanted: str) -> SqlError:
    return errors.unnumbered(f"COLUMN data type {column.type} does not match with masking policy data type {wanted}.")


def _tagged(context: Context, relation: CatalogObject, column: Column, beside: Iterable[Column]) -> dict[str, str]:
    others = {tag for each in beside if each.name != column.name for tag in each.tags}
    tags = tagged(context, relation, column.tags, column.tagging, others)
    if len(tags) > MAX_COLUMN_TAGS:
        raise errors.unnumbered(f"A column can have at most {MAX_COLUMN_TAGS} tags.")
    return tags


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
    for verb in ("SET", "UNSET"):
        if parser.accept(verb, "PROJECTION", "POLICY"):
            raise errors.unsupported("PROJECTION POLICY")
    return None


def _set_masking(masking: Masking, *, force: bool) -> ColumnChange:
    def change(context: Context, relation: CatalogObject, column: Column) -> Column:
        if column.masking_policy is not None and not force:
            raise errors.masked_already()
        return masked(context, relation, columns_of(relation), column, masking)

    return change


def _unset_masking(context: Context, relation: CatalogObject, column: Column) -> Column:
    policy = policy_of(context, column)
    if policy is None:
        raise errors.unnumbered(f"Column '{column.name}' has no masking policy.")
    _require_apply(context, relation, policy)
    return replace(column, masking_policy=None)


# --- row access policies ---------------------------------------------------------------------------------------------


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


def _parse_row_access(parser: Parser) -> RowAccess:
    policy = parser.name(parts=3)
    parser.expect("ON")
    return RowAccess(policy, parse_columns(parser))


def _parse_clause(parser: Parser) -> Given:
    return {ROW_ACCESS_POLICY: asdict(_parse_row_access(parser))}


def _refused(policy: str) -> Callable[[Parser], Given]:
    def parse(_parser: Parser) -> Given:
        raise errors.unsupported(policy)

    return parse


CLAUSES = (
    Part(ROW_ACCESS_POLICY, _parse_clause),
    Part(f"WITH {ROW_ACCESS_POLICY}", _parse_clause),
    *(Part(f"{words}{policy}", _refused(policy)) for policy in _NOT_BUILT for words in ("", "WITH ")),
)
"""The clauses about policies in CREATE TABLE and CREATE VIEW."""


def protected(context: Context, relation: CatalogObject, access: RowAccess) -> CatalogObject:
    """The record with a row access policy.

    Raises:
        SqlError: As `_applicable`; 003549 when there is one already, 000904 or 999999 for a column.
    """
    if isinstance(access.policy, int):
        return relation
    policy = _applicable(context, relation, ROW_ACCESS_POLICY, access.policy)
    columns = [find_column(columns_of(relation), name) for name in access.on]
    _check_arguments(policy, columns, _unfit)
    for column in columns:
        if column.masking_policy is not None:
            raise errors.unnumbered(f"Column '{column.name}' already has a masking policy.")
    values = asdict(RowAccess(policy.id, access.on))
    return replace(relation, properties={**relation.properties, ROW_ACCESS_POLICY: values})


def _unfit(column: Column, wanted: str) -> SqlError:
    return errors.unnumbered(
        f"COLUMN data type {column.type} does not match with row access policy data type {wanted}."
    )


def _add(access: RowAccess) -> Act:
    def act(context: Context, relation: CatalogObject) -> None:
        if row_access_of(relation) is not None:
            raise errors.one_policy(relation.name, "ROW_ACCESS_POLICY")
        context.catalog.update(relation, protected(context, relation, access))

    return act


def _parse_add(parser: Parser) -> Act:
    return _add(_parse_row_access(parser))


def _parse_drop(parser: Parser) -> Act:
    """Take the rest of DROP ROW ACCESS POLICY <policy> [, ADD ROW ACCESS POLICY …]."""
    name = parser.name(parts=3)
    added = None
    if parser.accept(","):
        parser.expect("ADD", "ROW", "ACCESS", "POLICY")
        added = _parse_row_access(parser)

    def act(context: Context, relation: CatalogObject) -> None:
        policy = context.resolve_reference(ROW_ACCESS_POLICY, name, "ALTER")
        current = row_access_of(relation)
        if current is None or current.policy != policy.id:
            raise errors.unnumbered(f"Row access policy '{policy.name}' is not on '{relation.name}'.")
        relation = context.catalog.update(relation, _unprotected(context, relation, policy))
        if added is not None:
            context.catalog.update(relation, protected(context, relation, added))

    return act


def _unprotected(context: Context, relation: CatalogObject, policy: CatalogObject) -> CatalogObject:
    _require_apply(context, relation, policy)
    return replace(relation, properties={**relation.properties, ROW_ACCESS_POLICY: None})


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


def attached_columns(relation: CatalogObject) -> frozenset[str]:
    """The columns that a policy masks or is given."""
    maskings = [column.masking_policy for column in columns_of(relation)]
    used = [name for masking in maskings if masking is not None for name in masking.using]
    return frozenset(used) | _row_access_columns(relation)


def renamed_in_policies(
    relation: CatalogObject, renamed: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> CatalogObject:
    """The record whose policies are given the same columns by their new names."""
    columns = [
        column
        if (masking := column.masking_policy) is None
        else replace(column, masking_policy=Masking(masking.policy, renamed(masking.using)))
        for column in columns_of(relation)
    ]
    access = row_access_of(relation)
    values = None if access is None else asdict(RowAccess(access.policy, renamed(access.on)))
    relation = with_columns(relation, columns)
    return replace(relation, properties={**relation.properties, ROW_ACCESS_POLICY: values})


def _row_access_columns(relation: CatalogObject) -> frozenset[str]:
    access = row_access_of(relation)
    return frozenset() if access is None else frozenset(access.on)
