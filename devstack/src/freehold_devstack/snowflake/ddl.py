"""What CREATE, ALTER, DROP and their like share: object types, names and settings, parsed and read.

The order of checks is Snowflake's: syntax, names of properties, containers, the privilege on them, the existing object,
the values, the privileges on what they refer to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.datatypes import parse_data_type
from freehold_devstack.snowflake.grammar import Property, Setting
from freehold_devstack.snowflake.object_type import ObjectType
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parameters import Parameter
from freehold_devstack.snowflake.parser import Literal, Name, Parser, phrases, print_name
from freehold_devstack.snowflake.values import InvalidFormError, InvalidValueError, Reference, check_form, read_value

KNOWN = phrases("""
    AGENT, AGGREGATION POLICY, ALERT, API INTEGRATION, APPLICATION, AUTHENTICATION POLICY, CATALOG INTEGRATION,
    COMPUTE POOL, CONNECTION, CORTEX SEARCH SERVICE, DATABASE ROLE, DYNAMIC TABLE, EVENT TABLE, EXTERNAL ACCESS
    INTEGRATION, EXTERNAL FUNCTION, EXTERNAL TABLE, EXTERNAL VOLUME, FAILOVER GROUP, FILE FORMAT, FUNCTION, GIT
    REPOSITORY, HYBRID TABLE, ICEBERG TABLE, IMAGE REPOSITORY, INTEGRATION, MANAGED ACCOUNT, MASKING POLICY,
    MATERIALIZED VIEW, NETWORK POLICY, NETWORK RULE, NOTEBOOK, NOTIFICATION INTEGRATION, PACKAGES POLICY, PASSWORD
    POLICY, PIPE, PROCEDURE, PROJECTION POLICY, REPLICATION GROUP, RESOURCE MONITOR, ROLE, ROW ACCESS POLICY, SECRET,
    SECURITY INTEGRATION, SEQUENCE, SERVICE, SESSION POLICY, SHARE, STAGE, STORAGE INTEGRATION, STREAM, STREAMLIT,
    TABLE, TAG, TASK, USER, VIEW
""")
"""Object types of Snowflake: those without a declaration here are refused as unsupported, not as unknown words."""

_SHOWN = phrases("ACCOUNT, LOCK, ORGANIZATION ACCOUNT, REGION, TRANSACTION, VARIABLE")
"""What SHOW lists in Snowflake beside objects of these types."""


@dataclass(frozen=True)
class Target:
    """The object that a statement is about, as it is written.

    Attributes:
        overload: The types of a function's arguments; None for types whose names are enough.
    """

    object_type: ObjectType
    name: Name
    overload: str | None = None

    def __str__(self) -> str:
        return print_name(self.name) + ("" if self.overload is None else f"({self.overload})")

    def container(self, context: Context, verb: str) -> CatalogObject:
        """As `Context.container`."""
        return context.container(self.object_type, self.name, verb)

    def lookup(self, context: Context, verb: str) -> CatalogObject | None:
        """The object, or None when it is absent or invisible.

        Raises:
            SqlError: What it is in is missing, or its name is that of another kind.
        """
        return context.lookup(self.object_type, self.name[-1], self.container(context, verb), self.overload)

    def resolve(self, context: Context, verb: str) -> CatalogObject:
        """As `Context.resolve`."""
        return context.resolve(self.object_type, self.name, verb, self.overload)


# --- parsing what the statements share -------------------------------------------------------------------------------


def parse_type(parser: Parser, types: Types, *, plural: bool = False, creating: bool = False) -> ObjectType:
    """Take the words of an object type; the longest match wins."""
    if (object_type := types.parse(parser, plural=plural, creating=creating)) is not None:
        return object_type
    for kind in (*KNOWN, *_SHOWN) if plural else KNOWN:
        words = kind if not plural else f"{kind[:-1]}IES" if kind.endswith("Y") else f"{kind}S"
        if parser.at(*words.split()):
            raise errors.unsupported(words)
    raise parser.unexpected()


def parse_name(parser: Parser, object_type: ObjectType, types: Types) -> Name:
    """Take a name with as many parts as the type can have."""
    parts, kind = 1, object_type
    while kind.container != "ACCOUNT":
        parts, kind = parts + 1, types[kind.container]
    return parser.name(parts=parts)


def parse_target(parser: Parser, object_type: ObjectType, types: Types) -> Target:
    """Take the name of an object that is there, with the types of its arguments if it has such.

    Raises:
        SqlError: 090208 when they are missing.
    """
    name = parse_name(parser, object_type, types)
    if object_type.overload is None:
        return Target(object_type, name)
    if not parser.accept("("):
        raise errors.arguments_missing(print_name(name))
    arguments: list[str] = []
    while not parser.accept(")"):
        if arguments:
            parser.expect(",")
        arguments.append(parse_data_type(parser).bare)
    return Target(object_type, name, ", ".join(arguments))


def parse_assignment(parser: Parser) -> tuple[str, Literal]:
    """Take `NAME = value`."""
    name = parser.word()
    parser.expect("=")
    return name, parser.literal()


def parse_assignments(parser: Parser, *, commas: bool = False) -> dict[str, Literal]:
    """Take `NAME = value …` up to what is no such thing; ALTER also takes commas between them."""
    values: dict[str, Literal] = {}
    while parser.at_assignment() or not (values or parser.at("WITH") or parser.at("TAG") or not parser.at_word()):
        name, literal = parse_assignment(parser)
        if name in values:
            raise errors.duplicate_property(name)
        values[name] = literal
        if commas and parser.accept(",") and not parser.at_assignment():
            raise parser.unexpected()
    return values


def parse_names(parser: Parser) -> list[Name]:
    """Take `name [, …]`."""
    names: list[Name] = []
    while not names or parser.accept_next_of_list():
        names.append(parser.name(parts=3))
    return names


def parse_unset(parser: Parser) -> dict[str, None]:
    """Take the names of UNSET: `NAME [, …]`."""
    names: dict[str, None] = {}
    while not names or parser.accept(","):
        name = parser.word()
        if name in names:
            raise errors.duplicate_property(name)
        names[name] = None
    return names


# --- settings --------------------------------------------------------------------------------------------------------


def check_settings(
    object_type: ObjectType, literals: Mapping[str, Literal | None], statement: OneOf["CREATE", "ALTER"]
) -> None:
    """Refuse what is wrong with settings whatever they are set on.

    Args:
        literals: None stands for UNSET.

    Raises:
        SqlError: 001420 for what is no setting of the type or none that the statement takes; then 001008 or 999999 for
            a literal of another type than the setting's.
    """
    for name in literals:
        known = object_type.settings.get(name)
        if known is None or (isinstance(known, Property) and known.only not in {None, statement}):
            raise errors.invalid_property(name, object_type.kind)
    for name, literal in literals.items():
        if literal is not None:
            check_form(name, object_type.settings[name].type, literal)


def read_literals(
    context: Context, settings: Mapping[str, Setting], literals: Mapping[str, Literal]
) -> dict[str, Value]:
    """Turn literals into values.

    Raises:
        SqlError: 001008 or 001422 for a value, 001423 for an edition.
    """
    for name in literals:
        check_feature(context, settings[name])
    return {name: _value(context, settings[name], literal) for name, literal in literals.items()}


def read(context: Context, settings: Mapping[str, Setting], literals: Mapping[str, Literal]) -> dict[str, Value]:
    """As `read_literals`, and check what setting the values takes.

    Raises:
        SqlError: As `read_literals`; 003001 and 002003 for what a value refers to.
    """
    read_values = read_literals(context, settings, literals)
    for name, value in read_values.items():
        check_rights(context, settings[name], value)
    return read_values


def check_feature(context: Context, setting: Setting) -> None:
    if isinstance(setting, Property) and not context.enabled(setting.feature):
        raise errors.feature_not_enabled(setting.name, str(setting.feature))


def _value(context: Context, setting: Setting, literal: Literal) -> Value:
    if isinstance(setting, Property):
        return read_value(setting.name, setting.type, literal)
    try:
        value = setting.type.read(literal)
    except InvalidFormError as error:
        raise error.refusal(setting.name, literal) from None
    except InvalidValueError:
        raise errors.invalid_parameter_value(literal.value or literal.text, setting.name) from None
    limit = setting.standard_high if context.identity.edition == "STANDARD" else None
    if limit is not None and isinstance(value, int) and value > limit:
        raise errors.invalid_parameter_value(literal.text, setting.name)
    return value


def check_rights(context: Context, setting: Setting, value: Value = None) -> None:
    if isinstance(setting, Parameter) and setting.requires is not None:
        context.require(setting.requires, context.catalog.account)
    if setting.only_role is not None:
        context.require_role(setting.only_role)
    if isinstance(setting.type, Reference) and setting.type.kind and value not in {None, *setting.type.built_in}:
        target = context.resolve_reference(setting.type.kind, (str(value),), "SET")
        if setting.type.privilege is not None:
            context.require(setting.type.privilege, target, primary_only=True)


def scalars(values: Mapping[str, Value]) -> dict[str, Scalar]:
    """Those values that a parameter may have."""
    return {name: value for name, value in values.items() if value is None or isinstance(value, str | int)}


def with_values(obj: CatalogObject, object_type: ObjectType, values: Mapping[str, Value]) -> CatalogObject:
    """The record with these properties and parameters set."""
    parameters = scalars({name: value for name, value in values.items() if name in object_type.parameters})
    properties = {name: value for name, value in values.items() if name not in object_type.parameters}
    return replace(obj, properties={**obj.properties, **properties}, parameters={**obj.parameters, **parameters})
