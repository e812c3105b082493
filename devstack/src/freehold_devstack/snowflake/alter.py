"""ALTER and COMMENT of every object type, derived from its declaration."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import ACCOUNT_ID, CatalogObject, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.create import check_taken
from freehold_devstack.snowflake.ddl import (
    Target,
    check_feature,
    check_rights,
    check_settings,
    parse_assignments,
    parse_name,
    parse_names,
    parse_target,
    parse_type,
    parse_unset,
    read,
    read_literals,
    with_values,
)
from freehold_devstack.snowflake.grammar import Act, Given, Property, Refused
from freehold_devstack.snowflake.object_type import Form, ObjectType, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parameters import Parameter
from freehold_devstack.snowflake.parser import Literal, Name, Parser, print_name
from freehold_devstack.snowflake.relations.comments import parse_comment_on_column
from freehold_devstack.snowflake.results import DONE, Result
from freehold_devstack.snowflake.tags import TagValues, parse_tags, set_tags, unset_tags


@dataclass(frozen=True)
class Change:
    """What ALTER does.

    Attributes:
        words: How the statement calls it.
        settings: The settings that it spells out: they are checked whether or not the object is there. None stands for
            UNSET.
        privileges: What it needs on the object: all of them.
    """

    words: str
    act: Act
    privileges: Collection[str] = (OWNERSHIP,)
    settings: Mapping[str, Literal | None] | None = None


@dataclass(frozen=True)
class Alter:
    """ALTER <kind> [IF EXISTS] <name> <change>."""

    target: Target
    if_exists: bool
    change: Change

    @property
    def form(self) -> Form:
        return Form("ALTER", self.target.object_type.kind, self.target.name, self.change.words)

    def execute(self, context: Context) -> Result:
        object_type, settings = self.target.object_type, self.change.settings or {}
        check_settings(object_type, settings, "ALTER")
        obj = self.target.lookup(context, "ALTER")
        if obj is None:
            if self.if_exists:
                literals = {name: literal for name, literal in settings.items() if literal is not None}
                read_literals(context, object_type.settings, literals)
                return DONE
            obj = self.target.resolve(context, "ALTER")
        context.require_writable(context.catalog[obj.parent or ACCOUNT_ID])
        if not (context.is_self(obj) and settings and settings.keys() <= object_type.rights.own_settings):
            for privilege in self.change.privileges:
                context.require(privilege, obj)
        return self.change.act(context, obj) or DONE


# --- parsing ---------------------------------------------------------------------------------------------------------


def parse_alter(parser: Parser, types: Types) -> Statement:
    object_type = parse_type(parser, types)
    if_exists = parser.accept("IF", "EXISTS")
    target = parse_target(parser, object_type, types)
    return Alter(target, if_exists, _parse_change(parser, object_type, types))


def _parse_change(parser: Parser, object_type: ObjectType, types: Types) -> Change:
    if (action := parser.accept_any(object_type.action_words)) is not None:
        return Change(action.words, action.parse(parser), () if action.privilege is None else (action.privilege,))
    if parser.at("SET", "TAG") or parser.at("UNSET", "TAG"):
        return _parse_tag_change(parser, object_type)
    if parser.accept("SET"):
        values = parse_assignments(parser, commas=True)
        if not values:
            raise parser.unexpected()
        given = _parse_parts(parser, object_type)
        words = f"SET {', '.join([*values, *given])}"
        return Change(words, _set(object_type, values, given), _privileges(object_type, values), values)
    if given := _parse_parts(parser, object_type):
        return Change(f"SET {', '.join(given)}", _set(object_type, {}, given), (object_type.rights.alter,))
    if parser.accept("UNSET"):
        names = parse_unset(parser)
        return Change(f"UNSET {', '.join(names)}", _unset(object_type, names), _privileges(object_type, names), names)
    if object_type.renames and parser.accept("RENAME", "TO"):
        new_name = parse_name(parser, object_type, types)
        return Change(f"RENAME TO {print_name(new_name)}", _rename(object_type, new_name))
    if parser.at("RENAME", "TO"):
        raise errors.unsupported(f"renaming {object_type.securable}")
    if object_type.swaps and parser.accept("SWAP", "WITH"):
        other = parse_name(parser, object_type, types)
        return Change(f"SWAP WITH {print_name(other)}", _swap(object_type, other))
    raise parser.unexpected()


def _parse_parts(parser: Parser, object_type: ObjectType) -> dict[str, Value]:
    given: dict[str, Value] = {}
    for part in object_type.alter_parts:
        if parser.accept_phrase(part.words):
            given |= part.parse(parser)
    return given


def _parse_tag_change(parser: Parser, object_type: ObjectType) -> Change:
    if not object_type.taggable:
        raise errors.tags_unsupported(object_type.kind)
    setting = parser.choose("SET", "UNSET") == "SET"
    parser.expect("TAG")
    if setting:
        values = parse_tags(parser)
        return Change("SET TAG", _set_tags(values), ())
    return Change("UNSET TAG", _unset_tags(parse_names(parser)), ())


def parse_comment(parser: Parser, types: Types) -> Statement:
    """COMMENT [IF EXISTS] ON <kind> <name> IS '<text>'."""
    if_exists = parser.accept("IF", "EXISTS")
    parser.expect("ON")
    if parser.accept("COLUMN"):
        return parse_comment_on_column(parser, if_exists=if_exists)
    object_type = parse_type(parser, types)
    target = parse_target(parser, object_type, types)
    parser.expect("IS")
    text = parser.token
    values = {"COMMENT": Literal(text.kind, text.text, parser.string())}
    change = Change("SET COMMENT", _set(object_type, values), _privileges(object_type, values), values)
    return Alter(target, if_exists, change)


def _privileges(object_type: ObjectType, names: Iterable[str]) -> set[str]:
    privileges = set()
    for name in names:
        known = object_type.settings.get(name)
        own = known.privilege if isinstance(known, Property) else None
        privileges.add(own or object_type.rights.alter)
    return privileges


# --- what is done ----------------------------------------------------------------------------------------------------


def _set_tags(tags: TagValues) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        context.catalog.update(obj, set_tags(context, obj, tags))

    return act


def _unset_tags(tags: Iterable[Name]) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        context.catalog.update(obj, unset_tags(context, obj, tags))

    return act


def _set(object_type: ObjectType, values: Mapping[str, Literal], given: Given | None = None) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        new = with_values(obj, object_type, {**read(context, object_type.settings, values), **(given or {})})
        context.catalog.update(obj, object_type.lifecycle.settle(context, new, frozenset({*values, *(given or {})})))

    return act


def _unset(object_type: ObjectType, names: Collection[str]) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        properties, parameters = dict(obj.properties), dict(obj.parameters)
        for name in names:
            known = object_type.settings[name]
            check_feature(context, known)
            check_rights(context, known)
            if isinstance(known, Parameter):
                parameters.pop(name, None)
            elif isinstance(known.unset, Refused):
                raise errors.unset_refused(known.unset.text, name, obj.name)
            else:
                properties[name] = known.unset
        new = replace(obj, properties=properties, parameters=parameters)
        context.catalog.update(obj, object_type.lifecycle.settle(context, new, frozenset(names)))

    return act


def _rename(object_type: ObjectType, new_name: Name) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        container = context.container(object_type, new_name, "RENAME")
        if container.id != obj.parent and not object_type.moves:
            raise errors.unnumbered(f"{object_type.called} {obj.name} can't be moved by RENAME.")
        context.require_writable(container)
        context.require(object_type.creating, container)
        taken = context.catalog.find(obj.namespace, new_name[-1], container.id, obj.overload)
        if taken is not None:
            check_taken(context, taken, tolerated=False)
        renamed = context.catalog.update(obj, replace(obj, name=new_name[-1], parent=container.id))
        object_type.lifecycle.renamed(context, obj, renamed)

    return act


def _swap(object_type: ObjectType, other_name: Name) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        other = context.resolve(object_type, other_name, "SWAP")
        context.require(OWNERSHIP, other)
        for container in {step.parent for step in (obj, other) if step.parent is not None}:
            context.require(object_type.creating, context.catalog[container])
        if obj.namespace != other.namespace:
            raise errors.unnumbered("A temporary object can't be swapped with one that stays.")
        if other.id == obj.id:
            raise errors.unnumbered(f"{object_type.kind.capitalize()} '{obj.name}' can't be swapped with itself.")
        # Both names are free only when neither object is in the catalog under them.
        hidden = context.catalog.update(obj, replace(obj, dropped_on=context.now))
        context.catalog.update(other, replace(other, name=obj.name, parent=obj.parent))
        context.catalog.update(hidden, replace(obj, name=other.name, parent=other.parent))

    return act
