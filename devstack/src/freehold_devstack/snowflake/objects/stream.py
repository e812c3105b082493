"""STREAM: https://docs.snowflake.com/en/sql-reference/sql/create-stream and the pages beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, texts
from freehold_devstack.snowflake.context import MILLISECONDS_PER_DAY, Context
from freehold_devstack.snowflake.datatypes import parse_data_type
from freehold_devstack.snowflake.grammar import REFUSED, Given, Part, Property
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.objects.view import query_of, sources_of
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.results import text, timestamp
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    describe_as_shown,
)
from freehold_devstack.snowflake.stages.properties import has_directory, is_external
from freehold_devstack.snowflake.tokens import TokenKind, tokenize
from freehold_devstack.snowflake.values import Boolean, Text

_SOURCE_TYPES = {
    "TABLE": "Table",
    "VIEW": "View",
    "STAGE": "Stage",
    "EXTERNAL TABLE": "External Table",
    "DYNAMIC TABLE": "Dynamic Table",
    "EVENT TABLE": "Table",
}
"""What a stream can be on, and what SHOW calls it."""

_APPEND_ONLY, _INSERT_ONLY, _INITIAL_ROWS = "APPEND_ONLY", "INSERT_ONLY", "SHOW_INITIAL_ROWS"
_MODES = (_APPEND_ONLY, _INSERT_ONLY)
_GONE = "No privilege or table dropped"

# --- the grammar -----------------------------------------------------------------------------------------------------


def _parse_on(parser: Parser) -> Given:
    """Take the source, and the point in its past where the stream begins."""
    kind = next((kind for kind in sorted(_SOURCE_TYPES, key=len, reverse=True) if parser.accept_phrase(kind)), None)
    if kind is None:
        raise parser.unexpected()
    source = parser.name(parts=3)
    point = None
    for travel in ("AT", "BEFORE"):
        if point is None and parser.accept(travel, "("):
            point = _parse_point(parser, travel)
    if parser.at("WITH") or parser.at("TAG") or parser.at("COPY"):
        raise parser.unexpected()
    return {"KIND": kind, "SOURCE": source, "POINT": point}


def _parse_point(parser: Parser, travel: str) -> Given:
    what = parser.choose("TIMESTAMP", "OFFSET", "STATEMENT", "STREAM")
    parser.expect("=>")
    if what == "STATEMENT":
        raise errors.unsupported(f"{travel} (STATEMENT)")
    value: Scalar = _parse_offset(parser) if what == "OFFSET" else parser.string()
    if what == "TIMESTAMP":
        value = _parse_timestamp(parser, str(value))
    parser.expect(")")
    return {what: value}


def _parse_offset(parser: Parser) -> int:
    """Take a difference in seconds, which is not in the future."""
    first = parser.token
    literal = parser.literal()
    if literal.kind is not TokenKind.NUMBER or not literal.value.lstrip("-").isdigit():
        raise parser.unexpected(first)
    if int(literal.value) > 0:
        raise errors.unnumbered(f"Invalid data type [{literal.value}] in AT(OFFSET => {literal.value})")
    return int(literal.value)


def _parse_timestamp(parser: Parser, written: str) -> int:
    """The milliseconds since 1970 of a constant; one without a time zone is in UTC."""
    if parser.accept("::") and not parse_data_type(parser).base.startswith("TIMESTAMP"):
        raise errors.unsupported("AT (TIMESTAMP) of another type")
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise errors.not_recognized("Timestamp", written) from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


# --- rules between properties ----------------------------------------------------------------------------------------


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    if "SOURCE" not in given:
        return draft
    source = _resolve(context, draft)
    old = context.catalog.get(draft.id)
    if old is not None:
        return _redefined(draft, old, source, given)
    _check_options(draft, source)
    tracked = _tracked(context, source)
    _require_rights(context, source, tracked)
    tables = [each for each in tracked if each.kind != "VIEW"]
    resolved: Given = {
        "SOURCE": source.id,
        "TABLES": tuple(table.id for table in tables),
        "POINT": None,
        "OFFSET": _offset(context, draft, tables),
    }
    for each in () if source.kind == "STAGE" else tracked:
        _track(context, each)
    return replace(draft, properties={**draft.properties, **resolved})


def _redefined(draft: CatalogObject, old: CatalogObject, source: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """CREATE OR ALTER changes the comment alone."""
    kept = {**draft.properties, "SOURCE": source.id}
    if _INITIAL_ROWS not in given:
        kept[_INITIAL_ROWS] = old.properties[_INITIAL_ROWS]
    for name in ("SOURCE", *_MODES, _INITIAL_ROWS, "POINT"):
        if kept[name] != old.properties[name]:
            raise errors.unnumbered(f"{name} of stream '{draft.name}' can't be changed.")
    return replace(draft, properties=kept)


def _resolve(context: Context, stream: CatalogObject) -> CatalogObject:
    """The source that a statement names, of the kind that it names."""
    kind, name = str(stream.properties["KIND"]), texts(stream.properties["SOURCE"])
    if kind == "STAGE":
        return context.resolve(context.types[kind], name, "CREATE STREAM")
    found = context.resolve_relation(name, "CREATE STREAM", kind)
    if found.kind != kind:
        raise errors.wrong_kind(found.kind.replace(" ", "_"), kind.replace(" ", "_"))
    return found


def _check_options(stream: CatalogObject, source: CatalogObject) -> None:
    """Refuse what a stream on this kind of source can't do."""
    if source.kind == "STAGE":
        for name in (*_MODES, _INITIAL_ROWS):
            if stream.properties[name]:
                raise errors.unnumbered(f"Streams on directories cannot have {name} set to true.", family="")
        if stream.properties["POINT"] is not None:
            raise errors.unnumbered("Time travel not supported for stream creation on stages.")
        if not has_directory(source):
            raise errors.unnumbered(f"DIRECTORY not enabled for the stage {source.name}", family="")
    elif stream.properties[_INSERT_ONLY]:
        raise errors.unnumbered(
            "Streams of type INSERT_ONLY can only be created on external tables or Iceberg tables with an external "
            "catalog integration.",
            family="",
        )


def _tracked(context: Context, source: CatalogObject) -> list[CatalogObject]:
    """The source and all below it, whose changes have to be tracked: each once, tables after the views that read them.

    Raises:
        SqlError: 002003 for a table that a view reads and that is gone, 999999 for a view that can't be tracked.
    """
    if source.kind != "VIEW":
        return [source]
    if (what := query_of(source).untrackable) is not None:
        raise errors.unnumbered(f"Change tracking is not supported on queries with '{what}'.")
    below = [each for read in sources_of(context, source).values() for each in _tracked(context, read)]
    return [*{each.id: each for each in (source, *below)}.values()]


def _require_rights(context: Context, source: CatalogObject, tracked: Sequence[CatalogObject]) -> None:
    """The right to read the source, and to own it where its changes aren't tracked yet."""
    if source.kind == "STAGE":
        context.require("USAGE" if is_external(source) else "READ", source, primary_only=True)
        return
    context.require("SELECT", source, primary_only=True)
    for each in tracked:
        if not each.properties["CHANGE_TRACKING"]:
            context.require(OWNERSHIP, each, primary_only=True)


def _track(context: Context, source: CatalogObject) -> None:
    if not source.properties["CHANGE_TRACKING"]:
        context.catalog.update(source, replace(source, properties={**source.properties, "CHANGE_TRACKING": True}))


# --- where it begins -------------------------------------------------------------------------------------------------


def _offset(context: Context, stream: CatalogObject, tables: Sequence[CatalogObject]) -> int:
    """The moment from which the stream tells changes, in milliseconds since 1970."""
    point = stream.properties["POINT"]
    if not isinstance(point, Mapping):
        return context.now
    (what, value), *_ = point.items()
    if what == "STREAM":
        moment = _offset_of(context, stream, str(value))
    else:
        moment = context.now + int(str(value)) * 1000 if what == "OFFSET" else int(str(value))
    for table in tables:
        _check_moment(context, table, moment)
    return moment


def _offset_of(context: Context, stream: CatalogObject, written: str) -> int:
    """The offset of another stream, or of the one that this one replaces."""
    parser = Parser(tokenize(written), source=written)
    name = parser.name(parts=3)
    parser.end()
    container = context.container(context.types["STREAM"], name, "CREATE STREAM")
    members = context.catalog.members("STREAM", container.id, dropped=True)
    found = next((each for each in members if each.name == name[-1] and each.id != stream.id), None)
    # CREATE OR REPLACE has ended the old one in this very statement.
    if found is None or found.dropped_on not in {None, context.now} or not context.sees(found):
        raise errors.unnumbered(f"Stream '{written}' not found.", family="")
    return int(str(found.properties["OFFSET"]))


def _check_moment(context: Context, table: CatalogObject, moment: int) -> None:
    earliest = max(table.created_on, context.now - context.retention(table) * MILLISECONDS_PER_DAY)
    if not earliest <= moment <= context.now:
        raise errors.unnumbered(
            f"Time travel data is not available for table {table.name}. The requested time is either beyond the "
            "allowed time travel period or before the object creation time.",
            family="",
        )
    if moment < context.now and not table.properties["CHANGE_TRACKING"]:
        raise errors.change_tracking_missing(context.print_path(table))


# --- SHOW ------------------------------------------------------------------------------------------------------------


def _tables(context: Context, stream: CatalogObject) -> list[CatalogObject]:
    """The tables that the stream follows, or its stage."""
    return [context.catalog[int(each)] for each in texts(stream.properties["TABLES"])]


def _source(context: Context, stream: CatalogObject) -> CatalogObject | None:
    """What the stream is on, if it is visible and still there, with all that it reads."""
    source = context.catalog[int(str(stream.properties["SOURCE"]))]
    there = all(map(context.catalog.is_live, (source, *_tables(context, stream))))
    return source if there and context.sees(source) else None


def _table_name(context: Context, stream: CatalogObject) -> Scalar:
    source = _source(context, stream)
    return _GONE if source is None else context.print_path(source)


def _base_tables(context: Context, stream: CatalogObject) -> Scalar:
    if _source(context, stream) is None:
        return _GONE
    return ", ".join(context.print_path(table) for table in _tables(context, stream))


def _stale_after(context: Context, stream: CatalogObject) -> Scalar:
    source = _source(context, stream)
    if source is None or source.kind == "STAGE":
        return None
    days = min(_kept_days(context, table) for table in _tables(context, stream))
    return int(str(stream.properties["OFFSET"])) + days * MILLISECONDS_PER_DAY


def _kept_days(context: Context, table: CatalogObject) -> int:
    """For how long a table keeps its changes for the streams that haven't read them."""
    extension = int(str(context.parameter(table, "MAX_DATA_EXTENSION_TIME_IN_DAYS").value))
    return max(context.retention(table), extension)


def _stale(context: Context, stream: CatalogObject) -> Scalar:
    if _source(context, stream) is None:
        return "N/A"
    after = _stale_after(context, stream)
    return str(isinstance(after, int) and after <= context.now).lower()


def _mode(_context: Context, stream: CatalogObject) -> Scalar:
    return next((mode for mode in _MODES if stream.properties[mode]), "DEFAULT")


def _cloned(context: Context, stream: CatalogObject, copies: Mapping[int, int]) -> CatalogObject:
    """A stream that was copied with its source is on the copy."""
    source = int(str(stream.properties["SOURCE"]))
    tables = tuple(copies.get(table.id, table.id) for table in _tables(context, stream))
    moved: Given = {"SOURCE": copies.get(source, source), "TABLES": tables}
    return replace(stream, properties={**stream.properties, **moved})


_COLUMNS = (
    CREATED_ON,
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    OWNER,
    COMMENT,
    ShowColumn(text("table_name"), _table_name),
    ShowColumn(text("source_type"), lambda _, obj: _SOURCE_TYPES[str(obj.properties["KIND"])]),
    ShowColumn(text("base_tables"), _base_tables),
    ShowColumn(text("type"), lambda *_: "DELTA"),
    ShowColumn(text("stale"), _stale),
    ShowColumn(text("mode"), _mode),
    ShowColumn(timestamp("stale_after"), _stale_after),
    ShowColumn(text("invalid_reason"), lambda *_: "N/A"),
    OWNER_ROLE_TYPE,
)
_TERSE = (
    *_COLUMNS[:2],
    ShowColumn(text("kind"), lambda *_: "DELTA"),
    *_COLUMNS[2:4],
    ShowColumn(text("tableOn"), _table_name),
)

# --- the declaration -------------------------------------------------------------------------------------------------

TYPE = ObjectType(
    kind="STREAM",
    plural="STREAMS",
    container="SCHEMA",
    clauses=(Part("ON", _parse_on),),
    required=("SOURCE",),
    properties=(
        Property(_APPEND_ONLY, Boolean(), default=False, unset=REFUSED, only="CREATE"),
        Property(_INSERT_ONLY, Boolean(), default=False, unset=REFUSED, only="CREATE"),
        Property(_INITIAL_ROWS, Boolean(), default=False, unset=REFUSED, only="CREATE"),
        Property("COMMENT", Text(), default="", unset=""),
    ),
    rights=Rights(
        grantable=frozenset({"SELECT"}),
        shown_to=frozenset({"SELECT"}),
        describe="SELECT",
    ),
    show=Show(_COLUMNS, terse=_TERSE, starts_with=True, limit=True, named=True),
    describe=describe_as_shown(_COLUMNS),
    or_alter=True,
    renames=False,
    copying=Copying(
        clone=OWNERSHIP,
        cloned=_cloned,
    ),
    copies_grants=True,
    lifecycle=Lifecycle(
        settle=_settle,
    ),
)
