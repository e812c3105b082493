"""What a declaration says of a field: its SQL keyword, where it is observed, how it is reset, what a change means.

A spec model is an ordinary pydantic model; a field's default is one of the functions below:

    auto_suspend: int | None = prop("AUTO_SUSPEND", show="auto_suspend", reset=set_to(600), ge=0)
    \"\"\"Idle seconds before the warehouse stops. 0 means never.\"\"\"

The facts end up in a `Property`, found by `properties(model)`; CRD, documentation, SQL and drift derive from them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, Literal, get_args, get_origin

import orjson
from pydantic import BaseModel, Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from freehold import sql
from freehold.kinds.values import Boolean, Codec, Comment, Number, Word
from freehold.observation import UNKNOWN, Observation, Unknown
from freehold.sql import Sql


class Change(Enum):
    """What it takes to change a field of an existing object."""

    ALTER = "ALTER"
    """A statement; the default."""
    IDENTITY = "IDENTITY"
    """Impossible: another value is another object. CEL refuses it."""
    RECREATE = "RECREATE"
    """Only by dropping the object. Admission refuses it, and the reconciler stops with ImmutableField."""
    DESTRUCTIVE = "DESTRUCTIVE"
    """A statement that loses data, such as DROP COLUMN. Never sent unless the spec asks for exactly that."""
    ASKED = "ASKED"
    """A statement that loses data and that the spec asks for by name. Sent when the spec changed, never for drift."""
    TOLD = "TOLD"
    """None: what is there is none of ours, or Snowflake may only spell it otherwise. It is told, and left alone."""


@dataclass(frozen=True)
class Reset:
    """How a managed field that was removed goes back.

    Attributes:
        value: what to SET it to; None to use UNSET.
        keep: leave the live value alone and stop managing it.
    """

    value: str | int | None = None
    keep: bool = False


UNSET = Reset()
"""Back to the inherited or built-in value; the property accepts UNSET."""
KEEP = Reset(keep=True)
"""No reset form exists: the live value stays and is no longer managed."""


def set_to(value: str | int) -> Reset:
    """Back to a given value, for properties whose UNSET is refused or means something else."""
    return Reset(value=value)


@dataclass(frozen=True, slots=True)
class Target:
    """The object that a statement is about.

    Attributes:
        object_type: its SQL words, for example `WAREHOUSE`.
        parts: stored name parts, outermost first.
    """

    object_type: str
    parts: tuple[str, ...]

    @property
    def type(self) -> Sql:
        return sql.words(self.object_type)

    @property
    def name(self) -> Sql:
        return sql.identifier(*self.parts)

    def __str__(self) -> str:
        """The object for people: `warehouse "LOADING"`."""
        return f"{self.object_type.lower()} {self.name}"

    def alter(self, clause: Sql) -> Sql:
        """ALTER <type> <name> <clause>."""
        return sql.sql("ALTER {type} {name} {clause}", type=self.type, name=self.name, clause=clause)


class Place(Enum):
    """Where a clause stands in CREATE."""

    BEFORE_TYPE = 0
    AFTER_NAME = 1
    PROPERTIES = 2
    ELEMENTS = 3
    """In the parentheses after the name, such as columns."""


@dataclass(frozen=True, slots=True)
class Action:
    """What ALTER does to an item of a field.

    Attributes:
        verb: keywords after the object's name; the actions of one verb share a statement, joined by commas.
        clause: what follows.
        alone: whether it has a statement of its own.
    """

    verb: str
    clause: Sql
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Deviation:
    """What isn't as it should be in a field that holds many things, such as a table's columns.

    Attributes:
        place: where, after the field's name: `[AGE].type`.
        desired: canonical value of the spec; None when it is to be reset.
        observed: canonical live value.
        change: what it takes.
        actions: what mends it.
        said: what is the matter, for people, where the two values don't tell.
        remedy: what people can do where no statement is sent.
        causes: further names whose change by the user leads to this one, as `columns[AGE]`.
    """

    place: str
    desired: Any
    observed: Any
    change: Change = Change.ALTER
    actions: tuple[Action, ...] = ()
    said: str = ""
    remedy: str = ""
    causes: tuple[str, ...] = ()


Differ = Callable[[Any, Any, Collection[str]], Iterable[Deviation]]
"""(spec, canonical live value, names that were ever sent) to what isn't as it should be in one field."""
Observe = Callable[[Observation], object]
"""Raw value of a field in an observation; UNKNOWN when this account or depth doesn't tell."""
OwnStatements = Callable[[Target, Any, Any], Sequence[Sql]]
"""(target, desired or None when removed, observed) to the statements that change a field which SET and UNSET can't."""


@dataclass(frozen=True)
class Property:
    """All that is known of one field.

    Attributes:
        sql: Snowflake's keyword; empty for fields that are no property (names, references).
        codec: how its value is written, read and compared.
        observe: where its live value is read; None for write-only fields.
        source: the same for people, in the field reference: `show.size`, `parameters.LOG_LEVEL`.
        reset: how it goes back when removed.
        change: what a change means.
        unset: what the object is when it was created without the field, as far as that is certain.
        create: may stand in CREATE. When False, it is altered right after.
        create_only: acts at creation and is ignored afterwards.
        own_statement: is altered by a statement of its own (other rights, other grammar).
        place: where its clause stands in CREATE.
        clause: its clause in CREATE; None for `KEYWORD = value`.
        alter: its statements where SET and UNSET don't do.
        items: of a field that is compared item by item: their model, which has a `name`, or str where they are names.
        differ: compares it so; the field then has no statements but those of its deviations.
        details: names of the kind's further queries that it is observed by, beside SHOW and SHOW PARAMETERS.
        recreate_when: (old, new) values between which no ALTER leads.
        reference: kind that a reference field points at.
        instead_of: for a reference, the raw field that it stands for.
        qualified: whether that field takes the fully-qualified name, and not the bare one.
        item: whether it is an attribute of an item.
        unsupported: why this release refuses the field; None when it is supported.
        check: reads a value, or each of a list, and raises ValueError with a message for people where no statement can
            hold it, such as `datatypes.parse`.
        secret: whether its values are shown to nobody.
    """

    sql: str = ""
    codec: Codec = Codec()  # noqa: RUF009 - codecs are immutable
    observe: Observe | None = None
    source: str = ""
    reset: Reset = UNSET
    change: Change = Change.ALTER
    unset: Any = None
    create: bool = True
    create_only: bool = False
    own_statement: bool = False
    place: Place = Place.PROPERTIES
    clause: Callable[[Any], Sql | None] | None = None
    alter: OwnStatements | None = None
    items: type[BaseModel | str] | None = None
    differ: Differ | None = None
    details: tuple[str, ...] = ()
    recreate_when: Callable[[Any, Any], bool] | None = None
    reference: str | None = None
    instead_of: str | None = None
    qualified: bool = False
    item: bool = False
    unsupported: str | None = None
    check: Callable[[Any], object] | None = None
    secret: bool = False

    def __call__(self, schema: JsonDict) -> None:
        """Pydantic's hook on the JSON schema: the facts stay out of it, but that no two items have one name."""
        if self.items is str:
            schema |= {"x-kubernetes-list-type": "set"}
        elif self.items is not None:
            schema |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}

    def meaning(self, value: Any) -> Any:
        """A value of the spec, or what it means that there is none: the one it is reset to, or created with."""
        return value if value is not None else self.unset if self.reset.value is None else self.reset.value

    def change_between(self, old: Any, new: Any) -> Change:
        """What it takes to get from one value to another."""
        if self.recreate_when is not None and self.recreate_when(old, new):
            return Change.RECREATE
        return self.change

    @property
    def managed(self) -> bool:
        """Whether the field is a property of the object, sent and compared."""
        return bool(self.sql or self.alter or self.differ) and not self.create_only

    def read(self, observation: Observation) -> Any:
        """The live value in canonical form; UNKNOWN when it wasn't read."""
        if self.observe is None:
            return UNKNOWN
        raw = self.observe(observation)
        return raw if isinstance(raw, Unknown) else self.codec.read(raw)

    def shown(self, value: object) -> str:
        """A canonical value, or one of the spec, for people: of a secret only whether there is one."""
        return sql.MASK if self.secret and value is not None and value is not UNKNOWN else _shown(value)

    def assignment(self, value: Any) -> Sql:
        """`KEYWORD = value`."""
        return sql.join((sql.words(self.sql), self.codec.render(value)), " = ")

    def create_clause(self, value: Any) -> Sql | None:
        """The field's clause in CREATE, None when this value needs none."""
        return self.clause(value) if self.clause is not None else self.assignment(value)


def _shown(value: object) -> str:
    if isinstance(value, tuple | frozenset):
        return "[" + ", ".join(sorted(map(_shown, value))) + "]"
    if value is None or value is UNKNOWN:
        return "not set" if value is None else "not known"
    return orjson.dumps(value, default=str).decode()


def column(name: str, *, missing: object = UNKNOWN) -> Observe:
    """A column of SHOW, read by name: accounts differ in which columns they have.

    Args:
        name: the column, in lower case.
        missing: the value where the account has no such column.
    """

    def read(observation: Observation) -> object:
        return observation.row.get(name, missing)

    return read


def parameter_value(key: str) -> Observe:
    """A row of SHOW PARAMETERS, which only a deep observation reads."""

    def read(observation: Observation) -> object:
        found = (observation.parameters or {}).get(key)
        return UNKNOWN if found is None else found.value

    return read


def option(word: str) -> Observe:
    """Membership in the `options` column, a list joined by comma and blank ("TRANSIENT, MANAGED ACCESS") or NULL."""

    def read(observation: Observation) -> object:
        listed = observation.row.get("options")
        return word in (str(listed).split(", ") if listed else [])

    return read


def _field(facts: Property, *, alias: str | None = None, **constraints: Any) -> Any:
    return Field(default=None, alias=alias, json_schema_extra=facts, **constraints)


def prop(
    keyword: str,
    *,
    show: str | None = None,
    missing: object = UNKNOWN,
    observe: Observe | None = None,
    codec: Codec | None = None,
    reset: Reset = UNSET,
    create_only: bool = False,
    own_statement: bool = False,
    clause: Callable[[Any], Sql | None] | None = None,
    recreate_when: Callable[[Any, Any], bool] | None = None,
    check: Callable[[Any], object] | None = None,
    secret: bool = False,
    alias: str | None = None,
    **constraints: Any,
) -> Any:
    """A property written as `KEYWORD = value` and read from a column of SHOW.

    Args:
        keyword: Snowflake's name of the property.
        show: the column of SHOW that holds it; None for write-only properties.
        missing: its value where the account has no such column.
        observe: reads the column where more than its name matters.
        codec: how values are written, read and compared; None to take it from the annotation.
        reset: how it goes back when removed.
        create_only: acts at creation and is ignored afterwards.
        own_statement: is altered by a statement of its own.
        clause: its clause in CREATE where that isn't `KEYWORD = value`.
        recreate_when: (old, new) values between which no ALTER leads.
        check: as `Property` has it.
        secret: whether its values are shown to nobody.
        alias: name in the manifest where it isn't the camel-case form of the attribute.
        constraints: pydantic's `ge`, `le`, `max_length` ...
    """
    facts = Property(
        sql=keyword,
        codec=codec if codec is not None else _INFERRED,
        observe=observe if observe or not show else column(show, missing=missing),
        source=f"show.{show}" if show else "",
        reset=reset,
        create_only=create_only,
        own_statement=own_statement,
        clause=clause,
        recreate_when=recreate_when,
        check=check,
        secret=secret,
    )
    return _field(facts, alias=alias, **constraints)


def parameter(
    key: str, *, codec: Codec | None = None, create: bool = True, alias: str | None = None, **constraints: Any
) -> Any:
    """An object parameter: inherited unless set on the object, read by SHOW PARAMETERS, reset by UNSET.

    Args:
        key: Snowflake's name of the parameter.
        codec: how values are written, read and compared; None to take it from the annotation.
        create: may stand in CREATE.
        alias: name in the manifest where it isn't the camel-case form of the attribute.
        constraints: pydantic's `ge`, `le` ...
    """
    facts = Property(
        sql=key,
        codec=codec if codec is not None else _INFERRED,
        observe=parameter_value(key),
        source=f"parameters.{key}",
        create=create,
    )
    return _field(facts, alias=alias, **constraints)


def keyword(word: str, *, place: Place, observe: Observe | None = None, source: str = "show.options") -> Any:
    """A word that CREATE has or hasn't and that no ALTER can change.

    Args:
        word: the word.
        place: where it stands.
        observe: reads whether it was given; by default from the `options` column.
        source: the same for people.
    """
    facts = Property(
        sql=word,
        codec=Boolean(),
        observe=observe or option(word),
        source=source,
        change=Change.RECREATE,
        unset=False,
        reset=KEEP,
        place=place,
        clause=lambda value: sql.words(word) if value else None,
    )
    return _field(facts)


def custom(
    *,
    alter: OwnStatements,
    observe: Observe | None = None,
    source: str = "",
    clause: Callable[[Any], Sql | None] | None = None,
    codec: Codec | None = None,
    place: Place = Place.PROPERTIES,
    details: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
    alias: str | None = None,
    **constraints: Any,
) -> Any:
    """A field with statements of its own. Without `clause` it isn't part of CREATE and is altered right after."""
    facts = Property(
        codec=codec or Codec(),
        observe=observe,
        source=source,
        create=clause is not None,
        clause=clause,
        alter=alter,
        own_statement=True,
        place=place,
        details=details,
        check=check,
    )
    return _field(facts, alias=alias, **constraints)


def items(
    model: type[BaseModel | str],
    *,
    differ: Differ,
    codec: Codec,
    observe: Observe,
    source: str,
    details: tuple[str, ...],
    clause: Callable[[Any], Sql | None] | None = None,
    change: Change = Change.ALTER,
    **constraints: Any,
) -> Any:
    """A list that is compared item by item; with a clause, its items stand in the parentheses of CREATE.

    Args:
        model: of the items, which have a `name`; or str where they are names.
        differ: compares the list.
        codec: makes the canonical values of both sides.
        observe: reads the live value.
        source: the same for people.
        details: queries that it is read from.
        clause: its part of CREATE.
        change: what a change of any item means at least.
        constraints: pydantic's.
    """
    facts = Property(
        codec=codec,
        observe=observe,
        source=source,
        create=clause is not None,
        clause=clause,
        place=Place.ELEMENTS,
        items=model,
        differ=differ,
        details=details,
        change=change,
    )
    return Field(json_schema_extra=facts, **constraints)


def attribute(
    *,
    reset: Reset = UNSET,
    change: Change = Change.ALTER,
    details: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
    **constraints: Any,
) -> Any:
    """An attribute of an item. One that can be reset is remembered, item by item, once it was sent.

    Args:
        reset: whether it goes back when removed; how is the `differ` of the list's to say.
        change: what another value means.
        details: further queries that are needed while an item sets it.
        check: as `Property` has it.
        constraints: pydantic's.
    """
    return _field(Property(reset=reset, change=change, details=details, check=check, item=True), **constraints)


def own_name() -> Any:
    """The object's stored name, which every object has: another value is another object."""
    return Field(json_schema_extra=Property(change=Change.IDENTITY))


def immutable() -> Any:
    """A field that belongs to what the object is, such as the name of its database: another value, another object."""
    return _field(Property(change=Change.IDENTITY))


def checked(check: Callable[[Any], object], **constraints: Any) -> Any:
    """A text with a grammar that is no property of its own, such as the data type of a function's argument.

    Args:
        check: as `Property` has it.
        constraints: pydantic's.
    """
    return Field(json_schema_extra=Property(check=check), **constraints)


def ref(kind: str, *, instead_of: str, parent: bool = False, qualified: bool = False) -> Any:
    """A reference to another resource, in place of the raw name in the field `instead_of`.

    Args:
        kind: the kind that it points at.
        instead_of: attribute of the raw name.
        parent: whether it names the container of the object, and so is part of the object's identity.
        qualified: whether the raw field takes the fully-qualified name, for an object that lies elsewhere.
    """
    change = Change.IDENTITY if parent else Change.ALTER
    return _field(Property(reference=kind, instead_of=instead_of, change=change, qualified=qualified))


def action(*, alias: str | None = None) -> Any:
    """A switch that acts once, at creation, by a statement that the kind declares beside it."""
    return _field(Property(create_only=True, create=False), alias=alias)


def unsupported(why: str, **constraints: Any) -> Any:
    """A field that is declared so that manifests can be moved, and refused with a reason in this release."""
    return _field(Property(unsupported=why), **constraints)


def comment() -> Any:
    """The COMMENT that nearly every object has."""
    return prop("COMMENT", show="comment", codec=Comment(), max_length=1_000_000)


def tags() -> Any:
    """Tag values, which a kind of their own sets."""
    return unsupported("tag values are set by the TagAssociation kind, which this release doesn't have")


_INFERRED = Codec()
_BY_TYPE: Mapping[type, Codec] = {bool: Boolean(), int: Number(), str: Codec()}


def _infer(info: FieldInfo) -> Codec:
    """The codec that a field's annotation calls for."""
    annotation = info.annotation
    for option_ in get_args(annotation) or (annotation,):
        if option_ is type(None):
            continue
        if get_origin(option_) is Literal:
            return Word()
        return _BY_TYPE.get(option_, Codec())
    return Codec()


@dataclass(frozen=True)
class SpecField:
    """A field of a spec with its facts.

    Attributes:
        attribute: name in Python.
        name: name in the manifest.
        facts: what the declaration says.
    """

    attribute: str
    name: str
    facts: Property


@cache
def properties(model: type[BaseModel]) -> tuple[SpecField, ...]:
    """The declared fields of a spec model, in their order; fields without facts (policies, provider) are left out."""
    found: list[SpecField] = []
    for attribute, info in model.model_fields.items():
        facts = info.json_schema_extra
        if isinstance(facts, Property):
            if facts.codec is _INFERRED:
                facts = replace(facts, codec=_infer(info))
            found.append(SpecField(attribute, info.alias or attribute, facts))
    return tuple(found)


def sent_values(field: SpecField, value: Any) -> Iterator[tuple[str, Any]]:
    """What is remembered of a value that was sent: (name, value) of the field, of its items and their attributes.

    Args:
        field: the field.
        value: of the field in a spec.
    """
    yield field.name, value
    for item in value if field.facts.items else ():
        name = item if isinstance(item, str) else item.name
        yield item_name(field.name, name), item
        for each in attributes_of(field):
            if not each.facts.reset.keep and (part := getattr(item, each.attribute)) is not None:
                yield item_name(field.name, name, each.name), part


def attributes_of(field: SpecField) -> tuple[SpecField, ...]:
    """The attributes of a field's items."""
    model = field.facts.items
    if model is None or not issubclass(model, BaseModel):
        return ()
    return tuple(each for each in properties(model) if each.facts.item)


def item_name(field: str, item: str, attribute: str = "") -> str:
    """`columns[AGE]`, or an attribute in it: `columns[AGE].comment`."""
    return f"{field}[{item}]" + (f".{attribute}" if attribute else "")
