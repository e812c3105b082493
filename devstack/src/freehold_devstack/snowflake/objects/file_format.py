"""FILE FORMAT: https://docs.snowflake.com/en/sql-reference/sql/create-file-format and the pages beside it."""

from dataclasses import replace

from freehold_devstack.snowflake import errors, format_options
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import TEMPORARY
from freehold_devstack.snowflake.object_type import REFUSED, Clause, ObjectType, Property, Show, ShowColumn
from freehold_devstack.snowflake.results import Result, text, timestamp
from freehold_devstack.snowflake.show import owner_role_type, stored
from freehold_devstack.snowflake.values import Text

_OPTIONS = format_options.all_options()
_NAMES = frozenset(option.name for option in _OPTIONS)
_COMMON = frozenset({"TYPE", "COMMENT", "TRANSIENT"})


def _settle(context: Context, draft: CatalogObject, given: frozenset[str]) -> CatalogObject:
    """Keep the options of the format's type alone, all of them."""
    format_type = str(draft.properties["TYPE"])
    old = context.catalog.get(draft.id)
    if old is not None and old.properties["TYPE"] != format_type:
        raise errors.unsupported("CREATE OR ALTER FILE FORMAT TYPE")
    options = format_options.settled(format_type, draft.properties, given & _NAMES)
    common = {name: value for name, value in draft.properties.items() if name in _COMMON}
    return replace(draft, properties={**common, **options})


def _describe(_context: Context, file_format: CatalogObject) -> Result:
    columns = tuple(map(text, ("property", "property_type", "property_value", "property_default")))
    return Result(columns, list(format_options.described(str(file_format.properties["TYPE"]), file_format.properties)))


def _format_options(_context: Context, file_format: CatalogObject) -> Scalar:
    return format_options.as_json(str(file_format.properties["TYPE"]), file_format.properties)


_COLUMNS = (
    ShowColumn(timestamp("created_on"), lambda _, obj: obj.created_on),
    ShowColumn(text("name"), lambda _, obj: obj.name),
    ShowColumn(text("database_name"), lambda context, obj: context.catalog.path(obj)[0]),
    ShowColumn(text("schema_name"), lambda context, obj: context.catalog.path(obj)[1]),
    ShowColumn(text("type"), stored("TYPE")),
    ShowColumn(text("owner"), lambda context, obj: context.owner_name(obj)),
    ShowColumn(text("comment"), stored("COMMENT")),
    ShowColumn(text("format_options"), _format_options),
    ShowColumn(text("owner_role_type"), owner_role_type),
)

TYPE = ObjectType(
    kind="FILE FORMAT",
    plural="FILE FORMATS",
    container="SCHEMA",
    modifiers=tuple(Clause(word, "TRANSIENT", TEMPORARY) for word in ("TEMP", "TEMPORARY", "VOLATILE")),
    properties=(
        Property("TYPE", format_options.TYPES, "CSV", only="CREATE"),
        *(Property(option.name, option.type, option.default, unset=REFUSED) for option in _OPTIONS),
        Property("COMMENT", Text(), default="", unset=REFUSED),
    ),
    privileges=frozenset({"USAGE"}),
    or_alter=True,
    clone="USAGE",
    taggable=False,
    show=Show(_COLUMNS, cut=True),
    describe=_describe,
    describe_privilege="USAGE",
    settle=_settle,
)
