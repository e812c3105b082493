"""What a declaration of an object type says; the statements of all types are derived from it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from freehold_devstack.snowflake.access import KNOWN_PRIVILEGES, OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.parameters import PARAMETERS, Parameter
from freehold_devstack.snowflake.parser import Name, Parser, Vocabulary, print_name
from freehold_devstack.snowflake.results import Column, Result
from freehold_devstack.snowflake.values import ValueType

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
    """

    verb: str
    kind: str = ""
    name: Name = ()
    detail: str = ""

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
class Refused:
    """As a property's `unset`: there is no UNSET of it.

    Attributes:
        text: The error, with the names of property and object where {property} and {name} stand; 000002 without it.
    """

    text: str = ""


REFUSED = Refused()


@dataclass(frozen=True)
class Property:
    """A property that CREATE and ALTER … SET give.

    Attributes:
        default: What CREATE stores without it.
        unset: What UNSET stores, which is not always the default.
        only: The one statement that takes it; None for CREATE and ALTER alike.
        privilege: What SET and UNSET of it need on the object; None for what ALTER of the type needs.
        only_role: System role without which it can't be given at all.
        feature: What has to be enabled by the edition for it.
    """

    name: str
    type: ValueType
    default: Value = None
    unset: Value | Refused = None
    only: Literal["CREATE", "ALTER"] | None = None
    privilege: str | None = None
    only_role: str | None = None
    feature: str | None = None


Setting = Property | Parameter


@dataclass(frozen=True)
class Clause:
    """Words of CREATE that set a property without a value, before the object type or after the name.

    Attributes:
        alterable: Whether CREATE OR ALTER can change it where it stands before the object type.
    """

    words: str
    property: str
    value: Scalar = True
    alterable: bool = False


Given = Mapping[str, Value]
"""Properties with the values that a statement gives them."""


@dataclass(frozen=True)
class Part:
    """Words of CREATE that a grammar of their own follows.

    Attributes:
        parse: Reads what follows the words.
        unsaid: The properties where the words are left out.
    """

    words: str
    parse: Callable[[Parser], Given]
    unsaid: Given = field(default_factory=dict)


Act = Callable[["Context", CatalogObject], Result | None]
"""Does something to an object; without a result of its own the statement just succeeds."""


@dataclass(frozen=True)
class Action:
    """A form of ALTER that is peculiar to the type.

    Attributes:
        words: What follows the name.
        parse: Reads what follows the words.
        privilege: What it needs on the object; None where the act itself asks.
    """

    words: str
    parse: Callable[[Parser], Act]
    privilege: str | None = OWNERSHIP


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


def _unchanged(_context: "Context", draft: CatalogObject, _given: frozenset[str]) -> CatalogObject:
    return draft


def _indifferent(_context: "Context", obj: CatalogObject) -> CatalogObject:
    return obj


def _as_copied(_context: "Context", copy: CatalogObject, _copies: Mapping[int, int]) -> CatalogObject:
    return copy


def _always(_obj: CatalogObject) -> bool:
    return True


def _nothing(_context: "Context", _obj: CatalogObject) -> None:
    return None


def _not_asked(_context: "Context", _source: CatalogObject, _given: Given) -> None:
    return None


def _not_followed(_context: "Context", _old: CatalogObject, _new: CatalogObject) -> None:
    return None


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
        alter_parts: What may stand in ALTER after the settings or alone.
        clauses: Clauses after the name.
        required: Properties that clauses have to give, unless CREATE clones.
        parameters: Names of the parameters that can be set on it.
        parameters_in_create: Whether CREATE can set them, or ALTER and CREATE OR ALTER alone.
        or_replace, or_alter, if_not_exists, renames, moves, swaps, retained, cascades, taggable: What CREATE, ALTER,
            DROP and UNDROP can do with it; one that moves can be renamed into another container, a retained one can be
            brought back.
        kept_days: Days for which a dropped one can be brought back, in the current schema alone; None where the
            retention time rules.
        tagged_at_creation: Whether CREATE takes TAG, if ALTER does.
        clone: What CLONE needs on its source; None where there is no such form.
        cloning: What else CLONE asks of the source, given what the statement says itself.
        sources: Properties that say what else it is made from, which CREATE OR ALTER does not take.
        clonable: Whether an object can be cloned, be it by itself or with what it is in.
        like: What CREATE … LIKE copies of its source; None where there is no such form.
        copies_grants: Whether CREATE takes COPY GRANTS.
        privileges: What can be granted on it besides OWNERSHIP.
        create_privilege: What CREATE needs on the container.
        create_role: System role that alone may CREATE, whatever the privileges.
        alter_privilege, describe_privilege: What ALTER … SET and DESCRIBE need on it; None where any privilege will do.
        implied: Privileges on it that another privilege stands for, by that one: on the account or on the object.
        parameters_privilege: What SHOW PARAMETERS needs on it; None where any privilege will do.
        own_settings: What ALTER … SET and UNSET of oneself take no privilege for, if it is a type of user.
        known: Whether every role knows which objects of the type there are.
        visible_with: Privileges on the account that show all objects of this type.
        shown_to: Privileges on the object that make SHOW list it, besides OWNERSHIP; None where any will do.
        shown_when: Whether SHOW lists it, where the rule is peculiar to the type.
        describe: What DESCRIBE answers; None where there is no such statement.
        describe_forms: Words after the name in DESCRIBE, and what it answers then.
        extra_describes, extra_shows: Further DESCRIBE and SHOW statements about the type, by the words after the verb.
        relation: Whether SHOW OBJECTS lists it.
        settle: Checks a record against the type's own rules before it is stored, and completes it. It is given the
            names of the settings that the statement spells out, and CLONE or LIKE where there is a source.
        created, dropping: What else happens after CREATE and before DROP; `dropping` may refuse.
        restricting: What else may refuse DROP … RESTRICT.
        cloned: The record of a copy that was made with what it is in, given the ids of all such copies by those of
            their originals.
        replacing: As `dropping`, before CREATE OR REPLACE ends the old object; None where that is no different.
        redefining: What may refuse CREATE OR ALTER of what is there.
        renamed: What else happens after RENAME, given the record before and after.
        guarding: May refuse to let anything change in it.
        owner_changing: The record for a new owner; it may refuse.
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
    alter_parts: tuple[Part, ...] = ()
    clauses: tuple[Clause | Part, ...] = ()
    required: tuple[str, ...] = ()
    properties: tuple[Property, ...] = ()
    parameters: tuple[str, ...] = ()
    parameters_in_create: bool = True
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
    clone: str | None = None
    clonable: Callable[[CatalogObject], bool] = _always
    cloning: Callable[["Context", CatalogObject, Given], None] = _not_asked
    sources: frozenset[str] = frozenset()
    like: Callable[[CatalogObject], Given] | None = None
    copies_grants: bool = False
    privileges: frozenset[str] = frozenset()
    actions: tuple[Action, ...] = ()
    create_privilege: str = ""
    create_role: str | None = None
    alter_privilege: str = OWNERSHIP
    describe_privilege: str | None = OWNERSHIP
    implied: Mapping[str, frozenset[str]] = field(default_factory=dict)
    parameters_privilege: str | None = None
    own_settings: frozenset[str] = frozenset()
    known: bool = False
    visible_with: tuple[str, ...] = ()
    shown_to: frozenset[str] | None = None
    shown_when: Callable[["Context", CatalogObject], bool] | None = None
    describe: Describer | None = None
    describe_forms: tuple[tuple[str, Describer], ...] = ()
    extra_describes: tuple[tuple[str, Callable[[Parser], "Statement"]], ...] = ()
    extra_shows: tuple[tuple[str, Callable[[Parser], "Statement"]], ...] = ()
    relation: bool = False
    settle: Callable[["Context", CatalogObject, frozenset[str]], CatalogObject] = _unchanged
    created: Callable[["Context", CatalogObject], None] = _nothing
    dropping: Callable[["Context", CatalogObject], None] = _nothing
    restricting: Callable[["Context", CatalogObject], None] = _nothing
    cloned: Callable[["Context", CatalogObject, Mapping[int, int]], CatalogObject] = _as_copied
    replacing: Callable[["Context", CatalogObject], None] | None = None
    redefining: Callable[["Context", CatalogObject], None] = _nothing
    renamed: Callable[["Context", CatalogObject, CatalogObject], None] = _not_followed
    guarding: Callable[["Context", CatalogObject], None] = _nothing
    owner_changing: Callable[["Context", CatalogObject], CatalogObject] = _indifferent

    @property
    def creating(self) -> str:
        """The privilege on the container that CREATE needs."""
        return self.create_privilege or f"CREATE {self.kind}"

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


class Types(Mapping[str, ObjectType]):
    """The object types by kind, and the words that statements know them and what is theirs by.

    Args:
        declared: All of them.
    """

    def __init__(self, declared: Iterable[ObjectType]) -> None:
        self._by_kind = {object_type.kind: object_type for object_type in declared}
        types = self._by_kind.values()
        privileges = {privilege: privilege for each in types for privilege in each.privileges}
        self.privileges = Vocabulary(privileges)
        self.grantable = Vocabulary({**privileges, **{privilege: privilege for privilege in KNOWN_PRIVILEGES}})
        self.modifiers = Vocabulary({clause.words: clause.words for each in types for clause in each.modifiers})
        self.extra_shows = Vocabulary(dict(extra for each in types for extra in each.extra_shows))
        self.extra_describes = Vocabulary(dict(extra for each in types for extra in each.extra_describes))
        self.shows_of_own = Vocabulary({f"USER {each.plural}": each for each in types if each.show.own})
        self._words = {
            (plural, creating): self._called(plural=plural, creating=creating)
            for plural in (False, True)
            for creating in (False, True)
        }

    def __getitem__(self, kind: str) -> ObjectType:
        return self._by_kind[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_kind)

    def __len__(self) -> int:
        return len(self._by_kind)

    def _called(self, *, plural: bool, creating: bool) -> Vocabulary[ObjectType]:
        by_words: dict[str, ObjectType] = {}
        for object_type in self.values():
            by_words[object_type.plural if plural else object_type.kind] = object_type
            for singular, several in () if creating else object_type.aliases:
                by_words[several if plural else singular] = object_type
        return Vocabulary(by_words)

    def is_next(self, parser: Parser) -> bool:
        """Whether the words of an object type come next."""
        return parser.at_any(self._words[False, False])

    def parse(self, parser: Parser, *, plural: bool, creating: bool) -> ObjectType | None:
        """Take the words of an object type, if they come next; the longest match wins."""
        return parser.accept_any(self._words[plural, creating])
