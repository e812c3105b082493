"""Tags on objects: what CREATE … WITH TAG and ALTER … SET | UNSET TAG do, whatever the object is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.parser import Name, Parser

MAX_TAGS = 50
"""Tags on one object: https://docs.snowflake.com/en/user-guide/object-tagging/introduction"""
MAX_VALUE = 256
"""Characters of a tag's value."""

TagValues = Sequence[tuple[Name, str]]


def parse_tags(parser: Parser) -> TagValues:
    """Take `tag = 'value' [, …]`."""
    tags: dict[Name, str] = {}
    while not tags or parser.accept(","):
        name = parser.name(parts=3)
        if name in tags:
            raise errors.duplicate_property(name[-1])
        parser.expect("=")
        tags[name] = parser.string()
    return tuple(tags.items())


def tagged(context: Context, owner: CatalogObject, old: Mapping[str, str], tags: TagValues) -> dict[str, str]:
    """The tags of an object, or of a column, with these set.

    Args:
        owner: The object whose OWNERSHIP it takes, unless the role may apply any tag.
        old: Values by tag id.

    Raises:
        SqlError: 002003 or 003001 for a tag, 001422 for a value, 999999 for too many tags.
    """
    new = dict(old)
    for name, value in tags:
        tag = _applicable(context, owner, name)
        allowed = tag.properties["ALLOWED_VALUES"]
        if len(value) > MAX_VALUE or (isinstance(allowed, Sequence) and value not in allowed):
            raise errors.invalid_property_value(value, tag.name)
        new[str(tag.id)] = value
    if len(new) > MAX_TAGS:
        raise errors.unnumbered(f"An object can have at most {MAX_TAGS} tags.")
    return new


def untagged(context: Context, owner: CatalogObject, old: Mapping[str, str], names: Iterable[Name]) -> dict[str, str]:
    """As `tagged`, without these; one that is not set may be taken away."""
    gone = {str(_applicable(context, owner, name).id) for name in names}
    return {tag: value for tag, value in old.items() if tag not in gone}


def set_tags(context: Context, obj: CatalogObject, tags: TagValues) -> CatalogObject:
    """The record with these tags set."""
    return replace(obj, tags=tagged(context, obj, obj.tags, tags))


def unset_tags(context: Context, obj: CatalogObject, names: Iterable[Name]) -> CatalogObject:
    """The record without these tags."""
    return replace(obj, tags=untagged(context, obj, obj.tags, names))


def _applicable(context: Context, owner: CatalogObject, name: Name) -> CatalogObject:
    """The tag, if the session may apply it to what belongs to this owner."""
    tag = context.resolve_reference("TAG", name, "ALTER")
    if not context.authority.holds_on_account("APPLY TAG"):
        context.require("APPLY", tag)
        context.require(OWNERSHIP, owner)
    return tag
