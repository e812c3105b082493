"""CREATE OR ALTER TABLE: from the definition that there is to the one in the statement, as far as ALTER TABLE could go.

https://docs.snowflake.com/en/sql-reference/sql/create-table#create-or-alter-table-usage-notes
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import check_change
from freehold_devstack.snowflake.relations.column_changes import extended, shortened
from freehold_devstack.snowflake.relations.columns import COLUMNS, Column, columns_of, with_columns
from freehold_devstack.snowflake.relations.constraints import (
    CHECK,
    CONSTRAINTS,
    Constraint,
    constrained,
    constraints_of,
    released,
)
from freehold_devstack.snowflake.relations.definitions import Definition, completed
from freehold_devstack.snowflake.relations.row_access import ROW_ACCESS_POLICY


def check_redefinable(draft: CatalogObject, given: Collection[str]) -> None:
    """Refuse what CREATE OR ALTER TABLE doesn't take, be it to create or to alter.

    Args:
        draft: With its columns and constraints as they are written.
        given: The settings that the statement spells out.

    Raises:
        SqlError: 000002.
    """
    columns, constraints = columns_of(draft), constraints_of(draft)
    refused = {
        ROW_ACCESS_POLICY: ROW_ACCESS_POLICY in given,
        "MASKING POLICY": any(column.masking_policy for column in columns),
        "TAG": any(column.tagging for column in columns),
        "virtual column": any(column.expression is not None for column in columns),
        "CHECK constraint": any(constraint.type == CHECK for constraint in constraints),
    }
    for words, said in refused.items():
        if said:
            raise errors.unsupported(f"CREATE OR ALTER TABLE with a {words}")


def redefined(context: Context, existing: CatalogObject, draft: CatalogObject) -> CatalogObject:
    """The record of a table that CREATE OR ALTER changes.

    Args:
        draft: With the settings of the statement, and with its columns and constraints as they are written.

    Raises:
        SqlError: As the forms of ALTER TABLE that it takes to get there; 000002 for a table with CHECK constraints,
            which could not be told to stay.
    """
    wanted, constraints = columns_of(draft), constraints_of(draft)
    if any(constraint.type == CHECK for constraint in constraints_of(existing)):
        raise errors.unsupported("CREATE OR ALTER of a table with a CHECK constraint")
    there = {column.name: column for column in columns_of(existing)}
    names = [column.name for column in wanted]
    staying = [name for name in there if name in names]
    if names[: len(staying)] != staying:
        raise errors.unnumbered("CREATE OR ALTER TABLE can't reorder columns or add them but at the end.")
    before = {COLUMNS: existing.properties[COLUMNS], CONSTRAINTS: existing.properties.get(CONSTRAINTS)}
    table = replace(draft, properties={**draft.properties, **before})
    if len(staying) < len(there):
        table = shortened(context, table, [name for name in there if name not in names], "CASCADE")
    complete = completed(context, draft, wanted[: len(staying)])
    table = with_columns(table, [_changed(there[column.name], column) for column in complete])
    table = extended(context, table, [Definition(column, ()) for column in wanted[len(staying) :]])
    return _reconstrained(context, table, constraints)


def _changed(old: Column, new: Column) -> Column:
    """The column as it becomes; its policies and tags stay."""
    check_change(old.name, old.type, new.type)
    if (old.collation or "") != (new.collation or ""):
        raise errors.collation_change(old.name, old.printed_type, new.printed_type)
    _check_default(old, new)
    return replace(new, added=old.added, masking_policy=old.masking_policy, tags=old.tags)


def _check_default(old: Column, new: Column) -> None:
    """Refuse another default, but for another sequence or none at all."""
    same = (old.default, old.sequence, old.identity) == (new.default, new.sequence, new.identity)
    if same or (old.sequence is not None and new.sequence is not None):
        return
    if new.has_default or old.added:
        raise errors.unnumbered(f"Cannot change the default of column '{old.name}'.")


def _reconstrained(context: Context, table: CatalogObject, wanted: Sequence[Constraint]) -> CatalogObject:
    """The record with exactly these constraints; one without a name is the same as one of its kind that is there."""
    there = {constraint.signature: constraint for constraint in constraints_of(table)}
    named = [
        replace(each, name=there[each.signature].name) if not each.name and each.signature in there else each
        for each in wanted
    ]
    signatures = {constraint.signature for constraint in wanted}
    gone = [constraint for signature, constraint in there.items() if signature not in signatures]
    table = released(context, table, gone, restrict=False)
    return constrained(context, replace(table, properties={**table.properties, CONSTRAINTS: None}), named)
