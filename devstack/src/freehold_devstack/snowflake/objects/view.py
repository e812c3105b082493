"""VIEW: https://docs.snowflake.com/en/sql-reference/sql/create-view and the pages beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.bodies import Output, Place, Query, parse_query
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import DataType
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.grammar import Act, Action, Clause, Given, Part, Property, Refused
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.objects.table import PRIVILEGES, TEMPORARY_MODIFIERS
from freehold_devstack.snowflake.parser import Name, Parser, print_name, qualified
from freehold_devstack.snowflake.relations import other_policies, row_access, uncovered
from freehold_devstack.snowflake.relations.column_changes import alter_columns
from freehold_devstack.snowflake.relations.column_governance import (
    ColumnChange,
    attach,
    columns_of_policies,
    parse_attachment,
    parse_column_governance,
)
from freehold_devstack.snowflake.relations.columns import (
    COLUMNS,
    Column,
    check_unique,
    columns_of,
    describe,
    keep,
    outputs,
    with_columns,
)
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.routines.calls import check_called
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
)
from freehold_devstack.snowflake.values import Boolean, Text

_QUERY = "AS"
"""The property that holds the query, and the whole statement as it was written."""

_UNTOLD = DataType("VARIANT")
"""The type of a column where it can't be told from the query."""


# --- reading ---------------------------------------------------------------------------------------------------------


def _parse_columns(parser: Parser) -> Given:
    """Take the column list, if there is one."""
    columns = parser.bracketed_list_of(lambda: _parse_column(parser)) if parser.at("(") else []
    check_unique(column.name for column in columns)
    return {COLUMNS: tuple(map(keep, columns))}


def _parse_column(parser: Parser) -> Column:
    column = Column(parser.identifier(), _UNTOLD)
    while True:
        if column.comment is None and parser.accept("COMMENT"):
            column = replace(column, comment=parser.string())
        elif (attached := parse_attachment(parser, column)) is not None:
            column = attached
        else:
            return column


def _parse_query(parser: Parser) -> Given:
    start = parser.token
    values: dict[str, Value] = {
        "query": parser.rest(),
        "statement": parser.statement,
        "line": start.line,
        "position": start.position,
        "fold_quoted": parser.fold_quoted,
    }
    _query(values)
    return {_QUERY: values}


def _query(values: Mapping[str, Any]) -> Query:
    place = Place(values["line"], values["position"])
    return parse_query(values["query"], place, fold_quoted=values["fold_quoted"])


# --- the columns of the query ----------------------------------------------------------------------------------------


def query_of(view: CatalogObject) -> Query:
    values: Any = view.properties[_QUERY]
    return _query(values)


def _container(context: Context, view: CatalogObject) -> Name:
    """Where the names in a view's query are looked up, whatever the session's schema is."""
    return () if view.parent is None else context.catalog.path(context.catalog[view.parent])


def _paths(view: CatalogObject, container: Name) -> Iterable[Name]:
    return (qualified(name, container) for name in query_of(view).tables)


def _check_called(context: Context, view: CatalogObject) -> None:
    """Refuse a query that calls what is not there, or what the role that makes the view must not call.

    Raises:
        SqlError: As `check_called`.
    """
    for function in query_of(view).functions:
        check_called(context, qualified(function, _container(context, view)))


def _sources(context: Context, view: CatalogObject) -> dict[Name, CatalogObject]:
    """The tables and views that a new view reads.

    Raises:
        SqlError: 002003 for one that is missing, 003001 for one that the primary role can't select from.
    """
    container, sources = _container(context, view), {}
    for path in _paths(view, container):
        if view.properties["RECURSIVE"] and path == (*container, view.name):
            sources[path] = view
            continue
        sources[path] = context.resolve_relation(path, "SELECT")
        context.require("SELECT", sources[path], primary_only=True)
    return sources


def _outputs(context: Context, view: CatalogObject, sources: Mapping[Name, CatalogObject]) -> tuple[Output, ...]:
    relations = {path: outputs(columns_of(source)) for path, source in sources.items()}
    return query_of(view).outputs(relations, _container(context, view))


def _named(context: Context, view: CatalogObject, produced: Sequence[Output]) -> list[Column]:
    """The view's columns: as its column list calls them, else as the query does."""
    declared = columns_of(view)
    if not declared:
        if any(not output.name for output in produced) or view.properties["RECURSIVE"]:
            raise errors.unnumbered("Missing column specification")
        return [Column(output.name, output.type or _UNTOLD) for output in produced]
    if len(declared) != len(produced):
        raise errors.view_columns(context.print_path(view), len(declared), len(produced))
    return [replace(column, type=output.type or _UNTOLD) for column, output in zip(declared, produced, strict=True)]


# --- CREATE and ALTER ------------------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    existing = context.catalog.get(draft.id)
    if _QUERY not in given:
        return _altered(context, draft, given)
    if "OR ALTER" in given:
        _check_redefinable(draft, given)
    other_policies.check_there(context, draft)
    columns = _named(context, draft, _outputs(context, draft, _sources(context, draft)))
    _check_called(context, draft)
    check_unique(column.name for column in columns)
    if existing is not None:
        return _redefined(existing, draft, columns, given)
    return row_access.protected(context, with_columns(draft, attach(context, draft, columns, columns)))


def _check_redefinable(draft: CatalogObject, given: frozenset[str]) -> None:
    """Refuse what CREATE OR ALTER VIEW doesn't take, be it to create or to alter."""
    attached = any(column.masking_policy or column.tagging for column in columns_of(draft))
    if attached or row_access.ROW_ACCESS_POLICY in given:
        raise errors.unsupported("CREATE OR ALTER VIEW with a policy or a tag")


def _redefined(
    existing: CatalogObject, draft: CatalogObject, columns: Sequence[Column], given: frozenset[str]
) -> CatalogObject:
    """The record that CREATE OR ALTER makes: policies and tags stay as they are."""
    there = {column.name: column for column in columns_of(existing)}
    names = [column.name for column in columns]
    if [name for name in names if name in there] != [name for name in there if name in names]:
        raise errors.unnumbered("CREATE OR ALTER VIEW can't reorder columns.")
    if gone := sorted(columns_of_policies(existing) - {*names}):
        raise errors.unnumbered(f"Cannot drop column '{gone[0]}' which is associated with one or more policies.")
    kept = [
        replace(column, masking_policy=old.masking_policy, tags=old.tags)
        if (old := there.get(column.name)) is not None
        else column
        for column in columns
    ]
    tracking = (draft if "CHANGE_TRACKING" in given else existing).properties["CHANGE_TRACKING"]
    return with_columns(replace(draft, properties={**draft.properties, "CHANGE_TRACKING": tracking}), kept)


def _altered(context: Context, view: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """The record after ALTER VIEW … SET or UNSET, which takes one property; change tracking reaches the tables."""
    if len(given) > 1:
        raise errors.unnumbered("The properties of a view are set one by one.")
    if "CHANGE_TRACKING" in given:
        _track(context, view, on=bool(view.properties["CHANGE_TRACKING"]))
    return view


def _track(context: Context, view: CatalogObject, *, on: bool) -> None:
    for source in _sources(context, view).values():
        if source.id == view.id:
            continue
        context.require(OWNERSHIP, source)
        if source.kind == view.kind:
            _track(context, source, on=on)
        context.catalog.update(source, replace(source, properties={**source.properties, "CHANGE_TRACKING": on}))


def _secure(words: str, *, secure: bool) -> Action:
    def parse(_parser: Parser) -> Act:
        def act(context: Context, view: CatalogObject) -> None:
            context.catalog.update(view, replace(view, properties={**view.properties, "SECURE": secure}))

        return act

    return Action(words, parse)


def _parse_column_changes(parser: Parser) -> Act:
    """Take the rest of { ALTER | MODIFY }: `[COLUMN] <name> { SET | UNSET } { MASKING POLICY | TAG } … [, …]`."""
    return alter_columns(parser.list_of(lambda: _parse_column_change(parser)), owner_only=False)


def _parse_column_change(parser: Parser) -> tuple[str, ColumnChange]:
    parser.accept("COLUMN")
    name = parser.identifier()
    change = parse_column_governance(parser, name)
    if change is None:
        raise parser.unexpected()
    return name, change


# --- DESCRIBE and SHOW -----------------------------------------------------------------------------------------------


def _describe(context: Context, view: CatalogObject) -> Result:
    """Compiles the view, which fails when its sources no longer fit."""
    name = context.print_path(view)
    try:
        produced = _outputs(context, view, sources_of(context, view))
    except SqlError as error:
        raise errors.view_expansion(name, error) from None
    declared = columns_of(view)
    if len(declared) != len(produced):
        raise errors.view_columns(name, len(declared), len(produced))
    return describe(context, declared)


def sources_of(context: Context, view: CatalogObject) -> dict[Name, CatalogObject]:
    """The tables and views that a view reads, with its owner's eyes."""
    found = {}
    for path in _paths(view, _container(context, view)):
        step: CatalogObject | None = context.catalog.account
        for namespace, part in zip(("DATABASE", "SCHEMA", view.namespace), path, strict=True):
            step = None if step is None else context.catalog.find(namespace, part, step.id)
        if step is None:
            raise context.missing("OBJECT", print_name(path))
        found[path] = step
    return found


def _text(context: Context, view: CatalogObject) -> Scalar:
    """The statement as it was written; of a secure view only for its owner."""
    values: Any = view.properties[_QUERY]
    hidden = view.properties["SECURE"] and not context.authority.owns(view)
    return "" if hidden else str(values["statement"])


def _truth(name: str) -> ShowColumn:
    return ShowColumn(text(f"is_{name.lower()}"), lambda _, view: "true" if view.properties.get(name) else "false")


_COLUMNS = (
    CREATED_ON,
    NAME,
    ShowColumn(text("reserved"), lambda *_: ""),
    ShowColumn(text("kind"), lambda *_: "VIEW"),
    DATABASE_NAME,
    SCHEMA_NAME,
    OWNER,
    COMMENT,
    ShowColumn(text("text"), _text),
    _truth("SECURE"),
    _truth("MATERIALIZED"),
    OWNER_ROLE_TYPE,
    ShowColumn(text("change_tracking"), lambda _, obj: "ON" if obj.properties["CHANGE_TRACKING"] else "OFF"),
)
_TERSE = (*_COLUMNS[:2], *_COLUMNS[3:6])

TYPE = ObjectType(
    kind="VIEW",
    plural="VIEWS",
    container="SCHEMA",
    namespace="TABLE",
    modifiers=(Clause("SECURE", "SECURE", alterable=True), Clause("RECURSIVE", "RECURSIVE"), *TEMPORARY_MODIFIERS),
    signature=_parse_columns,
    clauses=(
        Part(_QUERY, _parse_query),
        *row_access.CLAUSES,
        *other_policies.VIEW_CLAUSES,
        *uncovered.VIEW_CLAUSES,
    ),
    required=(_QUERY,),
    properties=(
        Property("COMMENT", Text(), default="", unset=""),
        Property("CHANGE_TRACKING", Boolean(), default=False, unset=Refused()),
    ),
    rights=Rights(
        grantable=PRIVILEGES | {"VIEW EXPANDED QUERY PROFILE"},
        describe=None,
    ),
    actions=(
        _secure("SET SECURE", secure=True),
        _secure("UNSET SECURE", secure=False),
        Action("ALTER", _parse_column_changes, None),
        Action("MODIFY", _parse_column_changes, None),
        *row_access.ACTIONS,
        *other_policies.VIEW_ACTIONS,
        *uncovered.VIEW_ACTIONS,
    ),
    show=Show(_COLUMNS, terse=_TERSE, starts_with=True, limit=True),
    describe=_describe,
    relation=True,
    or_alter=True,
    copies_grants=True,
    lifecycle=Lifecycle(
        settle=_settle,
    ),
)
