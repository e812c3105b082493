"""TABLE: https://docs.snowflake.com/en/sql-reference/sql/create-table and the pages beside it."""

from collections.abc import Callable
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import TEMPORARY
from freehold_devstack.snowflake.grammar import Clause, Given, Property
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.objects.database import check_retention
from freehold_devstack.snowflake.parser import phrases
from freehold_devstack.snowflake.relations import (
    clustering,
    column_changes,
    listings,
    other_policies,
    row_access,
    search_optimization,
    uncovered,
)
from freehold_devstack.snowflake.relations.columns import COLUMNS, columns_of, describe, keep, with_columns
from freehold_devstack.snowflake.relations.constraints import (
    CONSTRAINTS,
    PRIMARY_KEY,
    UNIQUE,
    constrained,
    constraints_of,
    key_columns,
    references,
)
from freehold_devstack.snowflake.relations.definitions import check_collation, completed, parse_signature
from freehold_devstack.snowflake.relations.redefinition import check_redefinable, redefined
from freehold_devstack.snowflake.results import Result, number, text, timestamp
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    figure,
)
from freehold_devstack.snowflake.values import Boolean, Text

# --- CREATE ----------------------------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    if "DEFAULT_DDL_COLLATION" in given and "DEFAULT_DDL_COLLATION" in draft.parameters:
        check_collation(str(draft.parameters["DEFAULT_DDL_COLLATION"]))
    if "OR ALTER" in given:
        check_redefinable(draft, given)
    other_policies.check_there(context, draft)
    existing = context.catalog.get(draft.id)
    if COLUMNS in given and existing is not None:
        if "CHANGE_TRACKING" not in given:
            tracking = existing.properties["CHANGE_TRACKING"]
            draft = replace(draft, properties={**draft.properties, "CHANGE_TRACKING": tracking})
        draft = redefined(context, existing, draft)
    elif COLUMNS in given:
        draft = _defined(context, _in_schema(context, draft))
    elif existing is None:
        draft = _copied(context, draft, given)
    if COLUMNS in given or clustering.CLUSTER_BY in given:
        clustering.check_key(draft)
    said = {name: value for name, value in draft.properties.items() if value is not None}
    return check_retention(context, replace(draft, properties=said), given)


def _in_schema(context: Context, draft: CatalogObject) -> CatalogObject:
    """Whatever is in a transient schema is transient itself, if it isn't temporary."""
    inherited = draft.parent is not None and context.catalog[draft.parent].properties["TRANSIENT"]
    transient = draft.properties["TRANSIENT"] or bool(inherited)
    return replace(draft, properties={**draft.properties, "TRANSIENT": transient})


def _defined(context: Context, draft: CatalogObject) -> CatalogObject:
    """The record of a new table from the columns, constraints and policies as they are written."""
    constraints = constraints_of(draft)
    table = with_columns(draft, completed(context, draft, columns_of(draft)))
    table = row_access.protected(context, table)
    return constrained(context, replace(table, properties={**table.properties, CONSTRAINTS: None}), constraints)


def _copied(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """The record of a clone, or of a table like another, which is transient only if it is said to be."""
    kept = draft.properties["TRANSIENT"]
    table = _in_schema(context, draft if "TRANSIENT" in given else _permanent(draft))
    if kept == TEMPORARY and not table.properties["TRANSIENT"]:
        raise errors.temporary_source()
    if kept and not table.properties["TRANSIENT"]:
        raise errors.unnumbered("Transient object cannot be cloned to a permanent object.")
    return clustering.suspended(table) if "CLONE" in given else table


def _permanent(draft: CatalogObject) -> CatalogObject:
    return replace(draft, properties={**draft.properties, "TRANSIENT": False})


def _like(source: CatalogObject) -> Given:
    """Columns with their tags, constraints and the clustering key, but no policies."""
    columns = (replace(column, masking_policy=None) for column in columns_of(source))
    copied = (CONSTRAINTS, *clustering.PROPERTIES)
    return {COLUMNS: tuple(map(keep, columns)), **{name: source.properties.get(name) for name in copied}}


def _restricting(context: Context, table: CatalogObject) -> None:
    if any(reference.table.id != table.id for reference in references(context, table)):
        raise errors.unnumbered("Cannot drop the table because of dependencies")


# --- DESCRIBE and SHOW -----------------------------------------------------------------------------------------------


def _describe(context: Context, table: CatalogObject) -> Result:
    primary, unique = key_columns(table, PRIMARY_KEY), key_columns(table, UNIQUE)
    described = describe(context, columns_of(table), primary, unique)
    columns = (*described.columns, text("schema evolution record"))
    return Result(columns, [(*row, None) for row in described.rows])


def _describe_stage(_context: Context, _table: CatalogObject) -> Result:
    raise errors.unsupported("DESCRIBE TABLE TYPE = STAGE")


def _kind(_context: Context, table: CatalogObject) -> Scalar:
    transient = table.properties["TRANSIENT"]
    return TEMPORARY if transient == TEMPORARY else "TRANSIENT" if transient else "TABLE"


def _switch(name: str, on: str, off: str) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda _, table: on if table.properties.get(name) else off


def _always(value: Scalar) -> Callable[[Context, CatalogObject], Scalar]:
    return lambda *_: value


def _rows(context: Context, table: CatalogObject) -> int:
    return figure(context, table, "rows")


_SEARCH = search_optimization.SEARCH_OPTIMIZATION

_COLUMNS = (
    CREATED_ON,
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    ShowColumn(text("kind"), _kind),
    COMMENT,
    ShowColumn(text("cluster_by"), lambda _, obj: str(obj.properties.get(clustering.CLUSTER_BY) or "")),
    ShowColumn(number("rows"), _rows),
    ShowColumn(number("bytes"), lambda context, obj: figure(context, obj, "bytes")),
    OWNER,
    ShowColumn(text("retention_time"), lambda context, obj: str(context.retention(obj))),
    ShowColumn(timestamp("dropped_on"), lambda _, obj: obj.dropped_on, history=True),
    ShowColumn(text("automatic_clustering"), clustering.automatic_clustering),
    ShowColumn(text("change_tracking"), _switch("CHANGE_TRACKING", "ON", "OFF")),
    ShowColumn(text("search_optimization"), _switch(_SEARCH, "ON", "OFF"), feature=_SEARCH),
    ShowColumn(number("search_optimization_progress"), search_optimization.progress, feature=_SEARCH),
    ShowColumn(
        number("search_optimization_bytes"),
        lambda context, obj: figure(context, obj, "index") if obj.properties.get(_SEARCH) else 0,
        feature=_SEARCH,
    ),
    ShowColumn(text("is_external"), _always("N")),
    ShowColumn(text("enable_schema_evolution"), _switch("ENABLE_SCHEMA_EVOLUTION", "Y", "N")),
    OWNER_ROLE_TYPE,
    ShowColumn(text("is_event"), _always("N")),
    ShowColumn(text("budget"), _always(None)),
    ShowColumn(text("is_hybrid"), _always("N")),
    ShowColumn(text("is_iceberg"), _always("N")),
    ShowColumn(text("is_dynamic"), _always("N")),
    ShowColumn(text("is_immutable"), _always("N")),
)
_TERSE = (_COLUMNS[0], _COLUMNS[1], ShowColumn(text("kind"), _always("TABLE")), _COLUMNS[2], _COLUMNS[3])


# --- the declaration -------------------------------------------------------------------------------------------------


TEMPORARY_MODIFIERS = tuple(
    Clause(words, "TRANSIENT", TEMPORARY)
    for words in phrases("""
        TEMPORARY, TEMP, LOCAL TEMPORARY, LOCAL TEMP, GLOBAL TEMPORARY, GLOBAL TEMP, VOLATILE
    """)
)
"""The words for what ends with the session."""

PRIVILEGES = frozenset(
    phrases("""
        APPLYBUDGET, DELETE, DELETE ERROR TABLE, EVOLVE SCHEMA, INSERT, REBUILD, REFERENCES, SELECT, SELECT ERROR TABLE,
        TRUNCATE, UPDATE
    """)
)
"""What can be granted on a table."""

TYPE = ObjectType(
    kind="TABLE",
    plural="TABLES",
    container="SCHEMA",
    modifiers=(Clause("TRANSIENT", "TRANSIENT"), *TEMPORARY_MODIFIERS),
    signature=parse_signature,
    clauses=(clustering.CLAUSE, *row_access.CLAUSES, *other_policies.CLAUSES, *uncovered.TABLE_CLAUSES),
    properties=(
        Property("COMMENT", Text(), default="", unset=""),
        Property("CHANGE_TRACKING", Boolean(), default=False, unset=False),
        Property("ENABLE_SCHEMA_EVOLUTION", Boolean(), default=False, unset=False),
    ),
    parameters=("DATA_RETENTION_TIME_IN_DAYS", "MAX_DATA_EXTENSION_TIME_IN_DAYS", "DEFAULT_DDL_COLLATION"),
    rights=Rights(
        grantable=PRIVILEGES,
        describe=None,
    ),
    actions=(
        *column_changes.actions(_rows),
        *clustering.ACTIONS,
        *row_access.ACTIONS,
        *search_optimization.ACTIONS,
        *other_policies.ACTIONS,
        *uncovered.TABLE_ACTIONS,
    ),
    show=Show(_COLUMNS, terse=_TERSE, history=True, starts_with=True, limit=True),
    extra_shows=listings.SHOWS,
    extra_describes=search_optimization.DESCRIBES,
    describe=_describe,
    describe_forms=(("TYPE = COLUMNS", _describe), ("TYPE = STAGE", _describe_stage)),
    relation=True,
    or_alter=True,
    retained=True,
    cascades=True,
    swaps=True,
    copying=Copying(
        clone="SELECT",
        like=_like,
    ),
    copies_grants=True,
    lifecycle=Lifecycle(
        settle=_settle,
        restricting=_restricting,
    ),
)
