"""What a declaration of an object type says; the statements of all types are derived from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.grammar import Action, Clause, Given, Part, Property, Setting
from freehold_devstack.snowflake.parameters import PARAMETERS
from freehold_devstack.snowflake.parser import Name, Parser, Vocabulary, print_name
from freehold_devstack.snowflake.results import Column, Result

if TYPE_CHECKING:
    from freehold_devstack.snowflake.context import Context


@dataclass(frozen=True)
class Form:
    """What a statement was understood as.

    Attributes:
        verb: CREATE, ALTER, SHOW, ...
        kind: Object type, or its plural.
        name: Of the object, as far as the statement spells it out.
        detail: What else tells it from others of its verb, e.g. "OR REPLACE", or which form of ALTER it is.
        acts: Whether it changes something although its verb is that of a question.
    """

    verb: str
    kind: str = ""
    name: Name = ()
    detail: str = ""
    acts: bool = False

    def __str__(self) -> str:
        return " ".join(filter(None, (self.verb, self.kind, print_name(self.name), self.detail)))


class Statement(Protocol):
    """A parsed statement."""

    @property
    def form(self) -> Form:
        """What it was understood as."""

    def execute(self, context: "Context") -> Result:
        """Do it, inside a transaction of the catalog."""


@dataclass(frozen=True)
class ShowColumn:
    """A column of SHOW.

    Attributes:
        history: Shown by SHOW … HISTORY alone.
        feature: What has to be enabled by the edition for it.
    """

    column: Column
    value: Callable[["Context", CatalogObject], Scalar]
    history: bool = False
    feature: str | None = None


@dataclass(frozen=True)
class Show:
    """The grammar of a type's SHOW and what it prints.

    Attributes:
        terse: The columns of SHOW TERSE; None where there is no such form.
        like, scoped, starts_with, limit, privileges: Which of the filters LIKE, IN, STARTS WITH, LIMIT and WITH
            PRIVILEGES it takes.
        options: Words before LIMIT that let through only some objects.
        required: Whether IN has to be there and to name the container.
        named: Whether the error about a container that is missing names it.
        cut: Whether the rows beyond 10,000 are left out without a word, instead of an error.
        own: Whether there is a form SHOW USER … that leaves out what Snowflake itself provides.
        built_in: The rows of that; the name is the second cell.
    """

    columns: tuple[ShowColumn, ...]
    terse: tuple[ShowColumn, ...] | None = None
    history: bool = False
    like: bool = True
    scoped: bool = True
    starts_with: bool = False
    limit: bool = False
    privileges: bool = False
    options: tuple[tuple[str, Callable[["Context", CatalogObject], bool]], ...] = ()
    required: bool = False
    named: bool = False
    cut: bool = False
    own: bool = False
    built_in: tuple[tuple[Scalar, ...], ...] = ()


Describer = Callable[["Context", CatalogObject], Result]
"""Answers DESCRIBE of an object."""


# --- what else a type knows ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rights:
    """What statements need on objects of a type, and who sees these.

    Attributes:
        grantable: What can be granted on one besides OWNERSHIP.
        create: What CREATE needs on the container; the kind's own privilege by default.
        create_role: System role that alone may CREATE, whatever the privileges.
        alter, describe: What ALTER … SET and DESCRIBE need on it; None where any privilege will do.
        show_parameters: What SHOW PARAMETERS needs on it; None where any privilege will do.
        implied: Privileges on it that another privilege stands for, by that one: on the account or on the object.
        own_settings: What ALTER … SET and UNSET of oneself take no privilege for, if it is a type of user.
        known: Whether every role knows which objects of the type there are.
        visible_with: Privileges on the account that show all objects of the type.
        shown_to: Privileges on the object that make SHOW list it, besides OWNERSHIP; None where any will do.
        shown_when: Whether SHOW lists it, where the rule is peculiar to the type.
    """

    grantable: frozenset[str] = frozenset()
    create: str = ""
    create_role: str | None = None
    alter: str = OWNERSHIP
    describe: str | None = OWNERSHIP
    show_parameters: str | None = None
    implied: Mapping[str, frozenset[str]] = field(default_factory=dict)
    own_settings: frozenset[str] = frozenset()
    known: bool = False
    visible_with: tuple[str, ...] = ()
    shown_to: frozenset[str] | None = None
    shown_when: Callable[["Context", CatalogObject], bool] | None = None


def _always(_obj: CatalogObject) -> bool:
    return True


def _not_asked(_context: "Context", _source: CatalogObject, _given: Given) -> None:
    return None


def _as_copied(_context: "Context", copy: CatalogObject, _copies: Mapping[int, int]) -> CatalogObject:
    return copy


@dataclass(frozen=True)
class Copying:
    """How objects of a type are copied.

    Attributes:
        clone: What CREATE … CLONE needs on its source; None where there is no such form.
        clonable: Whether an object can be cloned, be it by itself or with what it is in.
        cloning: What else CREATE … CLONE asks of the source, given what the statement says itself.
        cloned: The record of a copy that was made with what it is in, given the ids of all such copies by those of
            their originals.
        like: What CREATE … LIKE copies of its source; None where there is no such form.
    """

    clone: str | None = None
    clonable: Callable[[CatalogObject], bool] = _always
    cloning: Callable[["Context", CatalogObject, Given], None] = _not_asked
    cloned: Callable[["Context", CatalogObject, Mapping[int, int]], CatalogObject] = _as_copied
    like: Callable[[CatalogObject], Given] | None = None


def _unchanged(_context: "Context", draft: CatalogObject, _given: frozenset[str]) -> CatalogObject:
    return draft


def _nothing(_context: "Context", _obj: CatalogObject) -> None:
    return None


def _not_followed(_context: "Context", _old: CatalogObject, _new: CatalogObject) -> None:
    return None


def _indifferent(_context: "Context", obj: CatalogObject) -> CatalogObject:
    return obj


@dataclass(frozen=True)
class Lifecycle:
    """What a type checks and does when one of its objects is made, changed or ended.

    Attributes:
        settle: Checks a record against the type's own rules before it is stored, and completes it. It is given the
            names of the settings that the statement spells out, and of OR REPLACE, OR ALTER, CLONE and LIKE those that
            it says.
        created: What else happens after CREATE.
        redefining: May refuse CREATE OR ALTER of what is there.
        renamed: What else happens after RENAME, given the record before and after.
        owner_changing: The record for a new owner; it may refuse.
        guarding: May refuse to let anything change in it.
        dropping: What else happens before DROP; it may refuse.
        restricting: What else may refuse DROP … RESTRICT.
        replacing: As `dropping`, before CREATE OR REPLACE ends the old object; None where that is no different.
    """

    settle: Callable[["Context", CatalogObject, frozenset[str]], CatalogObject] = _unchanged
    created: Callable[["Context", CatalogObject], None] = _nothing
    redefining: Callable[["Context", CatalogObject], None] = _nothing
    renamed: Callable[["Context", CatalogObject, CatalogObject], None] = _not_followed
    owner_changing: Callable[["Context", CatalogObject], CatalogObject] = _indifferent
    guarding: Callable[["Context", CatalogObject], None] = _nothing
    dropping: Callable[["Context", CatalogObject], None] = _nothing
    restricting: Callable[["Context", CatalogObject], None] = _nothing
    replacing: Callable[["Context", CatalogObject], None] | None = None


# --- the declaration -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectType:
    """An object type.

    Attributes:
        kind, plural: Its words in SQL, e.g. "DATABASE", "DATABASES".
        aliases: Other words for it, singular and plural, that all statements but CREATE take.
        container: Kind of what it lives in.
        namespace: What its names must be unique in, within a container.
        granted_as: What SHOW GRANTS calls it; the kind with underscores by default.
        noun: What errors call it, in capitals; the kind by default.
        title, qualified: What the status of a statement calls it, by default as its kind, and whether by its full name.
        overload: What tells apart objects of one name, of the properties that the signature gives; None where names
            are enough.
        feature: What has to be enabled by the edition for it.
        modifiers: Clauses between CREATE and the kind.
        signature: Reads what stands right after the name in CREATE.
        clauses: Clauses after the name.
        required: Properties that clauses have to give, unless CREATE clones.
        sources: Properties that say what else it is made from, which CREATE OR ALTER does not take.
        parameters: Names of the parameters that can be set on it.
        listed: Those that CREATE also takes with commas between them.
        parameters_in_create: Whether CREATE can set them, or ALTER and CREATE OR ALTER alone.
        alter_parts: What may stand in ALTER after the settings or alone.
        actions: Forms of ALTER that are peculiar to the type.
        or_replace, or_alter, if_not_exists, renames, moves, swaps, retained, cascades, taggable: What CREATE, ALTER,
            DROP and UNDROP can do with it; one that moves can be renamed into another container, a retained one can be
            brought back.
        kept_days: Days for which a dropped one can be brought back, in the current schema alone; None where the
            retention time rules.
        tagged_at_creation: Whether CREATE takes TAG, if ALTER does.
        copies_grants: Whether CREATE takes COPY GRANTS.
        describe: What DESCRIBE answers; None where there is no such statement.
        describe_forms: Words after the name in DESCRIBE, and what it answers then.
        extra_describes, extra_shows: Further DESCRIBE and SHOW statements about the type, by the words after the verb.
        relation: Whether SHOW OBJECTS lists it.
    """

    kind: str
    plural: str
    show: Show
    aliases: tuple[tuple[str, str], ...] = ()
    container: str = "ACCOUNT"
    namespace: str = ""
    granted_as: str = ""
    noun: str = ""
    title: str = ""
    qualified: bool = False
    overload: Callable[[Given], str] | None = None
    feature: str | None = None
    modifiers: tuple[Clause, ...] = ()
    signature: Callable[[Parser], Given] | None = None
    clauses: tuple[Clause | Part, ...] = ()
    required: tuple[str, ...] = ()
    properties: tuple[Property, ...] = ()
    sources: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()
    listed: frozenset[str] = frozenset()
    parameters_in_create: bool = True
    alter_parts: tuple[Part, ...] = ()
    actions: tuple[Action, ...] = ()
    or_replace: bool = True
    or_alter: bool = False
    if_not_exists: bool = True
    renames: bool = True
    moves: bool = True
    swaps: bool = False
    retained: bool = False
    kept_days: int | None = None
    cascades: bool = False
    taggable: bool = True
    tagged_at_creation: bool = True
    copies_grants: bool = False
    describe: Describer | None = None
    describe_forms: tuple[tuple[str, Describer], ...] = ()
    extra_describes: tuple[tuple[str, Callable[[Parser], "Statement"]], ...] = ()
    extra_shows: tuple[tuple[str, Callable[[Parser], "Statement"]], ...] = ()
    relation: bool = False
    rights: Rights = Rights()
    copying: Copying = Copying()
    lifecycle: Lifecycle = Lifecycle()

    @property
    def creating(self) -> str:
        """The privilege on the container that CREATE needs."""
        return self.rights.create or f"CREATE {self.kind}"

    @property
    def class_name(self) -> str:
        """The name space as the catalog keys it."""
        return self.namespace or self.kind

    @property
    def called(self) -> str:
        """What the status of a statement calls the type."""
        return self.title or self.kind.capitalize()

    @property
    def securable(self) -> str:
        """What SHOW GRANTS calls it."""
        return self.granted_as or self.kind.replace(" ", "_")

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """Properties and parameters by name."""
        own: dict[str, Setting] = {prop.name: prop for prop in self.properties}
        return own | {name: PARAMETERS[name] for name in self.parameters}

    @cached_property
    def clause_words(self) -> Vocabulary[Clause | Part]:
        """The clauses by their words."""
        return Vocabulary({clause.words: clause for clause in self.clauses})

    @cached_property
    def action_words(self) -> Vocabulary[Action]:
        """The forms of ALTER that are peculiar to the type, by their words."""
        return Vocabulary({action.words: action for action in self.actions})
