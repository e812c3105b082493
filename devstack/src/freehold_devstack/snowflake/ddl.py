"""CREATE, ALTER, DROP, UNDROP, DESCRIBE and COMMENT of every object type, derived from its declaration.

The order of checks is Snowflake's: syntax, names of properties, containers, the privilege on them, the existing object,
the values, the privileges on what they refer to.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.object_type import Act, Clause, ObjectType, Property, Refused, Setting, Statement
from freehold_devstack.snowflake.parameters import Parameter
from freehold_devstack.snowflake.parser import Literal, Name, Parser, phrases, print_name
from freehold_devstack.snowflake.results import DONE, Result, status
from freehold_devstack.snowflake.tokens import TokenKind
from freehold_devstack.snowflake.values import InvalidValueError, Reference

KNOWN = phrases("""
    AGENT, AGGREGATION POLICY, ALERT, API INTEGRATION, APPLICATION, AUTHENTICATION POLICY, CATALOG INTEGRATION,
    COMPUTE POOL, CONNECTION, CORTEX SEARCH SERVICE, DATABASE ROLE, DYNAMIC TABLE, EVENT TABLE, EXTERNAL ACCESS
    INTEGRATION, EXTERNAL FUNCTION, EXTERNAL TABLE, EXTERNAL VOLUME, FAILOVER GROUP, FILE FORMAT, FUNCTION, GIT
    REPOSITORY, HYBRID TABLE, ICEBERG TABLE, IMAGE REPOSITORY, INTEGRATION, MANAGED ACCOUNT, MASKING POLICY,
    MATERIALIZED VIEW, NETWORK POLICY, NETWORK RULE, NOTEBOOK, NOTIFICATION INTEGRATION, PACKAGES POLICY, PASSWORD
    POLICY, PIPE, PROCEDURE, REPLICATION GROUP, RESOURCE MONITOR, ROLE, ROW ACCESS POLICY, SECRET, SECURITY
    INTEGRATION, SEQUENCE, SERVICE, SESSION POLICY, SHARE, STAGE, STORAGE INTEGRATION, STREAM, STREAMLIT, TABLE,
    TAG, TASK, USER, VIEW
""")
"""Object types of Snowflake: those without a declaration here are refused as unsupported, not as unknown words."""

Types = Mapping[str, ObjectType]


# --- parsing what the statements share -------------------------------------------------------------------------------


def parse_type(parser: Parser, types: Types, *, plural: bool = False) -> ObjectType:
    """Take the words of an object type; the longest match wins."""
    by_words = {(kind.plural if plural else kind.kind): kind for kind in types.values()}
    for words in sorted(by_words, key=len, reverse=True):
        if parser.accept_phrase(words):
            return by_words[words]
    for kind in KNOWN:
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


def parse_assignments(parser: Parser, *, commas: bool = False) -> dict[str, Literal]:
    """Take `NAME = value …` up to what is no such thing; ALTER also takes commas between them."""
    values: dict[str, Literal] = {}
    while parser.token.kind is TokenKind.WORD and not parser.at("WITH") and not parser.at("TAG"):
        name = parser.word()
        parser.expect("=")
        literal = parser.literal()
        if name in values:
            raise errors.duplicate_property(name)
        values[name] = literal
        if commas and parser.accept(",") and parser.token.kind is not TokenKind.WORD:
            raise parser.unexpected()
    return values


def parse_tags(parser: Parser) -> list[Name]:
    """Take `tag = 'value' [, …]`."""
    tags: list[Name] = []
    while not tags or parser.accept(","):
        tags.append(parser.name(parts=3))
        parser.expect("=")
        parser.string()
    return tags


def parse_names(parser: Parser) -> list[Name]:
    """Take `name [, …]`."""
    names: list[Name] = []
    while not names or parser.accept(","):
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


def check_names(object_type: ObjectType, names: Iterable[str], statement: OneOf["CREATE", "ALTER"]) -> None:
    """Refuse with 001420 what is no setting of the type, or none that the statement takes."""
    for name in names:
        known = object_type.settings.get(name)
        if known is None or (isinstance(known, Property) and known.only not in {None, statement}):
            raise errors.invalid_property(name, object_type.kind)


def read_literals(
    context: Context, settings: Mapping[str, Setting], literals: Mapping[str, Literal]
) -> dict[str, Scalar]:
    """Turn literals into values.

    Raises:
        SqlError: 001008 or 001422 for a value, 001423 for an edition.
    """
    for name in literals:
        _check_feature(context, settings[name])
    return {name: _value(context, settings[name], literal) for name, literal in literals.items()}


def read(context: Context, settings: Mapping[str, Setting], literals: Mapping[str, Literal]) -> dict[str, Scalar]:
    """As `read_literals`, and check what setting the values takes.

    Raises:
        SqlError: As `read_literals`; 003001 and 002003 for what a value refers to.
    """
    read_values = read_literals(context, settings, literals)
    for name, value in read_values.items():
        _check_rights(context, settings[name], value)
    return read_values


def _check_feature(context: Context, setting: Setting) -> None:
    if isinstance(setting, Property) and not context.enabled(setting.feature):
        raise errors.feature_not_enabled(setting.name, str(setting.feature))


def _value(context: Context, setting: Setting, literal: Literal) -> Scalar:
    invalid = errors.invalid_parameter_value if isinstance(setting, Parameter) else errors.invalid_property_value
    try:
        value = setting.type.read(literal)
    except InvalidValueError:
        raise invalid(literal.text if isinstance(setting, Parameter) else literal.value, setting.name) from None
    limit = setting.standard_high if isinstance(setting, Parameter) and context.identity.edition == "STANDARD" else None
    if limit is not None and isinstance(value, int) and value > limit:
        raise invalid(literal.text, setting.name)
    return value


def _check_rights(context: Context, setting: Setting, value: Scalar = None) -> None:
    if isinstance(setting, Parameter) and setting.requires is not None:
        context.require(setting.requires, context.catalog.account)
    if isinstance(setting, Property) and setting.only_role is not None:
        context.require_role(setting.only_role)
    if isinstance(setting.type, Reference) and value is not None and value not in setting.type.built_in:
        target = context.resolve_reference(setting.type.kind, (str(value),), "SET")
        context.require("USAGE", target, primary_only=True)


def with_values(obj: CatalogObject, object_type: ObjectType, values: Mapping[str, Scalar]) -> CatalogObject:
    """The record with these properties and parameters set."""
    parameters = {name: value for name, value in values.items() if name in object_type.parameters}
    properties = {name: value for name, value in values.items() if name not in object_type.parameters}
    return replace(obj, properties={**obj.properties, **properties}, parameters={**obj.parameters, **parameters})


# --- CREATE ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Definition:
    """What CREATE says after the name.

    Attributes:
        flags: Properties that clauses set.
        values: Properties and parameters with the literals that they are given.
        references: Kinds and names of the objects in lists and of tags.
    """

    flags: dict[str, Scalar] = field(default_factory=dict)
    values: dict[str, Literal] = field(default_factory=dict)
    references: list[tuple[str, Name]] = field(default_factory=list)


Mode = OneOf["CREATE", "OR REPLACE", "OR ALTER"]


@dataclass(frozen=True)
class Create:
    """CREATE [OR REPLACE | OR ALTER] [modifiers] <kind> [IF NOT EXISTS] <name> [clauses and properties]."""

    object_type: ObjectType
    name: Name
    mode: Mode
    if_not_exists: bool
    definition: Definition

    def execute(self, context: Context) -> Result:
        check_names(self.object_type, self.definition.values, "CREATE")
        container = context.container(self.object_type, self.name, "CREATE")
        context.require(self.object_type.create_privilege, container, primary_only=True)
        existing = context.catalog.find(self.object_type.class_name, self.name[-1], container.id)
        if existing is not None:
            check_taken(context, existing, tolerated=self.if_not_exists or self.mode != "CREATE")
            if self.if_not_exists:
                # The clause forgives that the object is there, not what is wrong with the statement.
                read_literals(context, self.object_type.settings, self.definition.values)
                return status(f"{self.name[-1]} already exists, statement succeeded.")
            context.require(OWNERSHIP, existing, primary_only=True)
        values = read(context, self.object_type.settings, self.definition.values)
        for kind, reference in self.definition.references:
            context.resolve_reference(kind, reference, "CREATE")
        if existing is not None and self.mode == "OR ALTER":
            self._redefine(context, existing, values)
            return DONE
        if existing is not None:
            drop(context, self.object_type, existing)
        created = context.catalog.add(self._settle(context, self._draft(context, container), values))
        self.object_type.created(context, created)
        return status(f"{self.object_type.kind.capitalize()} {created.name} successfully created.")

    def _defaults(self) -> dict[str, Scalar]:
        clauses = (*self.object_type.modifiers, *self.object_type.clauses)
        unsaid: dict[str, Scalar] = {clause.property: False for clause in clauses if clause.value is True}
        return unsaid | {prop.name: prop.default for prop in self.object_type.properties} | dict(self.definition.flags)

    def _draft(self, context: Context, container: CatalogObject) -> CatalogObject:
        return CatalogObject(
            id=context.catalog.next_id,
            kind=self.object_type.kind,
            namespace=self.object_type.class_name,
            name=self.name[-1],
            parent=container.id,
            owner=context.session.role,
            created_on=context.now,
            properties=self._defaults(),
        )

    def _redefine(self, context: Context, existing: CatalogObject, values: Mapping[str, Scalar]) -> None:
        """Bring an object to exactly what the statement says: what it leaves out goes back to its default."""
        defaults = self._defaults()
        for modifier in self.object_type.modifiers:
            if modifier.value is True and existing.properties[modifier.property] != defaults[modifier.property]:
                raise errors.unsupported(f"CREATE OR ALTER {modifier.words}")
        draft = replace(existing, properties={**existing.properties, **defaults}, parameters={})
        context.catalog.update(existing, self._settle(context, draft, values))

    def _settle(self, context: Context, draft: CatalogObject, values: Mapping[str, Scalar]) -> CatalogObject:
        given = frozenset({*values, *self.definition.flags})
        return self.object_type.settle(context, with_values(draft, self.object_type, values), given)


def check_taken(context: Context, existing: CatalogObject, *, tolerated: bool) -> None:
    """Refuse a taken name: 003041 when the role can't even see the object, else 002002 unless that is tolerated."""
    if not context.sees(existing):
        raise errors.exists_invisibly(existing.kind, context.print_path(existing))
    if not tolerated:
        raise errors.already_exists(existing.name)


def parse_create(parser: Parser, types: Types) -> Statement:
    mode: Mode = "CREATE"
    if parser.accept("OR"):
        mode = "OR REPLACE" if parser.choose("REPLACE", "ALTER") == "REPLACE" else "OR ALTER"
    modifiers = _parse_modifiers(parser, types)
    object_type = parse_type(parser, types)
    for modifier in modifiers:
        if modifier not in object_type.modifiers:
            raise parser.unexpected()
    if_not_exists = mode != "OR ALTER" and parser.accept("IF", "NOT", "EXISTS")
    if if_not_exists and mode == "OR REPLACE":
        raise errors.unnumbered("options IF NOT EXISTS and OR REPLACE are incompatible", sqlstate="0A000")
    name = parse_name(parser, object_type, types)
    for source in ("CLONE", "FROM", "AS"):
        if parser.at(source):
            raise errors.unsupported(f"CREATE {object_type.kind} {source}")
    definition = _parse_definition(parser, object_type)
    definition.flags.update({modifier.property: modifier.value for modifier in modifiers})
    _refuse_repeated(definition.flags, definition.values)
    return Create(object_type, name, mode, if_not_exists, definition)


def _parse_definition(parser: Parser, object_type: ObjectType) -> Definition:
    """Take clauses, properties, lists and tags, in any order, up to the end."""
    definition = Definition()
    lists = dict(object_type.lists)
    while not parser.at_end():
        if parser.accept("TAG", "(") or parser.accept("WITH", "TAG", "("):
            definition.references.extend(("TAG", tag) for tag in parse_tags(parser))
            parser.expect(")")
        elif words := next((words for words in lists if parser.accept(words, "(")), None):
            definition.references.extend((lists[words], name) for name in parse_names(parser))
            parser.expect(")")
        elif clause := _parse_clause(parser, object_type.clauses):
            definition.flags[clause.property] = clause.value
        else:
            more = parse_assignments(parser)
            if not more:
                raise parser.unexpected()
            _refuse_repeated(definition.values, more)
            definition.values.update(more)
    return definition


def _refuse_repeated(known: Mapping[str, object], more: Mapping[str, object]) -> None:
    if repeated := known.keys() & more.keys():
        raise errors.duplicate_property(min(repeated))


def _parse_modifiers(parser: Parser, types: Types) -> list[Clause]:
    known = [clause for kind in types.values() for clause in kind.modifiers]
    taken = []
    while clause := _parse_clause(parser, known):
        taken.append(clause)
    return taken


def _parse_clause(parser: Parser, clauses: Iterable[Clause]) -> Clause | None:
    return next((clause for clause in clauses if parser.accept_phrase(clause.words)), None)


# --- ALTER -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alter:
    """ALTER <kind> [IF EXISTS] <name> <action>.

    Attributes:
        settings: The settings that the action spells out: they are checked whether or not the object is there. None
            stands for UNSET.
        privileges: What the action needs on the object: all of them.
        act: What is done to the object.
    """

    object_type: ObjectType
    name: Name
    if_exists: bool
    settings: Mapping[str, Literal | None]
    privileges: Collection[str]
    act: Act

    def execute(self, context: Context) -> Result:
        check_names(self.object_type, self.settings, "ALTER")
        container = context.container(self.object_type, self.name, "ALTER")
        obj = context.lookup(self.object_type, self.name[-1], container)
        if obj is None:
            if self.if_exists:
                literals = {name: literal for name, literal in self.settings.items() if literal is not None}
                read_literals(context, self.object_type.settings, literals)
                return DONE
            obj = context.resolve(self.object_type, self.name, "ALTER")
        for privilege in self.privileges:
            context.require(privilege, obj)
        return self.act(context, obj) or DONE


def parse_alter(parser: Parser, types: Types) -> Statement:
    object_type = parse_type(parser, types)
    if_exists = parser.accept("IF", "EXISTS")
    name = parse_name(parser, object_type, types)
    settings: Mapping[str, Literal | None] = {}
    privileges: Collection[str] = (OWNERSHIP,)
    if parser.accept("SET", "TAG"):
        act = _refer_to_tags(parse_tags(parser))
    elif parser.accept("UNSET", "TAG"):
        act = _refer_to_tags(parse_names(parser))
    elif parser.accept("SET"):
        values = parse_assignments(parser, commas=True)
        if not values:
            raise parser.unexpected()
        settings, privileges, act = values, _alter_privileges(object_type, values), _set(object_type, values)
    elif parser.accept("UNSET"):
        settings = parse_unset(parser)
        privileges, act = _alter_privileges(object_type, settings), _unset(object_type, settings)
    elif parser.accept("RENAME", "TO"):
        act = _rename(object_type, parse_name(parser, object_type, types))
    elif object_type.swaps and parser.accept("SWAP", "WITH"):
        act = _swap(object_type, parse_name(parser, object_type, types))
    else:
        action = next((action for action in object_type.actions if parser.accept_phrase(action.words)), None)
        if action is None:
            raise parser.unexpected()
        privileges, act = (action.privilege,), action.parse(parser)
    return Alter(object_type, name, if_exists, settings, privileges, act)


def parse_comment(parser: Parser, types: Types) -> Statement:
    """COMMENT [IF EXISTS] ON <kind> <name> IS '<text>'."""
    if_exists = parser.accept("IF", "EXISTS")
    parser.expect("ON")
    object_type = parse_type(parser, types)
    name = parse_name(parser, object_type, types)
    parser.expect("IS")
    text = parser.token
    values = {"COMMENT": Literal(text.kind, text.text, parser.string())}
    act = _set(object_type, values)
    return Alter(object_type, name, if_exists, values, _alter_privileges(object_type, values), act)


def _alter_privileges(object_type: ObjectType, names: Iterable[str]) -> set[str]:
    privileges = set()
    for name in names:
        known = object_type.settings.get(name)
        own = known.privilege if isinstance(known, Property) else None
        privileges.add(own or object_type.alter_privilege)
    return privileges


def _refer_to_tags(tags: Sequence[Name]) -> Act:
    def act(context: Context, _obj: CatalogObject) -> None:
        for tag in tags:
            context.resolve_reference("TAG", tag, "ALTER")

    return act


def _set(object_type: ObjectType, values: Mapping[str, Literal]) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        new = with_values(obj, object_type, read(context, object_type.settings, values))
        context.catalog.update(obj, object_type.settle(context, new, frozenset(values)))

    return act


def _unset(object_type: ObjectType, names: Collection[str]) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        properties, parameters = dict(obj.properties), dict(obj.parameters)
        for name in names:
            known = object_type.settings[name]
            _check_feature(context, known)
            _check_rights(context, known)
            if isinstance(known, Parameter):
                parameters.pop(name, None)
            elif isinstance(known.unset, Refused):
                raise errors.unsupported("UNSET")
            else:
                properties[name] = known.unset
        new = replace(obj, properties=properties, parameters=parameters)
        context.catalog.update(obj, object_type.settle(context, new, frozenset(names)))

    return act


def _rename(object_type: ObjectType, new_name: Name) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        container = context.container(object_type, new_name, "RENAME")
        context.require(object_type.create_privilege, container)
        taken = context.catalog.find(object_type.class_name, new_name[-1], container.id)
        if taken is not None:
            check_taken(context, taken, tolerated=False)
        context.catalog.update(obj, replace(obj, name=new_name[-1], parent=container.id))

    return act


def _swap(object_type: ObjectType, other_name: Name) -> Act:
    def act(context: Context, obj: CatalogObject) -> None:
        other = context.resolve(object_type, other_name, "SWAP")
        context.require(OWNERSHIP, other)
        if other.id == obj.id:
            raise errors.unnumbered(f"{object_type.kind.capitalize()} '{obj.name}' can't be swapped with itself.")
        # Both names are free only when neither object is in the catalog under them.
        hidden = context.catalog.update(obj, replace(obj, dropped_on=context.now))
        context.catalog.update(other, replace(other, name=obj.name, parent=obj.parent))
        context.catalog.update(hidden, replace(obj, name=other.name, parent=other.parent))

    return act


# --- DROP, UNDROP, DESCRIBE ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drop:
    """DROP <kind> [IF EXISTS] <name> [CASCADE | RESTRICT]."""

    object_type: ObjectType
    name: Name
    if_exists: bool

    def execute(self, context: Context) -> Result:
        container = context.container(self.object_type, self.name, "DROP")
        obj = context.lookup(self.object_type, self.name[-1], container)
        if obj is None:
            if self.if_exists:
                return status(f"Drop statement executed successfully ({self.name[-1]} already dropped).")
            obj = context.resolve(self.object_type, self.name, "DROP")
        context.require(OWNERSHIP, obj)
        drop(context, self.object_type, obj)
        return status(f"{obj.name} successfully dropped.")


def drop(context: Context, object_type: ObjectType, obj: CatalogObject) -> None:
    """End an object, unless its type objects."""
    object_type.dropping(context, obj)
    context.catalog.drop(obj, context.now)


def parse_drop(parser: Parser, types: Types) -> Statement:
    object_type = parse_type(parser, types)
    if_exists = parser.accept("IF", "EXISTS")
    name = parse_name(parser, object_type, types)
    if object_type.cascades and not parser.accept("CASCADE"):
        parser.accept("RESTRICT")
    return Drop(object_type, name, if_exists)


@dataclass(frozen=True)
class Undrop:
    """UNDROP <kind> <name>: the latest dropped one, while its retention lasts."""

    object_type: ObjectType
    name: Name

    def execute(self, context: Context) -> Result:
        container = context.container(self.object_type, self.name, "UNDROP")
        dropped = self._latest(context, container)
        context.require(OWNERSHIP, dropped)
        context.require(self.object_type.create_privilege, container)
        taken = context.catalog.find(self.object_type.class_name, self.name[-1], container.id)
        if taken is not None:
            check_taken(context, taken, tolerated=False)
        context.catalog.update(dropped, replace(dropped, dropped_on=None))
        return status(f"{self.object_type.kind.capitalize()} {dropped.name} successfully restored.")

    def _latest(self, context: Context, container: CatalogObject) -> CatalogObject:
        for obj in context.catalog.members(self.object_type.kind, container.id, dropped=True):
            if obj.name == self.name[-1] and obj.dropped_on is not None and context.sees(obj) and context.retained(obj):
                return obj
        raise errors.not_restorable(self.object_type.kind, print_name(self.name))


def parse_undrop(parser: Parser, types: Types) -> Statement:
    kind = parser.token
    object_type = parse_type(parser, types)
    if not object_type.retained:
        raise parser.unexpected(kind)
    return Undrop(object_type, parse_name(parser, object_type, types))


@dataclass(frozen=True)
class Describe:
    """{ DESCRIBE | DESC } <kind> <name>."""

    object_type: ObjectType
    name: Name

    def execute(self, context: Context) -> Result:
        obj = context.resolve(self.object_type, self.name, "DESCRIBE")
        # Since behaviour change 2339 the rights that list every object no longer describe it.
        if not context.authority.touches(obj):
            raise context.missing(obj.kind, context.print_path(obj))
        if self.object_type.describe is None:
            raise errors.unsupported(f"DESCRIBE {self.object_type.kind}")
        if self.object_type.describe_privilege is not None:
            context.require(self.object_type.describe_privilege, obj)
        return self.object_type.describe(context, obj)


def parse_describe(parser: Parser, types: Types) -> Statement:
    object_type = parse_type(parser, types)
    return Describe(object_type, parse_name(parser, object_type, types))
