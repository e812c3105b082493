"""FILE FORMAT: https://docs.snowflake.com/en/sql-reference/sql/create-file-format and the pages beside it."""

from dataclasses import replace

from freehold_devstack.snowflake import errors, format_options
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import TEMPORARY
from freehold_devstack.snowflake.grammar import REFUSED, Clause, Property
from freehold_devstack.snowflake.object_type import Copying, Lifecycle, ObjectType, Rights, Show, ShowColumn
from freehold_devstack.snowflake.results import Result, text
from freehold_devstack.snowflake.show_columns import (
    COMMENT,
    CREATED_ON,
    DATABASE_NAME,
    NAME,
    OWNER,
    OWNER_ROLE_TYPE,
    SCHEMA_NAME,
    stored,
)
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
    CREATED_ON,
    NAME,
    DATABASE_NAME,
    SCHEMA_NAME,
    ShowColumn(text("type"), stored("TYPE")),
    OWNER,
    COMMENT,
    ShowColumn(text("format_options"), _format_options),
    OWNER_ROLE_TYPE,
)

TYPE = ObjectType(
    kind="FILE FORMAT",
    plural="FILE FORMATS",
    container="SCHEMA",
    modifiers=tuple(Clause(word, "TRANSIENT", TEMPORARY) for word in ("TEMP", "TEMPORARY", "VOLATILE")),
    properties=(
        Property("TYPE", format_options.TYPES, "CSV", only="CREATE"),
        *(
            Property(option.name, format_options.OptionValue(option.type), option.default, unset=REFUSED)
            for option in _OPTIONS
        ),
        Property("COMMENT", Text(), default="", unset=REFUSED),
    ),
    rights=Rights(
        grantable=frozenset({"USAGE"}),
        describe="USAGE",
    ),
    or_alter=True,
    copying=Copying(
        clone="USAGE",
    ),
    taggable=False,
    show=Show(_COLUMNS, cut=True),
    describe=_describe,
    lifecycle=Lifecycle(
        settle=_settle,
    ),
)
