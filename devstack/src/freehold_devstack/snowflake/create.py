"""CREATE of every object type, derived from its declaration."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from freehold_devstack.snowflake import errors, future_grants
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Value
from freehold_devstack.snowflake.cloning import clone_members
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.ddl import (
    Target,
    check_settings,
    parse_assignment,
    parse_name,
    parse_target,
    parse_type,
    read,
    read_literals,
    with_values,
)
from freehold_devstack.snowflake.grammar import Clause, Part
from freehold_devstack.snowflake.object_type import Form, ObjectType, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Literal, Name, Parser, print_name
from freehold_devstack.snowflake.results import DONE, Result, status
from freehold_devstack.snowflake.tags import TagValues, parse_tags, set_tags
from freehold_devstack.snowflake.tokens import Token

GRANTS_ARE_COPIED = "2026_08"
"""Since this bundle CREATE OR REPLACE copies grants unless it says IGNORE GRANTS."""


@dataclass(frozen=True)
class Definition:
    """What CREATE says after the name.

    Attributes:
        given: Properties that clauses set.
        values: Properties and parameters with the literals that they are given.
        copy_grants: COPY GRANTS or IGNORE GRANTS; None for neither.
    """

    given: dict[str, Value] = field(default_factory=dict)
    values: dict[str, Literal] = field(default_factory=dict)
    tags: TagValues = ()
    copy_grants: bool | None = None


def _merged(parts: Iterable[Definition]) -> Definition:
    """Parts of a definition, as one.

    Raises:
        SqlError: Something is said twice.
    """
    given: dict[str, Value] = {}
    values: dict[str, Literal] = {}
    tags: dict[Name, str] = {}
    copy_grants: bool | None = None
    for part in parts:
        repeated = {name for name in (*part.given, *part.values) if name in given or name in values}
        repeated |= {print_name(tag) for tag, _ in part.tags if tag in tags}
        if copy_grants is not None and part.copy_grants is not None:
            repeated.add("COPY GRANTS")
        if repeated:
            raise errors.duplicate_property(min(repeated))
        given |= part.given
        values |= part.values
        tags |= part.tags
        copy_grants = part.copy_grants if copy_grants is None else copy_grants
    return Definition(given, values, tuple(tags.items()), copy_grants)


TEMPORARY = "TEMPORARY"
"""The value of TRANSIENT that stands for what ends with the session; it is in a name space of the session's own."""

Mode = OneOf["", "OR REPLACE", "OR ALTER"]


@dataclass(frozen=True)
class Source:
    """What a new object is made after."""

    how: OneOf["CLONE", "LIKE"]
    target: Target


@dataclass(frozen=True)
class Create:
    """CREATE [OR REPLACE | OR ALTER] [modifiers] <kind> [IF NOT EXISTS] <name> [source] [clauses and properties]."""

    object_type: ObjectType
    name: Name
    mode: Mode
    if_not_exists: bool
    definition: Definition
    source: Source | None = None

    @property
    def form(self) -> Form:
        clauses = (self.mode, "IF NOT EXISTS" if self.if_not_exists else "", self.source.how if self.source else "")
        return Form("CREATE", self.object_type.kind, self.name, " ".join(filter(None, clauses)))

    def execute(self, context: Context) -> Result:
        self._check_settings()
        lifecycle = self.object_type.lifecycle
        container = context.container(self.object_type, self.name, "CREATE")
        context.require_writable(container)
        self._check_rights(context, container)
        namespace = context.namespace(self.object_type.class_name, temporary=self._temporary)
        existing = context.catalog.find(namespace, self.name[-1], container.id, self._overload)
        if existing is not None:
            check_taken(context, existing, tolerated=self.if_not_exists or bool(self.mode))
            if self.if_not_exists:
                # The clause forgives that the object is there, not what is wrong with the statement.
                read_literals(context, self.object_type.settings, self.definition.values)
                return status(f"{context.called(existing)} already exists, statement succeeded.")
            if existing.kind != self.object_type.kind:
                raise errors.wrong_kind(existing.kind, self.object_type.kind)
            context.require(OWNERSHIP, existing, primary_only=True)
        values = read(context, self.object_type.settings, self.definition.values)
        if existing is not None and self.mode == "OR ALTER":
            lifecycle.redefining(context, existing)
            self._redefine(context, existing, values)
            return DONE
        source = None if self.source is None else self._resolve_source(context, self.source)
        draft = self._draft(context, container, source)
        if existing is not None:
            (lifecycle.replacing or lifecycle.dropping)(context, existing)
            context.catalog.drop(existing, context.now)
        created = self._add(context, draft, values)
        if source is not None and self.source is not None and self.source.how == "CLONE":
            clone_members(context, source, created)
        created = self._grant(context, existing or source, created, replaced=existing is not None)
        lifecycle.created(context, created)
        return status(f"{self.object_type.called} {context.called(created)} successfully created.")

    def _check_rights(self, context: Context, container: CatalogObject) -> None:
        if self.object_type.rights.create_role is not None:
            context.require_role(self.object_type.rights.create_role, primary_only=True)
        elif not self._temporary:
            context.require(self.object_type.creating, container, primary_only=True)

    def _check_settings(self) -> None:
        check_settings(self.object_type, self.definition.values, "CREATE")
        if not self.object_type.parameters_in_create and self.mode != "OR ALTER":
            for name in self.definition.values.keys() & {*self.object_type.parameters}:
                raise errors.unsupported(f"{name} in CREATE {self.object_type.kind}")

    @property
    def _temporary(self) -> bool:
        return self.definition.given.get("TRANSIENT") == TEMPORARY

    @property
    def _overload(self) -> str | None:
        return None if self.object_type.overload is None else self.object_type.overload(self.definition.given)

    def _defaults(self) -> dict[str, Value]:
        clauses = [*self.object_type.modifiers, *self.object_type.clauses]
        unsaid = [clause.property for clause in clauses if isinstance(clause, Clause) and clause.value is True]
        defaults: dict[str, Value] = {prop.name: prop.default for prop in self.object_type.properties}
        for part in self.object_type.clauses:
            defaults |= part.unsaid if isinstance(part, Part) else {}
        return dict.fromkeys(unsaid, False) | defaults | dict(self.definition.given)

    def _resolve_source(self, context: Context, source: Source) -> CatalogObject:
        found = source.target.resolve(context, "CREATE")
        copying = self.object_type.copying
        if source.how == "CLONE" and not copying.clonable(found):
            raise errors.unnumbered(f"{self.object_type.called} '{found.name}' can't be cloned.")
        if source.how == "CLONE" and copying.clone is not None:
            context.require(copying.clone, found, primary_only=True)
            copying.cloning(context, found, self.definition.given)
        return found

    def _draft(self, context: Context, container: CatalogObject, source: CatalogObject | None) -> CatalogObject:
        draft = CatalogObject(
            id=context.catalog.next_id,
            kind=self.object_type.kind,
            namespace=context.namespace(self.object_type.class_name, temporary=self._temporary),
            name=self.name[-1],
            parent=container.id,
            owner=context.session.role,
            created_on=context.now,
            properties=self._defaults(),
            overload=self._overload,
        )
        if self.source is None or source is None:
            return draft
        if self.source.how == "LIKE" and self.object_type.copying.like is not None:
            properties = {**draft.properties, **self.object_type.copying.like(source), **self.definition.given}
            return replace(draft, properties=properties, tags=source.tags)
        properties = {**source.properties, **self.definition.given}
        return replace(draft, properties=properties, parameters=source.parameters, tags=source.tags)

    def _add(self, context: Context, draft: CatalogObject, values: Mapping[str, Value]) -> CatalogObject:
        created = context.catalog.add(self._settle(context, draft, values))
        if not self.definition.tags:
            return created
        return context.catalog.update(created, set_tags(context, created, self.definition.tags))

    def _grant(
        self, context: Context, original: CatalogObject | None, created: CatalogObject, *, replaced: bool
    ) -> CatalogObject:
        """Copy the grants of what was replaced or copied, or give those that new objects get, and their owner."""
        copied = self.definition.copy_grants
        if copied is None:
            copied = self.object_type.copies_grants and replaced and context.bundle(GRANTS_ARE_COPIED)
        if not copied:
            return future_grants.apply(context, created)
        for grant in [] if original is None else context.catalog.grants_on(original):
            context.catalog.grant(replace(grant, on=created.id))
        return created

    def _redefine(self, context: Context, existing: CatalogObject, values: Mapping[str, Value]) -> None:
        """Bring an object to exactly what the statement says: what it leaves out goes back to its default."""
        defaults = self._defaults()
        for modifier in self.object_type.modifiers:
            if modifier.alterable or modifier.value is not True:
                continue
            if existing.properties[modifier.property] != defaults[modifier.property]:
                raise errors.unsupported(f"CREATE OR ALTER {modifier.words}")
        draft = replace(existing, properties={**existing.properties, **defaults}, parameters={})
        context.catalog.update(existing, self._settle(context, draft, values))

    def _settle(self, context: Context, draft: CatalogObject, values: Mapping[str, Value]) -> CatalogObject:
        how = {self.mode, self.source.how if self.source else ""} - {""}
        given = frozenset({*values, *self.definition.given, *how})
        return self.object_type.lifecycle.settle(context, with_values(draft, self.object_type, values), given)


def check_taken(context: Context, existing: CatalogObject, *, tolerated: bool) -> None:
    """Refuse a taken name: 003041 when the role can't even see the object, else 002002 unless that is tolerated."""
    if not context.sees(existing):
        raise errors.exists_invisibly(existing.kind, context.print_path(existing))
    if not tolerated:
        raise errors.already_exists(context.called(existing))


# --- parsing ---------------------------------------------------------------------------------------------------------


def parse_create(parser: Parser, types: Types) -> Statement:
    mode: Mode = ""
    replacing = parser.token
    if parser.accept("OR"):
        mode = "OR REPLACE" if parser.choose("REPLACE", "ALTER") == "REPLACE" else "OR ALTER"
    written = _parse_modifiers(parser, types)
    object_type = parse_type(parser, types, creating=True)
    modifiers = _own_modifiers(parser, object_type, written)
    if mode == "OR REPLACE" and not object_type.or_replace:
        raise parser.unexpected(replacing)
    if mode == "OR ALTER" and not object_type.or_alter:
        raise errors.unsupported(f"CREATE OR ALTER {object_type.kind}")
    if_not_exists = object_type.if_not_exists and mode != "OR ALTER" and parser.accept("IF", "NOT", "EXISTS")
    if if_not_exists and mode == "OR REPLACE":
        raise errors.unnumbered("options IF NOT EXISTS and OR REPLACE are incompatible", sqlstate="0A000")
    name = parse_name(parser, object_type, types)
    source = _parse_source(parser, object_type, types)
    definition = _merged(_parse_parts(parser, object_type, modifiers, source))
    if source is None and not definition.given.keys() >= {*object_type.required}:
        raise parser.unexpected()
    if mode == "OR ALTER":
        _refuse_in_or_alter(object_type, definition, source)
    return Create(object_type, name, mode, if_not_exists, definition, source)


def _refuse_in_or_alter(object_type: ObjectType, definition: Definition, source: Source | None) -> None:
    """https://docs.snowflake.com/en/sql-reference/sql/create-or-alter: neither governance nor copies."""
    for words, said in (("TAG", definition.tags), ("COPY GRANTS", definition.copy_grants is not None)):
        if said:
            raise errors.unsupported(f"CREATE OR ALTER {object_type.kind} {words}")
    for name in definition.given.keys() & object_type.sources:
        raise errors.unsupported(f"CREATE OR ALTER {object_type.kind} {name}")
    if source is not None:
        raise errors.unsupported(f"CREATE OR ALTER {object_type.kind} {source.how}")


def _parse_source(parser: Parser, object_type: ObjectType, types: Types) -> Source | None:
    if object_type.copying.clone is not None and parser.accept("CLONE"):
        target = parse_target(parser, object_type, types)
        for travel in ("AT", "BEFORE"):
            if parser.at(travel, "("):
                raise errors.unsupported(f"CLONE {travel}")
        return Source("CLONE", target)
    if object_type.copying.like is not None and parser.accept("LIKE"):
        return Source("LIKE", parse_target(parser, object_type, types))
    return None


def _parse_parts(
    parser: Parser, object_type: ObjectType, modifiers: Iterable[Clause], source: Source | None
) -> Iterator[Definition]:
    """Take the rest of the statement, part by part."""
    yield Definition(given={modifier.property: modifier.value for modifier in modifiers})
    if source is None and object_type.signature is not None:
        yield Definition(given=dict(object_type.signature(parser)))
    while not parser.at_end():
        yield _parse_clause(parser, object_type)


def _parse_clause(parser: Parser, object_type: ObjectType) -> Definition:
    """Take the next clause, property, list or tags."""
    if object_type.tagged_at_creation and (parser.accept("TAG", "(") or parser.accept("WITH", "TAG", "(")):
        if not object_type.taggable:
            raise errors.unsupported(f"TAG on {object_type.kind}")
        tags = parse_tags(parser)
        parser.expect(")")
        return Definition(tags=tags)
    if object_type.copies_grants and parser.accept("COPY", "GRANTS"):
        return Definition(copy_grants=True)
    if object_type.copies_grants and parser.accept("IGNORE", "GRANTS"):
        return Definition(copy_grants=False)
    if (clause := parser.accept_any(object_type.clause_words)) is not None:
        given = clause.parse(parser) if isinstance(clause, Part) else {clause.property: clause.value}
        return Definition(given=dict(given))
    if parser.at("WITH") or parser.at("TAG"):
        raise parser.unexpected()
    name, value = parse_assignment(parser)
    if name in object_type.listed and parser.accept(",") and parser.token.text.upper() not in object_type.listed:
        raise parser.unexpected()
    return Definition(values={name: value})


def _parse_modifiers(parser: Parser, types: Types) -> list[tuple[str, Token]]:
    """Take the words between CREATE and the object type that any type knows, and where each begins."""
    taken: list[tuple[str, Token]] = []
    token = parser.token
    while words := parser.accept_any(types.modifiers):
        taken.append((words, token))
        token = parser.token
    return taken


def _own_modifiers(parser: Parser, object_type: ObjectType, written: Iterable[tuple[str, Token]]) -> list[Clause]:
    """The modifiers of the type that were written, every property once."""
    own = {modifier.words: modifier for modifier in object_type.modifiers}
    taken: dict[str, Clause] = {}
    for words, token in written:
        if words not in own or own[words].property in taken:
            raise parser.unexpected(token)
        taken[own[words].property] = own[words]
    return list(taken.values())
