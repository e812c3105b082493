"""The columns of SHOW that most types have, and how the others are read from an object."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import MILLISECONDS_PER_MINUTE, Context
from freehold_devstack.snowflake.object_type import Describer, ShowColumn
from freehold_devstack.snowflake.results import Result, text, timestamp


def tabulate(context: Context, columns: Iterable[ShowColumn], objects: Iterable[CatalogObject]) -> Result:
    """One row an object; columns that the edition lacks are left out."""
    shown = [column for column in columns if context.enabled(column.feature)]
    rows = [tuple(column.value(context, obj) for column in shown) for obj in objects]
    return Result(tuple(column.column for column in shown), rows)


def describe_as_shown(columns: Sequence[ShowColumn]) -> Describer:
    """DESCRIBE of a type that answers with the object's row of SHOW."""
    return lambda context, obj: tabulate(context, columns, [obj])


def stored(name: str) -> Callable[[Context, CatalogObject], Scalar]:
    """What a column shows of a property: texts, numbers and booleans as they are."""

    def value(_context: Context, obj: CatalogObject) -> Scalar:
        kept = obj.properties.get(name)
        return kept if isinstance(kept, str | int) else None

    return value


def printed_time(milliseconds: int, zone: tzinfo | None = None) -> str:
    """A moment as text: of a zone with its offset, else of UTC without one."""
    local = datetime.fromtimestamp(milliseconds / 1000, zone or UTC)
    return f"{local:%Y-%m-%d %H:%M:%S}.{milliseconds % 1000:03d}" + (f" {local:%z}" if zone else "")


def _part(level: int) -> Callable[[Context, CatalogObject], Scalar]:
    """A part of the fully-qualified name, the database first."""
    return lambda context, obj: context.catalog.path(obj)[level]


def _owner_role_type(context: Context, obj: CatalogObject) -> Scalar:
    """The owner's kind, but nothing for what was dropped, and empty for what the system owns."""
    if obj.dropped_on is not None:
        return None
    return "" if obj.owner is None else context.catalog[obj.owner].kind.replace(" ", "_")


def figure(context: Context, table: CatalogObject, what: str) -> int:
    """How many "rows" or "bytes" a table holds: none in its first minute, then whatever is loaded and deleted."""
    is_new = context.now - table.created_on < MILLISECONDS_PER_MINUTE
    return 0 if is_new else context.fluctuation(table, what, 1_000_000)


CREATED_ON = ShowColumn(timestamp("created_on"), lambda _, obj: obj.created_on)
NAME = ShowColumn(text("name"), lambda _, obj: obj.name)
DATABASE_NAME = ShowColumn(text("database_name"), _part(0))
SCHEMA_NAME = ShowColumn(text("schema_name"), _part(1))
OWNER = ShowColumn(text("owner"), lambda context, obj: context.owner_name(obj))
COMMENT = ShowColumn(text("comment"), stored("COMMENT"))
OWNER_ROLE_TYPE = ShowColumn(text("owner_role_type"), _owner_role_type)
