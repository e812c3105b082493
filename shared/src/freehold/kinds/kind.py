"""A Snowflake kind: the declaration that CRD, documentation, permissions, SQL and drift derive from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from functools import cached_property
from typing import Any

from freehold import overloads, sql
from freehold.datatypes import InvalidDataType, signature
from freehold.identifiers import InvalidName, check, quote
from freehold.identity import Name, Slot
from freehold.kinds.common import SnowflakeSpec, SnowflakeStatus
from freehold.kinds.content import Content
from freehold.kinds.filling import UNDATED, Filling
from freehold.kinds.names import Level, Names, Parts, Slots, container_of
from freehold.kinds.property import KEEP, Change, Observe, Target
from freehold.kinds.resource import (
    AGE,
    MESSAGE,
    PROVIDER,
    READY,
    REASON,
    SNOWFLAKE_GROUP,
    SYNCED,
    VERSION,
    Column,
    GroupResource,
    Resource,
    Rule,
    plural,
)
from freehold.kinds.spec_fields import SpecField, properties
from freehold.kinds.steps import Clearance, Difference, Step
from freehold.kube.text import shortened
from freehold.observation import Observation, Row
from freehold.sql import Sql


class Domain(Enum):
    """Which controller runs a kind; the Deployment is `freehold-<domain>`."""

    ACCOUNT = "account"
    SCHEMA = "schema"
    POSTGRES = "postgres"


AroundAlter = Callable[[Target, Observation, tuple[Difference, ...], tuple[Step, ...]], tuple[Step, ...]]
"""(target, observation, differences, planned steps) to the steps to take, for the exceptional."""


@dataclass(frozen=True)
class Kind:
    """A Snowflake kind.

    Attributes:
        spec: its spec model, named `<Kind>Spec`; the docstring describes the kind.
        domain: the controller that runs it.
        object_type: its SQL words (`WAREHOUSE`).
        level: what contains its objects.
        short_names: for kubectl.
        namespace_class: name space that it shares with other kinds; by default its own, `object_type`.
        shown_as: what SHOW calls its objects; by default `object_type` with an S.
        securable: what GRANT calls its objects; by default `object_type`.
        database_column: column of SHOW that holds the database's name; empty where it has none.
        arguments: argument types of a function or procedure, which tell overloads apart.
        slots: the slots that a resource fills, where it stands for no object of its own.
        filling: how they are filled, seen and emptied.
        privileges: privileges on the account, beside that to create its objects, that its statements take, each with
            the fields of the spec that it is for; for all of them where that is empty.
        created_by: the system role that alone may create its objects, where no privilege lets others.
        moves: (slot) to the words and the name of an object that filling it takes from whoever has made that, and which
            its own resource must have recorded as made before.
        recipients: account roles that a resource gives something to which its slots don't name, such as a new owner.
        holds_data: whether dropping an object loses data; decides defaults for deletion and vanishing.
        history: whether SHOW ... HISTORY lists what was dropped, while Time Travel reaches back to it.
        shown_to_all_seeing: whether SHOW has a row of each object for a role that sees everything; shares are no such
            kind.
        shown_by_name: whether its SHOW takes LIKE; where it doesn't, it shows all there are.
        shown_in_pages: whether its SHOW takes LIMIT … FROM.
        shown_with: the privilege on the account without which its SHOW is empty, whatever the role owns.
        shown_among: whether a row of its SHOW is of this kind at all; one's own shares stand among those of others.
        parameters: whether SHOW PARAMETERS applies to it.
        create_or_alter: whether there is a CREATE OR ALTER of it that takes nothing away but properties and parameters
            which a deep observation shows; a table's columns are more than that.
        separator: between assignments after SET.
        rules: CEL rules of the spec beside those of its fields.
        volatile: columns of SHOW that change by themselves and never go to status.
        sensitive: columns of SHOW that no ConfigMap may show, beside those that its fields tell (`freehold.exports`).
        always_shown: columns of SHOW that are blank only where the role may read nothing of the object.
        details: further queries of a deep observation by name, asked only while a field that they serve is managed.
        alterable: attributes of the spec that ALTER changes; None where all that declare a statement do.
        outputs: what people must know of an object and can't choose, by its name in the status. It is read from queries
            that fields call for in any case.
        create_words: words of each CREATE before the properties, such as a language.
        introduction: word of CREATE before the properties where there are any.
        create_prefix: word before the object type that depends on the spec.
        companions: fields that go along, where they are set, when a field is altered.
        discriminator: the field on which it depends which others an object may have. Where it is altered, what is
            reset goes before it, and what is set after it.
        around_alter: changes the steps of an update, for the exceptional.
        around_drop: (target, rows of its surroundings) to the steps around a DROP: those that let something run again
            follow it, and the others go before it.
        resume: what lets an object run that was suspended for a change; it does nothing to one that runs.
        cleared: the field, by its name in the manifest, of which an object is cleared before its DROP, since Snowflake
            refuses that otherwise. It is asked only where it was ever sent.
        clear: (target, rows of that field's further query, names that were ever sent) to how.
        surroundings: the further query that tells of what an object hangs together with. Updates are planned with it
            alone.
        after_create: statements that follow the CREATE in the same pass only.
        content: what stands in the way of a DROP.
        statement_limit: how long a statement that makes, changes or drops such an object may run, where the 60 seconds
            of others are too short; a few minutes at most, for a pass ends after ten.
        restricts: whether DROP takes RESTRICT, without which it changes others that refer to the object.
        adoptable: why an existing object can't be adopted; None when it can.
        adoption_details: the further queries that `adoptable` looks at.
        unready: why an object that is as declared can't be used yet; None when it can.
        adopts: stored names that exist by themselves, which are adopted whatever the policy says.
        broken_by: errors that further queries end with while an object doesn't work any more.
        ailment: why an object can't be used although it is as declared, for people; None where it can.
        disowned: why an object that was ours is no longer touched, as a deep look at it tells, for people; None where
            it is.
        also_unique: fields whose values no two objects share either, so that CREATE may find the name taken for them.
        locks_out: of a kind of users: (difference, fingerprint of the key that Freehold logs in with, if it does with
            one) to whether mending it would shut out whoever logs in as the object. It is never sent for the user that
            Freehold itself logs in as, and that is never dropped.
        faults: what a spec says that no statement can hold, beyond what single fields tell, for people.
        advice: what is legal in a spec but likely wrong, for people.
    """

    spec: type[SnowflakeSpec]
    domain: Domain
    object_type: str
    level: Level
    holds_data: bool
    short_names: tuple[str, ...] = ()
    history: bool = False
    shown_to_all_seeing: bool = True
    shown_by_name: bool = True
    shown_in_pages: bool = True
    shown_with: str = ""
    shown_among: Callable[[Row], bool] = lambda _row: True
    namespace_class: str = ""
    shown_as: str = ""
    securable: str = ""
    database_column: str = "database_name"
    arguments: Callable[[Any], Sequence[str]] | None = None
    slots: Callable[[Any, str, Mapping[str, Kind]], Slots] | None = None
    filling: Filling | None = None
    privileges: Mapping[str, str] = field(default_factory=dict)
    created_by: str = ""
    moves: Callable[[Slot], tuple[str, Name] | None] = lambda _slot: None
    recipients: Callable[[Any], tuple[str, ...]] = lambda _spec: ()
    parameters: bool = False
    create_or_alter: bool = False
    separator: str = ", "
    rules: tuple[Rule, ...] = ()
    volatile: frozenset[str] = frozenset()
    sensitive: frozenset[str] = frozenset()
    always_shown: frozenset[str] = frozenset()
    details: Mapping[str, Callable[[Target], Sql]] = field(default_factory=dict)
    alterable: frozenset[str] | None = None
    outputs: Mapping[str, Observe] = field(default_factory=dict)
    create_words: str = ""
    introduction: str = ""
    create_prefix: Callable[[Any], Sql | None] | None = None
    companions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    discriminator: str = ""
    around_alter: AroundAlter | None = None
    around_drop: Callable[[Target, tuple[Row, ...]], tuple[Step, ...]] | None = None
    resume: Callable[[Target], Sql] | None = None
    cleared: str = ""
    clear: Callable[[Target, tuple[Row, ...], Collection[str]], Clearance] | None = None
    surroundings: str = ""
    after_create: Callable[[Target, Any], tuple[Step, ...]] | None = None
    content: tuple[Content, ...] = ()
    statement_limit: timedelta | None = None
    restricts: bool = False
    adoptable: Callable[[Observation], str | None] = lambda _observation: None
    adoption_details: frozenset[str] = frozenset()
    unready: Callable[[Observation], str | None] = lambda _observation: None
    adopts: frozenset[str] = frozenset()
    broken_by: frozenset[int] = frozenset()
    ailment: Callable[[Observation], str | None] = lambda _observation: None
    disowned: Callable[[Observation], str | None] | None = None
    also_unique: tuple[str, ...] = ()
    locks_out: Callable[[Difference, str | None], bool] | None = None
    faults: Callable[[Any], tuple[str, ...]] = lambda _spec: ()
    advice: Callable[[Any], tuple[str, ...]] = lambda _spec: ()

    @property
    def name(self) -> str:
        """CamelCase kind, from the name of the spec model."""
        return self.spec.__name__.removesuffix("Spec")

    @property
    def object_class(self) -> str:
        """The namespace class of its identities."""
        return self.namespace_class or self.object_type

    @cached_property
    def resource(self) -> Resource:
        """What Kubernetes knows of it."""
        parents = (
            Column("DATABASE", f".status.showOutput.{self.database_column}"),
            Column("SCHEMA", ".status.showOutput.schema_name"),
        )[: self.level.value - 1 if self.database_column else 0]
        named_in_full = self.slots or not self.database_column
        return Resource(
            path=GroupResource(SNOWFLAKE_GROUP, VERSION, plural(self.name.lower()), self.name),
            spec=self.spec,
            status=SnowflakeStatus,
            short_names=self.short_names,
            columns=(
                READY,
                SYNCED,
                Column("SNOWFLAKE-NAME", ".status.fullyQualifiedName" if named_in_full else ".spec.name"),
                *parents,
                PROVIDER,
                REASON,
                MESSAGE,
                AGE,
            ),
            rules=self.rules,
            categories=("freehold", "snowflake"),
        )

    @cached_property
    def fields(self) -> tuple[SpecField, ...]:
        """The declared fields, as far as they can be changed in an object of this kind."""
        declared = properties(self.spec)
        if self.alterable is None:
            return declared
        return tuple(each if each.attribute in self.alterable else _fixed(each) for each in declared)

    @cached_property
    def redefined(self) -> bool:
        """Whether some change of its objects is made by CREATE OR ALTER alone."""
        return any(each.facts.change is Change.REDEFINE for each in self.fields)

    def target(self, parts: tuple[str, ...]) -> Target:
        """An object without arguments, by its stored name parts."""
        return Target(self.object_type, parts)

    def target_of(self, name: Name | Slot) -> Target:
        """What an identity names."""
        if isinstance(name, Slot):
            return Target(self.object_type, (), slot=name)
        return Target(self.object_type, name.parts, name.arguments)

    def names(self, spec: SnowflakeSpec, namespace: str, kinds: Mapping[str, Kind]) -> Names:
        """Compute what a resource stands for: one object, or the slots that it fills.

        Args:
            spec: the resource's spec.
            namespace: the resource's namespace.
            kinds: every kind by name.

        Raises:
            InvalidName: Snowflake can't have an object, or a slot, of such a name.
        """
        if self.slots:
            return (yield from self.slots(spec, namespace, kinds))
        parts = yield from self.parts(spec, namespace, kinds)
        try:
            return (Name(parts, signature(self.arguments(spec)) if self.arguments else None),)
        except InvalidDataType as error:
            raise InvalidName(str(error)) from error

    def parts(self, spec: SnowflakeSpec, namespace: str, kinds: Mapping[str, Kind]) -> Parts:
        """Compute the object's stored name parts from names alone; no readiness is asked for.

        Args:
            spec: the resource's spec.
            namespace: the resource's namespace.
            kinds: every kind by name.

        Raises:
            InvalidName: a part can't be a Snowflake name.
        """
        name = check(str(spec.name))  # type: ignore[attr-defined]  # every kind with an object declares it
        container = yield from container_of(spec, namespace, kinds, depth=self.level.value - 1)
        return (*container, name)

    def show(self, target: Target, *, history: bool = False) -> Sql:
        """SHOW for one object or slot. LIKE is a pattern and ignores case: `row_of` finds the row that counts.

        Args:
            target: the object or slot.
            history: also what was dropped.
        """
        if self.filling and target.slot:
            return self.filling.show(target.slot).query
        if not self.shown_by_name:
            return self.show_all(target)
        shown = sql.sql(
            "SHOW {types}{history} LIKE {pattern}",
            types=self._types,
            history=sql.words(" HISTORY" if history else ""),
            pattern=sql.like(target.parts[-1]),
        )
        return self._in_container(shown, target)

    def show_all(self, target: Target) -> Sql:
        """SHOW for all objects of this kind beside one, in what contains it."""
        return self._in_container(sql.sql("SHOW {types}", types=self._types), target)

    @property
    def _types(self) -> Sql:
        return sql.words(self.shown_as or plural(self.object_type))

    def _in_container(self, shown: Sql, target: Target) -> Sql:
        if self.level is Level.ACCOUNT:
            return shown
        return sql.sql("{shown} IN {container}", shown=shown, container=self.container(target))

    def container(self, target: Target) -> Sql:
        """What contains an object: `ACCOUNT`, or its database or schema by name."""
        word = sql.words(self.level.name)
        return word if self.level is Level.ACCOUNT else sql.join((word, sql.identifier(*target.parts[:-1])))

    def printed(self, target: Target) -> tuple[str, ...]:
        """What SHOW may print in the column by which rows are told apart first: the last part of an object's name, or
        of a slot what its query says."""
        if self.filling and target.slot:
            return self.filling.show(target.slot).names
        return target.parts[-1:]

    def row_of(self, target: Target, rows: Iterable[Row]) -> Row | None:
        """The row of exactly this object or slot among those of SHOW; None when there is none."""
        if self.filling and target.slot:
            return self.filling.row(target.slot, rows)
        return next((row for row in rows if self.is_row_of(target, row)), None)

    def is_row_of(self, target: Target, row: Row) -> bool:
        """Whether a row of SHOW is exactly this object."""
        columns = (self.database_column, "schema_name")[: self.level.value - 1]
        expected = dict(zip(columns, target.parts[:-1], strict=True))
        if row.get("name") != target.parts[-1] or not all(row.get(c, v) in (v, quote(v)) for c, v in expected.items()):
            return False
        return self.shown_among(row) and target.arguments in (None, overloads.shown(row))

    def unreadable(self, row: Row) -> str:
        """Why a row tells nothing of its object, for people; empty where it does."""
        blank = any(row.get(column) in (None, "") for column in self.always_shown)
        return f"SHOW leaves {' and '.join(sorted(self.always_shown))} blank" if blank else ""

    def show_parameters(self, target: Target) -> Sql:
        """SHOW PARAMETERS of one object."""
        return sql.sql("SHOW PARAMETERS IN {type} {name}", type=target.type, name=target.name)

    def stable(self, row: Row) -> dict[str, str]:
        """The columns of SHOW that go to status, as text."""
        return {
            key: shortened(str(value), SHOWN)
            for key, value in sorted(row.items())
            if key not in self.volatile and key not in ALWAYS_VOLATILE and value not in (None, "", UNDATED)
        }


def _fixed(field: SpecField) -> SpecField:
    """A field that another kind's objects have as well, in which ALTER changes it."""
    facts = field.facts
    return replace(field, facts=replace(facts, change=Change.RECREATE, reset=KEEP)) if facts.managed else field


def parents_among(kinds: Collection[Kind]) -> tuple[Kind, ...]:
    """The kinds that identities of others are computed from."""
    referred = {
        field.facts.reference for kind in kinds for field in kind.fields if field.facts.change is Change.IDENTITY
    }
    return tuple(kind for kind in kinds if kind.name in referred)


SHOWN = 1024
"""Bytes of a column that go to status: a long comment stands in the spec already."""

ALWAYS_VOLATILE = frozenset({"is_default", "is_current"})
"""Columns that speak of the asking session, not of the object."""
