"""Tags on objects: what CREATE … WITH TAG and ALTER … SET | UNSET TAG do, and which tags an object has or inherits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, texts
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Name, Parser, print_name
from freehold_devstack.snowflake.results import DONE, Result

MAX_TAGS = 50
"""Tags on one object, or on all columns of one: https://docs.snowflake.com/en/user-guide/object-tagging/introduction"""
MAX_VALUE = 256
"""Characters of a tag's value."""

ALLOWED_VALUES, TAG_POLICIES = "ALLOWED_VALUES", "MASKING POLICIES"
"""The properties of a tag that hold its allowed values, or None for any, and the ids of its masking policies."""

APPLY_MASKING_POLICY = "APPLY MASKING POLICY"

TagValues = Sequence[tuple[Name, str]]


def parse_tags(parser: Parser) -> TagValues:
    """Take `tag = 'value' [, …]`."""
    tags: dict[Name, str] = {}
    while not tags or parser.accept_next_of_list():
        name = parser.name(parts=3)
        if name in tags:
            raise errors.duplicate_property(name[-1])
        parser.expect("=")
        tags[name] = parser.string()
    return tuple(tags.items())


# --- setting ---------------------------------------------------------------------------------------------------------


def tagged(
    context: Context, owner: CatalogObject, old: Mapping[str, str], tags: TagValues, others: Iterable[str] = ()
) -> dict[str, str]:
    """The tags of an object, or of a column, with these set.

    Args:
        owner: The object whose OWNERSHIP it takes, unless the role may apply any tag.
        old: Values by tag id.
        others: Ids of further tags that count against the same limit: those of the other columns.

    Raises:
        SqlError: 002003 or 003001 for a tag, 999999 for a value that it doesn't allow and for too many tags.
    """
    new = dict(old)
    for name, value in tags:
        tag = _applicable(context, owner, name)
        check_value(value, tag.name)
        if (allowed := allowed_values(tag)) is not None and value not in allowed:
            raise errors.unnumbered(f"Tag value '{value}' is not an allowed value of tag '{tag.name}'.")
        new[str(tag.id)] = value
    if len(_live(context, {*new, *others})) > MAX_TAGS:
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


def check_value(value: str, tag: str) -> None:
    """Refuse with 999999 a text that is too long for a value of the tag of this name."""
    if len(value) > MAX_VALUE:
        raise errors.unnumbered(f"A value of tag '{tag}' can have at most {MAX_VALUE} characters.")


def _applicable(context: Context, owner: CatalogObject, name: Name) -> CatalogObject:
    """The tag, if the session may apply it to what belongs to this owner."""
    tag = context.resolve_reference("TAG", name, "ALTER")
    if not context.authority.holds_on_account("APPLY TAG"):
        context.require("APPLY", tag)
        context.require(OWNERSHIP, owner)
    if owner.kind in {"DATABASE", "SCHEMA"} and policies_of_tag(tag):
        context.require(APPLY_MASKING_POLICY, context.catalog.account)
    return tag


# --- what a tag says -------------------------------------------------------------------------------------------------


def allowed_values(tag: CatalogObject) -> tuple[str, ...] | None:
    """The values that a tag may have, in order; None for any."""
    values = tag.properties[ALLOWED_VALUES]
    return None if values is None else texts(values)


def policies_of_tag(tag: CatalogObject) -> tuple[int, ...]:
    """The masking policies that are set on a tag, by id."""
    return tuple(map(int, texts(tag.properties.get(TAG_POLICIES))))


# --- what an object has ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Association:
    """A tag that an object or a column has.

    Attributes:
        level: The domain of what it is set on.
        inherited: Whether that is something above the object or the column.
    """

    tag: CatalogObject
    value: str
    level: str
    inherited: bool


def domain_of(context: Context, kind: str) -> str:
    """What tags call a kind of objects."""
    object_type = context.types.get(kind)
    if object_type is not None and object_type.relation:
        return "TABLE"
    return "INTEGRATION" if kind.endswith(" INTEGRATION") else kind


def associations(context: Context, obj: CatalogObject, column: Mapping[str, str] | None = None) -> list[Association]:
    """The tags of an object by name: its own, and what it inherits of what contains it.

    Args:
        column: For a column of the object, the tags that are set on the column itself.
    """
    found: dict[int, Association] = {}
    for depth, (level, tags) in enumerate(_levels(context, obj, column)):
        for tag in _live(context, tags):
            found.setdefault(tag.id, Association(tag, tags[str(tag.id)], level, inherited=depth > 0))
    return sorted(found.values(), key=lambda association: context.catalog.path(association.tag))


def _levels(
    context: Context, obj: CatalogObject, column: Mapping[str, str] | None
) -> Iterator[tuple[str, Mapping[str, str]]]:
    if column is not None:
        yield "COLUMN", column
    for step in context.catalog.lineage(obj):
        yield domain_of(context, step.kind), step.tags


def _live(context: Context, tags: Iterable[str]) -> list[CatalogObject]:
    """The tags of these ids that are there; an object remembers those that were dropped, which may come back."""
    return [tag for tag in (context.catalog[int(each)] for each in tags) if context.catalog.is_live(tag)]


# --- the account's own -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TagAccount:
    """ALTER ACCOUNT [<name>] { SET TAG <tag> = '<value>' [, …] | UNSET TAG <tag> [, …] }."""

    account: str | None
    values: TagValues
    unset: Sequence[Name] = ()

    @property
    def form(self) -> Form:
        detail = f"UNSET TAG {', '.join(map(print_name, self.unset))}" if self.unset else "SET TAG"
        return Form("ALTER", "ACCOUNT", () if self.account is None else (self.account,), detail)

    def execute(self, context: Context) -> Result:
        identity, account = context.identity, context.catalog.account
        if self.account not in {None, identity.name, identity.locator}:
            raise errors.unknown_account(str(self.account))
        changed = unset_tags(context, account, self.unset) if self.unset else set_tags(context, account, self.values)
        context.catalog.update(account, changed)
        return DONE


def parse_account_tags(parser: Parser) -> Statement:
    """Read what follows ALTER ACCOUNT."""
    account = None if parser.at("SET", "TAG") or parser.at("UNSET", "TAG") else parser.identifier()
    if parser.choose("SET", "UNSET") == "SET":
        parser.expect("TAG")
        return TagAccount(account, parse_tags(parser))
    parser.expect("TAG")
    return TagAccount(account, (), parser.names(parts=3))
