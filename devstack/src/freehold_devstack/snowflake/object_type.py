"""What a declaration of an object type says; the statements of all types are derived from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar
from freehold_devstack.snowflake.parameters import PARAMETERS, Parameter
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.results import Column, Result
from freehold_devstack.snowflake.values import ValueType

if TYPE_CHECKING:
    from freehold_devstack.snowflake.context import Context


class Statement(Protocol):
    """A parsed statement."""

    def execute(self, context: "Context") -> Result:
        """Do it, inside a transaction of the catalog."""


class Refused:
    """As a property's `unset`: there is no UNSET of it."""


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
    default: Scalar = None
    unset: Scalar | Refused = None
    only: Literal["CREATE", "ALTER"] | None = None
    privilege: str | None = None
    only_role: str | None = None
    feature: str | None = None


Setting = Property | Parameter


@dataclass(frozen=True)
class Clause:
    """Words of CREATE that set a property without a value, before the object type or after the name."""

    words: str
    property: str
    value: Scalar = True


Act = Callable[["Context", CatalogObject], Result | None]
"""Does something to an object; without a result of its own the statement just succeeds."""


@dataclass(frozen=True)
class Action:
    """A form of ALTER that is peculiar to the type.

    Attributes:
        words: What follows the name.
        parse: Reads what follows the words.
        privilege: What it needs on the object.
    """

    words: str
    parse: Callable[[Parser], Act]
    privilege: str = OWNERSHIP


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
        cut: Whether the rows beyond 10,000 are left out without a word, instead of an error.
    """

    columns: tuple[ShowColumn, ...]
    terse: tuple[ShowColumn, ...] | None = None
    history: bool = False
    starts_with: bool = False
    limit: bool = False
    cut: bool = False


def _unchanged(_context: "Context", draft: CatalogObject, _given: frozenset[str]) -> CatalogObject:
    return draft


def _nothing(_context: "Context", _obj: CatalogObject) -> None:
    return None


@dataclass(frozen=True)
class ObjectType:
    """An object type.

    Attributes:
        kind, plural: Its words in SQL, e.g. "DATABASE", "DATABASES".
        container: Kind of what it lives in.
        namespace: What its names must be unique in, within a container.
        modifiers: Clauses between CREATE and the kind.
        clauses: Clauses after the name.
        lists: Words that CREATE takes with names in brackets, and the kind of what they name.
        parameters: Names of the parameters that can be set on it.
        privileges: What can be granted on it besides OWNERSHIP.
        alter_privilege, describe_privilege: What ALTER … SET and DESCRIBE need on it; None where any privilege will do.
        implied: Privileges on it that another privilege stands for, by that one: on the account or on the object.
        visible_with: Privileges on the account that show all objects of this type.
        describe: What DESCRIBE answers; None where there is no such statement.
        extra_shows: Further SHOW statements about the type, by the words after SHOW.
        relation: Whether SHOW OBJECTS lists it.
        retained: Whether a dropped one can be brought back.
        cascades: Whether DROP takes CASCADE and RESTRICT.
        swaps: Whether ALTER takes SWAP WITH.
        settle: Checks a record against the type's own rules before it is stored, and completes it. It is given the
            names of the settings that the statement spells out.
        created, dropping: What else happens after CREATE and before DROP; `dropping` may refuse.
    """

    kind: str
    plural: str
    show: Show
    container: str = "ACCOUNT"
    namespace: str = ""
    modifiers: tuple[Clause, ...] = ()
    clauses: tuple[Clause, ...] = ()
    lists: tuple[tuple[str, str], ...] = ()
    properties: tuple[Property, ...] = ()
    parameters: tuple[str, ...] = ()
    privileges: frozenset[str] = frozenset()
    actions: tuple[Action, ...] = ()
    alter_privilege: str = OWNERSHIP
    describe_privilege: str | None = OWNERSHIP
    implied: Mapping[str, frozenset[str]] = field(default_factory=dict)
    visible_with: tuple[str, ...] = ()
    describe: Callable[["Context", CatalogObject], Result] | None = None
    extra_shows: tuple[tuple[str, Callable[[Parser], "Statement"]], ...] = ()
    relation: bool = False
    retained: bool = False
    cascades: bool = False
    swaps: bool = False
    settle: Callable[["Context", CatalogObject, frozenset[str]], CatalogObject] = _unchanged
    created: Callable[["Context", CatalogObject], None] = _nothing
    dropping: Callable[["Context", CatalogObject], None] = _nothing

    @property
    def create_privilege(self) -> str:
        return f"CREATE {self.kind}"

    @property
    def class_name(self) -> str:
        """The name space as the catalog keys it."""
        return self.namespace or self.kind

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """Properties and parameters by name."""
        own: dict[str, Setting] = {prop.name: prop for prop in self.properties}
        return own | {name: PARAMETERS[name] for name in self.parameters}
