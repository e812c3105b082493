"""What is known of one field of a spec: how it is written, observed, reset and changed, and what deviates from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import orjson
from pydantic import BaseModel
from pydantic.config import JsonDict

from freehold import sql
from freehold.identity import Name, Slot
from freehold.kinds.values import Codec
from freehold.observation import UNKNOWN, Observation, Unknown
from freehold.sql import Sql


class Change(Enum):
    """What it takes to change a field of an existing object."""

    ALTER = "ALTER"
    """A statement; the default."""
    REDEFINE = "REDEFINE"
    """CREATE OR ALTER alone. Where the account lacks that, or it would lose what the spec doesn't say: as RECREATE."""
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
class DoneOn:
    """An answer that means that what was asked for is so already.

    Attributes:
        number: its error number.
        saying: a part of its text, where the number means other things, too.
    """

    number: int
    saying: str = ""


@dataclass(frozen=True)
class Reset:
    """How a managed field that was removed goes back.

    Attributes:
        value: what to SET it to, `()` for an empty list; None to use UNSET.
        null: SET it to NULL, for properties that have no UNSET.
        keep: leave the live value alone and stop managing it.
        of: (spec) to that value, where it depends on other fields.
        done_on: the answer of an object that has nothing to reset; such a field has a statement of its own.
    """

    value: str | int | tuple[()] | None = None
    null: bool = False
    keep: bool = False
    of: Callable[[Any], Any] | None = None
    done_on: DoneOn | None = None

    def to(self, spec: Any) -> Any:
        """What to SET it to; None to use UNSET."""
        if self.null:
            return sql.words("NULL")
        return self.of(spec) if self.of else self.value


UNSET = Reset()
"""Back to the inherited or built-in value; the property accepts UNSET."""
TO_NULL = Reset(null=True)
"""To NULL, which stands for no value; the property has no UNSET."""
KEEP = Reset(keep=True)
"""No reset form exists: the live value stays and is no longer managed."""


def set_to(value: str | int | tuple[()]) -> Reset:
    """Back to a given value, for properties whose UNSET is refused or means something else."""
    return Reset(value=value)


@dataclass(frozen=True, slots=True)
class Target:
    """What a statement is about: an object, or a slot.

    Attributes:
        object_type: its SQL words, for example `WAREHOUSE`.
        parts: stored name parts, outermost first; none of a slot.
        arguments: argument types of a function or procedure, which belong to its name.
        slot: the slot; None for an object.
    """

    object_type: str
    parts: tuple[str, ...]
    arguments: tuple[str, ...] | None = None
    slot: Slot | None = None

    @property
    def type(self) -> Sql:
        return sql.words(self.object_type)

    @property
    def name(self) -> Sql:
        return sql.named(self.slot or Name(self.parts, self.arguments))

    @property
    def bare_name(self) -> Sql:
        """The name without argument types, as CREATE takes it."""
        return self.name if self.arguments is None else sql.identifier(*self.parts)

    def __str__(self) -> str:
        """The object for people: `warehouse "LOADING"`."""
        return f"{self.object_type.lower()} {self.name}"

    def describe(self) -> Sql:
        """DESCRIBE <type> <name>."""
        return sql.sql("DESCRIBE {type} {name}", type=self.type, name=self.name)

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
    AFTER_PROPERTIES = 4
    END = 5
    """What ends the statement, such as a body."""


@dataclass(frozen=True, slots=True)
class Action:
    """What ALTER does to an item of a field.

    Attributes:
        verb: keywords after the object's name; the actions of one verb share a statement, joined by commas.
        clause: what follows.
        alone: whether it has a statement of its own.
        whole: makes all of the statement where it isn't ALTER; verb and clause don't count then.
    """

    verb: str
    clause: Sql
    alone: bool = False
    whole: Callable[[Target], Sql] | None = None


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


NOT_OURS = "another resource, or a person, has set that, and it stays: declare it, or have it taken off first"
"""What people can do where a field that others set as well has a value that was never sent."""

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
        joint: what stands between the keyword and the value.
        codec: how its value is written, read and compared.
        observe: where its live value is read; None for write-only fields.
        source: the same for people, in the field reference: `show.size`, `parameters.LOG_LEVEL`.
        reset: how it goes back when removed.
        change: what a change means.
        unset: what the object is when it was created without the field, as far as that is certain.
        create: may stand in CREATE. When False, it is altered right after.
        or_alter: may stand in CREATE OR ALTER; None where that is as in CREATE.
        create_only: acts at creation and is ignored afterwards.
        own_statement: is altered by a statement of its own (other rights, other grammar).
        place: where its clause stands in CREATE.
        clause: its clause in CREATE; None for `KEYWORD = value`.
        redefinition: its clause in CREATE OR ALTER where that says less.
        alter: its statements where SET and UNSET don't do.
        items: of a field that is compared item by item: their model, which has a `name`, or str where they are names.
        differ: compares it so; the field then has no statements but those of its deviations.
        details: names of the kind's further queries that it is observed by, beside SHOW and SHOW PARAMETERS.
        recreate_when: (old, new) values between which no ALTER leads.
        reference: kind that a reference field points at.
        instead_of: for a reference, the raw field that it stands for.
        within: for such a reference, the fields that take the names of what contains the object, outermost first.
        qualified: whether that field takes the fully-qualified name, and not the bare one.
        by_name: whether what is referred to need not be there yet, since Snowflake only keeps its name.
        beside: whether what is referred to lies in the same schema, so that its bare name says it all.
        item: whether it is an attribute of an item.
        unsupported: why this release refuses the field; None when it is supported.
        derived: its value where that follows from further fields, from the whole spec.
        check: reads a value, or each of a list, and raises ValueError with a message for people where no statement can
            hold it, such as `datatypes.parse`.
        secret: whether its values are shown to nobody.
        on_change: whether it is sent when the spec changes, and not when the live value does; so is all that nothing
            observes, be it that Snowflake doesn't tell or that it changes by itself. Where something does observe it,
            it is also sent when nothing is set, and not when it is so already.
        done_on: the answer of an object that has the value already; such a field has a statement of its own.
        shared: whether others may set it as well, as a resource of another kind that puts a policy on a column: what is
            there is then replaced or taken away only as long as it is what was sent.
        members: of a map, what is known of each value, by key.
    """

    sql: str = ""
    joint: str = " = "
    codec: Codec = Codec()  # noqa: RUF009 - codecs are immutable
    observe: Observe | None = None
    source: str = ""
    reset: Reset = UNSET
    change: Change = Change.ALTER
    unset: Any = None
    create: bool = True
    or_alter: bool | None = None
    create_only: bool = False
    own_statement: bool = False
    place: Place = Place.PROPERTIES
    clause: Callable[[Any], Sql | None] | None = None
    redefinition: Callable[[Any], Sql | None] | None = None
    alter: OwnStatements | None = None
    items: type[BaseModel | str] | None = None
    differ: Differ | None = None
    details: tuple[str, ...] = ()
    recreate_when: Callable[[Any, Any], bool] | None = None
    reference: str | None = None
    instead_of: str | None = None
    within: tuple[str, ...] = ()
    qualified: bool = False
    by_name: bool = False
    beside: bool = False
    item: bool = False
    unsupported: str | None = None
    derived: Callable[[Any], Any] | None = None
    check: Callable[[Any], object] | None = None
    secret: bool = False
    on_change: bool = False
    done_on: DoneOn | None = None
    shared: bool = False
    members: Mapping[str, Property] = field(default_factory=dict)

    def __call__(self, schema: JsonDict) -> None:
        """Pydantic's hook on the JSON schema: the facts stay out of it, but that no two items have one name, and how
        many keys a map may have."""
        if self.members:
            schema |= {"maxProperties": len(self.members)}
        if self.items is str:
            schema |= {"x-kubernetes-list-type": "set"}
        elif self.items is not None:
            schema |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}

    def meaning(self, value: Any) -> Any:
        """A value of the spec, or what it means that there is none: the one it is reset to, or created with."""
        return value if value is not None else self.unset if self.reset.value is None else self.reset.value

    def canonical(self, value: Any) -> Any:
        """A value of the spec in the one spelling that values are compared in; None stays None."""
        return None if value is None else self.codec.canonical(value)

    def change_between(self, old: Any, new: Any) -> Change:
        """What it takes to get from one value to another."""
        if self.recreate_when is not None and self.recreate_when(old, new):
            return Change.RECREATE
        return self.change

    def stands_in_create(self, *, or_alter: bool = False) -> bool:
        """Whether the field may have a clause in CREATE, or in CREATE OR ALTER."""
        create = self.create and not (or_alter and self.create_only)
        return bool(self.sql or self.clause) and (self.or_alter if or_alter and self.or_alter is not None else create)

    @property
    def managed(self) -> bool:
        """Whether the field is a property of the object, sent and compared."""
        return bool(self.sql or self.clause or self.alter or self.differ) and not self.create_only

    @property
    def sent_on_change(self) -> bool:
        """Whether a change of the spec is all that has it sent."""
        return self.on_change or self.observe is None

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
        """`KEYWORD = value`; a value that is SQL already stands as it is."""
        rendered = value if isinstance(value, Sql) else self.codec.render(value)
        if self.secret and not rendered.secrets:
            rendered = sql.masked(rendered, str(value))
        return sql.join((sql.words(self.sql), rendered), self.joint)

    def create_clause(self, value: Any, *, or_alter: bool = False) -> Sql | None:
        """The field's clause in CREATE, or CREATE OR ALTER; None when this value needs none."""
        write = (self.redefinition if or_alter else None) or self.clause
        return write(value) if write is not None else self.assignment(value)


def _shown(value: object) -> str:
    if isinstance(value, tuple | frozenset):
        return "[" + ", ".join(sorted(map(_shown, value))) + "]"
    if value is None or value is UNKNOWN:
        return "not set" if value is None else "not known"
    return orjson.dumps(value, default=str, option=orjson.OPT_PASSTHROUGH_DATACLASS).decode()
