"""Which tags an object or a column has: TAG_REFERENCES, TAG_REFERENCES_ALL_COLUMNS, SYSTEM$GET_TAG and its neighbours.

https://docs.snowflake.com/en/sql-reference/functions/tag_references, tag_references_all_columns, system_get_tag,
system_get_tag_allowed_values
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import data_type
from freehold_devstack.snowflake.ddl import Target, parse_target
from freehold_devstack.snowflake.functions import Function, TableFunction
from freehold_devstack.snowflake.object_type import ObjectType
from freehold_devstack.snowflake.parser import name_in, parser_of, print_name
from freehold_devstack.snowflake.relations.columns import Column, columns_of, find_column
from freehold_devstack.snowflake.results import Cell
from freehold_devstack.snowflake.tags import Association, allowed_values, associations, domain_of

COLUMNS = (
    "TAG_DATABASE", "TAG_SCHEMA", "TAG_NAME", "TAG_VALUE", "APPLY_METHOD", "LEVEL", "OBJECT_DATABASE", "OBJECT_SCHEMA",
    "OBJECT_NAME", "DOMAIN", "COLUMN_NAME",
)  # fmt: skip

_TABLE, _COLUMN, _ACCOUNT = "TABLE", "COLUMN", "ACCOUNT"


@dataclass(frozen=True)
class Tagged:
    """What has tags: an object, or a column of it."""

    obj: CatalogObject
    domain: str
    column: Column | None = None

    def associations(self, context: Context) -> list[Association]:
        """As `tags.associations`."""
        return associations(context, self.obj, None if self.column is None else self.column.tags)


# --- what is asked for -----------------------------------------------------------------------------------------------


def _find(context: Context, name: str, domain: str) -> Tagged:
    """What a name and a domain stand for.

    Raises:
        SqlError: 391801 for a domain without tags, 002003 for what is missing or invisible, 000904 for a column.
    """
    word = domain.upper()
    if word == _ACCOUNT:
        return Tagged(_account(context, name_in(name, parts=1)[0]), word)
    if word == _TABLE:
        return Tagged(context.resolve_relation(name_in(name, parts=3), "SELECT", "TABLE"), word)
    if word == _COLUMN:
        path = name_in(name, parts=4)
        if len(path) == 1:
            raise errors.invalid_identifier(path[0])
        relation = context.resolve_relation(path[:-1], "SELECT", "TABLE")
        return Tagged(relation, word, find_column(columns_of(relation), path[-1]))
    targets = [_target(context, name, object_type) for object_type in _types(context, word)]
    for target in targets:
        if (found := target.lookup(context, "SELECT")) is not None:
            return Tagged(found, word)
    raise context.missing(word, str(targets[0]))


def _target(context: Context, name: str, object_type: ObjectType) -> Target:
    parser = parser_of(name)
    target = parse_target(parser, object_type, context.types)
    parser.end()
    return target


def _types(context: Context, domain: str) -> list[ObjectType]:
    """The types of a domain other than that of tables and views."""
    of_domain = (each for kind, each in context.types.items() if domain_of(context, kind) == domain)
    found = [each for each in of_domain if each.taggable and not each.relation]
    if not found:
        raise errors.tags_unsupported(domain)
    return found


def _account(context: Context, name: str) -> CatalogObject:
    if name not in {context.identity.name, context.identity.locator}:
        raise errors.unknown_account(name)
    return context.catalog.account


# --- table functions -------------------------------------------------------------------------------------------------


def of_object(context: Context, arguments: Mapping[str, str]) -> list[tuple[str | None, ...]]:
    """The rows of TAG_REFERENCES."""
    tagged = _find(context, arguments["OBJECT_NAME"], arguments["OBJECT_DOMAIN"])
    return _rows(context, tagged)


def of_all_columns(context: Context, arguments: Mapping[str, str]) -> list[tuple[str | None, ...]]:
    """The rows of TAG_REFERENCES_ALL_COLUMNS."""
    domain = arguments["OBJECT_DOMAIN"].upper()
    if domain != _TABLE:
        raise errors.tags_unsupported(domain)
    relation = _find(context, arguments["OBJECT_NAME"], _TABLE).obj
    columns = [Tagged(relation, _COLUMN, column) for column in columns_of(relation)]
    return [row for column in columns for row in _rows(context, column)]


def _rows(context: Context, tagged: Tagged) -> list[tuple[str | None, ...]]:
    *containers, name = context.catalog.path(tagged.obj)
    database, schema = (*containers, None, None)[:2]
    column = None if tagged.column is None else tagged.column.name
    return [
        (
            *context.catalog.path(found.tag), found.value, "INHERITED" if found.inherited else "MANUAL", found.level,
            database, schema, name, tagged.domain, column,
        )
        for found in tagged.associations(context)
    ]  # fmt: skip


# --- system functions ------------------------------------------------------------------------------------------------


def get_tag(context: Context, tag: str, name: str, domain: str) -> str | None:
    """SYSTEM$GET_TAG: the value of a tag that an object or a column has or inherits; None without one."""
    wanted = _tag(context, tag)
    tagged = _find(context, name, domain)
    return next((found.value for found in tagged.associations(context) if found.tag == wanted), None)


def get_allowed(context: Context, tag: str) -> str | None:
    """SYSTEM$GET_TAG_ALLOWED_VALUES: the values that a tag may have; None for any."""
    values = allowed_values(_tag(context, tag))
    return None if values is None else json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _tag(context: Context, name: str) -> CatalogObject:
    """The tag, for whoever may use its schema."""
    path = name_in(name, parts=3)
    tag_type = context.types["TAG"]
    container = context.container(tag_type, path, "SELECT")
    tag = context.catalog.find(tag_type.class_name, path[-1], container.id)
    if tag is None or not context.lists(tag):
        raise context.missing("TAG", print_name((*context.catalog.path(container), path[-1])))
    return tag


# --- as SELECT calls them --------------------------------------------------------------------------------------------

_TEXT = data_type("VARCHAR")


def _called(name: str, call: Callable[..., str | None], arguments: int) -> Function:
    """A system function whose arguments are all texts."""

    def checked(context: Context, given: tuple[Cell, ...]) -> Cell:
        texts = [each for each in given if isinstance(each, str)]
        if len(texts) < len(given):
            raise errors.unnumbered(f"The arguments of {name} must be texts.")
        return call(context, *texts)

    return Function(name, _TEXT, checked, arguments, arguments)


_OF_OBJECT = (("OBJECT_NAME", "OBJECT_DOMAIN"),)
FUNCTIONS = (
    TableFunction("TAG_REFERENCES", COLUMNS, _OF_OBJECT, of_object),
    TableFunction("TAG_REFERENCES_ALL_COLUMNS", COLUMNS, _OF_OBJECT, of_all_columns),
    _called("SYSTEM$GET_TAG", get_tag, 3),
    _called("SYSTEM$GET_TAG_ALLOWED_VALUES", get_allowed, 1),
)
